#include "tests/sim/feed_ear.h"

#include <fmt/format.h>

namespace spindled::sim {

std::size_t FeedEar::Heard::unknown() const {
  if (got.empty()) return 0;
  std::size_t count = 0;
  for (std::uint64_t sequence = *got.begin(); sequence <= *got.rbegin(); ++sequence) {
    if (!got.contains(sequence) && !lost.contains(sequence)) ++count;
  }
  return count;
}

const FeedEar::Heard* FeedEar::heard(SessionId session, FeedHandle feed) const {
  const auto found = heard_.find({session, feed});
  return found == heard_.end() ? nullptr : &found->second;
}

std::map<FeedHandle, const FeedEar::Heard*> FeedEar::of_session(SessionId session) const {
  std::map<FeedHandle, const Heard*> feeds;
  for (const auto& [key, heard] : heard_) {
    if (key.first == session) feeds.emplace(key.second, &heard);
  }
  return feeds;
}

FeedEar::Heard* FeedEar::open(SessionId session, FeedHandle feed, std::string_view what) {
  const auto found = heard_.find({session, feed});
  if (found != heard_.end() && !found->second.end) return &found->second;
  broken.push_back(fmt::format("{}: feed {} is not open for session {}", what, feed, session));
  return nullptr;
}

void FeedEar::give_room(SessionId, FeedHandle feed, std::size_t bytes) {
  if (bytes == 0) broken.emplace_back("no room is given");
  sources[feed].room += static_cast<std::int64_t>(bytes);
}

void FeedEar::tell_flow(SessionId, FeedHandle feed, const FeedFlow& flow) { sources[feed].flows.push_back(flow); }

void FeedEar::describe(std::span<const SessionId> to, const FeedDescription& feed) {
  if (feed.feed == 0) broken.emplace_back("a feed has the handle 0");
  for (const SessionId each : to) {
    Heard& heard = heard_[{each, feed.feed}];
    heard = {};
    heard.group = feed.group;
    heard.source = feed.source;
    heard.repair_for = feed.repair_for;
    heard.is_new = feed.is_new;
  }
}

void FeedEar::deliver(std::span<const SessionId> to, FeedHandle feed, std::uint64_t sequence, std::uint8_t flags,
                      ByteView payload) {
  for (const SessionId each : to) {
    Heard* heard = open(each, feed, "packet");
    if (heard == nullptr) continue;
    if (!heard->got.insert(sequence).second) broken.push_back(fmt::format("packet {} came twice", sequence));
    if (heard->lost.contains(sequence)) broken.push_back(fmt::format("packet {} came, and was lost", sequence));
    heard->packets.push_back({sequence, flags, {payload.begin(), payload.end()}, events_.now()});
  }
}

void FeedEar::lose(std::span<const SessionId> to, FeedHandle feed, std::uint64_t first, std::uint64_t count) {
  if (count == 0) broken.emplace_back("an empty gap");
  for (const SessionId each : to) {
    Heard* heard = open(each, feed, "gap");
    if (heard == nullptr) continue;
    for (std::uint64_t sequence = first; sequence < first + count; ++sequence) {
      if (!heard->lost.insert(sequence).second) broken.push_back(fmt::format("packet {} is lost twice", sequence));
      if (heard->got.contains(sequence)) broken.push_back(fmt::format("packet {} was lost, and had come", sequence));
    }
  }
}

void FeedEar::end(std::span<const SessionId> to, FeedHandle feed, FeedEnd why) {
  for (const SessionId each : to) {
    if (const auto source = sources.find(feed); source != sources.end() && !heard_.contains({each, feed})) {
      source->second.end = why;
    } else if (Heard* heard = open(each, feed, "end")) {
      heard->end = why;
    }
  }
}

}  // namespace spindled::sim
