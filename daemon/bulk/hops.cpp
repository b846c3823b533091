#include "daemon/bulk/hops.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/link/hello.h"

namespace spindled {

namespace bulk = spindle::bulk;

Hops::Hops(Context& context, Driver& driver, ConnectionBroker& broker, Links& links, Overlay& overlay,
           std::function<const View&()> view, Events events)
    : context_(context), driver_(driver), broker_(broker), links_(links), overlay_(overlay), view_(std::move(view)) {
  overlay.streams().handle(LinkFrame::bulk_invitation, [this, events](Time now, LinkId, const Slice& content) {
    return invitation_received(now, content.view(), events);
  });
  overlay.streams().handle(LinkFrame::bulk_token,
                           [this, events = std::move(events)](Time now, LinkId link, const Slice& content) {
                             Token token;
                             if (content.view().size() != token.size()) return false;
                             std::copy(content.view().begin(), content.view().end(), token.begin());
                             if (const std::optional<ConnectionId> hop = lost_there(link, token))
                               events.lost(now, *hop);
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
  if (hop == hops_.end()) return std::nullopt;
  const std::optional<LinkId> link = links_.established_with(daemon);
  const std::optional<MemberIndex> member = link ? std::nullopt : stranger(daemon);
  if (!link && !member) return std::nullopt;
  const std::uint64_t incarnation = link ? links_.peer(*link).incarnation : view_().members[*member].incarnation;
  return incarnation == hop->second.incarnation ? std::nullopt : std::optional(hop->second.connection);
}

bool Hops::is_outlived(std::string_view daemon, Time heard_at) const {
  const std::optional<LinkId> link = links_.established_with(daemon);
  return link && links_.info(*link).up_since > heard_at;
}

std::optional<ConnectionId> Hops::open(Time now, const std::string& daemon) {
  const std::optional<LinkId> link = links_.established_with(daemon);
  if (!link) {
    const std::optional<MemberIndex> member = stranger(daemon);
    return member ? open_to_stranger(now, daemon, *member) : std::nullopt;
  }
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
  if (const std::optional<Token> token = new_invitation(now, daemon)) {
    links_.send(*link, LinkFrame::bulk_token, context_.arena.copy(*token));
  }
  return std::nullopt;
}

std::optional<Hops::Token> Hops::new_invitation(Time now, const std::string& daemon) {
  const auto known = invitations_.find(daemon);
  if (known != invitations_.end() && now - known->second.told_at < kInvitationRepeated) return std::nullopt;
  const std::optional<Driver::Secret> secret = driver_.draw_secret();
  if (secret) invitations_[daemon] = {*secret, now};
  return secret;
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
  const std::optional<MemberIndex> member = link ? std::nullopt : stranger(hello.daemon);
  if (member ? view_().members[*member].incarnation != hello.incarnation
             : !link || links_.peer(*link).incarnation != hello.incarnation) {
    return fail(Errc::unexpected_frame, fmt::format("{} is no neighbour, and no member of the view", hello.daemon));
  }
  if (link && links_.info(*link).identity != identity) {
    return fail(Errc::access_denied, fmt::format("{} has proved to be {} on its link", hello.daemon, identity));
  }
  const Result<void> genuine = check_identity(identity, hello.daemon);
  if (member && !genuine) return tl::unexpected(genuine.error());
  const auto invitation = invitations_.find(hello.daemon);
  std::uint8_t difference = invitation == invitations_.end() ? 1 : 0;
  for (std::size_t i = 0; difference == 0 && i < hello.token.size(); ++i) {
    difference = static_cast<std::uint8_t>(difference | (invitation->second.token[i] ^ hello.token[i]));
  }
  if (difference != 0) return fail(Errc::access_denied, "the token is not the one that it was told");
  if (member && !hops_.contains(hello.daemon) && !has_room()) {
    return fail(Errc::limit_exceeded, "there are as many hops to daemons without a link as there may be");
  }
  invitations_.erase(invitation);
  std::optional<ConnectionId> former;
  Hop admitted{connection, hello.incarnation, hello.token};
  admitted.is_stranger = member.has_value();
  const auto [hop, is_new] = hops_.try_emplace(std::string(hello.daemon), admitted);
  if (!is_new) former = std::exchange(hop->second, admitted).connection;
  return former;
}

void Hops::opened(Time now, std::string_view daemon) {
  if (const auto hop = hops_.find(daemon); hop != hops_.end()) {
    hop->second.is_open = true;
    hop->second.opened_at = now;
  }
  if (const auto lost = lost_.find(daemon); lost != lost_.end()) lost_.erase(lost);
}

void Hops::forget(ConnectionId connection) {
  const auto hop =
      std::find_if(hops_.begin(), hops_.end(), [&](const auto& each) { return each.second.connection == connection; });
  if (hop == hops_.end()) return;
  if (hop->second.token) lost_[hop->first] = {*hop->second.token, std::nullopt};
  hops_.erase(hop);
}

// Strangers.

std::optional<MemberIndex> Hops::stranger(std::string_view daemon) const {
  const View& view = view_();
  const std::optional<MemberIndex> member = view.index_of(daemon);
  return member && *member != view.self && !links_.established_with(daemon) ? member : std::nullopt;
}

std::optional<bool> Hops::dials(MemberIndex stranger) const {
  if (!context_.config.bulk.mesh) return std::nullopt;
  const DaemonId& daemon = view_().members[stranger];
  const bool is_theirs_known = !overlay_.link_state().bulk_address(daemon).empty();
  const bool is_ours_known = !context_.config.bulk.address.empty();
  if (is_theirs_known && is_ours_known) return daemon.name < context_.config.name;
  return is_theirs_known || is_ours_known ? std::optional(is_theirs_known) : std::nullopt;
}

bool Hops::has_room() const {
  const auto is_stranger = [](const auto& each) { return each.second.is_stranger; };
  return static_cast<std::size_t>(std::count_if(hops_.begin(), hops_.end(), is_stranger)) < kStrangersMax;
}

bool Hops::can_reach(std::string_view daemon) const {
  if (hops_.contains(daemon) || links_.established_with(daemon)) return true;
  const std::optional<MemberIndex> member = stranger(daemon);
  return member && dials(*member) && has_room();
}

std::vector<std::string> Hops::inviting(Time now) const {
  std::vector<std::string> daemons;
  for (const auto& [daemon, invitation] : inviting_) {
    if (now - invitation.told_at < kInvitationKept) daemons.push_back(daemon);
  }
  return daemons;
}

std::optional<ConnectionId> Hops::open_to_stranger(Time now, const std::string& daemon, MemberIndex member) {
  const std::optional<bool> is_dialling = dials(member);
  if (!is_dialling || !has_room()) return std::nullopt;
  if (!*is_dialling) {
    invite(now, daemon, member);
    return std::nullopt;
  }
  const auto invitation = inviting_.find(daemon);
  const bool is_invited = invitation != inviting_.end() && now - invitation->second.told_at < kInvitationKept;
  if (!is_invited) {
    std::erase_if(asked_, [&](const auto& each) { return now - each.second >= kInvitationRepeated; });
    if (!asked_.emplace(daemon, now).second) return std::nullopt;
    overlay_.streams().send(LinkFrame::bulk_invitation, MemberSet::of(member),
                            write_hop_invitation({view_().self, std::nullopt}));
    return std::nullopt;
  }
  tokens_[daemon] = invitation->second.token;
  inviting_.erase(invitation);
  const DaemonId& id = view_().members[member];
  const ConnectionId connection = broker_.dial_for(Port::bulk, overlay_.link_state().bulk_address(id));
  Hop hop{connection, id.incarnation};
  hop.is_stranger = true;
  hops_[daemon] = hop;
  return connection;
}

void Hops::invite(Time now, const std::string& daemon, MemberIndex member) {
  if (const std::optional<Token> token = new_invitation(now, daemon)) {
    overlay_.streams().send(LinkFrame::bulk_invitation, MemberSet::of(member),
                            write_hop_invitation({view_().self, *token}));
  }
}

bool Hops::invitation_received(Time now, ByteView content, const Events& events) {
  const std::optional<HopInvitation> invitation = read_hop_invitation(content, view_().size());
  if (!invitation || invitation->from == view_().self) return false;
  const std::string& daemon = view_().members[invitation->from].name;
  // A link that has come up meanwhile has its own way.
  const std::optional<MemberIndex> member = stranger(daemon);
  const std::optional<bool> is_dialling = member ? dials(*member) : std::nullopt;
  if (!is_dialling || *is_dialling != invitation->token.has_value()) return true;
  if (const auto hop = hops_.find(daemon); hop != hops_.end()) {
    if (!is_dead(now, hop->second)) return true;
    events.lost(now, hop->second.connection);
  }
  if (!has_room()) return true;
  if (invitation->token) {
    std::erase_if(inviting_, [&](const auto& each) { return now - each.second.told_at >= kInvitationKept; });
    inviting_[daemon] = {*invitation->token, now};
    events.invited(now);
  } else {
    invite(now, daemon, *member);
  }
  return true;
}

Result<void> Hops::check_dialled(std::string_view daemon, std::string_view identity) const {
  const auto hop = hops_.find(daemon);
  // Whom a neighbour is to be its address says, and its link.
  if (hop == hops_.end() || !hop->second.is_stranger) return {};
  return check_identity(identity, daemon);
}

}  // namespace spindled
