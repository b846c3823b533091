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
#include "daemon/wire/daemon_id.h"
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

/// A client that was of the audience, in whatever view.
struct MissingReceiver {
  DaemonId daemon;
  SessionId session = 0;

  auto operator<=>(const MissingReceiver&) const = default;
};

/// How many had which outcome.
struct OutcomeCounts {
  std::uint64_t done = 0;  // those that give it to nobody, too
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;

  /// False where it is not final.
  bool add(BulkOutcome outcome) {
    if (outcome == BulkOutcome::done || outcome == BulkOutcome::kept) return ++done, true;
    if (outcome == BulkOutcome::failed) return ++failed, true;
    if (outcome == BulkOutcome::refused) return ++refused, true;
    return false;
  }
  void add(const OutcomeCounts& other) {
    done += other.done;
    failed += other.failed;
    refused += other.refused;
  }
  bool operator==(const OutcomeCounts&) const = default;
};

/// Of the audience those that are not of it any more: they have left, or are apart.
struct ChannelGone {
  /// What had come of them by then, or has since, before the channel was complete.
  OutcomeCounts said;
  /// Sorted: of whom nothing is known. Who comes back is of the others, and missing until it has said what comes of it.
  std::vector<MissingReceiver> missing;
  /// What has come of those that were missing when the channel was complete.
  OutcomeCounts said_since;

  bool operator==(const ChannelGone&) const = default;
};

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
  ChannelGone gone;
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
  /// Where the source is, if it is there. `members`: of the view.
  std::optional<MemberIndex> source_daemon(const std::vector<DaemonId>& members) const;
  /// How many have a place in it: members, and those that are missing.
  std::size_t size() const { return audience.size() + others.size() + gone.missing.size(); }
  /// The same but for these.
  Channel without_receivers() const;
  /// How many of those that are missing are back, and have accepted it.
  std::size_t returned(const std::vector<DaemonId>& members) const;
  /// Whoever was missing, is back and has said what comes of it is missing no more.
  void settle_returned(const std::vector<DaemonId>& members);
  /// The same of one of the others alone. Whether it was missing.
  bool settle_returned(const DaemonId& daemon, SessionId session, BulkOutcome outcome);
  /// The receiver is of the audience no more; it is to be taken out of it.
  void note_gone(const DaemonId& daemon, const ChannelReceiver& receiver);
  /// Daemons with receivers that have accepted and are not done.
  MemberSet lacking() const { return daemons_with(BulkOutcome::accepted); }
  /// Daemons with receivers that have all of it, and give it to others.
  MemberSet holding() const { return daemons_with(BulkOutcome::done); }
  /// Somebody waits for it: who has come late, or is back, is served to the end.
  bool is_wanted() const { return !is_complete || !lacking().empty(); }
  /// Nobody is there who has all of it, or nobody who could seal it: another side that has ended it since was told of
  /// the seal, and who has all of it is from there.
  bool is_hopeless(const std::vector<DaemonId>& members) const;

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
