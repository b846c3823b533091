// Reading and writing of the hand-laid frames: little-endian integers, varints, short strings.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace spindle {

using ByteView = std::span<const std::uint8_t>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// The longest encoding of a 64-bit varint.
inline constexpr std::size_t kVarintBytesMax = 10;

/// Bytes that `value` takes as a varint (LEB128: seven bits a byte, least significant first).
constexpr std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

/// Writes into memory that the caller has sized. The caller guarantees room: frames are measured before they are
/// written, so a write never fails.
class Writer {
 public:
  explicit Writer(std::uint8_t* at) : begin_(at), at_(at) {}

  void u8(std::uint8_t value) { *at_++ = value; }
  void u16(std::uint16_t value) { fixed<2>(value); }
  void u24(std::uint32_t value) { fixed<3>(value); }
  void u32(std::uint32_t value) { fixed<4>(value); }
  void u64(std::uint64_t value) { fixed<8>(value); }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      *at_++ = static_cast<std::uint8_t>(value | 0x80);
      value >>= 7;
    }
    *at_++ = static_cast<std::uint8_t>(value);
  }
  void bytes(ByteView bytes) {
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  /// A string of at most 255 bytes behind its length.
  void short_string(std::string_view text) {
    u8(static_cast<std::uint8_t>(text.size()));
    bytes(as_bytes(text));
  }

  std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }
  std::uint8_t* at() { return at_; }

 private:
  /// One store where `kCount` is known to the compiler, as it is here.
  template <std::size_t kCount>
  void fixed(std::uint64_t value) {
    for (std::size_t i = 0; i < kCount; ++i) at_[i] = static_cast<std::uint8_t>(value >> (8 * i));
    at_ += kCount;
  }

  std::uint8_t* begin_;
  std::uint8_t* at_;
};

/// Reads untrusted bytes. After the first read beyond the end, or a malformed varint, `ok()` is false for good and
/// every read gives zero or an empty view; callers check once, at the end.
class Reader {
 public:
  explicit Reader(ByteView bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(fixed<1>()); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(fixed<2>()); }
  std::uint32_t u24() { return static_cast<std::uint32_t>(fixed<3>()); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(fixed<4>()); }
  std::uint64_t u64() { return fixed<8>(); }
  std::uint64_t varint() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;  // most are
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const std::uint8_t byte = *at_++;
      if (shift == 63 && byte > 1) break;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  /// A varint that must not exceed `limit`.
  std::uint64_t varint_up_to(std::uint64_t limit) {
    const std::uint64_t value = varint();
    if (value > limit) {
      fail();
      return 0;
    }
    return value;
  }
  ByteView bytes(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) {
      fail();
      return {};
    }
    const ByteView result{at_, count};
    at_ += count;
    return result;
  }
  std::string_view short_string() { return as_text(bytes(u8())); }
  /// All that is left.
  ByteView rest() { return bytes(remaining()); }

  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
  bool ok() const { return ok_; }
  /// Whether everything was read and nothing failed.
  bool done() const { return ok_ && at_ == end_; }
  void fail() {
    ok_ = false;
    at_ = end_;
  }

 private:
  template <std::size_t kCount>
  std::uint64_t fixed() {
    if (remaining() < kCount) {
      fail();
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kCount; ++i) value |= static_cast<std::uint64_t>(at_[i]) << (8 * i);
    at_ += kCount;
    return value;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

}  // namespace spindle
