#include "daemon/group/message_sender.h"

#include <algorithm>

#include "libclient/common/limits.h"

namespace spindled {

namespace {
// What the turn's part for input counts, in names looked up: names that are only looked at to see whether they may have
// changed, a message on its way out, and the bytes of its targets, which are written and kept.
constexpr std::size_t kNamesLookedAtOfOne = 16;
constexpr std::size_t kNamesOfMessage = 4;
constexpr std::size_t kTargetBytesOfName = 512;

/// The next bytes of `chunks` behind the first `skipped`, up to the end of a chunk; empty where there are none.
Slice chunk_behind(std::span<const Slice> chunks, std::size_t skipped) {
  for (const Slice& chunk : chunks) {
    if (skipped < chunk.size()) return chunk.part(skipped);
    skipped -= chunk.size();
  }
  return {};
}

std::vector<Slice> chunks_behind(std::span<const Slice> chunks, std::size_t skipped) {
  std::vector<Slice> rest;
  for (const Slice& chunk : chunks) {
    const std::size_t left_out = std::min(skipped, chunk.size());
    if (left_out < chunk.size()) rest.push_back(chunk.part(left_out));
    skipped -= left_out;
  }
  return rest;
}
}  // namespace

Envelope envelope_of(const Sender& sender, const ClientSend& message) {
  const bool is_bundle = message.messages > 1;
  Envelope envelope;
  envelope.session = sender.session;
  envelope.sender = sender.client;
  envelope.self_discard = message.self_discard;
  envelope.has_headers = message.has_headers;
  envelope.bundle = is_bundle;
  if (!is_bundle) {
    envelope.type = message.type;
    envelope.total = message.total;
  }
  return envelope;
}

void MessageSender::resolve_anew(DestinationSet& set) const {
  // The members of the table's view are not those that anything is sent to, or it does not say yet who is where.
  if (!state_.is_current() || !state_.is_complete) {
    set.table_version = 0;
    set.daemons = MemberSet();
    return;
  }
  const std::uint64_t resolved = std::exchange(set.table_version, state_.table.version());
  state_.context.turn.count_input(set.names.size() / kNamesLookedAtOfOne);
  if (resolved != 0 && !state_.table.has_changed_since(resolved, set.names)) return;
  state_.context.turn.count_input(set.names.size());
  set.daemons = MemberSet();
  set.has_views = set.is_fresh = false;
  std::vector<Envelope::Target> targets;
  targets.reserve(set.names.size());
  for (const std::string& name : set.names) {
    const Group* group = state_.table.find(name);
    // An unordered message may arrive where the group is not known yet: until it is, the name goes with it.
    const bool by_id = group != nullptr && state_.table.is_known_to_all(*group);
    Envelope::Target& target = targets.emplace_back(Envelope::Target{by_id ? group->id : 0, name, 0});
    if (group != nullptr) {
      set.daemons |= group->subscribers;
      if (!group->is_synchronous()) continue;
      set.is_fresh = set.is_fresh || state_.table.is_fresh(*group);
      // Who has no view of it yet sends nothing to it.
      if (!state_.table.is_member(*group, state_.view.self, set.session)) continue;
      target.view = group->synchrony->round + 1;
      set.has_views = true;
    } else if (const auto parts = spindle::parse_private_name(name)) {
      if (const auto daemon = state_.view.index_of(parts->daemon)) set.daemons.insert(*daemon);
    }
  }
  set.targets = write_targets(targets, set.has_views);
}

void MessageSender::send(Time now, Sender& sender, DestinationSet& to, const ClientSend& message) {
  SPINDLE_CHECK(state_.is_ready());
  resolve(to);
  state_.context.counters.add(Counter::messages_sent, message.messages);
  if (message.messages > 1) state_.context.counters.add(Counter::messages_bundled, message.messages);
  Envelope envelope = envelope_of(sender, message);
  originate(now, sender, message, envelope, to, to.daemons);
}

void MessageSender::originate(Time now, Sender& sender, const ClientSend& message, Envelope& envelope,
                              const DestinationSet& to, const MemberSet& daemons) {
  if (daemons.empty()) return;  // the targets of nobody may be long
  state_.context.turn.count_input(kNamesOfMessage + to.targets.size() / kTargetBytesOfName);
  envelope.is_fifo = to.is_fresh && message.service == Service::fifo;
  envelope.has_views = to.has_views;
  write_envelope(encoded_, envelope, to.targets);
  encoded_.insert(encoded_.end(), message.bundle.begin(), message.bundle.end());

  OutgoingMessage outgoing;
  outgoing.message_class = MessageClass::client;
  outgoing.service = envelope.is_fifo ? Service::agreed : message.service;
  outgoing.destinations = &daemons;
  outgoing.sender = &sender.order;
  outgoing.envelope = encoded_;
  outgoing.chunks = message.chunks;
  state_.order->originate(now, outgoing);
}

// --- Large messages ---

std::uint32_t MessageSender::next_part(std::uint64_t entering, const ClientSend& message, std::size_t room) const {
  const std::size_t ahead = sent_ahead(entering);
  if (ahead == 0 && entering_.bytes() + message.total > room) return 0;
  std::size_t skipped = ahead;
  for (const Slice& chunk : message.chunks) {
    if (skipped < chunk.size()) return static_cast<std::uint32_t>(chunk.size() - skipped);
    skipped -= chunk.size();
  }
  return 0;
}

std::uint64_t MessageSender::send_part(Time now, const Sender& sender, DestinationSet& to, const ClientSend& message,
                                       std::uint64_t entering, std::size_t bytes) {
  SPINDLE_CHECK(state_.is_ready());
  EnteringMessages::Entering* found = entering_.find(entering);
  if (found == nullptr) {
    resolve(to);
    entering = entering_.begin({sender.session, to.daemons, message.total, 0});
    found = entering_.find(entering);
  }
  const Slice payload = chunk_behind(message.chunks, found->ahead).part(0, bytes);
  SPINDLE_CHECK(payload.size() == bytes && found->ahead + bytes < found->total);
  found->ahead += static_cast<std::uint32_t>(bytes);
  state_.context.counters.add(Counter::parts_sent);
  originate_part(now, found->daemons, write_part_head(entering, found->total), std::span(&payload, 1));
  return entering;
}

void MessageSender::originate_part(Time now, const MemberSet& daemons, ByteView head, std::span<const Slice> payload) {
  state_.context.turn.count_input(kNamesOfMessage);
  OutgoingMessage outgoing;
  outgoing.message_class = MessageClass::part;
  outgoing.service = Service::reliable;
  outgoing.destinations = &daemons;
  outgoing.envelope = head;
  outgoing.chunks = payload;
  state_.order->originate(now, outgoing);
}

void MessageSender::send_rest(Time now, Sender& sender, DestinationSet& to, const ClientSend& message,
                              std::uint64_t entering) {
  const EnteringMessages::Entering* found = entering_.find(entering);
  if (found == nullptr) return send(now, sender, to, message);
  SPINDLE_CHECK(state_.is_ready());
  resolve(to);
  state_.context.counters.add(Counter::messages_sent);
  Envelope envelope = envelope_of(sender, message);
  envelope.parts = entering;
  // A daemon that has got a member since the first part lacks them. One that has no member any more lets go of them.
  envelope.ahead = to.daemons.is_subset_of(found->daemons) ? found->ahead : 0;
  const MemberSet daemons = found->daemons | to.daemons;
  const std::vector<Slice> rest = chunks_behind(message.chunks, envelope.ahead);
  ClientSend last = message;
  last.chunks = rest;
  entering_.end(entering);
  originate(now, sender, last, envelope, to, daemons);
}

void MessageSender::give_up_message(Time now, std::uint64_t entering) {
  const EnteringMessages::Entering* found = entering_.find(entering);
  if (found == nullptr) return;
  const MemberSet daemons = found->daemons;
  entering_.end(entering);
  void_parts(now, entering, daemons);
}

void MessageSender::give_up(Time now, SessionId session) {
  entering_.end_all_of(session, [&](std::uint64_t number, const EnteringMessages::Entering& entering) {
    void_parts(now, number, entering.daemons);
  });
}

void MessageSender::void_parts(Time now, std::uint64_t number, const MemberSet& daemons) {
  if (state_.is_ready()) originate_part(now, daemons, write_part_head(number, 0), {});
}

}  // namespace spindled
