// What a program sends: where to, the payload, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// The bytes of a message to be sent. Refers to the caller's memory, which sending copies before it returns.
class Payload {
 public:
  Payload() = default;
  Payload(std::span<const std::byte> bytes) : bytes_(bytes) {}                                    // NOLINT
  Payload(std::span<const std::uint8_t> bytes) : bytes_(std::as_bytes(bytes)) {}                  // NOLINT
  Payload(std::string_view text) : bytes_(std::as_bytes(std::span(text.data(), text.size()))) {}  // NOLINT
  Payload(const char* text) : Payload(std::string_view(text)) {}                                  // NOLINT
  Payload(const std::string& text) : Payload(std::string_view(text)) {}                           // NOLINT
  Payload(const std::vector<std::byte>& bytes) : bytes_(bytes) {}                                 // NOLINT
  Payload(const std::vector<std::uint8_t>& bytes) : bytes_(std::as_bytes(std::span(bytes))) {}    // NOLINT

  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

struct SendOptions {
  std::uint16_t type = 0;     ///< a tag for the application's own use, delivered with the message
  bool self_discard = false;  ///< do not deliver to the sender itself
};

}  // namespace spindle
