// Feeds: what one client sends to those members of a group who listen, without waiting for them.
//
//   spindle::Feed feed = connection.open_feed("prices").value();
//   if (feed.try_send("EUR 1.0842") == spindle::Errc::would_block) ...  // or FeedOptions::when_full
//
// and who listens, a member of the group:
//
//   connection.join("prices");
//   connection.listen("prices");
//   while (auto event = connection.receive()) {
//     if (const auto* packet = event->get_if<spindle::FeedPacket>()) std::cout << packet->text() << '\n';
//     if (const auto* gap = event->get_if<spindle::FeedGap>()) std::cout << gap->count << " packets are missing\n";
//   }
//
// docs/feeds.md is the guide.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>

#include "spindle/error.h"
#include "spindle/event.h"
#include "spindle/export.h"
#include "spindle/send.h"

namespace spindle {

class Connection;

/// What becomes of a message for which a feed has no room.
enum class WhenFull : std::uint8_t {
  refuse,       ///< Feed::try_send() says would_block, and FeedWritable follows
  drop_oldest,  ///< it is kept until there is, and the oldest that are kept are dropped for it
};

struct FeedOptions {
  /// How long what is lost on its way is worth repairing, up to 60 s; 0: nothing is repaired.
  std::chrono::microseconds repair_for = std::chrono::milliseconds(200);
  /// The most that the feed sends, of payload; 0: as much as the network carries.
  std::uint64_t bytes_per_second = 0;
  WhenFull when_full = WhenFull::refuse;
  /// Bounds how long Connection::open_feed() waits for the daemon's answer.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
};

struct ListenOptions {
  enum class Delivery : std::uint8_t {
    ordered,    ///< as they were sent: what comes behind a gap waits for what is missing, up to `deadline`
    immediate,  ///< as they come
  };
  Delivery delivery = Delivery::ordered;
  /// Of each packet that waits. What is missing then is a FeedGap, and is dropped where it comes later.
  std::chrono::microseconds deadline = std::chrono::milliseconds(50);
};

/// A feed of this client's own: Connection::open_feed(). All functions may be called by several threads at once, except
/// that moving, assigning and destroying must not coincide with anything else.
///
/// A feed outlives connections: where its client goes on in another session it is opened again there, and has no room
/// meanwhile. Those who listen hear another feed then. Where it cannot be opened again FeedClosed says why.
///
/// In a child of fork() it is as the connection: closed.
class SPINDLE_EXPORT Feed {
 public:
  /// None: functions return unknown_feed.
  Feed() noexcept;
  Feed(Feed&&) noexcept;
  /// Closes first.
  Feed& operator=(Feed&&) noexcept;
  /// Closes.
  ~Feed();

  /// By which events are of it. 0 for none.
  [[nodiscard]] FeedId id() const noexcept;
  /// Whether it has not ended.
  [[nodiscard]] bool is_open() const noexcept;
  /// Sends a message of 1 to 65,536 bytes, which is copied, and waits for nothing. Each packet of it, of some 1,200
  /// bytes, may be lost, and the message with it. Errors: would_block where there is no room and `when_full` is refuse,
  /// message_too_large, bad_argument for an empty one, unknown_feed where the feed has ended, not_connected.
  [[nodiscard]] std::error_code try_send(const Payload& message);
  /// How the network treats it, as the last event FeedFlow said. Nothing before the first.
  [[nodiscard]] std::optional<FeedFlow> flow() const;
  /// Messages that `drop_oldest` has dropped.
  [[nodiscard]] std::uint64_t dropped() const;
  /// Ends it for all who listen, behind what was sent. What `drop_oldest` keeps for want of room is dropped. Nothing
  /// more is told of it.
  void close() noexcept;

 private:
  friend class Connection;
  class SPINDLE_HIDDEN Impl;
  explicit Feed(std::unique_ptr<Impl> impl) noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace spindle
