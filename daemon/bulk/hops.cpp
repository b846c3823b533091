#include "daemon/bulk/hops.h"

#include <fmt/format.h>

#include <algorithm>

namespace spindled {

namespace bulk = spindle::bulk;

Hops::Hops(Context& context, Driver& driver, ConnectionBroker& broker, Links& links, StreamTransport& streams,
           std::function<void(Time)> invited)
    : context_(context), driver_(driver), broker_(broker), links_(links) {
  streams.handle(LinkFrame::bulk_token,
                 [this, invited = std::move(invited)](Time now, LinkId link, const Slice& content) {
                   if (!token_received(link, content.view())) return false;
                   invited(now);
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
    if (!tokens_.contains(daemon)) return std::nullopt;  // it invites us when it wants the hop, too
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

bool Hops::token_received(LinkId link, ByteView content) {
  Token token;
  if (content.size() != token.size()) return false;
  std::copy(content.begin(), content.end(), token.begin());
  tokens_[links_.peer(link).name] = token;
  return true;
}

bulk::BulkHello Hops::hello_to(std::string_view daemon) const {
  bulk::BulkHello hello;
  hello.cluster = context_.config.cluster;
  hello.daemon = context_.config.name;
  hello.incarnation = context_.config.incarnation;
  if (const auto token = tokens_.find(daemon); token != tokens_.end()) hello.token = token->second;
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
  const Hop admitted{connection, hello.incarnation};
  const auto [hop, is_new] = hops_.try_emplace(std::string(hello.daemon), admitted);
  if (!is_new) former = std::exchange(hop->second, admitted).connection;
  return former;
}

void Hops::forget(ConnectionId connection) {
  std::erase_if(hops_, [&](const auto& hop) {
    const bool is_it = hop.second.connection == connection;
    if (is_it) tokens_.erase(hop.first);  // it counts once
    return is_it;
  });
}

}  // namespace spindled
