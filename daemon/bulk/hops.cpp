#include "daemon/bulk/hops.h"

#include <fmt/format.h>

#include <algorithm>

namespace spindled {

namespace bulk = spindle::bulk;

Hops::Hops(Context& context, Driver& driver, ConnectionBroker& broker, Links& links, StreamTransport& streams,
           Events events)
    : context_(context), driver_(driver), broker_(broker), links_(links) {
  streams.handle(LinkFrame::bulk_token,
                 [this, events = std::move(events)](Time now, LinkId link, const Slice& content) {
                   Token token;
                   if (content.view().size() != token.size()) return false;
                   std::copy(content.view().begin(), content.view().end(), token.begin());
                   if (const std::optional<ConnectionId> hop = lost_there(link, token)) events.lost(now, *hop);
                   if (links_.info(link).dialled) tokens_[links_.peer(link).name] = token;
                   events.invited(now);
                   return true;
                 });
}

std::optional<ConnectionId> Hops::find(std::string_view daemon) const {
  const auto hop = hops_.find(daemon);
  return hop == hops_.end() ? std::nullopt : std::optional(hop->second.connection);
}

std::optional<ConnectionId> Hops::hop_of_former_life(std::string_view daemon) const {
  const auto hop = hops_.find(daemon);
  const std::optional<LinkId> link = links_.established_with(daemon);
  if (hop == hops_.end() || !link || links_.peer(*link).incarnation == hop->second.incarnation) return std::nullopt;
  return hop->second.connection;
}

std::optional<ConnectionId> Hops::open(Time now, const std::string& daemon) {
  const std::optional<LinkId> link = links_.established_with(daemon);
  if (!link) return std::nullopt;
  const LinkInfo info = links_.info(*link);
  if (info.dialled) {
    if (!tokens_.contains(daemon)) {  // it invites us when it wants the hop, too
      tell_lost(now, *link, daemon);
      return std::nullopt;
    }
    const ConnectionId connection = broker_.dial_for(Port::bulk, info.address);
    hops_[daemon] = {connection, links_.peer(*link).incarnation};
    return connection;
  }
  const auto known = invitations_.find(daemon);
  if (known != invitations_.end() && now - known->second.told_at < kInvitationRepeated) return std::nullopt;
  const std::optional<Driver::Secret> secret = driver_.draw_secret();
  if (!secret) return std::nullopt;
  invitations_[daemon] = {*secret, now};
  links_.send(*link, LinkFrame::bulk_token, context_.arena.copy(*secret));
  return std::nullopt;
}

void Hops::tell_lost(Time now, LinkId link, const std::string& daemon) {
  const auto lost = lost_.find(daemon);
  if (lost == lost_.end()) return;
  if (lost->second.told_at && now - *lost->second.told_at < kInvitationRepeated) return;
  lost->second.told_at = now;
  links_.send(link, LinkFrame::bulk_token, context_.arena.copy(lost->second.token));
}

std::optional<ConnectionId> Hops::lost_there(LinkId link, const Token& token) const {
  const auto found = hops_.find(links_.peer(link).name);
  if (found == hops_.end()) return std::nullopt;
  const Hop& hop = found->second;
  // Who invites has no hop. It was told over the link before any hop that is opened by it, and those before it count no
  // more: what is open was opened before.
  const bool is_lost = links_.info(link).dialled ? hop.is_open : hop.token == token;
  return is_lost ? std::optional(hop.connection) : std::nullopt;
}

bulk::BulkHello Hops::hello_to(std::string_view daemon) {
  bulk::BulkHello hello;
  hello.cluster = context_.config.cluster;
  hello.daemon = context_.config.name;
  hello.incarnation = context_.config.incarnation;
  const auto token = tokens_.find(daemon);
  if (token == tokens_.end()) return hello;
  hello.token = token->second;
  tokens_.erase(token);
  if (const auto hop = hops_.find(daemon); hop != hops_.end()) hop->second.token = hello.token;
  return hello;
}

Result<std::optional<ConnectionId>> Hops::admit(ConnectionId connection, std::string_view identity,
                                                const bulk::BulkHello& hello) {
  if (hello.version_min > bulk::kBulkVersion || hello.version_max < bulk::kBulkVersion) {
    return fail(Errc::version_mismatch, fmt::format("this daemon speaks version {} of bulk", bulk::kBulkVersion));
  }
  if (hello.cluster != context_.config.cluster) return fail(Errc::cluster_mismatch);
  const std::optional<LinkId> link = links_.established_with(hello.daemon);
  const bool is_linked = link && links_.peer(*link).incarnation == hello.incarnation;
  if (!is_linked) return fail(Errc::unexpected_frame, fmt::format("there is no link to {}", hello.daemon));
  if (links_.info(*link).identity != identity) {
    return fail(Errc::access_denied, fmt::format("{} has proved to be {} on its link", hello.daemon, identity));
  }
  const auto invitation = invitations_.find(hello.daemon);
  std::uint8_t difference = invitation == invitations_.end() ? 1 : 0;
  for (std::size_t i = 0; difference == 0 && i < hello.token.size(); ++i) {
    difference = static_cast<std::uint8_t>(difference | (invitation->second.token[i] ^ hello.token[i]));
  }
  if (difference != 0) return fail(Errc::access_denied, "the token is not the one that was told over the link");
  invitations_.erase(invitation);
  std::optional<ConnectionId> former;
  const Hop admitted{connection, hello.incarnation, hello.token};
  const auto [hop, is_new] = hops_.try_emplace(std::string(hello.daemon), admitted);
  if (!is_new) former = std::exchange(hop->second, admitted).connection;
  return former;
}

void Hops::opened(std::string_view daemon) {
  if (const auto hop = hops_.find(daemon); hop != hops_.end()) hop->second.is_open = true;
  if (const auto lost = lost_.find(daemon); lost != lost_.end()) lost_.erase(lost);
}

void Hops::forget(ConnectionId connection) {
  const auto hop =
      std::find_if(hops_.begin(), hops_.end(), [&](const auto& each) { return each.second.connection == connection; });
  if (hop == hops_.end()) return;
  if (hop->second.token) lost_[hop->first] = {*hop->second.token, std::nullopt};
  hops_.erase(hop);
}

}  // namespace spindled
