#include <algorithm>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// What one client was told of a group, and got in it, from one view that the network caused to the next.
struct Span {
  std::set<std::string> views;  // by id
  std::set<MessageKey> messages;
  bool gapped = false;
};

/// A safe message that came before any signal to `client` as a member of a view.
struct Promise {
  const ClientHistory* client = nullptr;
  std::string view;
  const MessageRecord* message = nullptr;
};

struct GroupState {
  bool signalled = false;
  bool synchronous = false;
  std::string view;  // the latest
  Span span;
};

/// Whether the client asked to leave the group and has been told neither that it has left nor that it joined anew: what
/// it is told meanwhile may concern the part that it ended.
bool is_leaving(const GroupView& view, const std::string& client, std::set<std::string>& leaving) {
  const auto found = leaving.find(view.group);
  if (found == leaving.end()) return false;
  const bool joined_anew = view.cause == spindle::ViewCause::join && is_in(view.changed, client);
  if (joined_anew || !is_in(view.members, client)) leaving.erase(found);
  return !joined_anew;
}

using SpansByGroup = std::map<std::string, std::vector<Span>>;
using PromisesByGroup = std::map<std::string, std::vector<Promise>>;

void take_view(const GroupView& view, const std::string& client, std::map<std::string, GroupState>& open,
               SpansByGroup& spans) {
  const auto found = open.find(view.group);
  if (found != open.end() && view.cause == spindle::ViewCause::network) {
    spans[view.group].push_back(std::move(found->second.span));
    open.erase(found);
  }
  if (!is_in(view.members, client)) {
    open.erase(view.group);
    return;
  }
  GroupState& state = open[view.group];
  state.view = to_text(view.id);
  state.synchronous = view.synchronous;
  state.span.views.insert(state.view);
}

/// Spans that have no end count where the run is at rest; those that the client's leaving or end cuts short do not.
void collect(const ClientHistory& client, bool at_rest, SpansByGroup& spans, PromisesByGroup& promises) {
  std::map<std::string, GroupState> open;
  std::set<std::string> leaving;
  for (const Event& event : client.events) {
    if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      open.erase(leave->group);
      leaving.insert(leave->group);
    } else if (const auto* signal = std::get_if<Transitional>(&event.what)) {
      if (const auto found = open.find(signal->group); found != open.end()) found->second.signalled = true;
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      if (!is_leaving(*view, client.name, leaving)) take_view(*view, client.name, open, spans);
    } else if (std::holds_alternative<Gapped>(event.what)) {
      for (auto& [group, state] : open) state.span.gapped = true;
    } else if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
      for (const std::string& group : delivered->message.groups) {
        const auto found = open.find(group);
        if (found == open.end()) continue;
        GroupState& state = found->second;
        state.span.messages.insert(key_of(delivered->message));
        if (delivered->message.service != Service::safe || state.signalled) continue;
        // It may have come to this one under another name.
        if (state.synchronous && delivered->message.groups.size() > 1) continue;
        promises[group].push_back({&client, state.view, &delivered->message});
      }
    }
  }
  if (!at_rest || client.is_closed()) return;
  for (auto& [group, state] : open) spans[group].push_back(std::move(state.span));
}

}  // namespace

Violations check_safe_delivery(const History& history, bool at_rest) {
  Violations violations;
  const SentIndex index(history);
  PromisesByGroup promises;
  std::vector<std::pair<const ClientHistory*, SpansByGroup>> spans;
  for (const ClientHistory& client : history.clients) {
    collect(client, at_rest, spans.emplace_back(&client, SpansByGroup()).second, promises);
  }
  for (const auto& [receiver, spans_by_group] : spans) {
    for (const auto& [group, group_spans] : spans_by_group) {
      for (const Promise& promise : promises[group]) {
        const auto span = std::find_if(group_spans.begin(), group_spans.end(),
                                       [&](const Span& each) { return each.views.contains(promise.view); });
        if (span == group_spans.end() || span->gapped || span->messages.contains(key_of(*promise.message))) continue;
        const SentIndex::Entry* sent = index.find(*promise.message);
        if (sent == nullptr || (sent->sent->self_discard && promise.message->sender == receiver->name)) continue;
        report(violations,
               fmt::format("safe delivery: {} got {} in view {} of {}, {} of the same view did not",
                           promise.client->name, to_text(*promise.message), promise.view, group, receiver->name));
      }
    }
  }
  return violations;
}

}  // namespace spindled::checkers
