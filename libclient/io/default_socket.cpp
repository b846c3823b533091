#include "libclient/io/default_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace spindle {

namespace {

/// Of the folders that exist.
std::vector<DefaultSocket> sockets_in(const SocketFolders& folders, std::string_view name) {
  std::vector<DefaultSocket> all;
  const auto add = [&](const std::string& folder, bool is_anybodys) {
    struct stat found {};
    const bool is_folder = !folder.empty() && ::stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
    if (is_folder || is_anybodys) all.push_back({folder + '/' + std::string(name), is_anybodys});
  };
  add(folders.system, false);
  add(folders.user, false);
  add(folders.anybodys, true);
  return all;
}

/// The last one where there is none of which `is_right` holds.
template <typename IsRight>
DefaultSocket first_of(const std::vector<DefaultSocket>& all, IsRight&& is_right) {
  const auto found = std::find_if(all.begin(), all.end(), is_right);
  return found == all.end() ? all.back() : *found;
}

}  // namespace

SocketFolders SocketFolders::of_this_process() {
  SocketFolders folders;
  const char* const user = ::geteuid() == 0 ? nullptr : ::secure_getenv("XDG_RUNTIME_DIR");
  if (user != nullptr && *user == '/') folders.user = user;
  return folders;
}

std::string default_socket_to_make(std::string_view name, const SocketFolders& folders) {
  return first_of(sockets_in(folders, name),
                  [&](const DefaultSocket& socket) {
                    const std::string folder = socket.path.substr(0, socket.path.rfind('/'));
                    return ::access(folder.c_str(), W_OK | X_OK) == 0;
                  })
      .path;
}

DefaultSocket find_default_socket(std::string_view name, const SocketFolders& folders) {
  return first_of(sockets_in(folders, name), [](const DefaultSocket& socket) {
    struct stat found {};
    return ::stat(socket.path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
  });
}

std::string default_socket_places(std::string_view name, const SocketFolders& folders) {
  const std::vector<DefaultSocket> all = sockets_in(folders, name);
  std::string text = all.front().path;
  for (std::size_t i = 1; i < all.size(); ++i) text += (i + 1 == all.size() ? " or " : ", ") + all[i].path;
  return text;
}

std::string why_not_trusted(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "nobody knows who listens there";
  if (peer.uid == 0 || peer.uid == ::geteuid()) return {};
  return "user " + std::to_string(peer.uid) +
         " listens there, who is neither root nor you, where anybody could; say the "
         "path to trust that daemon all the same";
}

}  // namespace spindle
