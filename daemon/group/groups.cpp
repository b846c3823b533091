#include "daemon/group/groups.h"

#include <algorithm>

namespace spindled {

Envelope envelope_of(const Sender& sender, const ClientSend& message) {
  const bool is_bundle = message.messages > 1;
  Envelope envelope;
  envelope.session = sender.session;
  envelope.sender = sender.client;
  envelope.self_discard = message.self_discard;
  envelope.bundle = is_bundle;
  if (!is_bundle) {
    envelope.type = message.type;
    envelope.total = message.total;
  }
  return envelope;
}

void Groups::attach(Order& order, LocalClients& clients) {
  order_ = &order;
  clients_ = &clients;
}

// --- Messages of local sessions ---

void Groups::resolve_anew(DestinationSet& set) const {
  // The members of the table's view are not those that anything is sent to, or it does not say yet who is where.
  if (!is_current() || !ready_) {
    set.table_version = 0;
    set.daemons = MemberSet();
    return;
  }
  const std::uint64_t resolved = std::exchange(set.table_version, table_.version());
  if (resolved != 0 && !table_.has_changed_since(resolved, set.names)) return;
  set.daemons = MemberSet();
  std::vector<Envelope::Target> targets;
  targets.reserve(set.names.size());
  for (const std::string& name : set.names) {
    const Group* group = table_.find(name);
    // An unordered message may arrive where the group is not known yet: until it is, the name goes with it.
    const bool by_id = group != nullptr && table_.is_known_to_all(*group);
    targets.push_back({by_id ? group->id : 0, name});
    if (group != nullptr) {
      set.daemons |= group->subscribers;
    } else if (const auto parts = spindle::parse_private_name(name)) {
      if (const auto daemon = view_.index_of(parts->daemon)) set.daemons.insert(*daemon);
    }
  }
  set.targets = write_targets(targets);
}

void Groups::send(Time now, Sender& sender, DestinationSet& to, const ClientSend& message) {
  SPINDLE_CHECK(is_ready());
  resolve(to);
  context_.counters.add(Counter::messages_sent, message.messages);
  if (message.messages > 1) context_.counters.add(Counter::messages_bundled, message.messages);
  originate(now, sender, message, envelope_of(sender, message), to, to.daemons);
}

void Groups::originate(Time now, Sender& sender, const ClientSend& message, const Envelope& envelope,
                       const DestinationSet& to, const MemberSet& daemons) {
  write_envelope(encoded_, envelope, to.targets);
  encoded_.insert(encoded_.end(), message.bundle.begin(), message.bundle.end());

  OutgoingMessage outgoing;
  outgoing.message_class = MessageClass::client;
  outgoing.service = message.service;
  outgoing.destinations = &daemons;
  outgoing.sender = &sender.order;
  outgoing.envelope = encoded_;
  outgoing.chunks = message.chunks;
  order_->originate(now, outgoing);
}

// --- Into the order ---

void Groups::originate(Time now, const GroupOperation& operation) {
  originate(now, operation, MemberSet::first(view_.size()));
}

void Groups::originate(Time now, const GroupOperation& operation, const MemberSet& destinations) {
  const std::vector<std::uint8_t> content = write_operation(operation);
  OutgoingMessage message;
  message.message_class = MessageClass::group;
  message.service = Service::agreed;
  message.destinations = &destinations;
  message.envelope = content;
  order_->originate(now, message);
}

void Groups::take(Time now, Subscriptions::Step step, const std::string& group) {
  // While a view ends nothing can be sent, and nothing needs to be: the subscriptions start over in the next one.
  if (!is_ready()) return;
  if (step == Subscriptions::Step::subscribe) originate(now, Subscribe{group});
  if (step == Subscriptions::Step::unsubscribe) originate(now, Unsubscribe{group});
}

std::size_t Groups::local_members_of(const std::string& name) const {
  const Group* group = table_.find(name);
  return group == nullptr ? 0 : group->members_of(view_.self).size();
}

// --- Out of the order ---

void Groups::deliver(Time now, const Delivery& message) {
  if (message.message_class == MessageClass::group) {
    route_.forget();
    apply(now, message);
  } else if (message.message_class == MessageClass::part) {
    take_part(message);
  } else if (ready_) {
    deliver_client_message(message);
  } else if (message.position == 0) {
    early_.add(message);
  } else {
    log_.error("a message was ordered before the group table of its view was complete: dropped");
  }
}

void Groups::horizon_advanced(Time now, std::uint64_t position) {
  table_.known_to_all(position);
  horizon_reached(now, position);
}

void Groups::deliver_client_message(const Delivery& message) {
  const bool known = route_.fits(message.origin, message.first.view()) || resolve_route(message);
  const Envelope& envelope = route_.envelope();
  if (!known || !(envelope.bundle ? open_bundle(message) : collect_chunks(message))) {
    log_.error("a malformed message of {} was dropped", view_.members[message.origin].name);
    return;
  }
  if (message.service == Service::safe && !together_.empty()) signal_targets();
  if (!route_.receivers.empty()) {
    count_delivery(chunks_.size());
    if (envelope.bundle) {
      clients_->deliver_bundle(route_.receivers, {message.service, route_.names, route_.packed, bundled_});
    } else {
      clients_->deliver_message(route_.receivers,
                                {message.service, envelope.type, route_.names, route_.packed, envelope.total, chunks_});
    }
  }
  chunks_.clear();  // lets go of the slabs
}

bool Groups::open_bundle(const Delivery& message) {
  const ByteView bundle = message.first.view().subspan(route_.envelope_size());
  if (!message.rest.empty() || bundle.size() > kBundleWeightMax || !read_bundle(bundle, bundled_)) return false;
  std::size_t weight = 0;
  for (const BundledMessage& each : bundled_) weight += bundle_weight(each.payload.size(), route_.packed.size());
  return weight <= kBundleWeightMax;
}

const Group* Groups::find(const Envelope::Target& target) const {
  return target.group != 0 ? table_.find(target.group) : table_.find(target.name);
}

bool Groups::resolve_route(const Delivery& message) {
  if (!route_.start(message.origin, message.first)) return false;
  const Envelope& envelope = route_.envelope();
  bool to_clients = false;
  for (const Envelope::Target& target : envelope.targets) to_clients = add_target(target) || to_clients;
  std::vector<SessionId>& receivers = route_.receivers;
  if (envelope.targets.size() > 1) {  // a client in several of the groups gets the message once
    std::sort(receivers.begin(), receivers.end());
    receivers.erase(std::unique(receivers.begin(), receivers.end()), receivers.end());
  }
  if (envelope.self_discard && message.origin == view_.self) std::erase(receivers, envelope.session);
  sender_.clear();
  sender_.append("#").append(envelope.sender).append("#").append(view_.members[message.origin].name);
  spindle::protocol::pack_names(route_.packed, sender_, route_.names);
  // Clients come and go without a change of the group table.
  if (!to_clients) route_.keep();
  return true;
}

bool Groups::add_target(const Envelope::Target& target) {
  const Group* group = find(target);
  if (group != nullptr) add_local_members(*group, route_.receivers);
  const std::string_view name = target.group != 0 ? table_.name_of(target.group) : target.name;
  if (!name.empty()) route_.names.push_back(name);
  const auto parts = spindle::parse_private_name(name);
  if (!parts) return false;
  if (parts->daemon != context_.config.name) return true;
  if (const auto session = clients_->find_client(parts->client)) route_.receivers.push_back(*session);
  return true;
}

void Groups::add_local_members(const Group& group, std::vector<SessionId>& to) const {
  for (const GroupMember& member : group.members_of(view_.self)) {
    if (untold_.empty() || !untold_.contains({group.id, member.session()})) to.push_back(member.session());
  }
}

std::vector<SessionId> Groups::local_members(const Group& group) const {
  std::vector<SessionId> sessions;
  for (const GroupMember& member : group.members_of(view_.self)) sessions.push_back(member.session());
  return sessions;
}

bool Groups::collect_chunks(const Delivery& message) {
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
  return total == route_.envelope().total;
}

}  // namespace spindled
