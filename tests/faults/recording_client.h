// A client of a real daemon that talks without end and writes down all that it asks and is told.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "spindle/connection.h"
#include "tests/checkers/recorder.h"

namespace spindle::test {

using Nanoseconds = std::chrono::nanoseconds;

struct Traffic {
  std::vector<std::string> groups{};       // of which the client joins all
  std::chrono::milliseconds interval{40};  // between messages; 0: none
  std::size_t payload_max = 1200;          // of most messages
  double large = 0.02;                     // the share of messages of 100 KB
  bool churn = true;                       // leaves the last group now and then, and joins again
  std::optional<Service> service{};        // nothing: all of them in turn
};

/// Lives in a thread of its own. Whenever its connection ends it makes another, as a new client with a name that was
/// never used: each of them has a history.
class RecordingClient {
 public:
  /// `socket` is the path of the daemon's unix socket.
  RecordingClient(std::string socket, Traffic traffic, std::uint64_t seed);
  RecordingClient(const RecordingClient&) = delete;
  RecordingClient& operator=(const RecordingClient&) = delete;
  ~RecordingClient();

  /// Stops talking. Once what was sent has gone through the daemon, and nothing more comes, the client is at rest.
  void quiet() { quiet_ = true; }
  bool is_at_rest();
  /// For people who wonder why not.
  std::string state();

  std::string private_name();
  /// When this client, as it is now, got its first view of `group` with `members` members after `since`.
  std::optional<spindled::Time> view_time(const std::string& group, std::size_t members, spindled::Time since);
  /// Whether it got a view that the network caused.
  bool has_network_view(spindled::Time since);
  /// When the last message came.
  spindled::Time last_delivery();
  /// When it received messages of `sender` between two times.
  std::vector<spindled::Time> delivery_times(const std::string& sender, spindled::Time from, spindled::Time to);

  /// Ends the connection and hands over what was written down.
  std::vector<spindled::checkers::ClientHistory> finish();

 private:
  static constexpr std::chrono::milliseconds kRest{300};

  void run();
  void live();
  void greet();
  void talk();
  /// Whether the daemon's client library took the message.
  bool say(Service service, const std::vector<std::string>& groups, std::size_t size, SendOptions options);
  void churn();
  std::vector<std::string> choose_groups();
  void take(const Event& event);
  void note(spindled::checkers::What what);

  const std::string socket_;
  const Traffic traffic_;
  std::mt19937_64 random_;
  std::atomic<bool> quiet_ = false;
  std::atomic<bool> stopping_ = false;

  // Of the client as it is now; for its thread only.
  Connection connection_;
  std::uint32_t number_ = 0;
  std::uint64_t sent_ = 0;
  spindled::checkers::Recorder recorder_;
  std::vector<std::string> others_;   // members of the group that had a view last
  std::atomic<bool> marked_ = false;  // has sent its last message; others only look
  bool away_ = false;                 // has left the last group

  std::mutex mutex_;
  std::vector<spindled::checkers::ClientHistory> histories_;
  std::map<std::string, bool> member_of_;
  spindled::Time last_event_{}, last_delivery_{};
  bool open_ = false;
  bool marker_returned_ = false;

  std::thread thread_;
};

}  // namespace spindle::test
