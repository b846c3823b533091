// What a daemon tells its clients of feeds, written down and held to what is promised.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/feed/feed_clients.h"
#include "tests/sim/event_queue.h"

namespace spindled::sim {

/// Stands for all clients of one daemon, in place of its sessions. What breaks a promise is in `broken`.
class FeedEar final : public FeedClients {
 public:
  explicit FeedEar(const EventQueue& events) : events_(events) {}

  struct Packet {
    std::uint64_t sequence = 0;
    std::uint8_t flags = 0;
    std::vector<std::uint8_t> payload;
    Time at{};
  };
  /// What a client was told of a feed.
  struct Heard {
    std::string group;
    std::string source;
    Duration repair_for{};
    bool is_new = false;
    std::vector<Packet> packets;  // in the order in which they came
    std::set<std::uint64_t> got;
    std::set<std::uint64_t> lost;
    std::optional<FeedEnd> end;

    /// The sequences that it neither got nor knows as lost, between the first and the last that it knows of.
    std::size_t unknown() const;
  };
  /// Null: nothing.
  const Heard* heard(SessionId session, FeedHandle feed) const;
  /// By feed.
  std::map<FeedHandle, const Heard*> of_session(SessionId session) const;

  /// Of a source.
  struct Source {
    std::int64_t room = 0;
    std::vector<FeedFlow> flows;
    std::optional<FeedEnd> end;
  };
  std::map<FeedHandle, Source> sources;
  std::vector<std::string> broken;

  // FeedClients
  void give_room(SessionId source, FeedHandle feed, std::size_t bytes) override;
  void tell_flow(SessionId source, FeedHandle feed, const FeedFlow& flow) override;
  void describe(std::span<const SessionId> to, const FeedDescription& feed) override;
  void deliver(std::span<const SessionId> to, FeedHandle feed, std::uint64_t sequence, std::uint8_t flags,
               ByteView payload) override;
  void lose(std::span<const SessionId> to, FeedHandle feed, std::uint64_t first, std::uint64_t count) override;
  void end(std::span<const SessionId> to, FeedHandle feed, FeedEnd why) override;

 private:
  /// Null, and a promise broken: it was not described, or is over.
  Heard* open(SessionId session, FeedHandle feed, std::string_view what);

  const EventQueue& events_;
  std::map<std::pair<SessionId, FeedHandle>, Heard> heard_;
};

}  // namespace spindled::sim
