#include "libclient/protocol/member_list.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace spindle::protocol {

namespace {

/// The daemon's part of "#client#daemon".
std::string_view daemon_of(std::string_view name) { return name.substr(name.rfind('#') + 1); }

}  // namespace

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : name) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

std::vector<std::string> without(const std::vector<std::string>& members, const std::vector<std::string>& others) {
  const std::unordered_set<std::string_view> left_out(others.begin(), others.end());
  std::vector<std::string> rest;
  for (const std::string& member : members) {
    if (!left_out.contains(member)) rest.push_back(member);
  }
  return rest;
}

MemberList::MemberList(std::vector<std::string> names) : names_(std::move(names)) {
  hashes_.reserve(names_.size());
  for (const std::string& name : names_) hashes_.push_back(name_hash(name));
  recompute_digest();
}

void MemberList::add(std::string_view name) {
  const std::uint64_t hash = name_hash(name);
  const auto by_daemon = [](std::string_view a, std::string_view b) { return daemon_of(a) < daemon_of(b); };
  const auto at = std::upper_bound(names_.begin(), names_.end(), name, by_daemon) - names_.begin();
  const bool is_last = static_cast<std::size_t>(at) == names_.size();
  names_.emplace(names_.begin() + at, name);
  hashes_.insert(hashes_.begin() + at, hash);
  if (is_last) {
    digest_ = extend_digest(digest_, hash);
  } else {
    recompute_digest();
  }
}

bool MemberList::apply(std::span<const std::string_view> joined, std::span<const std::string_view> left) {
  if (!left.empty() && !remove(left)) return false;
  if (joined.size() == 1) {
    add(joined.front());
  } else if (!joined.empty()) {
    // All at once: one after the other would go through a long list as many times.
    for (const std::string_view name : joined) {
      names_.emplace_back(name);
      hashes_.push_back(name_hash(name));
    }
    order_by_daemon();
  }
  return true;
}

bool MemberList::remove(std::span<const std::string_view> left) {
  if (left.size() == 1) return remove_one(left.front());
  const std::unordered_set<std::string_view> gone(left.begin(), left.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (gone.contains(names_[i])) continue;
    if (kept != i) names_[kept] = std::move(names_[i]);
    hashes_[kept++] = hashes_[i];
  }
  const bool all_were_there = names_.size() - kept == left.size();
  names_.resize(kept);
  hashes_.resize(kept);
  recompute_digest();
  return all_were_there;
}

bool MemberList::remove_one(std::string_view name) {
  const std::optional<std::size_t> index = index_of(name);
  if (!index) return false;
  const auto at = static_cast<std::ptrdiff_t>(*index);
  names_.erase(names_.begin() + at);
  hashes_.erase(hashes_.begin() + at);
  recompute_digest();
  return true;
}

void MemberList::order_by_daemon() {
  std::vector<std::size_t> order(names_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return daemon_of(names_[a]) < daemon_of(names_[b]); });
  std::vector<std::string> names;
  std::vector<std::uint64_t> hashes;
  names.reserve(order.size());
  hashes.reserve(order.size());
  for (const std::size_t index : order) {
    names.push_back(std::move(names_[index]));
    hashes.push_back(hashes_[index]);
  }
  names_ = std::move(names);
  hashes_ = std::move(hashes);
  recompute_digest();
}

void MemberList::recompute_digest() {
  digest_ = std::accumulate(hashes_.begin(), hashes_.end(), std::uint64_t{0}, extend_digest);
}

std::optional<std::size_t> MemberList::index_of(std::string_view name) const {
  const std::uint64_t hash = name_hash(name);
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    if (hashes_[i] == hash && names_[i] == name) return i;
  }
  return std::nullopt;
}

}  // namespace spindle::protocol
