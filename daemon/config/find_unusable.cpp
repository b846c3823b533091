#include "daemon/config/find_unusable.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "daemon/config/address.h"

namespace spindled {

namespace {

std::string describe(int error) { return std::generic_category().message(error); }

/// Why no file can be made in the folder of `path`; empty where one can.
std::string wrong_folder(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? std::string(".") : parent.string();
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) return fmt::format("the folder {}: {}", folder, describe(errno));
  if (!S_ISDIR(found.st_mode)) return fmt::format("{} is no folder", folder);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return fmt::format("no file can be made in {}: {}", folder, describe(errno));
  }
  return {};
}

std::string wrong_socket(const std::string& path) {
  if (path.empty()) return {};
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) {
    return fmt::format("{} exists and is not a socket", path);
  }
  return wrong_folder(path);
}

std::string wrong_log(const std::string& path) {
  if (path.empty()) return {};
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return errno == ENOENT ? wrong_folder(path) : describe(errno);
  if (S_ISDIR(found.st_mode)) return fmt::format("{} is a folder", path);
  return ::access(path.c_str(), W_OK) == 0 ? "" : fmt::format("{} cannot be written: {}", path, describe(errno));
}

std::string wrong_pem(const std::string& path) {
  if (path.empty()) return {};
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return fmt::format("{} is a folder", path);
  return ::access(path.c_str(), R_OK) == 0 ? "" : fmt::format("{} cannot be read: {}", path, describe(errno));
}

/// Whether some port at this address can be had: a host has only its own addresses.
std::string wrong_listener(const std::string& text) {
  const std::optional<ListenAddress> listen = parse_listen_address(text);
  if (!listen) return {};  // the parser has said so
  const std::string& host = listen->address.host;
  sockaddr_storage storage{};
  auto* const four = reinterpret_cast<sockaddr_in*>(&storage);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, host.c_str(), &four->sin_addr) == 1) {
    storage.ss_family = AF_INET;
  } else if (::inet_pton(AF_INET6, host.c_str(), &six->sin6_addr) == 1) {
    storage.ss_family = AF_INET6;
  }
  const int socket = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return fmt::format("\"{}\" cannot be listened at: {}", text, describe(errno));
  const bool is_there = ::bind(socket, reinterpret_cast<const sockaddr*>(&storage), sizeof storage) == 0;
  const int error = errno;
  ::close(socket);
  if (is_there || error != EADDRNOTAVAIL) return {};
  return fmt::format("this host does not have the address of \"{}\"", text);
}

}  // namespace

std::vector<ConfigError> find_unusable(const DaemonConfig& config, std::string_view file) {
  std::vector<ConfigError> errors;
  const auto check = [&](std::string_view key, std::string wrong) {
    if (!wrong.empty()) errors.push_back({std::string(file), 0, std::string(key), std::move(wrong)});
  };
  for (const std::string& address : config.listen.clients) check("listen.clients", wrong_listener(address));
  check("listen.client_socket", wrong_socket(config.listen.client_socket));
  check("listen.admin_socket", wrong_socket(config.listen.admin_socket));
  for (const std::string& address : config.listen.admin) check("listen.admin", wrong_listener(address));
  for (const std::string& address : link_addresses(config)) check("listen.links", wrong_listener(address));
  check("tls.bundle", wrong_pem(config.tls.bundle));
  check("tls.revocation_lists", wrong_pem(config.tls.revocation_lists));
  check("log.file", wrong_log(config.log.file));
  return errors;
}

}  // namespace spindled
