// A set of members of a view, by their index: the bitstring that data frames are addressed with.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "libclient/common/bytes.h"

namespace spindled {

/// An index into the sorted members of a view.
using MemberIndex = std::uint16_t;

/// The encoding spends one byte on the length of the bitstring, and keeps a few values for other forms.
inline constexpr std::size_t kMembersMax = 250 * 8;

/// Up to 64 members fit in place; larger sets allocate. The encoding is a byte count and then that many bytes, least
/// significant member first, without trailing zero bytes. Two other forms are used where they are shorter: for all
/// members below some index, and for a bitstring without its leading zero bytes. So neither everybody nor a single
/// member costs more in a larger view.
class MemberSet {
 public:
  MemberSet() = default;

  static MemberSet of(MemberIndex member) {
    MemberSet set;
    set.insert(member);
    return set;
  }
  /// All members below `count`.
  static MemberSet first(std::size_t count) {
    constexpr auto kAll = ~std::uint64_t{0};
    MemberSet set;
    if (count < 64) {
      set.low_ = (std::uint64_t{1} << count) - 1;
      return set;
    }
    set.low_ = kAll;
    set.high_.assign(count / 64 - 1, kAll);
    if (count % 64 != 0) set.high_.push_back((std::uint64_t{1} << (count % 64)) - 1);
    return set;
  }

  void insert(MemberIndex member) {
    if (member < 64) {
      low_ |= bit(member);
      return;
    }
    const std::size_t word = member / 64 - 1;
    if (high_.size() <= word) high_.resize(word + 1);
    high_[word] |= bit(member);
  }
  void erase(MemberIndex member) {
    if (member < 64) {
      low_ &= ~bit(member);
    } else if (const std::size_t word = member / 64 - 1; word < high_.size()) {
      high_[word] &= ~bit(member);
      trim();
    }
  }
  bool contains(MemberIndex member) const {
    if (member < 64) return (low_ & bit(member)) != 0;
    const std::size_t word = member / 64 - 1;
    return word < high_.size() && (high_[word] & bit(member)) != 0;
  }
  bool empty() const { return low_ == 0 && high_.empty(); }
  std::size_t count() const {
    std::size_t total = static_cast<std::size_t>(std::popcount(low_));
    for (const std::uint64_t word : high_) total += static_cast<std::size_t>(std::popcount(word));
    return total;
  }
  bool intersects(const MemberSet& other) const {
    if ((low_ & other.low_) != 0) return true;
    for (std::size_t i = 0; i < std::min(high_.size(), other.high_.size()); ++i) {
      if ((high_[i] & other.high_[i]) != 0) return true;
    }
    return false;
  }
  bool is_subset_of(const MemberSet& other) const {
    if ((low_ & ~other.low_) != 0 || high_.size() > other.high_.size()) return false;
    for (std::size_t i = 0; i < high_.size(); ++i) {
      if ((high_[i] & ~other.high_[i]) != 0) return false;
    }
    return true;
  }

  MemberSet& operator|=(const MemberSet& other) {
    low_ |= other.low_;
    if (high_.size() < other.high_.size()) high_.resize(other.high_.size());
    for (std::size_t i = 0; i < other.high_.size(); ++i) high_[i] |= other.high_[i];
    return *this;
  }
  MemberSet& operator&=(const MemberSet& other) {
    low_ &= other.low_;
    if (high_.size() > other.high_.size()) high_.resize(other.high_.size());
    for (std::size_t i = 0; i < high_.size(); ++i) high_[i] &= other.high_[i];
    trim();
    return *this;
  }
  /// Removes the members of `other`.
  MemberSet& operator-=(const MemberSet& other) {
    low_ &= ~other.low_;
    for (std::size_t i = 0; i < std::min(high_.size(), other.high_.size()); ++i) high_[i] &= ~other.high_[i];
    trim();
    return *this;
  }
  friend MemberSet operator&(MemberSet a, const MemberSet& b) { return a &= b; }
  friend MemberSet operator|(MemberSet a, const MemberSet& b) { return a |= b; }
  friend MemberSet operator-(MemberSet a, const MemberSet& b) { return a -= b; }
  bool operator==(const MemberSet&) const = default;

  /// Calls `visit(MemberIndex)` for each member in ascending order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for_each_in(low_, 0, visit);
    for (std::size_t i = 0; i < high_.size(); ++i) for_each_in(high_[i], 64 * (i + 1), visit);
  }
  /// The smallest member; the set is not empty.
  MemberIndex front() const;

  std::size_t encoded_size() const {
    const std::size_t count = byte_count();
    return count < kOtherFormBytesMin ? 1 + count : encoding().size;
  }
  void write(spindle::Writer& writer) const {
    const std::size_t count = byte_count();
    if (count >= kOtherFormBytesMin) return write_long(writer, count);
    writer.u8(static_cast<std::uint8_t>(count));
    for (std::size_t i = 0; i < count; ++i) writer.u8(byte_at(i));
  }
  /// A malformed set makes the reader fail.
  static MemberSet read(spindle::Reader& reader) {
    const std::uint8_t count = reader.u8();
    if (count >= kOtherFormBytesMin) return read_long(reader, count);
    const spindle::ByteView bytes = reader.bytes(count);
    MemberSet set;
    for (std::size_t i = 0; i < bytes.size(); ++i) set.low_ |= std::uint64_t{bytes[i]} << (8 * i);
    // Without trailing zero bytes; nothing of what fails is given.
    if (set.byte_count() == count) return set;
    reader.fail();
    return {};
  }

 private:
  /// A bitstring shorter than this has no shorter form.
  static constexpr std::size_t kOtherFormBytesMin = 3;
  enum class Form : std::uint8_t { bitstring, below = 251, shifted = 252 };
  struct Encoding {
    Form form{};
    std::size_t skipped = 0;  // leading bytes that are zero, where they are left out
    std::size_t size = 0;     // of the whole
  };

  // What takes more than the fewest bytes.
  void write_long(spindle::Writer& writer, std::size_t count) const;
  static MemberSet read_long(spindle::Reader& reader, std::uint8_t first);

  Encoding encoding() const;
  std::uint8_t byte_at(std::size_t index) const {
    const std::uint64_t word = index < 8 ? low_ : high_[index / 8 - 1];
    return static_cast<std::uint8_t>(word >> (8 * (index % 8)));
  }
  /// One more than the largest member.
  std::size_t width() const;
  static MemberSet read_below(spindle::Reader& reader);
  static MemberSet read_bitstring(spindle::Reader& reader, std::size_t from, std::size_t count);

  static constexpr std::uint64_t bit(MemberIndex member) { return std::uint64_t{1} << (member % 64); }
  template <typename Visit>
  static void for_each_in(std::uint64_t word, std::size_t base, Visit& visit) {
    for (; word != 0; word &= word - 1)
      visit(static_cast<MemberIndex>(base + static_cast<std::size_t>(std::countr_zero(word))));
  }
  static std::size_t bytes_of(std::uint64_t word) {
    return (64 - static_cast<std::size_t>(std::countl_zero(word)) + 7) / 8;
  }
  std::size_t byte_count() const { return high_.empty() ? bytes_of(low_) : 8 * high_.size() + bytes_of(high_.back()); }
  void trim() {
    while (!high_.empty() && high_.back() == 0) high_.pop_back();
  }

  std::uint64_t low_ = 0;
  std::vector<std::uint64_t> high_;  // invariant: the last word is not zero
};

}  // namespace spindled
