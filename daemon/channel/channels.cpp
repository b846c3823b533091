#include "daemon/channel/channels.h"

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

namespace protocol = spindle::protocol;

Channels::Channels(Context& context, Groups& groups)
    : context_(context), log_(context.log_sink, "channel"), groups_(groups) {
  for (std::size_t i = 0; i < kChannelOperations; ++i) {
    const auto number = static_cast<std::uint8_t>(kChannelOperationMin + i);
    groups.handle(number, [this, number](Time now, const Delivery& message, ByteView content) {
      return deliver(now, message, number, content);
    });
  }
  groups.observe(*this);
}

bool Channels::is_of(const BulkChannelId& id, MemberIndex daemon) const {
  const DaemonId& member = groups_.view().members[daemon];
  return member.name == id.daemon && member.incarnation == id.incarnation;
}

// --- Into the order ---

void Channels::originate(Time now, const ChannelOperation& operation) {
  groups_.originate(now, number_of(operation), write_channel_operation(operation));
}

Channels::Refusal Channels::ask(Time now, const ChannelClient& client, const protocol::BulkOffer& offer) {
  std::size_t& offers = offers_[client.session];
  if (offers >= kOffersMax || !table_.has_room(0)) {
    if (offers == 0) offers_.erase(client.session);
    return Errc::too_many_channels;
  }
  ++offers;
  const DaemonId& self = groups_.view().members[groups_.view().self];
  ChannelOffered offered{{self.name, self.incarnation, ++last_number_},
                         offer.group,
                         client.session,
                         std::string(client.name),
                         offer.terms};
  entering_[last_number_] = {client.session, offer.request};
  originate(now, offered);
  return std::nullopt;
}

std::optional<Channels::Entering> Channels::take_entering(const BulkChannelId& id) {
  if (!is_own(id)) return std::nullopt;
  const auto entering = entering_.extract(id.number);
  return entering.empty() ? std::nullopt : std::optional(entering.mapped());
}

Result<const Channel*> Channels::find_own(const ChannelClient& client, const BulkChannelId& id) const {
  const Channel* channel = table_.find(id);
  if (channel == nullptr) return fail(Errc::unknown_channel);
  if (!is_own(id) || channel->source != client.session) return fail(Errc::access_denied);
  return channel;
}

Channels::Refusal Channels::ask(Time now, const ChannelClient& client, const protocol::BulkSeal& seal) {
  const Result<const Channel*> channel = find_own(client, seal.channel);
  if (!channel) return channel.error().code;
  if ((*channel)->is_sealed() || !(*channel)->terms.layout.sealed(seal.size)) return Errc::bad_argument;
  originate(now, ChannelSealed{seal.channel, seal.size, seal.root});
  return std::nullopt;
}

Channels::Refusal Channels::ask(Time now, const ChannelClient& client, const protocol::BulkCancel& cancel) {
  const Result<const Channel*> channel = find_own(client, cancel.channel);
  if (!channel) return channel.error().code;
  originate(now, ChannelCancelled{cancel.channel});
  return std::nullopt;
}

Channels::Refusal Channels::ask(Time now, const ChannelClient& client, const protocol::BulkSetRate& rate) {
  const Result<const Channel*> channel = find_own(client, rate.channel);
  if (!channel) return channel.error().code;
  originate(now, ChannelRateSet{rate.channel, rate.bytes_per_second});
  return std::nullopt;
}

Channels::Refusal Channels::ask(Time now, const ChannelClient& client, const protocol::BulkOutcomeSaid& said) {
  const Channel* channel = table_.find(said.channel);
  if (channel == nullptr) return Errc::unknown_channel;
  if (is_own(said.channel) && channel->source == client.session) return Errc::bad_argument;
  if (!groups_.requests().is_member(client.session, channel->group)) return Errc::not_a_member;
  const ChannelReceiver* receiver = channel->find(self_in(*channel), client.session);
  // What changes nothing keeps no channel from its end.
  if (receiver != nullptr && !may_follow(receiver->outcome, said.outcome)) return std::nullopt;
  progress_.add(said.channel, {client.session, said.outcome, said.code});
  flush_progress_soon(now);
  return std::nullopt;
}

void Channels::flush_progress_soon(Time now) {
  timers_.set_earlier(Timer::progress, std::max(now + kProgressDelay, progressed_at_ + kProgressPeriod));
}

void Channels::flush_progress(Time now) {
  if (!groups_.is_ready()) return;  // `opened` does
  timers_.stop(Timer::progress);
  if (!progress_.empty()) progressed_at_ = now;
  while (!progress_.empty()) originate(now, progress_.take());
}

void Channels::close_session(Time now, SessionId session) {
  events_->session_closed(now, session);
  if (progress_.has(session)) flush_progress(now);
  if (offers_.erase(session) == 0) return;
  if (groups_.is_ready()) {
    originate(now, ChannelSourceGone{session});
  } else {
    departed_.push_back(session);
  }
}

void Channels::member_leaves(Time now, SessionId session) {
  if (progress_.has(session)) flush_progress(now);
}

// --- Out of the order ---

bool Channels::deliver(Time now, const Delivery& message, std::uint8_t number, ByteView content) {
  std::optional<ChannelOperation> operation = read_channel_operation(number, content);
  if (!operation) return false;
  context_.turn.begin_step();
  context_.turn.count(1);
  return std::visit([&](auto& known) { return apply(now, message, known); }, *operation);
}

ChannelReceivers Channels::audience_of(const ChannelOffered& offered, MemberIndex origin) {
  ChannelReceivers audience;
  const Group* group = groups_.table().find(offered.group);
  if (group == nullptr) return audience;
  context_.turn.count(group->members.size());
  audience.reserve(group->members.size());
  for (const GroupMember& member : group->members) {
    const bool is_source = member.daemon() == origin && member.session() == offered.session;
    if (!is_source && group->has_view(member)) audience.push_back({member.daemon(), member.session()});
  }
  std::sort(audience.begin(), audience.end(), [](const ChannelReceiver& a, const ChannelReceiver& b) {
    return std::pair(a.daemon, a.session) < std::pair(b.daemon, b.session);
  });
  return audience;
}

bool Channels::apply(Time now, const Delivery& message, ChannelOffered& operation) {
  if (!is_of(operation.id, message.origin) || table_.find(operation.id) != nullptr) return false;
  ChannelReceivers audience = audience_of(operation, message.origin);
  if (!table_.has_room(audience.size())) {
    const auto entering = take_entering(operation.id);
    if (!entering) return true;
    const auto offers = offers_.find(operation.session);
    if (offers != offers_.end() && --offers->second == 0) offers_.erase(offers);
    clients_->refuse_channel_request(operation.session, entering->request, Errc::too_many_channels);
    return true;
  }
  Channel added;
  added.id = operation.id;
  added.group = std::move(operation.group);
  added.source = operation.session;
  added.client = std::move(operation.client);
  added.terms = std::move(operation.terms);
  added.audience = std::move(audience);
  const Channel& channel = table_.add(std::move(added));
  ends_.note_active(now, channel);
  if (!groups_.tells_changes_later()) tell_offered(now, channel);
  events_->channel_offered(now, channel);
  return true;
}

bool Channels::apply(Time now, const Delivery& message, const ChannelSealed& operation) {
  if (!is_of(operation.id, message.origin)) return false;
  if (!table_.seal(operation)) return true;
  const Channel& channel = *table_.find(operation.id);
  ends_.note_active(now, channel);
  told_.tell_sealed(channel);
  events_->channel_sealed(now, channel);
  look(now, message.position, operation.id);
  return true;
}

bool Channels::apply(Time now, const Delivery& message, const ChannelProgress& operation) {
  groups_.do_in_steps(now, [this, operation, origin = message.origin, position = message.position,
                            next = std::size_t{0}](Time later) mutable {
    note_progress(later, position, origin, operation.channels[next++]);
    return next == operation.channels.size();
  });
  return true;
}

void Channels::note_progress(Time now, std::uint64_t position, MemberIndex origin,
                             const ChannelProgress::OfChannel& progress) {
  context_.turn.count(1 + progress.said.size());
  const Channel* channel = table_.find(progress.id);
  if (channel == nullptr) return;
  const Group* group = groups_.table().find(channel->group);
  bool is_changed = false, is_coming = false;
  for (const ChannelProgress::Said& said : progress.said) {
    const bool is_member = group != nullptr && groups_.table().is_member(*group, origin, said.session);
    is_changed = table_.note(progress.id, origin, said, is_member) || is_changed;
    const ChannelReceiver* receiver = channel->find(origin, said.session);
    is_coming = is_coming || (receiver != nullptr && receiver->outcome == BulkOutcome::accepted);
  }
  if (is_changed || is_coming) ends_.note_active(now, *channel);
  if (!is_changed) return;
  events_->receivers_changed(now, *channel);
  look(now, position, progress.id);
  tell_returned(*channel);
}

bool Channels::apply(Time now, const Delivery& message, const ChannelCancelled& operation) {
  if (!is_of(operation.id, message.origin)) return false;
  end(now, operation.id, BulkEnd::cancelled);
  return true;
}

bool Channels::apply(Time now, const Delivery& message, const ChannelEnded& operation) {
  if (message.origin != ends_.timekeeper_of(operation.id)) return false;
  end(now, operation.id, operation.why);
  return true;
}

bool Channels::apply(Time now, const Delivery& message, const ChannelRateSet& operation) {
  if (!is_of(operation.id, message.origin)) return false;
  if (table_.set_rate(operation.id, operation.bytes_per_second)) {
    events_->source_changed(now, *table_.find(operation.id));
  }
  return true;
}

bool Channels::apply(Time now, const Delivery& message, const ChannelSourceGone& operation) {
  context_.turn.count(table_.size() / 16);
  for (const auto& [id, channel] : table_) {
    if (channel.source != operation.session || !is_of(id, message.origin) || !table_.lose_source(id)) continue;
    if (message.origin == groups_.view().self) told_.forget(id, operation.session);
    ends_.note_active(now, channel);
    events_->source_changed(now, channel);
  }
  return true;
}

bool Channels::apply(Time, const Delivery& message, ChannelsKnown& operation) {
  if (is_settled_) return false;
  context_.turn.count(operation.channels.size());
  for (const Channel& each : operation.channels) context_.turn.count(each.size());
  return exchange_.add(message.origin, std::move(operation), groups_.view());
}

void Channels::end(Time now, const BulkChannelId& id, BulkEnd why) {
  const Channel* channel = table_.find(id);
  if (channel == nullptr) return;
  if (is_own(id)) {
    const auto offers = offers_.find(channel->source);
    if (offers != offers_.end() && --offers->second == 0) offers_.erase(offers);
  }
  take_entering(id);
  table_.end(id);
  ends_.forget(id);
  told_.tell_ended(id, why);
  events_->channel_ended(now, id);
}

void Channels::look(Time now, std::uint64_t position, const BulkChannelId& id) {
  if (!is_settled_ || groups_.tells_changes_later() || !table_.complete(id)) return;
  const Channel& channel = *table_.find(id);
  ends_.note_completion(now, channel);
  ends_.look(now);
  tell_complete(position, channel);
}

void Channels::tell_complete(std::uint64_t position, const Channel& channel) {
  if (!told_.has_somebody_waiting(channel.id)) return;
  const ViewId& view = groups_.view().id;
  protocol::BulkComplete complete;
  complete.channel = channel.id;
  complete.place = {view.number, view.coordinator, view.incarnation, position};
  if (const Group* group = channel.audience.empty() ? nullptr : groups_.table().find(channel.group)) {
    context_.turn.count(group->members.size());
    for (const GroupMember& member : group->members) {
      const ChannelReceiver* receiver = find_receiver(channel.audience, member.daemon(), member.session());
      if (receiver == nullptr) continue;
      const bool is_done = receiver->outcome == BulkOutcome::done || receiver->outcome == BulkOutcome::kept;
      if (is_done) complete.done.push_back(member.name());
      if (receiver->outcome == BulkOutcome::failed) complete.failed.push_back({member.name(), receiver->code});
      if (receiver->outcome == BulkOutcome::refused) complete.refused.push_back(member.name());
    }
  }
  OutcomeCounts gone = channel.gone.said;
  gone.add(channel.gone.said_since);
  complete.gone = {gone.done, gone.failed, gone.refused, channel.gone.missing.size()};
  told_.tell_complete(channel, complete);
}

void Channels::tell_returned(const Channel& channel) {
  const bool is_due = channel.is_complete && is_settled_ && !groups_.tells_changes_later();
  if (!is_due || source_daemon(channel) != groups_.view().self) return;
  const ChannelGone& gone = channel.gone;
  context_.turn.count(channel.others.size() / 16);
  const protocol::BulkGone since{gone.said_since.done, gone.said_since.failed, gone.said_since.refused,
                                 gone.missing.size()};
  told_.tell_returned(channel, {channel.id, since, channel.returned(groups_.view().members)});
}

// --- Members ---

template <typename Visit>
void Channels::for_each_of_group(Time now, const std::string& group, Visit visit) {
  if (!table_.has_group(group)) return;
  groups_.do_in_steps(now, [this, visit, ids = table_.of_group(group), next = std::size_t{0}](Time later) mutable {
    context_.turn.count(1);
    if (const Channel* channel = table_.find(ids[next++])) visit(later, *channel);
    return next == ids.size();
  });
}

void Channels::member_came(Time now, const Group& group, SessionId session) {
  if (!is_settled_) return;
  for_each_of_group(now, group.name, [this, session](Time, const Channel& channel) {
    told_.tell_offered(channel, std::span(&session, 1), groups_.view().self);
  });
}

void Channels::member_left(Time now, std::uint64_t position, const Group& group, MemberIndex daemon,
                           SessionId session) {
  for_each_of_group(now, group.name, [this, position, daemon, session](Time later, const Channel& channel) {
    const bool is_source = is_of(channel.id, daemon) && channel.source == session;
    if (daemon == groups_.view().self && !is_source) {
      told_.forget(channel.id, session);
      events_->client_left(later, channel, session);
    }
    if (!table_.leave(channel.id, daemon, session)) return;
    ends_.note_active(later, channel);
    events_->receivers_changed(later, channel);
    look(later, position, channel.id);
    tell_returned(channel);
  });
}

// --- Views ---

void Channels::view_began(Time now, const GroupTable::Renumbering& to, const MemberSet& came_along) {
  is_settled_ = false;
  exchange_.clear();
  const View& view = groups_.view();
  if (table_.empty()) return table_.begin_view(view.members);
  const auto former_self = std::find(to.begin(), to.end(), view.self) - to.begin();
  former_numbers_ = FormerNumbers{static_cast<MemberIndex>(former_self), table_.begin()->first};
  groups_.do_in_steps(now, [this, to, members = view.members, at = table_.begin()](Time) mutable {
    context_.turn.count(1 + at->second.size() / 16);
    ends_.begin_view(at->first);
    table_.carry_over(at->first, to);
    if (++at != table_.end()) {
      former_numbers_->next = at->first;
      return false;
    }
    former_numbers_.reset();
    table_.begin_view(std::move(members));
    return true;
  });
  const bool is_meeting = came_along != MemberSet::first(view.size());
  if (is_meeting && came_along.front() == view.self) say_known(now, came_along);
}

void Channels::say_known(Time now, const MemberSet& side) {
  const std::size_t part_max = std::min<std::size_t>(1000, std::max<std::size_t>(context_.turn.max(), 2));
  groups_.do_in_steps(now, [this, side, part_max, known = std::optional<KnownChannels>()](Time later) mutable {
    if (!groups_.is_open()) return true;
    if (!known) known.emplace(table_, side, part_max);
    ChannelsKnown part = known->next_part();
    context_.turn.count(known->channels_and_receivers());
    const bool is_last = !part.more;
    const ChannelOperation operation = std::move(part);
    groups_.originate_at_once(later, number_of(operation), write_channel_operation(operation));
    return is_last;
  });
}

void Channels::table_completed(Time now) {
  if (!exchange_.empty()) {
    groups_.do_in_steps(now, [this, ids = exchange_.ids(), next = std::size_t{0}](Time later) mutable {
      unite(later, ids[next++]);
      return next == ids.size();
    });
  }
  groups_.do_in_steps(now, [this, at = std::optional<ChannelTable::Channels::const_iterator>()](Time later) mutable {
    if (!at) {
      exchange_.clear();
      is_settled_ = true;
      at = table_.begin();
    }
    if (*at == table_.end()) return true;
    const Channel& channel = (*at)++->second;
    catch_up(later, channel);
    return *at == table_.end();
  });
}

void Channels::unite(Time now, const BulkChannelId& id) {
  context_.turn.count(1);
  std::optional<Channel> united = exchange_.unite(id, groups_.view());
  if (!united) return end(now, id, BulkEnd::elsewhere);
  context_.turn.count(united->size());
  const Channel* const known = table_.find(id);
  const bool was_sealed = known != nullptr && known->is_sealed();
  const bool is_new = !table_.end(id);
  const Channel& channel = table_.add(std::move(*united));
  ends_.note_completion(now, channel);
  if (is_new) events_->channel_offered(now, channel);
  if (channel.is_sealed() && !was_sealed) events_->channel_sealed(now, channel);
}

void Channels::tell_offered(Time now, const Channel& channel) {
  if (const auto entering = take_entering(channel.id)) told_.tell_source(channel, entering->request);
  std::vector<SessionId> members;
  if (const Group* group = groups_.table().find(channel.group)) groups_.add_told_members(*group, members);
  context_.turn.count(members.size());
  const MemberIndex self = groups_.view().self;
  told_.tell_offered(channel, members, self);
  for (auto at = place_of(channel.audience, self, 0); at != channel.audience.end() && at->daemon == self; ++at) {
    if (at->outcome != BulkOutcome::none || clients_->wants_channels(at->session) != false) continue;
    progress_.add(channel.id, {at->session, BulkOutcome::refused, 0});
    flush_progress_soon(now);
  }
}

void Channels::catch_up(Time now, const Channel& channel) {
  context_.turn.count(1 + channel.size() / 16);
  ends_.note_active(now, channel);
  tell_offered(now, channel);
  if (channel.is_sealed()) told_.tell_sealed(channel);
  if (channel.is_complete) tell_complete(0, channel);
  events_->receivers_changed(now, channel);
  look(now, 0, channel.id);
  tell_returned(channel);
}

void Channels::opened(Time now) {
  for (const SessionId session : std::exchange(departed_, {})) originate(now, ChannelSourceGone{session});
  flush_progress(now);
  if (!table_.empty()) ends_.look(now);
}

// --- Time ---

void Channels::handle_time(Time now) {
  if (timers_.take_due(Timer::progress, now)) flush_progress(now);
  if (!ends_.take_due(now) || !groups_.is_ready() || !is_settled_) return;
  for (const ChannelEnded& each : ends_.due(now)) originate(now, each);
}

// --- For who relays the content ---

std::optional<ChannelRole> Channels::role_of(const Channel& channel, SessionId session) const {
  if (is_own(channel.id) && channel.source == session && !channel.source_is_gone) return ChannelRole::source;
  const ChannelReceiver* receiver = channel.find(self_in(channel), session);
  if (receiver == nullptr) return std::nullopt;
  if (receiver->outcome == BulkOutcome::done) return ChannelRole::holder;
  return receiver->outcome == BulkOutcome::accepted ? std::optional(ChannelRole::receiver) : std::nullopt;
}

void Channels::note_coming(Time now, const BulkChannelId& id) {
  const Channel* channel = table_.find(id);
  if (channel == nullptr || !ends_.awaits_word(now, *channel)) return;
  for (const LocalChannelClient& client : local_clients(*channel)) {
    if (client.role != ChannelRole::receiver) continue;
    progress_.add(id, {client.session, BulkOutcome::accepted, 0});
    return flush_progress_soon(now);
  }
}

std::vector<LocalChannelClient> Channels::local_clients(const Channel& channel) const {
  std::vector<LocalChannelClient> local;
  const MemberIndex self = self_in(channel);
  if (source_daemon(channel) == groups_.view().self) local.push_back({channel.source, ChannelRole::source});
  for (const ChannelReceivers* receivers : {&channel.audience, &channel.others}) {
    for (auto at = place_of(*receivers, self, 0); at != receivers->end() && at->daemon == self; ++at) {
      if (const auto role = role_of(channel, at->session)) local.push_back({at->session, *role});
    }
  }
  return local;
}

}  // namespace spindled
