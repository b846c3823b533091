// A message that a program receives. Sizes are in bytes; every name is at most 255 bytes long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "spindle/export.h"
#include "spindle/headers.h"
#include "spindle/types.h"

namespace spindle {

namespace protocol {
class EventReader;
class Requests;
}  // namespace protocol

/// The destinations of a received message, in the sender's order: a forward range of std::string_view that refers to
/// the message.
class GroupNames {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    iterator() = default;
    std::string_view operator*() const { return {reinterpret_cast<const char*>(at_ + 1), *at_}; }
    iterator& operator++() {
      at_ += 1 + *at_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator&) const = default;

   private:
    friend class GroupNames;
    explicit iterator(const std::uint8_t* at) : at_(at) {}

    const std::uint8_t* at_ = nullptr;
  };

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::string_view front() const { return *begin(); }
  iterator begin() const { return iterator(begin_); }
  iterator end() const { return iterator(end_); }

 private:
  friend class Message;
  GroupNames(const std::uint8_t* begin, const std::uint8_t* end, std::size_t count)
      : begin_(begin), end_(end), count_(count) {}

  const std::uint8_t* begin_;  // names behind one byte of length each
  const std::uint8_t* end_;
  std::size_t count_;
};

/// A received message. It shares the block of memory that it was received in with its neighbours (256 KiB, or more for
/// large messages): what is kept for long is better copied. What its functions return is valid as long as the
/// message, or a copy of it, lives. Copies are cheap, and may live and die in any thread, even after the connection.
class Message {
 public:
  Message() = default;

  Service service() const { return service_; }
  /// The sender's tag.
  std::uint16_t type() const { return type_; }
  /// The private name of the sender, "#client#daemon".
  std::string_view sender() const { return {reinterpret_cast<const char*>(start_), sender_bytes_}; }
  GroupNames groups() const {
    const std::uint8_t* begin = start_ + sender_bytes_;
    return {begin, begin + groups_bytes_, group_count_};
  }
  std::span<const std::byte> payload() const {
    const std::size_t before = header_block_bytes();
    return {reinterpret_cast<const std::byte*>(content() + before), size_ - before};
  }
  /// Where the message stands in the order, for checkpoints, and to tell one that came before. Nothing for services
  /// without an order, and for messages that were left open when a view of the daemons ended.
  SPINDLE_EXPORT std::optional<MessagePosition> position() const;
  /// Its parts, without a copy. Null, and nowhere, where there is no position.
  const GroupViewId* change() const { return change_; }
  SPINDLE_EXPORT OrderPlace place() const;
  /// The payload as text.
  std::string_view text() const {
    const std::size_t before = header_block_bytes();
    return {reinterpret_cast<const char*>(content() + before), size_ - before};
  }
  /// SendOptions::headers.
  HeaderList headers() const {
    const std::size_t bytes = header_block_bytes();
    return {content() + (bytes == 0 ? 0 : 2), content() + bytes};
  }
  /// The first value of that key.
  SPINDLE_EXPORT std::optional<std::string_view> header(std::string_view key) const;
  /// Whether the sender waits for answers: Connection::request() and Connection::reply().
  SPINDLE_EXPORT bool is_request() const;

 private:
  friend class protocol::EventReader;
  friend class protocol::Requests;

  /// The payload, or headers and the payload behind them.
  const std::uint8_t* content() const { return start_ + sender_bytes_ + groups_bytes_; }
  std::size_t header_block_bytes() const {
    if (!has_headers_) return 0;
    return std::size_t{2} + content()[0] + (std::size_t{content()[1]} << 8);
  }
  /// Of the library's own headers, too.
  std::optional<std::string_view> find_header(std::string_view key) const;

  std::shared_ptr<const void> memory_;   // of what the next two refer to
  const std::uint8_t* start_ = nullptr;  // sender, group names, headers, payload: without a gap
  const GroupViewId* change_ = nullptr;  // of the position; null: there is none
  std::uint32_t size_ = 0;               // of headers and payload
  std::uint32_t groups_bytes_ = 0;
  std::uint16_t group_count_ = 0;
  std::uint16_t type_ = 0;
  std::uint8_t sender_bytes_ = 0;
  std::uint8_t place_bytes_ : 7 = 0;  // so many before the start are the rest of the position, as it was sent
  bool has_headers_ : 1 = false;
  Service service_ = Service::unreliable;
};

}  // namespace spindle
