// The part of AsioDriver that sets up where it listens.
#include <fmt/format.h>

#include "daemon/base/check.h"
#include "daemon/config/address.h"
#include "daemon/net/asio_driver.h"

namespace spindled {

namespace {

Error cannot_listen(std::string_view what, std::string_view where, const Error& why) {
  return {why.code, fmt::format("cannot listen for {} on {}: {}", what, where, why.message())};
}

}  // namespace

Result<void> AsioDriver::listen(const DaemonConfig& config) {
  daemon_name_ = config.node.name;
  Result<void> result;
  const auto add_tcp = [&](Port port, std::string_view what, const std::vector<std::string>& addresses) {
    for (const std::string& address : addresses) {
      if (result) result = add_tcp_listener(port, what, address);
      if (result && port == Port::link && config.node.feed.datagrams) add_datagram_socket();
    }
  };
  const auto add_unix = [&](Port port, std::string_view what, const std::string& path, UnixSocketFile::Access access) {
    if (result && !path.empty()) result = add_unix_listener(port, what, path, access);
  };
  // The unix sockets come first: the sentence about another daemon that answers there says most.
  add_unix(Port::client, "clients", config.listen.client_socket, UnixSocketFile::Access::everybody);
  add_unix(Port::admin, "administration", config.listen.admin_socket, UnixSocketFile::Access::group);
  add_tcp(Port::admin, "administration", config.listen.admin);
  add_tcp(Port::client, "clients", config.listen.clients);
  add_tcp(Port::link, "links", link_addresses(config));
  if (!result) stop_listening();
  return result;
}

Result<void> AsioDriver::add_tcp_listener(Port port, std::string_view what, const std::string& text) {
  const std::optional<ListenAddress> listen = parse_listen_address(text);
  SPINDLE_CHECK(listen);  // the configuration has been checked
  const bool is_protected = port == Port::link ? static_cast<bool>(protection_) : listen->tls;
  auto listener = std::make_unique<Listener>(
      io_, sink_, port, [this, is_protected](FileDescriptor socket, Port at, const std::string& peer) {
        accepted(std::move(socket), at, peer, is_protected);
      });
  const Result<void> bound = listener->listen_at(*listen);
  if (!bound) return tl::unexpected(cannot_listen(what, text, bound.error()));
  listeners_.push_back(std::move(listener));
  return {};
}

void AsioDriver::add_datagram_socket() {
  const std::string& name = listeners_.back()->name();
  const std::optional<Address> address = parse_address(name);
  SPINDLE_CHECK(address);
  const Result<void> bound = datagram_sockets_.add(*address);
  if (!bound) log_.warning("no datagrams at {} by UDP: {}", name, bound.error().message());
}

Result<void> AsioDriver::add_unix_listener(Port port, std::string_view what, const std::string& path,
                                           UnixSocketFile::Access access) {
  auto listener =
      std::make_unique<Listener>(io_, sink_, port, [this](FileDescriptor socket, Port at, const std::string& peer) {
        accepted(std::move(socket), at, peer, false);
      });
  const Result<void> bound = listener->listen_at(path, access);
  if (!bound) return tl::unexpected(cannot_listen(what, path, bound.error()));
  listeners_.push_back(std::move(listener));
  return {};
}

std::string AsioDriver::addresses(Port port) const {
  std::string all;
  for (const auto& listener : listeners_) {
    if (listener->port() != port) continue;
    if (!all.empty()) all += ' ';
    all += listener->name();
  }
  return all;
}

}  // namespace spindled
