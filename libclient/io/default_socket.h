// Unix sockets whose path nobody has said: where a daemon makes them, and where programs of its host look for them.
#pragma once

#include <string>
#include <string_view>

namespace spindle {

/// Where they may be, in this order.
struct SocketFolders {
  std::string system = "/run/spindle";  // made by the system for a daemon that serves the whole host
  std::string user;                     // of the user that the process runs as; empty: none
  std::string anybodys = "/tmp";        // everybody may make files here

  /// The user's is XDG_RUNTIME_DIR; root has none, as a daemon of root's is for all users.
  static SocketFolders of_this_process();
};

struct DefaultSocket {
  std::string path;
  bool is_anybodys = false;  // anybody may have made it
};

/// Where a daemon makes the socket called `name`: in the first folder in which it may make files.
std::string default_socket_to_make(std::string_view name,
                                   const SocketFolders& folders = SocketFolders::of_this_process());
/// Where one looks for it: in the first folder that has it, or else in the last one.
DefaultSocket find_default_socket(std::string_view name,
                                  const SocketFolders& folders = SocketFolders::of_this_process());
/// Where one has looked, for people to read: "/run/spindle/spindle.4803 or /tmp/spindle.4803".
std::string default_socket_places(std::string_view name,
                                  const SocketFolders& folders = SocketFolders::of_this_process());

/// Why the process that listens at the other end of a connected socket cannot be trusted: it is neither root's nor of
/// the own user. Empty where it can.
std::string why_not_trusted(int socket);

}  // namespace spindle
