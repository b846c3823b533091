// What the command line says.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spindle/connection.h"
#include "tools/spuser/token_file.h"

namespace spuser {

struct ConnectionOptions {
  std::string address;           // empty: the library's default
  std::string bundle;            // the file with certificates; empty: what the environment says
  std::string revocation_lists;  // the file with those that are revoked; empty: what the environment says
  std::string token_file;        // the file with the token; empty: what the environment says
  std::string name;              // empty: the daemon chooses
  bool independent_flows = false;
  spindle::SlowPolicy slow_policy = spindle::SlowPolicy::daemon_default;

  /// Throws Exit where there is no token in the file.
  spindle::ConnectOptions to_connect_options() const {
    return {.address = address,
            .name = name,
            .tls_bundle = bundle,
            .tls_revocation_lists = revocation_lists,
            .token = token_file.empty() ? std::string() : read_token_file(token_file),
            .reconnect_timeout = std::chrono::milliseconds(0),  // who starts it is told of the loss, and decides
            .independent_flows = independent_flows,
            .slow_policy = slow_policy};
  }
};

struct PublishOptions {
  std::vector<std::string> groups;
  spindle::Service service = spindle::Service::agreed;
  std::uint16_t type = 0;
  std::vector<std::string> files;  // empty: standard input
  bool whole = false;
  double rate = 0;  // messages a second; 0: as fast as they go
  bool measure = false;
  std::size_t window = 64;  // own messages on their way, with `measure`
  std::size_t wait_members = 0;
  std::string ready_file;
};

struct SubscribeOptions {
  enum class Format { lines, senders, json, raw };

  std::vector<std::string> groups;
  Format format = Format::lines;
  bool views = false;
  std::optional<std::uint64_t> count;
  std::size_t wait_members = 0;
  std::optional<std::size_t> until_members;
  std::string ready_file;
};

struct SendFileOptions {
  std::string group;
  std::string path;
  std::uint64_t rate = 0;  // bytes a second; 0: as fast as it goes
  bool wait = false;
  bool no_cache = false;  // of hashes of former times
  std::string spool;      // of standard input; empty: none
  std::string as;         // the name by which it is sent; empty: its own
  std::size_t wait_members = 0;
};

struct ReceiveFileOptions {
  std::string group;
  std::string directory;
  bool replace = false;
  std::optional<std::uint64_t> count;
  std::string ready_file;
};

struct FeedCommandOptions {
  std::string group;
  double rate = 0;  // messages a second; 0: as fast as they go
  std::uint64_t bytes_per_second = 0;
  std::chrono::milliseconds repair_for{200};
  bool drops_oldest = false;
  std::optional<std::size_t> size;  // of made-up messages; nothing: lines of standard input
  std::optional<std::uint64_t> count;
  std::size_t wait_members = 0;
  std::string ready_file;
};

struct ListenCommandOptions {
  std::string group;
  bool is_immediate = false;
  std::chrono::milliseconds deadline{50};
  bool json = false;
  bool stats = false;
  bool until_end = false;
  std::optional<std::uint64_t> count;
  std::string ready_file;
};

}  // namespace spuser
