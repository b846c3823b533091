// What a program sends: where to, the payload, and how.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spindle/headers.h"

namespace spindle {

/// Where a message goes: one name or several. A name is a group, or the private name "#client#daemon" of one client.
/// Refers to the caller's strings and is meant as a function argument only.
class Groups {
 public:
  Groups(std::string_view group) : single_(group) {}    // NOLINT: implicit on purpose
  Groups(const char* group) : single_(group) {}         // NOLINT
  Groups(const std::string& group) : single_(group) {}  // NOLINT
  Groups(std::span<const std::string_view> groups)      // NOLINT
      : several_(groups.data()), count_(groups.size()) {}
  Groups(const std::vector<std::string_view>& groups)  // NOLINT
      : several_(groups.data()), count_(groups.size()) {}
  Groups(std::initializer_list<std::string_view> groups)  // NOLINT: the list lives until the call is over
      : several_(std::data(groups)), count_(groups.size()) {}

  std::size_t size() const { return count_; }
  std::string_view operator[](std::size_t index) const { return several_ == nullptr ? single_ : several_[index]; }

 private:
  std::string_view single_;
  const std::string_view* several_ = nullptr;
  std::size_t count_ = 1;
};

/// What bytes are taken from: contiguous ranges of elements of one byte each, but for arrays of char, of which nobody
/// can tell how much is meant.
template <typename Range, typename Element = std::ranges::range_value_t<Range>>
concept ByteRange = std::ranges::contiguous_range<const Range> && std::ranges::sized_range<const Range> &&
                        sizeof(Element) == 1 &&
                    std::is_trivially_copyable_v<Element> && !std::same_as<Element, bool> &&
                    !(std::is_array_v<Range> && std::same_as<Element, char>);

/// Bytes that follow each other in the caller's memory. Takes any contiguous range of elements of one byte: a
/// std::string, a std::string_view, a span, a vector or an array of char, std::byte, std::uint8_t.
///
/// Nothing is cut at a zero byte. A literal counts whole, less the zero that ends it. Pointers to char and buffers of
/// char do not convert, as they do not say how much of them is meant: std::string_view(pointer) takes what stands
/// before the first zero byte, std::span(buffer) all.
class Bytes {
 public:
  constexpr Bytes() = default;
  template <ByteRange Range>
  Bytes(const Range& range)  // NOLINT: implicit on purpose
      : data_(reinterpret_cast<const std::byte*>(std::ranges::data(range))), size_(std::ranges::size(range)) {}
  template <std::same_as<const char> Char, std::size_t Size>
  Bytes(Char (&literal)[Size])  // NOLINT
      : data_(reinterpret_cast<const std::byte*>(literal)), size_(literal[Size - 1] == 0 ? Size - 1 : Size) {}

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The bytes of a message to be sent: whatever Bytes takes, or several of these, which are sent one behind the other
/// and need not be put together before:
///
///   connection.multicast(Service::agreed, "news", {header, body});
///
/// Refers to the caller's memory, which sending copies before it returns; meant as a function argument only.
class Payload {
 public:
  Payload() = default;
  template <std::convertible_to<Bytes> Source>
  Payload(Source&& bytes) : single_(std::forward<Source>(bytes)), size_(single_.size()) {}               // NOLINT
  Payload(std::span<const Bytes> pieces) : several_(pieces.data()), count_(pieces.size()) { add_up(); }  // NOLINT
  Payload(const std::vector<Bytes>& pieces) : Payload(std::span(pieces)) {}                              // NOLINT
  Payload(std::initializer_list<Bytes> pieces)  // NOLINT: the list lives until the call is over
      : Payload(std::span(std::data(pieces), pieces.size())) {}

  /// Of all pieces.
  std::size_t size() const { return size_; }
  std::span<const Bytes> pieces() const { return {several_ == nullptr ? &single_ : several_, count_}; }

 private:
  void add_up() {
    for (const Bytes& piece : pieces()) size_ += piece.size();
  }

  Bytes single_;
  const Bytes* several_ = nullptr;
  std::size_t count_ = 1;
  std::size_t size_ = 0;
};

struct SendOptions {
  std::uint16_t type = 0;     ///< a tag for the application's own use, delivered with the message
  bool self_discard = false;  ///< do not deliver to the sender itself
  std::uint64_t ticket = 0;   ///< by which Reconnected names the message where it is not known what came of it
  /// Bounds how long Connection::multicast() waits. Nothing: ConnectOptions::send_timeout does.
  std::optional<std::chrono::nanoseconds> timeout{};
  Headers headers{};  ///< that go with the message
};

namespace detail {
/// The end of a call that begins now, waits several times and takes `timeout` in all.
inline std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds timeout) {
  constexpr auto kNever = std::chrono::steady_clock::time_point::max();
  const auto now = std::chrono::steady_clock::now();
  return timeout > kNever - now ? kNever : now + timeout;
}

inline std::chrono::nanoseconds time_left(std::chrono::steady_clock::time_point deadline) {
  return deadline == std::chrono::steady_clock::time_point::max() ? std::chrono::nanoseconds::max()
                                                                  : deadline - std::chrono::steady_clock::now();
}
}  // namespace detail

}  // namespace spindle
