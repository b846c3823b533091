#include "daemon/link/links.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/link/hello.h"
#include "daemon/link/link_limits.h"
#include "daemon/link/links_entry.h"

namespace spindled {

Links::Links(Context& context, Driver& driver)
    : context_(context),
      driver_(driver),
      log_(context.log_sink, "link"),
      hello_(make_hello(context.config)),
      neighbours_(context.config.link, context.random.split()),
      partition_(context.config.name) {}

Links::~Links() = default;

void Links::attach(LinkEvents& events) { events_ = &events; }

void Links::start(Time now) {
  SPINDLE_CHECK(events_ != nullptr);
  neighbours_.start(now);
  dial_due(now);
}

void Links::stop(Time now) {
  stopping_ = true;
  neighbours_.stop();
  const Error reason{Errc::daemon_stopping, fmt::format("{} is stopping", context_.config.name)};
  std::vector<ConnectionId> connections;
  for (const auto& [connection, entry] : entries_) connections.push_back(connection);
  for (const ConnectionId connection : connections) {
    Entry* entry = find(connection);
    if (entry != nullptr && entry->link.phase() != LinkPhase::closing) end(now, *entry, reason, Ending::here);
  }
}

bool Links::is_stopped() const { return stopping_ && entries_.empty(); }

// Inputs.

void Links::handle_accepted(Time now, ConnectionId connection, const Peer& peer) {
  Entry& entry = add(now, connection, peer.address, false);
  entry.link.set_identity(peer.identity);
  const auto pending = std::count_if(entries_.begin(), entries_.end(), [](const auto& item) {
    return !item.second->link.dialled() && !item.second->link.is_established();
  });
  if (stopping_) {
    end(now, entry, {Errc::daemon_stopping, fmt::format("{} is stopping", context_.config.name)}, Ending::here);
  } else if (static_cast<std::size_t>(pending) > kPendingAcceptedMax) {
    end(now, entry, {Errc::limit_exceeded, "too many connections are in their handshake"}, Ending::here);
    // No lingering: the bound holds whatever the kernel takes.
    if (find(connection) != nullptr) {
      driver_.close(connection);
      remove(entry);
    }
  } else {
    send_hello(now, entry);
  }
}

void Links::handle_connected(Time now, ConnectionId connection, std::string_view identity) {
  Entry* entry = find(connection);
  if (entry == nullptr) return;
  entry->link.set_identity(identity);
  entry->link.enter(LinkPhase::handshake);
  set_deadline(*entry, now + context_.config.link.handshake_timeout);
  send_hello(now, *entry);
}

std::span<std::uint8_t> Links::read_space(ConnectionId connection) {
  Entry* entry = find(connection);
  SPINDLE_CHECK(entry != nullptr);
  return entry->link.read_space();
}

void Links::handle_read(Time now, ConnectionId connection, std::size_t bytes) {
  Entry* entry = find(connection);
  SPINDLE_CHECK(entry != nullptr);
  Link& link = entry->link;
  link.handle_read(now, bytes);
  while (link.phase() != LinkPhase::closing) {
    Result<std::optional<Link::Frame>> frame = link.next_frame();
    if (!frame) {
      end(now, *entry, frame.error(), Ending::here);
    } else if (!frame->has_value()) {
      return;
    } else {
      handle_frame(now, *entry, std::move(**frame));
    }
  }
  link.discard_input();
}

void Links::handle_writable(Time, ConnectionId connection) {
  Entry* entry = find(connection);
  if (entry == nullptr) return;
  entry->link.handle_writable();
  touch(*entry);
}

void Links::handle_closed(Time now, ConnectionId connection, std::string_view why) {
  Entry* entry = find(connection);
  if (entry == nullptr) return;
  if (entry->link.phase() == LinkPhase::closing) {
    remove(*entry);
    return;
  }
  const bool dialling = entry->link.phase() == LinkPhase::dialling;
  end(now, *entry, {dialling ? Errc::connect_failed : Errc::link_failed, std::string(why)}, Ending::lost);
}

void Links::handle_time(Time now) {
  handle_partition_time(now);
  handle_deadlines(now);
  if (!stopping_) dial_due(now);
  if (now >= tick_at_) tick(now);
  if (now >= silent_at_) close_silent(now);
}

Time Links::next_deadline() const {
  const Time deadline = deadlines_.empty() ? kNever : deadlines_.begin()->first;
  return std::min({deadline, neighbours_.next_dial(), tick_at_, silent_at_, enforce_at_, partition_.expires_at()});
}

void Links::flush(Time now) {
  if (std::exchange(overflow_, false)) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Entry* entry = slots_[i];
      if (entry == nullptr || !entry->link.is_established() || !entry->link.overflowed()) continue;
      end(now, *entry,
          {Errc::limit_exceeded,
           fmt::format("{} does not read: {} bytes wait for it", entry->link.peer().name, entry->link.queue().bytes())},
          Ending::here);
    }
  }
  // Writing hands up no events, so nothing is touched on the way.
  for (const ConnectionId connection : touched_) {
    Entry* entry = find(connection);
    if (entry == nullptr) continue;
    entry->touched = false;
    if (entry->link.write() && entry->link.phase() == LinkPhase::closing) {
      driver_.close(connection);
      remove(*entry);
    }
  }
  touched_.clear();
  removed_.clear();
}

// Output.

void Links::send_control(LinkId link, const Slice& message) {
  if (sendable(link) == nullptr) return;
  if (message.size() <= kControlFrameBytesMax) {
    send(link, LinkFrame::control, message);
  } else {
    constexpr std::size_t kPartBytesMax = kControlFrameBytesMax - 1;
    for (std::size_t at = 0; at < message.size(); at += kPartBytesMax) {
      const std::uint8_t is_last = at + kPartBytesMax >= message.size() ? 1 : 0;
      send(link, LinkFrame::control_part, {&is_last, 1}, message.part(at, kPartBytesMax), {});
    }
  }
  context_.counters.add(Counter::control_out);
}

void Links::send(LinkId link, LinkFrame type, const Slice& content) { send(link, type, {}, content, {}); }

void Links::send(LinkId link, LinkFrame type, ByteView prefix, const Slice& head, const Slice& tail) {
  Entry* entry = sendable(link);
  if (entry == nullptr) return;
  entry->link.send(type, prefix, head, tail);
  touch(*entry);
}

void Links::drop_queued(LinkId link, FramePriority priority) {
  if (Entry* entry = sendable(link)) entry->link.drop_queued(priority);
}

void Links::close(Time now, LinkId link, Error reason) {
  if (Entry* entry = sendable(link)) end(now, *entry, reason, Ending::here);
}

// What is known.

std::vector<LinkId> Links::established() const {
  std::vector<LinkId> result;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i] != nullptr && slots_[i]->link.is_established()) result.push_back(static_cast<LinkId>(i));
  }
  return result;
}

bool Links::is_established(LinkId link) const {
  const auto index = static_cast<std::size_t>(link);
  return index < slots_.size() && slots_[index] != nullptr && slots_[index]->link.is_established();
}

LinkInfo Links::info(LinkId id) const {
  const Link& link = at(id);
  LinkInfo info;
  info.peer = link.peer();
  info.address = link.address();
  info.identity = link.identity();
  info.dialled = link.dialled();
  info.configured_weight = neighbours_.weight_of(link.peer().name);
  info.round_trip = link.round_trip();
  info.up_since = link.up_since();
  info.queued_bytes = link.queue().bytes();
  info.queued_packets = link.queue().packets();
  info.bytes_in = link.bytes_in();
  info.bytes_out = link.bytes_out();
  info.frames_in = link.frames_in();
  info.frames_out = link.frames_out();
  return info;
}

const DaemonId& Links::peer(LinkId link) const { return at(link).peer(); }

Duration Links::round_trip(LinkId link) const { return at(link).round_trip(); }

Duration Links::path_round_trip(LinkId link) const { return at(link).path_round_trip(); }

std::size_t Links::queued_bytes(LinkId link, FramePriority priority) const { return at(link).queue().bytes(priority); }

Links::QueueLength Links::queue_length(LinkId link) const {
  const Link& of = at(link);
  return {of.is_blocked() ? of.queue().packets() : 0, of.queue().departed_packets(), of.queue().departed_squares()};
}

std::vector<NeighbourInfo> Links::unconnected() const {
  std::vector<NeighbourInfo> result;
  for (const Neighbours::Neighbour& neighbour : neighbours_.all()) {
    if (!neighbour.known_peer.empty() && established_to(neighbour.known_peer) != nullptr) continue;
    result.push_back({neighbour.config.address, neighbour.last_error, neighbour.next_dial});
  }
  return result;
}

// The table.

Links::Entry* Links::find(ConnectionId connection) const {
  const auto found = entries_.find(connection);
  return found == entries_.end() ? nullptr : found->second.get();
}

const Link& Links::at(LinkId link) const {
  const auto index = static_cast<std::size_t>(link);
  SPINDLE_CHECK(index < slots_.size() && slots_[index] != nullptr);
  return slots_[index]->link;
}

Links::Entry* Links::sendable(LinkId link) const {
  return !stopping_ && is_established(link) ? slots_[static_cast<std::size_t>(link)] : nullptr;
}

Links::Entry* Links::established_to(const DaemonId& peer) const {
  const auto found = by_peer_.find(peer);
  return found == by_peer_.end() ? nullptr : found->second;
}

Links::Entry* Links::established_to(std::string_view name) const {
  Entry* last = nullptr;
  for (auto at = by_peer_.lower_bound({std::string(name), 0}); at != by_peer_.end() && at->first.name == name; ++at) {
    if (last == nullptr || at->second->link.up_since() >= last->link.up_since()) last = at->second;
  }
  return last;
}

std::optional<LinkId> Links::established_with(std::string_view peer) const {
  const Entry* entry = established_to(peer);
  return entry == nullptr ? std::nullopt : entry->slot;
}

Links::Entry& Links::add(Time now, ConnectionId connection, std::string_view address, bool dialled) {
  auto& slot = entries_[connection];
  SPINDLE_CHECK(slot == nullptr);
  slot = std::make_unique<Entry>(context_, driver_, connection, std::string(address), dialled, now);
  set_deadline(*slot, now + (dialled ? kDialTimeout : context_.config.link.handshake_timeout));
  return *slot;
}

void Links::touch(Entry& entry) {
  overflow_ |= entry.link.overflowed();
  if (std::exchange(entry.touched, true)) return;
  touched_.push_back(entry.link.connection());
}

void Links::set_deadline(Entry& entry, Time deadline) {
  const ConnectionId connection = entry.link.connection();
  if (entry.deadline != kNever) deadlines_.erase({entry.deadline, connection});
  entry.deadline = deadline;
  if (deadline != kNever) deadlines_.insert({deadline, connection});
}

void Links::remove(Entry& entry) {
  set_deadline(entry, kNever);
  const auto found = entries_.find(entry.link.connection());
  removed_.push_back(std::move(found->second));
  entries_.erase(found);
}

// Time.

void Links::dial_due(Time now) {
  while (const std::optional<Neighbours::Index> index = neighbours_.take_due(now)) {
    const Neighbours::Neighbour& neighbour = neighbours_.all()[*index];
    if (!neighbour.known_peer.empty() && established_to(neighbour.known_peer) != nullptr) {
      neighbours_.park(*index);
      continue;
    }
    const ConnectionId connection = driver_.dial(neighbour.config.address);
    add(now, connection, neighbour.config.address, true).neighbour = *index;
  }
}

void Links::handle_deadlines(Time now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Entry& entry = *find(deadlines_.begin()->second);
    set_deadline(entry, kNever);
    switch (entry.link.phase()) {
      case LinkPhase::dialling:
        end(now, entry, {Errc::connect_failed, "the address did not answer"}, Ending::here);
        break;
      case LinkPhase::handshake:
      case LinkPhase::waiting:
        end(now, entry, {Errc::handshake_timeout, {}}, Ending::here);
        break;
      case LinkPhase::established:
        SPINDLE_CHECK(false);
        break;
      case LinkPhase::closing:
        driver_.close(entry.link.connection());
        remove(entry);
        break;
    }
  }
}

void Links::tick(Time now) {
  const LinkConfig& config = context_.config.link;
  // A daemon that was suspended finds its deadlines before the bytes that came meanwhile.
  const Duration lapse = now - tick_at_ > config.hello_interval ? now - tick_at_ : Duration::zero();
  for (Entry* entry : slots_) {
    if (entry == nullptr) continue;
    entry->link.excuse(now, lapse);
    entry->link.send_ping(now);
    touch(*entry);
  }
  tick_at_ = by_peer_.empty() ? kNever : now + config.hello_interval;
}

void Links::close_silent(Time now) {
  silent_at_ = kNever;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Entry* entry = slots_[i];
    if (entry == nullptr) continue;
    if (entry->link.silent_at() <= now) {
      end(now, *entry, {Errc::silent_peer, {}}, Ending::here);
    } else {
      silent_at_ = std::min(silent_at_, entry->link.silent_at());
    }
  }
}

}  // namespace spindled
