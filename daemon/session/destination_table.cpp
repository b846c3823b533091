#include "daemon/session/destination_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace spindled {

namespace protocol = spindle::protocol;

namespace {

/// A name behind its first bytes, which mostly say at once which of two goes first.
using SortedName = std::pair<std::uint64_t, std::string_view>;

SortedName sorted_name(std::string_view name) {
  SortedName sorted{0, name};
  std::memcpy(&sorted.first, name.data(), std::min(sizeof sorted.first, name.size()));
  return sorted;
}

/// The same for the same groups: each name once, behind one byte of length, in whatever order.
std::string set_key(std::span<const std::string_view> names) {
  std::vector<SortedName> sorted;
  sorted.reserve(names.size());
  for (const std::string_view name : names) sorted.push_back(sorted_name(name));
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::size_t bytes = 0;
  for (const auto& [front, name] : sorted) bytes += 1 + name.size();
  std::string key;
  key.reserve(bytes);
  for (const auto& [front, name] : sorted) {
    key.push_back(static_cast<char>(name.size()));
    key.append(name);
  }
  return key;
}

}  // namespace

std::optional<Error> DestinationTable::define(const protocol::Define& define) {
  const std::size_t former = is_defined(define.handle) ? protocol::defined_bytes(sets_[define.handle].to.names) : 0;
  const std::size_t bytes = bytes_ - former + protocol::defined_bytes(define.groups);
  if (bytes > protocol::kDefinedBytesMax) {
    return Error{Errc::limit_exceeded,
                 fmt::format("the client's sets of destinations would take {} bytes, of which it has {}: it has to "
                             "define sets anew, or without names, that it sends to no more",
                             bytes, protocol::kDefinedBytesMax)};
  }
  bytes_ = bytes;
  if (sets_.size() <= define.handle && define.groups.empty()) return std::nullopt;
  if (sets_.size() <= define.handle) sets_.resize(define.handle + 1);
  DefinedSet& set = sets_[define.handle];
  give_up(set);
  if (define.groups.empty()) return std::nullopt;
  set.to.names.assign(define.groups.begin(), define.groups.end());
  set.names_bytes = protocol::packed_names_size({}, define.groups);
  set.flow = &flow_of(set_key(define.groups));
  ++set.flow->handles;
  return std::nullopt;
}

void DestinationTable::give_up(DefinedSet& set) {
  if (set.flow == nullptr) return;
  if (--set.flow->handles == 0) {
    flows_by_set_.erase(set.flow->place);
    idle_.push_back(set.flow);
  }
  set = DefinedSet();
}

SetFlow& DestinationTable::flow_of(std::string key) {
  const auto [place, is_new] = flows_by_set_.try_emplace(std::move(key));
  if (!is_new) return *place->second;
  if (idle_.empty()) {
    flows_.push_back(std::make_unique<SetFlow>());
    flows_.back()->number = static_cast<std::uint32_t>(flows_.size() - 1);
    idle_.push_back(flows_.back().get());
  }
  SetFlow* flow = place->second = idle_.back();
  idle_.pop_back();
  flow->place = place;
  flow->flow.redirect();
  return *flow;
}

/// Where the names differ, those that were resolved last.
std::vector<const DestinationSet*> DestinationTable::sets_by_flow() const {
  std::vector<const DestinationSet*> sets(flows_.size(), nullptr);
  for (const DefinedSet& set : sets_) {
    if (set.flow == nullptr) continue;
    const DestinationSet*& shown = sets[set.flow->number];
    if (shown == nullptr || set.to.table_version > shown->table_version) shown = &set.to;
  }
  return sets;
}

}  // namespace spindled
