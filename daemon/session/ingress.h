// What one client sends, on its way into the network.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "daemon/access/access_rules.h"
#include "daemon/access/quotas.h"
#include "daemon/admission/admission.h"
#include "daemon/base/context.h"
#include "daemon/base/input_buffer.h"
#include "daemon/group/groups.h"
#include "daemon/session/destination_table.h"
#include "daemon/session/outgoing_flows.h"
#include "daemon/session/session_queue.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

/// A client's message of which some frames are there, or several that are complete.
struct IncomingMessage {
  std::uint32_t handle = 0;  // of its destinations
  ClientSend message;
  std::size_t received = 0;  // bytes of payload
  bool is_judged = true;     // whether the rules of now were asked about its destinations
  bool is_denied = false;    // nothing of it is kept
};

/// What the rules say of the names of a set, as far as they were gone through.
struct Judgement {
  std::uint64_t by = 0;  // the version of the configuration; 0: nothing was gone through
  std::size_t names = 0;
  std::string denied;  // the first one; empty: none so far
};

/// Owns the client's sets of destinations and its flows. It puts a message together out of its frames, bundles it with
/// small ones that follow, and has it enter when it is admitted. A message waits until the joins and leaves that the
/// client asked for before it are done.
///
/// A message that the rules do not allow is thrown away when it is complete, and counts as one that has entered; the
/// client is told with the next `tell_refused`.
///
/// Of a client that asked for independent flows, messages that may not enter yet are held (OutgoingFlows), and what
/// follows them goes on.
///
/// Order of calls: `open`; then what frames say, and `send_complete` before each of them.
class Ingress final : private FlowGate {
 public:
  /// `answers` is where the client is told what has entered. All outlive this one.
  Ingress(Context& context, Groups& groups, Admission& admission, ClientAccess& access, ClientQuota& quota,
          SessionQueue& answers, SessionId session);

  /// The client has said who it is.
  void open(std::string client, bool has_independent_flows);
  /// What it holds of the client is given up, and nothing is called but what says how much has entered.
  void close();
  SessionId session() const { return sender_.session; }
  const std::string& client() const { return sender_.client; }

  // Frames. An error ends the session.

  /// Goes through the names of a set that is about to be defined, by the rules of now, as far as the turn has room:
  /// there may be a thousand names and more rules. Whether all are gone through.
  bool judge(const spindle::protocol::Define& define);
  /// What was judged may not come any more: on another connection the client may define something else in its place.
  void forget_judgement() { judgement_ = {}; }
  std::optional<Error> define(const spindle::protocol::Define& define);
  /// A message begins: `frame` is what `send` refers to.
  std::optional<Error> begin(const spindle::protocol::Send& send, Slice&& frame);
  std::optional<Error> add(Slice chunk);
  bool has_begun() const { return incoming_.has_value(); }
  /// Whether all of a message is there.
  bool has_complete() const { return incoming_ && incoming_->received == incoming_->message.total; }
  /// Has the complete message enter or holds it; takes along small ones that are next in `input`. Where it does
  /// neither, as `verdict` says then, the message stays.
  std::optional<Error> send_complete(Time now, InputBuffer& input, Verdict& verdict);
  /// Whether a join or a leave enters. Where it does it is paid for, and the group layer takes it.
  Verdict try_admit_change(Time now, Admission::Change change, const std::string& group);
  FlowSnapshot flow_state(Time now, std::uint32_t handle);
  /// That of one of the client's flows.
  FlowSnapshot flow_state(Time now, const Flow& flow, const DestinationSet& to) const;
  bool is_defined(std::uint32_t handle) const { return destinations_.is_defined(handle); }

  /// Whether messages were refused that the client does not know of.
  bool has_refused() const { return !untold_.empty(); }
  void tell_refused();

  // What waits.

  /// Whether something concerning the group has to wait for joins and leaves that the client asked for before.
  bool waits_for_requests_of(std::string_view group) const {
    return waits_for_requests(std::span(&group, 1)) || groups_.flushes().has_no_view_yet(sender_.session, group);
  }
  bool has_open_requests() const { return sender_.open_requests != 0; }
  /// Whether more of them may be asked for.
  bool has_room_for_requests() const;
  /// Joins or leaves are done. Whether it is worth trying what waits again.
  bool may_go_on_after_requests() const;
  /// Whether handling a new meaning of the handle has to wait: something is held for it.
  bool holds(std::uint32_t handle) const { return flows_ && flows_->holds(handle); }
  bool holds_messages() const { return flows_ && flows_->bytes() != 0; }
  /// Whether any of them is for the group: counted as checks of the turn.
  bool holds_messages_to(std::string_view group) const;
  std::size_t held_bytes() const { return flows_ ? flows_->bytes() : 0; }
  /// What the messages held take outside slabs, and what joins and leaves do that are not done.
  std::size_t held_heap_bytes() const { return flows_ ? flows_->heap_bytes() : 0; }
  std::size_t request_bytes() const;
  /// As OutgoingFlows.
  std::uint64_t held_so_far() const { return flows_ ? flows_->held_so_far() : 0; }
  bool has_entered(std::uint64_t held) const { return !flows_ || flows_->has_entered(held); }
  /// When the first of the held ones is worth trying again.
  Time retry_at() const { return flows_ ? flows_->retry_at() : kNever; }
  /// Lets held messages enter that may by now: of all flows, or of those whose time to try again has come.
  void release_held(Time now, bool all) {
    if (flows_) flows_->release(now, all);
  }

  // Figures.

  /// Messages that have entered.
  std::uint64_t messages() const { return messages_; }
  /// Messages, or parts of them, joins and leaves that have.
  std::uint64_t entered() const { return messages_ + parts_ + changes_; }
  /// Frames that `send_complete` has taken along.
  std::uint64_t taken_along() const { return taken_along_; }
  /// Bytes of the message that is not complete or may not enter.
  std::size_t unfinished_bytes() const { return incoming_ ? incoming_->received : 0; }
  /// Of a message that was begun: what has yet to come.
  std::size_t missing_bytes() const { return incoming_ ? incoming_->message.total - incoming_->received : 0; }
  /// What definitions take in memory.
  std::size_t definition_bytes() const;
  /// Calls `visit(const DestinationSet&, const Flow&)` for each set of destinations that the client has defined, once
  /// however it is named.
  template <typename Visit>
  void for_each_flow(Visit&& visit) const {
    destinations_.for_each_flow(visit);
  }

 private:
  /// With independent flows for requests of the same groups, otherwise for all.
  template <typename Names>
  bool waits_for_requests(const Names& groups) const {
    if (sender_.open_requests == 0) return false;
    const auto is_open = [this](std::string_view group) {
      return groups_.requests().has_open_request(sender_.session, group);
    };
    if (!flows_) return true;
    context_.turn.count_input(groups.size());
    return std::any_of(groups.begin(), groups.end(), is_open);
  }
  /// Has `message` be what the client sends with `send`, but for the payload.
  void fill(ClientSend& message, const spindle::protocol::Send& send) const;
  /// Goes through the names by the rules of now, from where `judgement_` is, as far as the turn has room: whether to
  /// the end.
  template <typename Names>
  bool go_through(const Names& names);
  /// The same for the destinations of the message that is complete, which may have been allowed by rules of before.
  bool judge_incoming();
  /// Has what was found, and what else the configuration says of the client, count from here on. The log tells of what
  /// is denied.
  void settle(DefinedSet& set);
  /// Throws the message away where it may not go to a synchronous group that is among its destinations: whether it has.
  bool refuse_synchronous(Time now, std::uint32_t handle, const ClientSend& message);
  /// Whether a synchronous group of the client may be among them: without going through the names, where the group
  /// table has not changed.
  bool may_reach_synchronous(DestinationSet& to) const;
  /// Throws a message away: because of the name.
  void refuse(std::uint32_t handle, Errc why, std::string_view name, std::uint64_t messages = 1);
  /// Whether the set has a synchronous group that the client may not send to before its next view.
  bool waits_for_view(const std::vector<std::string>& names) const;
  /// Takes messages that have come right behind the complete one along with it, as far as one packet holds them: those
  /// under the same handle that are sent in the same way.
  void bundle_followers(InputBuffer& input);
  /// Of a large message: sends parts ahead as they are paid for, and then the rest.
  Verdict try_admit_large(Time now, DefinedSet& set, const ClientSend& message);
  void forget_incoming() {
    incoming_.reset();
    chunks_.clear();
    bundle_.clear();
  }

  // FlowGate
  Verdict try_admit(Time now, std::uint32_t handle, const ClientSend& message) override;
  void enter(Time now, std::uint32_t handle, const ClientSend& message) override;
  void tell_admitted(std::uint32_t handle, std::size_t bytes) override;

  Context& context_;
  Groups& groups_;
  Admission& admission_;
  ClientAccess& access_;
  ClientQuota& quota_;
  const std::uint64_t& config_version_;  // answers of both stay as long as this does
  bool has_rate_ = false;                // what `quota_` said when it was last asked
  SessionQueue& answers_;
  Sender sender_;
  MembershipBudget membership_budget_;
  DestinationTable destinations_;
  Judgement judgement_;                 // of the set that is about to be defined, or of that of the complete message
  std::vector<std::uint32_t> untold_;   // handles of whose messages some were refused, and the client is not told yet
  std::optional<OutgoingFlows> flows_;  // where the client asked for them
  std::optional<IncomingMessage> incoming_;
  std::vector<Slice> chunks_;         // of `incoming_`: the payload as far as received; kept for its memory
  std::vector<std::uint8_t> bundle_;  // likewise, where it is several messages
  std::uint64_t messages_ = 0;
  std::uint64_t taken_along_ = 0;
  std::uint64_t changes_ = 0;  // joins and leaves
  std::uint64_t parts_ = 0;    // of large messages, that went ahead of them
};

}  // namespace spindled
