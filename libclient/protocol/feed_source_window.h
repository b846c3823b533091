// How much the source of a feed may send, and what it keeps meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace spindle::protocol {

/// The daemon gives room in bytes; the last message that it is used for may exceed it. Where there is none a message is
/// refused, or, with `drops_oldest`, kept until there is: as many bytes as the most room that there ever was, and the
/// oldest go.
class FeedSourceWindow {
 public:
  explicit FeedSourceWindow(bool drops_oldest) : drops_oldest_(drops_oldest) {}

  /// A daemon has opened the feed.
  void open(std::uint64_t room) {
    is_open_ = true;
    room_ = static_cast<std::int64_t>(std::min<std::uint64_t>(room, kRoomMax));
    room_most_ = std::max(room_most_, room_);
  }
  /// There is none any more.
  void stop() { is_open_ = false; }
  void add_room(std::uint64_t bytes) {
    room_ =
        std::min<std::int64_t>(room_ + static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, kRoomMax)), kRoomMax);
    room_most_ = std::max(room_most_, room_);
  }

  enum class Answer : std::uint8_t { send, keep, refuse };
  /// What becomes of a message of so many bytes: it is sent by the caller, who gives it to `keep`, or it is refused.
  Answer offer(std::size_t bytes) {
    if (may_send() && kept_.empty()) {
      room_ -= static_cast<std::int64_t>(bytes);
      return Answer::send;
    }
    is_wanted_ = is_wanted_ || !drops_oldest_;
    return drops_oldest_ ? Answer::keep : Answer::refuse;
  }
  void keep(std::vector<std::uint8_t> message) {
    kept_bytes_ += message.size();
    kept_.push_back(std::move(message));
    while (kept_.size() > 1 && kept_bytes_ > kept_bytes_max()) {
      drop_front();
      ++dropped_;
    }
  }
  /// The next of those that were kept, where there is room: it is sent now.
  std::optional<std::vector<std::uint8_t>> next() {
    if (!may_send() || kept_.empty()) return std::nullopt;
    std::vector<std::uint8_t> message = std::move(kept_.front());
    room_ -= static_cast<std::int64_t>(message.size());
    kept_bytes_ -= message.size();
    kept_.pop_front();
    return message;
  }
  /// Whether there is room again since a message was refused; once.
  bool take_writable() { return may_send() && std::exchange(is_wanted_, false); }

  bool is_open() const { return is_open_; }
  bool may_send() const { return is_open_ && room_ > 0; }
  /// Messages that were kept and dropped.
  std::uint64_t dropped() const { return dropped_; }
  std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr std::int64_t kRoomMax = std::int64_t{1} << 40;
  /// Before a daemon has given any.
  static constexpr std::int64_t kKeptLeast = 64 << 10;

  std::size_t kept_bytes_max() const { return static_cast<std::size_t>(room_most_ > 0 ? room_most_ : kKeptLeast); }
  void drop_front() {
    kept_bytes_ -= kept_.front().size();
    kept_.pop_front();
  }

  const bool drops_oldest_;
  bool is_open_ = false;
  bool is_wanted_ = false;
  std::int64_t room_ = 0;
  std::int64_t room_most_ = 0;
  std::deque<std::vector<std::uint8_t>> kept_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace spindle::protocol
