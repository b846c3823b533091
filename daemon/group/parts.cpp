// Groups: large messages, whose payload goes ahead of them in parts.
#include <algorithm>

#include "daemon/group/groups.h"
#include "libclient/common/limits.h"

namespace spindled {

namespace {
using spindle::kChunkBytesMax;

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

// --- Into the order ---

std::size_t Groups::next_part(std::uint64_t entering, const ClientSend& message) const {
  const std::size_t ahead = sent_ahead(entering);
  if (ahead == 0 && !entering_.has_room_for(message.total)) return 0;
  return chunk_behind(message.chunks, ahead).size();
}

std::uint64_t Groups::send_part(Time now, const Sender& sender, DestinationSet& to, const ClientSend& message,
                                std::uint64_t entering, std::size_t bytes) {
  SPINDLE_CHECK(is_ready());
  EnteringMessages::Entering* found = entering_.find(entering);
  if (found == nullptr) {
    resolve(to);
    entering = entering_.begin({sender.session, to.daemons, message.total, 0});
    found = entering_.find(entering);
  }
  const Slice payload = chunk_behind(message.chunks, found->ahead).part(0, bytes);
  SPINDLE_CHECK(payload.size() == bytes && found->ahead + bytes < found->total);
  found->ahead += static_cast<std::uint32_t>(bytes);
  context_.counters.add(Counter::parts_sent);
  originate_part(now, found->daemons, write_part_head(entering, found->total), std::span(&payload, 1));
  return entering;
}

void Groups::originate_part(Time now, const MemberSet& daemons, ByteView head, std::span<const Slice> payload) {
  OutgoingMessage outgoing;
  outgoing.message_class = MessageClass::part;
  outgoing.service = Service::reliable;
  outgoing.destinations = &daemons;
  outgoing.envelope = head;
  outgoing.chunks = payload;
  order_->originate(now, outgoing);
}

void Groups::send_rest(Time now, Sender& sender, DestinationSet& to, const ClientSend& message,
                       std::uint64_t entering) {
  const EnteringMessages::Entering* found = entering_.find(entering);
  if (found == nullptr) return send(now, sender, to, message);
  SPINDLE_CHECK(is_ready());
  resolve(to);
  context_.counters.add(Counter::messages_sent);
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

void Groups::give_up_entering(Time now, SessionId session) {
  entering_.end_all_of(session, [&](std::uint64_t number, const EnteringMessages::Entering& entering) {
    if (is_ready()) originate_part(now, entering.daemons, write_part_head(number, 0), {});
  });
}

// --- Out of the order ---

void Groups::take_part(const Delivery& message) {
  std::vector<std::uint8_t> storage;
  const std::optional<Part> part = read_part(message.contiguous(storage));
  if (!part || !partial_.add(message.origin, *part)) {
    log_.error("a part of a message of {} makes no sense and was dropped", view_.members[message.origin].name);
  }
  context_.turn.count_step(1);
}

bool Groups::put_together(MemberIndex origin) {
  const Envelope& envelope = route_.envelope();
  std::optional<std::vector<std::uint8_t>> payload = partial_.take(origin, envelope.parts);
  if (envelope.ahead == 0) return true;  // all of it follows, for who lacks them
  if (!payload || payload->size() != envelope.ahead) return false;
  for (const Slice& chunk : chunks_) payload->insert(payload->end(), chunk.data(), chunk.data() + chunk.size());
  chunks_.clear();
  const ByteView all = *payload;
  for (std::size_t at = 0; at < all.size(); at += kChunkBytesMax) {
    chunks_.push_back(context_.arena.copy(all.subspan(at, std::min(kChunkBytesMax, all.size() - at))));
  }
  return true;
}

}  // namespace spindled
