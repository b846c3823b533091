// Headers of messages: names with values that travel beside the payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spindle/export.h"

namespace spindle {

/// A name and a value, both of any bytes. A key has 1 to 255 bytes, of which the first is no '$': those keys are the
/// library's own. A key may come several times.
struct Header {
  std::string_view key;
  std::string_view value;
  bool operator==(const Header&) const = default;
};

/// Headers that go with a message, in their order:
///
///   connection.multicast(Service::agreed, "news", "hi", {.headers = {{"trace", id}, {"format", "text"}}});
///
/// All keys and values take 4 KiB at most, each header counting three bytes more. Refers to the caller's memory, which
/// sending copies before it returns; meant as a function argument only.
class Headers {
 public:
  Headers() = default;
  Headers(std::span<const Header> headers) : data_(headers.data()), size_(headers.size()) {}     // NOLINT: implicit
  Headers(const std::vector<Header>& headers) : data_(headers.data()), size_(headers.size()) {}  // NOLINT
  Headers(std::initializer_list<Header> headers) : data_(std::data(headers)), size_(headers.size()) {}  // NOLINT

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Header* begin() const { return data_; }
  const Header* end() const { return data_ + size_; }

 private:
  const Header* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The headers of a received message, as they were sent, but for the library's own: a forward range of Header that
/// refers to the message.
class HeaderList {
 public:
  class SPINDLE_EXPORT iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Header;
    using difference_type = std::ptrdiff_t;
    using pointer = const Header*;
    using reference = Header;

    iterator() = default;
    Header operator*() const { return header_; }
    const Header* operator->() const { return &header_; }
    iterator& operator++();
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    friend class HeaderList;
    iterator(const std::uint8_t* at, const std::uint8_t* end) : next_(at), end_(end) { ++*this; }

    const std::uint8_t* at_ = nullptr;    // of this one
    const std::uint8_t* next_ = nullptr;  // of what follows
    const std::uint8_t* end_ = nullptr;
    Header header_;
  };

  bool empty() const { return begin() == end(); }
  iterator begin() const { return {begin_, end_}; }
  iterator end() const { return {end_, end_}; }

 private:
  friend class Message;
  HeaderList(const std::uint8_t* begin, const std::uint8_t* end) : begin_(begin), end_(end) {}

  const std::uint8_t* begin_;
  const std::uint8_t* end_;
};

namespace detail {
/// A copy of headers, for what is sent later.
class KeptHeaders {
 public:
  KeptHeaders() = default;
  explicit KeptHeaders(const Headers& headers) {
    for (const Header& header : headers) text_.push_back({std::string(header.key), std::string(header.value)});
  }
  /// They refer to this object.
  std::vector<Header> get() const {
    std::vector<Header> headers;
    for (const Text& each : text_) headers.push_back({each.key, each.value});
    return headers;
  }

 private:
  struct Text {
    std::string key;
    std::string value;
  };
  std::vector<Text> text_;
};
}  // namespace detail

}  // namespace spindle
