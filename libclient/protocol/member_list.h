// The members of a group as a list that changes, and its digest. `docs/wire-format.md` defines both for all languages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spindle::protocol {

/// The hash of a private name: FNV-1a of 64 bits.
std::uint64_t name_hash(std::string_view name);

/// Those of `members` that are not among `others`, in their order.
std::vector<std::string> without(const std::vector<std::string>& members, const std::vector<std::string>& others);

inline constexpr std::uint64_t kDigestFactor = 0x100000001b3;
/// The digest of a list is 0 for none, and with each further member in the agreed order this of what it was before.
constexpr std::uint64_t extend_digest(std::uint64_t digest, std::uint64_t hash) {
  return digest * kDigestFactor + hash;
}

/// Private names in the agreed order: by the names of their daemons, those of one daemon as they joined. That is the
/// order that daemons come to when they build the list anew in another view, so that a view without a change of the
/// members leaves it as it is.
class MemberList {
 public:
  MemberList() = default;
  explicit MemberList(std::vector<std::string> names);

  /// Behind the last member of its daemon, and of those before it. At the end of the list that costs no more in a long
  /// list than in a short one.
  void add(std::string_view name);
  /// Takes those who left out and adds those who joined, in their order. False where one that left was not in the list,
  /// which is then not to be used any more.
  bool apply(std::span<const std::string_view> joined, std::span<const std::string_view> left);

  const std::vector<std::string>& names() const { return names_; }
  std::size_t size() const { return names_.size(); }
  std::uint64_t digest() const { return digest_; }
  std::optional<std::size_t> index_of(std::string_view name) const;

 private:
  bool remove(std::span<const std::string_view> left);
  bool remove_one(std::string_view name);
  void order_by_daemon();
  void recompute_digest();

  std::vector<std::string> names_;
  std::vector<std::uint64_t> hashes_;  // of the names
  std::uint64_t digest_ = 0;
};

}  // namespace spindle::protocol
