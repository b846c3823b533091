// The half of a client that turns the bytes of the daemon into events.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libclient/include/spindle/event.h"
#include "libclient/protocol/bulk_requests.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/feed_frames.h"

namespace spindle::protocol {

/// Bytes are read straight into blocks that the messages cut out of them share; a message is not copied unless it came
/// in several chunks. What the daemon sends wrongly ends the connection with an event that says so.
///
/// Order of calls: `prepare`, read into it, `commit`; then `take_news`, answer what it asks, and `take_events`. Nothing
/// is read from the bytes that follow the end.
class EventReader {
 public:
  /// What concerns the requests of the same client.
  struct News {
    struct PlacedWelcome {
      std::optional<Resumable> resumable;
      std::optional<std::uint64_t> resumed;
      std::size_t before = 0;  // the index of the event that it came before
    };
    std::optional<PlacedWelcome> welcome;
    bool ended = false;
    struct PlacedReply {
      Reply reply;
      std::size_t before = 0;              // the index of the event that it came before
      std::optional<FlowState> flow = {};  // the answer to a `flow_request`, without its groups
      std::optional<GroupView> view = {};  // the answer to a `view_request`
      /// No reply, but the end of a join that there was a good one for.
      std::optional<RequestFailed> refused_join = {};
    };
    std::vector<PlacedReply> replies;
    std::vector<Admitted> admitted;
    std::vector<Confirmed> confirmed;
    /// Of bulk channels, or the name of a group: the client is a member of it no more.
    struct PlacedChannelNews {
      std::variant<BulkNews, std::string> news;
      std::size_t before = 0;  // the index of the event that it came before
    };
    std::vector<PlacedChannelNews> channels;
    /// Of feeds, in the order in which they came. They refer to bytes that stay until the next `prepare`.
    std::vector<FeedNews> feeds;
    /// The client is a member of the group no more.
    struct Farewell {
      std::string group;
      std::size_t before = 0;  // the index of the feed news that it came before
    };
    std::vector<Farewell> farewells;
    bool has_views = false;    // among the events
    bool has_answers = false;  // to requests, or these requests themselves, among the events
    /// Of synchronous groups, in the order in which they came: requests to flush, and views, which end them.
    struct FlushNews {
      FlushRequest request;
      std::uint64_t daemons_number = 0;  // 0: a view
    };
    std::vector<FlushNews> flushes;
    std::optional<std::uint64_t> pong;
    std::optional<std::uint64_t> taken;     // messages of this client that have entered the network, of all it sent
    bool taken_for_good = false;            // no more will
    std::optional<std::uint64_t> received;  // frames of this client that have come
    /// The daemon has taken the client out of the group.
    struct LostGroup {
      std::string group;
      std::size_t before = 0;  // the index of the reply that it came before
    };
    std::vector<LostGroup> lost_groups;
  };

  /// Where to read to: kReadBytesMin at least.
  std::span<std::uint8_t> prepare();
  /// `bytes` of it were filled.
  void commit(std::size_t bytes);
  /// The stream of bytes has ended, for this reason unless the daemon gave another before. Nothing is read any more.
  void end(Errc reason, std::string_view text = {});
  /// Another stream of bytes begins, with a welcome. Where that resumes the session, it goes on where the last one was
  /// cut off.
  void restart();

  /// Of a view that came: who is in the group, or, of a change, who has left it.
  struct SeenView {
    std::string group;
    ViewForm form;
    std::vector<std::string> names;
  };
  /// Whether views are news, and kept for `take_seen_views`.
  void watch_views(bool on) { watches_views_ = on; }
  std::vector<SeenView> take_seen_views() { return std::exchange(seen_views_, {}); }

  /// Has it remember in which groups a view has shown the client.
  void track_memberships() { tracks_memberships_ = true; }
  const std::set<std::string, std::less<>>& memberships() const { return memberships_; }

  bool has_news() const { return has_news_; }
  bool has_views() const { return news_.has_views; }
  News take_news();

  /// Swaps the events for an empty vector, `into`, whose memory is used from then on.
  void take_events(std::vector<Event>& into);
  /// Memory, about, of the events that `take_events` would give now.
  std::size_t event_bytes() const { return event_bytes_; }
  void insert_event(std::size_t index, Event event);
  /// The events, for who takes some away. Those before `settled` have been looked at.
  std::vector<Event>& settling_events() { return events_; }
  std::size_t settled() const { return settled_; }
  void note_settled() { settled_ = events_.size(); }
  /// `bytes`: memory of the event beside its own size.
  void add_event(Event event, std::size_t bytes);

  bool welcomed() const { return welcomed_; }
  bool ended() const { return ended_; }
  /// Once it has: why, and in which words.
  Errc end_reason() const { return end_reason_; }
  const std::string& end_text() const { return end_text_; }
  /// Of this session: whole frames that have come behind the welcome, and whether some of them are more than signs of
  /// life since this was last told to the daemon.
  std::uint64_t frames() const { return frames_; }
  bool has_untold_frames() const { return has_untold_frames_; }
  void note_told() { has_untold_frames_ = false; }
  /// Whether the daemon has said, on this connection, that it stops and waits for the client to go.
  bool daemon_goes() const { return daemon_goes_; }
  /// Of all streams.
  std::uint64_t bytes() const { return bytes_; }
  /// Events that wait to be taken.
  const std::vector<Event>& events() const { return events_; }
  const std::string& private_name() const { return private_name_; }

  static constexpr std::size_t kReadBytesMin = 16u << 10;
  static constexpr std::size_t kBlockBytes = 256u << 10;

 private:
  void handle_frame(ClientFrame type, ByteView body);
  void handle_welcome(ByteView body);
  void handle_close(ByteView body);
  void handle_message(ByteView body);
  void handle_message_more(ByteView body);
  void handle_view_part(ByteView body);
  void handle_view(ByteView body);
  void add_view(const GroupViewFrame& view, std::size_t bytes);
  void note_membership(const GroupView& view);
  void handle_order_view(ByteView body);
  void handle_transitional(ByteView body);
  void handle_flush_request(ByteView body);
  void note_flush(const FlushRequest& request, std::uint64_t daemons_number);
  void handle_reply(ByteView body);
  void handle_pong(ByteView body);
  void handle_admitted(ByteView body);
  void handle_flow(ByteView body);
  void handle_taken(ByteView body);
  void handle_received(ByteView body);
  void handle_confirmed(ByteView body);
  void handle_gap(ByteView body);
  void handle_warning(ByteView body);
  void handle_going(ByteView body);
  void handle_refused(ByteView body);
  void handle_channel_news(ClientFrame type, ByteView body);
  void handle_feed_news(ClientFrame type, ByteView body);
  /// Bytes that messages share, and what their positions refer to.
  struct Block {
    explicit Block(std::size_t count) : bytes(std::make_unique_for_overwrite<std::uint8_t[]>(count)) {}
    std::unique_ptr<std::uint8_t[]> bytes;
    std::vector<std::shared_ptr<const GroupViewId>> changes;
  };

  void note_headers(const Message& message);
  /// All but the memory that the message refers to.
  void fill(Message& message, const PackedMessage& packed) const;
  const std::uint8_t* at(std::size_t offset) const { return block_ ? block_->bytes.get() + offset : nullptr; }

  // The block now read into. Bytes before `parsed_` belong to messages; those from there to `filled_` are an incomplete
  // frame.
  std::shared_ptr<Block> block_;
  std::size_t block_bytes_ = 0;
  std::size_t parsed_ = 0;
  std::size_t filled_ = 0;

  // A message of which chunks are still to come: place, names and payload as in its first frame, growing as bytes
  // arrive.
  struct PartialBytes {
    std::vector<std::uint8_t> bytes;
    std::shared_ptr<const GroupViewId> change;
  };
  struct Partial {
    Message message;
    std::size_t total = 0;
    std::size_t names = 0;  // with what is before them
    std::shared_ptr<PartialBytes> content;
  };
  std::optional<Partial> partial_;
  std::optional<BulkComplete> partial_complete_;  // names are still to come

  std::vector<std::uint8_t> view_parts_;  // of a view whose last bytes are still to come
  std::optional<GroupView> answer_;       // to a `view_request`, whose reply is still to come

  std::shared_ptr<const GroupViewId> change_;  // as the daemon told last; null: not yet

  // Of the last message: those of one sender to the same groups follow each other.
  std::vector<std::uint8_t> good_names_;

  std::vector<Event> events_;
  std::size_t event_bytes_ = 0;
  std::size_t settled_ = 0;           // events that were looked at
  std::set<std::string> flushing_;    // groups with a request that no view has followed
  std::uint64_t flush_requests_ = 0;  // so many there were, at all daemons
  News news_;
  bool has_news_ = false;
  bool watches_views_ = false;
  bool tracks_memberships_ = false;
  std::set<std::string, std::less<>> memberships_;  // of this session
  std::vector<SeenView> seen_views_;
  bool welcomed_ = false;
  bool daemon_goes_ = false;
  bool ended_ = false;
  Errc end_reason_{};
  std::string end_text_;
  std::uint64_t frames_ = 0;
  bool has_untold_frames_ = false;
  std::uint64_t bytes_ = 0;
  std::string private_name_;
};

}  // namespace spindle::protocol
