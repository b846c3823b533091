// One bulk channel, as all daemons know it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/group/operations.h"
#include "libclient/protocol/bulk_requests.h"

namespace spindled {

using spindle::bulk::BulkChannelId;
using spindle::bulk::ContentLayout;
using spindle::protocol::BulkEnd;
using spindle::protocol::BulkOutcome;
using spindle::protocol::ContentRoot;
using spindle::protocol::ContentTerms;

/// A client that gets the content, or may: a member of the group.
struct ChannelReceiver {
  MemberIndex daemon = 0;  // in the view
  SessionId session = 0;
  BulkOutcome outcome = BulkOutcome::none;
  std::uint16_t code = 0;  // an Errc; where it has failed

  bool operator==(const ChannelReceiver&) const = default;
};

/// Sorted by daemon and session.
using ChannelReceivers = std::vector<ChannelReceiver>;

/// Where the receiver is, or would be.
template <typename Receivers>
auto place_of(Receivers& receivers, MemberIndex daemon, SessionId session) {
  return std::lower_bound(receivers.begin(), receivers.end(), std::pair(daemon, session),
                          [](const ChannelReceiver& each, const std::pair<MemberIndex, SessionId>& key) {
                            return std::pair(each.daemon, each.session) < key;
                          });
}

/// Null where it is not among them.
inline const ChannelReceiver* find_receiver(const ChannelReceivers& receivers, MemberIndex daemon, SessionId session) {
  const auto at = place_of(receivers, daemon, session);
  return at != receivers.end() && at->daemon == daemon && at->session == session ? &*at : nullptr;
}

/// Everything in it changes at places of the order only, and is the same at all daemons that come along together.
struct Channel {
  BulkChannelId id;  // with the source's daemon in its life
  std::string group;
  SessionId source = 0;  // at that daemon
  std::string client;    // the source's name there
  bool source_is_gone = false;
  ContentTerms terms;               // with the size as soon as it is known
  std::optional<ContentRoot> root;  // nothing: not sealed
  /// Members of the group where the channel was offered, the source left out, less who has left or is apart.
  ChannelReceivers audience;
  /// Other members that have accepted, or more.
  ChannelReceivers others;
  bool is_complete = false;

  bool is_sealed() const { return root.has_value(); }
  std::string source_name() const { return spindle::make_private_name(client, id.daemon); }
  const ChannelReceiver* find(MemberIndex daemon, SessionId session) const {
    const ChannelReceiver* receiver = find_receiver(audience, daemon, session);
    return receiver != nullptr ? receiver : find_receiver(others, daemon, session);
  }
  /// Calls `visit(const ChannelReceiver&)` for all.
  template <typename Visit>
  void for_each_receiver(Visit&& visit) const {
    for (const ChannelReceiver& each : audience) visit(each);
    for (const ChannelReceiver& each : others) visit(each);
  }
  /// Daemons with receivers that have accepted and are not done.
  MemberSet lacking() const { return daemons_with(BulkOutcome::accepted); }
  /// Daemons with receivers that have all of it, and give it to others.
  MemberSet holding() const { return daemons_with(BulkOutcome::done); }

 private:
  MemberSet daemons_with(BulkOutcome outcome) const {
    MemberSet daemons;
    for_each_receiver([&](const ChannelReceiver& each) {
      if (each.outcome == outcome) daemons.insert(each.daemon);
    });
    return daemons;
  }
};

}  // namespace spindled
