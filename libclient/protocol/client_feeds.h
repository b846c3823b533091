// The feeds of a client: its own, and those that it listens to.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "libclient/include/spindle/event.h"
#include "libclient/protocol/feed_frames.h"
#include "libclient/protocol/feed_reorderer.h"
#include "libclient/protocol/feed_source_window.h"
#include "libclient/protocol/instant.h"
#include "libclient/protocol/request_writer.h"

namespace spindle::protocol {

/// How a client listens to the feeds of a group.
struct ListenTerms {
  bool is_ordered = true;
  std::chrono::nanoseconds deadline{};  // FeedReorderer
  bool operator==(const ListenTerms&) const = default;
};

/// Feeds outlive sessions: in a new one its own are opened again under the ids that they had, and groups are listened
/// to again, whose feeds are others then.
///
/// Order of calls: whatever becomes known, as RequestObserver has it; time, at `next_deadline`; then `take_events` and
/// `take_opened`.
class ClientFeeds {
 public:
  /// Outlives this one.
  explicit ClientFeeds(RequestWriter& writer) : writer_(writer) {}

  // What the program asks.

  struct SourceTerms {
    std::uint64_t repair_for_us = 0;
    std::uint64_t bytes_per_second_max = 0;
    bool drops_oldest = false;
  };
  /// What comes of it is told with `take_opened`.
  std::error_code open(std::string_view group, const SourceTerms& terms, FeedId& id);
  /// would_block where there is no room, unknown_feed where it has ended.
  std::error_code send(FeedId feed, const Payload& message);
  /// Nothing more is told of it.
  void close(FeedId feed);
  /// Nothing where it has ended, or nothing is known yet.
  std::optional<spindle::FeedFlow> flow(FeedId feed) const;
  std::uint64_t dropped(FeedId feed) const;
  bool is_open(FeedId feed) const { return own_.contains(feed); }
  /// Other terms hold for feeds that are heard from then on.
  std::error_code listen(std::string_view group, const ListenTerms& terms);
  /// Nothing more is told of its feeds.
  std::error_code stop_listening(std::string_view group);

  // What happens.

  void take(Instant now, const FeedNews& news);
  void refused(std::uint32_t request, std::error_code error);
  /// To listen was refused.
  void forget_group(std::string_view group);
  /// The client is not a member of the group any more.
  void note_left(std::string_view group);
  /// Another session begins.
  void begin_anew();
  /// There is no session any more.
  void end(std::error_code error);

  void handle_time(Instant now);
  Instant next_deadline() const;

  /// Swaps the events for an empty vector.
  void take_events(std::vector<Event>& into) { events_.swap(into); }
  bool has_events() const { return !events_.empty(); }
  struct Opened {
    FeedId feed = 0;
    std::error_code error;
  };
  std::vector<Opened> take_opened() { return std::exchange(opened_, {}); }

 private:
  struct Own {
    std::string group;
    SourceTerms terms;
    FeedSourceWindow window;
    FeedNumber number = 0;      // 0: it is being opened
    std::uint32_t request = 0;  // with that
    bool is_told = false;       // the program, that it is open
    std::optional<spindle::FeedFlow> flow;
  };
  struct Heard {
    FeedId id = 0;
    std::string group;
    FeedReorderer packets;
  };
  using HeardFeeds = std::map<FeedNumber, Heard>;

  void take(const FeedReady& ready);
  void take(const FeedRoom& room);
  void take(const FeedFlow& flow);
  void take(const FeedOpened& opened);
  void take(Instant now, const FeedPacket& packet);
  void take(const FeedGap& gap);
  void take(const FeedEnded& ended);

  std::error_code ask(Own& own);
  Own* find_own(FeedNumber number);
  void send_kept(FeedId id, Own& own);
  void give(Heard& heard);
  /// Nothing more comes of it; with `why` the program is told so.
  HeardFeeds::iterator end_heard(HeardFeeds::iterator heard, std::optional<FeedClosed::Why> why);
  void end_own(FeedId id, FeedClosed::Why why, std::error_code error = {});

  RequestWriter& writer_;
  FeedId last_id_ = 0;
  std::map<FeedId, Own> own_;
  std::map<FeedNumber, FeedId> own_ids_;
  std::map<std::string, ListenTerms, std::less<>> listens_;
  HeardFeeds heard_;
  std::vector<Event> events_;
  std::vector<Opened> opened_;
};

}  // namespace spindle::protocol
