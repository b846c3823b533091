#include "daemon/group/message_delivery.h"

#include <algorithm>

#include "libclient/common/limits.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/header_block.h"

namespace spindled {

void MessageDelivery::deliver(Time, const Delivery& message) {
  if (message.message_class == MessageClass::part) return take_part(message);
  if (state_.is_complete) {
    deliver_now(message);
  } else if (message.position == 0) {
    early_.add(message);
  } else {
    state_.log.error("a message was ordered before the group table of its view was complete: dropped");
  }
}

bool MessageDelivery::deliver_early() {
  if (early_.empty()) return false;
  deliver_now(early_.take_first());
  return true;
}

void MessageDelivery::restart() {
  early_.clear();
  partial_.clear();
  route_.forget();
}

void MessageDelivery::deliver_now(const Delivery& message) {
  const bool known = route_.fits(message.origin, message.first.view()) || resolve_route(message);
  const Envelope& envelope = route_.envelope();
  if (!known || !(envelope.bundle ? open_bundle(message) : collect_chunks(message))) {
    state_.log.error("a malformed message of {} was dropped", state_.view.members[message.origin].name);
    return;
  }
  if (message.service == Service::safe && signals_.are_due()) signal_targets(message.origin);
  count_work(chunks_.size());
  if (!route_.receivers.empty()) {
    OrderedAt at;
    if (message.is_placed && !envelope.is_fifo) at = {&state_.view.id, state_.changes, message.position};
    const Service service = envelope.is_fifo ? Service::fifo : message.service;
    if (envelope.bundle) {
      state_.clients->deliver_bundle(route_.receivers,
                                     {service, route_.names, route_.packed, bundled_, at, envelope.has_headers});
    } else {
      state_.clients->deliver_message(route_.receivers, {service, envelope.type, route_.names, route_.packed,
                                                         envelope.total, chunks_, at, envelope.has_headers});
    }
  }
  chunks_.clear();  // lets go of the slabs
}

/// Whether headers are there, where they are to be.
bool MessageDelivery::begins_as_said(ByteView payload) const {
  return !route_.envelope().has_headers || spindle::protocol::header_block_size(payload) != 0;
}

bool MessageDelivery::open_bundle(const Delivery& message) {
  const ByteView bundle = message.first.view().subspan(route_.envelope_size());
  if (!message.rest.empty() || bundle.size() > kBundleWeightMax || !read_bundle(bundle, bundled_)) return false;
  std::size_t weight = 0;
  for (const BundledMessage& each : bundled_) {
    weight += bundle_weight(each.payload.size(), route_.packed.size());
    if (!begins_as_said(each.payload)) return false;
  }
  return weight <= kBundleWeightMax;
}

const Group* MessageDelivery::find(MemberIndex origin, const Envelope::Target& target) const {
  const Group* group = target.group != 0 ? state_.table.find(target.group) : state_.table.find(target.name);
  const bool is_synchronous = group != nullptr && group->is_synchronous();
  if (is_synchronous && !flushes_.is_for_members(*group, origin, target.view)) return nullptr;
  return group;
}

bool MessageDelivery::resolve_route(const Delivery& message) {
  if (!route_.start(message.origin, message.first)) return false;
  const Envelope& envelope = route_.envelope();
  state_.context.turn.count_step(envelope.targets.size() / TurnWork::kNamesOfUnit);
  for (const Envelope::Target& target : envelope.targets) add_target(message.origin, target);
  std::vector<SessionId>& receivers = route_.receivers;
  if (envelope.targets.size() > 1) {  // a client in several of the groups gets the message once
    std::sort(receivers.begin(), receivers.end());
    receivers.erase(std::unique(receivers.begin(), receivers.end()), receivers.end());
  }
  if (envelope.self_discard && message.origin == state_.view.self) std::erase(receivers, envelope.session);
  sender_.clear();
  sender_.append("#").append(envelope.sender).append("#").append(state_.view.members[message.origin].name);
  spindle::protocol::pack_names(route_.packed, sender_, route_.names);
  route_.keep();
  return true;
}

void MessageDelivery::add_target(MemberIndex origin, const Envelope::Target& target) {
  const Group* group = find(origin, target);
  if (group != nullptr) state_.add_local_members(*group, route_.receivers);
  const std::string_view name = target.group != 0 ? state_.table.name_of(target.group) : target.name;
  if (!name.empty()) route_.names.push_back(name);
  const auto parts = spindle::parse_private_name(name);
  if (!parts || parts->daemon != state_.context.config.name) return;
  if (const auto session = state_.clients->find_client(parts->client)) route_.receivers.push_back(*session);
}

void MessageDelivery::signal_targets(MemberIndex origin) {
  for (const Envelope::Target& target : route_.envelope().targets) {
    if (const Group* group = find(origin, target)) signals_.signal_group(*group);
  }
}

bool MessageDelivery::collect_chunks(const Delivery& message) {
  const std::size_t envelope_size = route_.envelope_size();
  chunks_.clear();
  if (envelope_size < message.first.size()) chunks_.push_back(message.first.part(envelope_size));
  chunks_.insert(chunks_.end(), message.rest.begin(), message.rest.end());
  if (route_.envelope().parts != 0 && !put_together(message.origin)) return false;
  std::size_t total = 0;
  for (const Slice& chunk : chunks_) {
    if (chunk.size() > spindle::kChunkBytesMax) return false;
    total += chunk.size();
  }
  return total == route_.envelope().total && begins_as_said(first_view(chunks_));
}

// --- Parts ---

void MessageDelivery::take_part(const Delivery& message) {
  std::vector<std::uint8_t> storage;
  const std::optional<Part> part = read_part(message.contiguous(storage));
  if (!part || !partial_.add(message.origin, *part)) {
    state_.log.error("a part of a message of {} makes no sense and was dropped",
                     state_.view.members[message.origin].name);
  }
  state_.context.turn.count_step(1);
}

bool MessageDelivery::put_together(MemberIndex origin) {
  const Envelope& envelope = route_.envelope();
  std::optional<std::vector<std::uint8_t>> payload = partial_.take(origin, envelope.parts);
  if (envelope.ahead == 0) return true;  // all of it follows, for who lacks them
  if (!payload || payload->size() != envelope.ahead) return false;
  for (const Slice& chunk : chunks_) payload->insert(payload->end(), chunk.data(), chunk.data() + chunk.size());
  chunks_.clear();
  const ByteView all = *payload;
  for (std::size_t at = 0; at < all.size(); at += spindle::kChunkBytesMax) {
    chunks_.push_back(state_.context.arena.copy(all.subspan(at, std::min(spindle::kChunkBytesMax, all.size() - at))));
  }
  return true;
}

}  // namespace spindled
