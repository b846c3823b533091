#include "daemon/channel/told_channels.h"

#include <algorithm>

namespace spindled {

namespace protocol = spindle::protocol;

namespace {

protocol::BulkOffered offer_of(const Channel& channel) {
  protocol::BulkOffered offered;
  offered.channel = channel.id;
  offered.is_complete = channel.is_complete;
  offered.group = channel.group;
  offered.source = channel.source_name();
  offered.terms = channel.terms;
  offered.root = channel.root;
  return offered;
}

}  // namespace

ToldChannels::Clients::iterator ToldChannels::place_of(Clients& clients, SessionId session) {
  return std::partition_point(clients.begin(), clients.end(),
                              [session](const Told& each) { return each.session < session; });
}

bool ToldChannels::add(const Channel& channel, SessionId session) {
  Clients& clients = told_[channel.id];
  const auto at = place_of(clients, session);
  if (at != clients.end() && at->session == session) return false;
  clients.insert(at, {session, channel.is_sealed(), channel.is_complete});
  return true;
}

bool ToldChannels::knows(const BulkChannelId& id, SessionId session) const {
  const auto found = told_.find(id);
  if (found == told_.end()) return false;
  auto& clients = const_cast<Clients&>(found->second);
  const auto at = place_of(clients, session);
  return at != clients.end() && at->session == session;
}

void ToldChannels::tell_source(const Channel& channel, std::uint32_t request) {
  if (!add(channel, channel.source)) return;
  protocol::BulkOffered offered = offer_of(channel);
  offered.request = request;
  deliver(std::span(&channel.source, 1), offered);
}

void ToldChannels::tell_offered(const Channel& channel, std::span<const SessionId> members, MemberIndex self) {
  std::vector<SessionId> in_time, late;
  for (const SessionId session : members) {
    if (!clients_->wants_channels(session).value_or(false) || !add(channel, session)) continue;
    const bool is_of_audience = find_receiver(channel.audience, self, session) != nullptr;
    (is_of_audience ? in_time : late).push_back(session);
  }
  protocol::BulkOffered offered = offer_of(channel);
  deliver(in_time, offered);
  offered.is_late = true;
  deliver(late, offered);
}

std::vector<SessionId> ToldChannels::take_untold(const BulkChannelId& id, bool Told::*what) {
  std::vector<SessionId> untold;
  const auto found = told_.find(id);
  if (found == told_.end()) return untold;
  for (Told& each : found->second) {
    if (!std::exchange(each.*what, true)) untold.push_back(each.session);
  }
  return untold;
}

void ToldChannels::tell_sealed(const Channel& channel) {
  deliver(take_untold(channel.id, &Told::of_seal),
          protocol::BulkSealed{channel.id, channel.terms.layout.size, *channel.root});
}

void ToldChannels::tell_complete(const Channel& channel, const protocol::BulkComplete& complete) {
  deliver(take_untold(channel.id, &Told::of_completion), complete);
  returned_.try_emplace(channel.id, protocol::BulkReturned{channel.id, {0, 0, 0, complete.gone.missing}, 0});
}

void ToldChannels::tell_returned(const Channel& channel, const protocol::BulkReturned& returned) {
  const auto told = returned_.find(channel.id);
  if (told == returned_.end() || told->second == returned || !knows(channel.id, channel.source)) return;
  told->second = returned;
  deliver(std::span(&channel.source, 1), returned);
}

bool ToldChannels::has_somebody_waiting(const BulkChannelId& id) const {
  const auto found = told_.find(id);
  return found != told_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [](const Told& each) { return !each.of_completion; });
}

void ToldChannels::tell_ended(const BulkChannelId& id, BulkEnd why) {
  returned_.erase(id);
  const auto told = told_.extract(id);
  if (told.empty()) return;
  std::vector<SessionId> to;
  for (const Told& each : told.mapped()) to.push_back(each.session);
  deliver(to, protocol::BulkEnded{id, why});
}

void ToldChannels::forget(const BulkChannelId& id, SessionId session) {
  const auto found = told_.find(id);
  if (found == told_.end()) return;
  const auto at = place_of(found->second, session);
  if (at == found->second.end() || at->session != session) return;
  found->second.erase(at);
  if (found->second.empty()) told_.erase(found);
}

void ToldChannels::deliver(std::span<const SessionId> to, const protocol::BulkNews& news) {
  if (to.empty()) return;
  std::vector<std::uint8_t> frames;
  protocol::write_bulk_news(frames, news);
  clients_->deliver_channel_frames(to, frames);
}

}  // namespace spindled
