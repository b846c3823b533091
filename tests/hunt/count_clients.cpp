#include "tests/hunt/count_clients.h"

#include <fmt/format.h>

#include "daemon/base/result.h"

namespace spindled::hunt {

namespace {

using namespace checkers;

void count(const ClientHistory& each, Tally& tally) {
  for (const Sent* sent : events_of<Sent>(each)) {
    tally.add(fmt::format("sent.{}", to_string(sent->message.service)));
  }
  if (each.session > 0) tally.add("clients moved");
  tally.add("delivered", events_of<Delivered>(each).size());
  tally.add("group views", events_of<GroupView>(each).size());
  tally.add("transitional signals", events_of<Transitional>(each).size());
  for (const ChannelTold* told : events_of<ChannelTold>(each)) {
    if (const auto* offered = std::get_if<spindle::protocol::BulkOffered>(&told->news)) {
      tally.add(offered->request != 0 ? "channels.offered" : offered->is_late ? "channels.late" : "channels.told");
    }
    if (std::holds_alternative<spindle::protocol::BulkComplete>(told->news)) tally.add("channels.complete");
    if (std::holds_alternative<spindle::protocol::BulkEnded>(told->news)) tally.add("channels.ended");
  }
  for (const FeedEvent& event : each.feeds) {
    if (std::holds_alternative<FeedSent>(event.what)) tally.add("feeds.sent");
    if (std::holds_alternative<FeedHeard>(event.what)) tally.add("feeds.heard");
    if (std::holds_alternative<FeedGot>(event.what)) tally.add("feeds.given");
    if (std::holds_alternative<OwnFeedOver>(event.what)) tally.add("feeds.own ended");
    if (const auto* missed = std::get_if<FeedMissed>(&event.what)) {
      tally.add(missed->cause == spindle::FeedGap::Cause::slow ? "feeds.missed, slow" : "feeds.missed, lost");
    }
    if (const auto* over = std::get_if<FeedOver>(&event.what)) {
      constexpr const char* kWhys[] = {"feeds.closed", "feeds.lost", "feeds.denied", "feeds.left"};
      tally.add(kWhys[static_cast<std::size_t>(over->why)]);
    }
  }
  tally.add("groups flushed", events_of<FlushAnswered>(each).size());
  for (const Closed* closed : events_of<Closed>(each)) {
    if (closed->code == static_cast<std::uint16_t>(Errc::slow_receiver)) tally.add("slow clients cut off");
  }
  for (const MessagesRefused* refused : events_of<MessagesRefused>(each)) {
    if (refused->by_rules) tally.add("denied.messages", refused->messages);
  }
  for (const Refused* refused : events_of<Refused>(each)) {
    const auto code = static_cast<Errc>(refused->code);
    if (code == Errc::access_denied) tally.add("denied.joins");
    if (code == Errc::too_many_memberships) tally.add("denied.joins beyond a quota");
  }
  for (const LeaveRequested* leave : events_of<LeaveRequested>(each)) {
    if (leave->by_rules) tally.add("denied.memberships");
  }
}

}  // namespace

void count_clients(const checkers::History& history, Tally& tally) {
  for (const ClientHistory& each : history.clients) count(each, tally);
  for (const ClientHistory& each : history.turned_away) {
    for (const Closed* closed : events_of<Closed>(each)) {
      const auto code = static_cast<Errc>(closed->code);
      if (code == Errc::access_denied) tally.add("denied.names");
      if (code == Errc::too_many_sessions) tally.add("denied.connections");
    }
  }
  tally.add("clients", history.clients.size());
}

void count_peers(const std::vector<checkers::PeerHistory>& peers, Tally& tally) {
  for (const checkers::PeerHistory& each : peers) {
    if (each.symbols > 0) tally.add("meshes.members");
    tally.add("meshes.symbols", each.symbols);
    tally.add("meshes.symbols of peers", each.of_peers);
    tally.add("meshes.blocks wanted of peers", each.wanted);
    tally.raise("bytes for a mesh beyond its budget", each.told_at_once);
    if (!each.is_undisturbed) continue;
    tally.raise("symbols of peers that had come before", each.had_before);
    tally.raise("symbols of the tree that peers had given before", each.had_of_peers);
    if (each.symbols >= 200) {
      tally.raise("of what came to a member of a mesh, there already, %",
                  100 * (each.had_before + each.had_of_peers) / each.symbols);
    }
  }
}

}  // namespace spindled::hunt
