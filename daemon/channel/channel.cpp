#include "daemon/channel/channel.h"

#include "daemon/overlay/view.h"

namespace spindled {

std::optional<MemberIndex> Channel::source_daemon(const std::vector<DaemonId>& members) const {
  if (source_is_gone) return std::nullopt;
  return index_in(members, {id.daemon, id.incarnation});
}

bool Channel::is_hopeless(const std::vector<DaemonId>& members) const {
  return !source_daemon(members) && (!is_sealed() || holding().empty());
}

Channel Channel::without_receivers() const {
  return {.id = id,
          .group = group,
          .source = source,
          .client = client,
          .source_is_gone = source_is_gone,
          .terms = terms,
          .root = root,
          .audience = {},
          .others = {},
          .gone = {gone.said, {}, gone.said_since},
          .is_complete = is_complete};
}

std::size_t Channel::returned(const std::vector<DaemonId>& members) const {
  const auto was_missing = [&](const ChannelReceiver& each) {
    return std::binary_search(gone.missing.begin(), gone.missing.end(),
                              MissingReceiver{members[each.daemon], each.session});
  };
  return static_cast<std::size_t>(std::count_if(others.begin(), others.end(), was_missing));
}

void Channel::settle_returned(const std::vector<DaemonId>& members) {
  if (gone.missing.empty()) return;
  for (const ChannelReceiver& each : others) settle_returned(members[each.daemon], each.session, each.outcome);
}

bool Channel::settle_returned(const DaemonId& daemon, SessionId session, BulkOutcome outcome) {
  const MissingReceiver returned{daemon, session};
  const auto at = std::lower_bound(gone.missing.begin(), gone.missing.end(), returned);
  if (at == gone.missing.end() || *at != returned) return false;
  if (!(is_complete ? gone.said_since : gone.said).add(outcome)) return false;
  gone.missing.erase(at);
  return true;
}

void Channel::note_gone(const DaemonId& daemon, const ChannelReceiver& receiver) {
  if (gone.said.add(receiver.outcome)) return;
  const MissingReceiver missing{daemon, receiver.session};
  gone.missing.insert(std::lower_bound(gone.missing.begin(), gone.missing.end(), missing), missing);
}

}  // namespace spindled
