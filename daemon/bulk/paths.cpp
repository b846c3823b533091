#include "daemon/bulk/paths.h"

#include <algorithm>
#include <utility>

namespace spindled {

namespace {

/// The part of an interval from which on a link that waits keeps the path busy.
constexpr double kBusyShare = 0.9;

}  // namespace

void Paths::expect(Time now, const std::string& daemon) {
  Path& path = paths_[daemon];
  if (path.hop || path.before) return;
  const std::optional<LinkId> link = links_.established_with(daemon);
  if (link) path.before = Before{now, overlay_.message_packets(*link)};
}

void Paths::opened(Time now, const std::string& daemon, ConnectionId hop) {
  Path& path = paths_[daemon];
  path.hop = hop;
  path.rate = {};
  path.meter = {};
  path.written = path.carried = 0;
  path.used_at = now;
  path.is_watched = false;
}

void Paths::closed(std::string_view daemon, ConnectionId hop) {
  const auto path = paths_.find(daemon);
  if (path == paths_.end() || path->second.hop != hop) return;
  path->second.hop.reset();
  path->second.is_watched = false;
}

bool Paths::may_send(Time now, std::string_view daemon) {
  Path& path = paths_.find(daemon)->second;
  if (path.is_watched && path.link && path.rate.is_to_begin()) {
    path.rate.begin(now, overlay_.message_packets(*path.link), context_.config.bulk.share);
  }
  // A window that was full is looked at however long the path has not been: what filled it has left since.
  if (path.hop && path.rate.wants_hop(now)) {
    path.rate.note_hop(now, driver_.unacknowledged_bytes(*path.hop), driver_.round_trip(*path.hop));
  }
  return path.rate.may_send(now, path.is_watched && link_waits(path));
}

void Paths::wrote(Time now, std::string_view daemon, std::size_t bytes, bool is_full) {
  const auto found = paths_.find(daemon);
  if (found == paths_.end()) return;
  auto& [name, path] = *found;
  path.written += bytes;
  path.is_full = is_full;
  path.was_full = path.was_full && is_full;
  if (bytes == 0) return;
  path.used_at = now;
  path.meter.add(now.time_since_epoch(), bytes);
  if (std::exchange(path.is_watched, true)) return;
  HopRate::Path state = look_at(name, path);
  const Before before = std::exchange(path.before, {}).value_or(Before{now, state.message_packets});
  state.message_packets = before.message_packets;
  path.rate.start(now, state, before.at);
  path.capacity.start(now, state.ordered_bytes + state.bulk_bytes);
  path.was_full = false;  // until now
  adjust_at_ = std::min(adjust_at_, now + HopRate::kInterval);
}

void Paths::end_turn(Time now) {
  if (adjust_at_ == kNever) return;
  for (auto& [daemon, path] : paths_) {
    if (!path.is_watched) continue;
    path.rate.note_link(now, link_waits(path));
  }
}

bool Paths::link_waits(const Path& path) const {
  return path.link && links_.is_established(*path.link) && links_.queue_length(*path.link).packets > 0;
}

HopRate::Path Paths::look_at(const std::string& daemon, Path& path) {
  HopRate::Path state;
  path.link = links_.established_with(daemon);
  const std::uint64_t hop_bytes = std::exchange(path.hop_bytes, path.written);
  const std::uint64_t link_bytes = path.link_bytes;
  // The system keeps what it has measured last, however long ago: it counts where something is sent. The hop sends
  // between the messages of the link, too.
  const auto measure = [&](Duration current, Duration shortest, bool is_sending) {
    if (is_sending && state.round_trip == Duration::zero()) state.round_trip = current;
    if (shortest == Duration::zero()) return;
    state.shortest = state.shortest == Duration::zero() ? shortest : std::min(state.shortest, shortest);
  };
  if (path.hop) {
    // What waits in a queue has not been carried yet. With what protects it that may be more than was written.
    const std::uint64_t waiting = std::min<std::uint64_t>(path.written, driver_.unacknowledged_bytes(*path.hop));
    path.carried = std::max(path.carried, path.written - waiting);
    measure(driver_.round_trip(*path.hop), driver_.shortest_round_trip(*path.hop), path.written != hop_bytes);
  }
  state.bulk_bytes = path.carried;
  if (!path.link) return state;
  const LinkInfo info = links_.info(*path.link);
  path.link_bytes = info.bytes_out;
  state.ordered_bytes = info.bytes_out;
  state.message_packets = overlay_.message_packets(*path.link);
  state.ordered_waiting = info.queued_bytes;
  measure(links_.current_round_trip(*path.link), links_.shortest_round_trip(*path.link), info.bytes_out != link_bytes);
  return state;
}

void Paths::adjust(Time now, const std::string& daemon, Path& path) {
  const std::optional<LinkId> link = path.link;
  const HopRate::Path state = look_at(daemon, path);
  if (link != path.link) {  // what the other one has carried is not comparable
    path.rate.start(now, state, now);
    path.capacity.start(now, state.ordered_bytes + state.bulk_bytes);
  }
  const std::uint64_t capacity = path.capacity.bytes_per_second();
  if (path.rate.adjust(now, state, capacity, context_.config.bulk.share)) context_.counters.add(Counter::bulk_yields);
  const bool was_busy = path.was_full || path.rate.waited_share() >= kBusyShare;
  path.capacity.observe(now, state.ordered_bytes + state.bulk_bytes, was_busy);
  path.was_full = path.is_full;
  if (now - path.told_at < kTold) return;
  path.told_at = now;
  tell(now, daemon, path);
}

void Paths::tell(Time now, const std::string& daemon, const Path& path) {
  if (!overlay_.set_capacity(now, daemon, path.capacity.bytes_per_second())) return;
  context_.counters.add(Counter::bulk_capacities_told);
}

void Paths::handle_time(Time now) {
  if (now < next_deadline()) return;
  adjust_at_ = forget_at_ = kNever;
  for (auto& [daemon, path] : paths_) {
    if (path.is_watched) {
      adjust(now, daemon, path);
      path.is_watched = path.rate.is_limited() || now - path.used_at < kUnused;
      if (!path.is_watched && path.link) path.before = Before{now, overlay_.message_packets(*path.link)};
    } else if (path.capacity.is_over(now)) {
      path.capacity = {};
      tell(now, daemon, path);
    }
    if (path.is_watched) {
      adjust_at_ = now + HopRate::kInterval;
    } else if (path.capacity.bytes_per_second() != 0) {
      forget_at_ = std::min(forget_at_, path.capacity.over_at());
    }
  }
}

Time Paths::used_at(std::string_view daemon) const {
  const auto path = paths_.find(daemon);
  return path == paths_.end() ? Time{} : path->second.used_at;
}

Paths::Info Paths::info(Time now, std::string_view daemon) const {
  const auto found = paths_.find(daemon);
  if (found == paths_.end()) return {};
  const Path& path = found->second;
  return {path.rate.is_limited() ? path.rate.rate() : 0, path.capacity.bytes_per_second(), path.written,
          path.meter.rate(now.time_since_epoch()), path.rate.is_limited() && path.rate.next_at() > now};
}

}  // namespace spindled
