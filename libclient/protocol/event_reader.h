// The half of a client that turns the bytes of the daemon into events.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libclient/include/spindle/message.h"
#include "libclient/protocol/client_frames.h"

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
    bool welcomed = false;
    bool ended = false;
    struct PlacedReply {
      Reply reply;
      std::size_t before = 0;              // the index of the event that it came before
      std::optional<FlowState> flow = {};  // the answer to a `flow_request`, without its groups
    };
    std::vector<PlacedReply> replies;
    std::vector<Admitted> admitted;
    /// Of synchronous groups, in the order in which they came: requests to flush, and views, which end them.
    struct FlushNews {
      std::string group;
      std::uint64_t request = 0;  // 0: a view
    };
    std::vector<FlushNews> flushes;
    std::optional<std::uint64_t> pong;
    std::optional<std::uint64_t> taken;  // messages of this client that have entered the network, of all it sent
    bool taken_for_good = false;         // no more will
  };

  /// Where to read to: kReadBytesMin at least.
  std::span<std::uint8_t> prepare();
  /// `bytes` of it were filled.
  void commit(std::size_t bytes);
  /// The stream of bytes has ended; `reason` is told unless the daemon gave another before.
  void end(Errc reason, std::string_view text = {});

  bool has_news() const { return has_news_; }
  News take_news();

  /// Swaps the events for an empty vector, `into`, whose memory is used from then on.
  void take_events(std::vector<Event>& into);
  /// Memory, about, of the events that `take_events` would give now.
  std::size_t event_bytes() const { return event_bytes_; }
  void insert_event(std::size_t index, Event event);
  /// Has Disconnected, which is the last of the events, say so.
  void set_not_taken(NotTaken not_taken);
  /// `bytes`: memory of the event beside its own size.
  void add_event(Event event, std::size_t bytes);

  bool welcomed() const { return welcomed_; }
  bool ended() const { return ended_; }
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
  void handle_transitional(ByteView body);
  void handle_flush_request(ByteView body);
  void note_flush(const std::string& group, std::uint64_t request);
  void handle_reply(ByteView body);
  void handle_pong(ByteView body);
  void handle_admitted(ByteView body);
  void handle_flow(ByteView body);
  void handle_taken(ByteView body);
  void handle_gap(ByteView body);
  void handle_warning(ByteView body);
  void handle_refused(ByteView body);
  /// All but the memory that the message refers to.
  static void fill(Message& message, const PackedMessage& packed);

  // The block now read into. Bytes before `parsed_` belong to messages; those from there to `filled_` are an incomplete
  // frame.
  std::shared_ptr<std::uint8_t[]> block_;
  std::size_t block_bytes_ = 0;
  std::size_t parsed_ = 0;
  std::size_t filled_ = 0;

  // A message of which chunks are still to come: names and payload as in its first frame, growing as bytes arrive.
  struct Partial {
    Message message;
    std::size_t total = 0;
    std::size_t names = 0;
    std::shared_ptr<std::vector<std::uint8_t>> bytes;
  };
  std::optional<Partial> partial_;

  std::vector<std::uint8_t> view_parts_;  // of a view whose last bytes are still to come

  // Of the last message: those of one sender to the same groups follow each other.
  std::vector<std::uint8_t> good_names_;

  std::vector<Event> events_;
  std::size_t event_bytes_ = 0;
  std::set<std::string> flushing_;  // groups with a request that no view has followed
  News news_;
  bool has_news_ = false;
  bool welcomed_ = false;
  bool ended_ = false;
  std::string private_name_;
};

}  // namespace spindle::protocol
