// Well-behaved clients.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "spindle/connection.h"
#include "tests/integration/daemon.h"

namespace spindle::test {

/// The next event; throws where none comes.
Event next_event(Connection& client);
/// The next message; views and signals before it are passed over. Throws where the connection ends first.
Message next_message(Connection& client);
/// Passes over events up to a view of `group` with exactly these members, in any order.
GroupView wait_for_members(Connection& client, std::string_view group, std::vector<std::string> members);
/// Passes over events up to the end of the connection.
Disconnected wait_for_end(Connection& client);

/// Waits until the daemons have one view, seen by a client at each, which is gone again then.
void wait_for_one_view(const std::vector<Daemon*>& daemons);

/// Two clients, of which one sends numbered agreed messages for as long as this lives, each when the other has received
/// those before; anything that happens to the pair beside that is an error. Streams at one time have groups of their
/// own, and no two begin or end at one daemon.
class MessageStream {
 public:
  MessageStream(Daemon& from, Daemon& to, std::string group = "stream of messages");
  ~MessageStream();

  /// Waits until `count` more have arrived; throws where the stream stands still.
  void wait_for(std::uint64_t count);
  /// Ends it. Empty, or what went wrong.
  std::string finish();
  /// Between two messages as they arrived; for when the stream is finished.
  Clock::duration longest_pause() const { return longest_pause_; }

 private:
  static constexpr std::uint64_t kWindow = 8;

  void send();
  void receive();
  void fail(const std::string& why);

  const std::string group_;
  Connection sender_;
  Connection receiver_;
  Clock::duration longest_pause_{};  // for the receiving thread
  std::mutex mutex_;
  std::condition_variable news_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  bool stopping_ = false;
  bool over_ = false;  // the receiver has seen the last message, or something went wrong
  std::string error_;
  std::thread sending_;
  std::thread receiving_;
};

}  // namespace spindle::test
