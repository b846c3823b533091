#include <algorithm>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"
#include "tests/checkers/sending_views.h"

namespace spindled::checkers {

namespace {

using spindle::ViewCause;

/// What one client delivered to a group between two of its views.
struct Segment {
  const ClientHistory* client = nullptr;
  const GroupView* start = nullptr;
  const GroupView* end = nullptr;         // null: it is a member at the end of the run
  bool signalled = false;                 // part of it came behind a transitional signal
  const GroupView* network = nullptr;     // where `end` has another cause: the first view with that one behind it
  std::vector<const GroupView*> doubted;  // the network's views before `network` that came between two signals
  std::set<MessageKey> messages;
  std::uint64_t gaps = 0;  // messages that it was told to have missed
};

/// All segments of the run, by group and the two views.
using Segments = std::map<std::string, std::vector<Segment>>;

/// What of one client's part in a group is not complete yet.
struct Open {
  Segment segment;
  std::vector<Segment> ended;  // by views that are not of the network, since the last one that is
  /// Ended by the network's last view, which came behind a signal. If another signal is next, that view stood as the
  /// view of the daemons ended, and those who parted are known with the following one.
  std::vector<Segment> doubted;
};
/// Groups with a signal that the network's next view has yet to end.
using Signalled = std::set<std::string>;

std::string key_of_segment(const Segment& segment) {
  const std::string end = segment.end != nullptr ? to_text(segment.end->id) : "";
  return segment.start->group + " " + to_text(segment.start->id) + " " + end;
}

void complete(std::vector<Segment>& ended, const GroupView* network, Segments& segments) {
  for (Segment& segment : ended) {
    segment.network = network;
    segments[key_of_segment(segment)].push_back(std::move(segment));
  }
  ended.clear();
}

void settle_doubt(Open& open, Segments& segments) { complete(open.doubted, open.segment.start, segments); }

/// The segments that ended since the network's last view: `network` is its next one, or nothing where the client's
/// part in the group has ended.
void complete(Open& open, const GroupView* network, Segments& segments) {
  settle_doubt(open, segments);
  complete(open.ended, network, segments);
}

bool is_boundary(const GroupView& view, bool ordered) { return ordered || view.cause == ViewCause::network; }

void take_view(const ClientHistory& client, const GroupView& view, bool is_member, std::map<std::string, Open>& opens,
               Signalled& signalled, Segments& segments) {
  const bool of_network = view.cause == ViewCause::network;
  if (of_network) signalled.erase(view.group);
  const auto found = opens.find(view.group);
  if (found == opens.end() && !is_member) return;
  Open& open = opens[view.group];
  if (found != opens.end()) {
    open.segment.end = &view;
    settle_doubt(open, segments);
    const bool is_doubted = of_network && view.synchronous && open.segment.signalled;
    open.ended.push_back(std::move(open.segment));
    if (is_doubted) {
      open.doubted = std::move(open.ended);
      open.ended.clear();
    } else if (of_network) {
      complete(open, &view, segments);
    }
  }
  open.segment = Segment{&client, &view, nullptr, signalled.contains(view.group), nullptr, {}, {}, 0};
}

/// What is known of messages to synchronous groups.
struct Sending {
  SendingViews views;
  TakenOut taken_out;
};

/// Of what is sent to a synchronous group only the messages of members are to be in one view, where they are not
/// ordered; and those of one that rules took out may have come as from who is no member. And to who has not the
/// sender's view one may have come under another name.
bool counts(const MessageRecord& message, const std::string& group, bool ordered, const GroupView& start,
            const Sending& sending) {
  if (!start.synchronous) return true;
  if (message.groups.size() != 1) return false;
  const auto sent = sending.views.find(key_of(message));
  const bool is_of_member = sent != sending.views.end() && sent->second.contains(group) &&
                            !sending.taken_out.contains({message.sender, group});
  return ordered || is_of_member;
}

/// With `ordered`: ordered messages between any two views; without: reliable and fifo ones between views of the
/// network. `at_rest`: also since the last of these views.
void collect(const ClientHistory& client, const Sending& sending, bool ordered, bool at_rest, Segments& segments) {
  std::map<std::string, Open> open;
  Signalled signalled;
  const auto end_part = [&](const std::string& group) {
    const auto found = open.find(group);
    if (found == open.end()) return;
    complete(found->second, nullptr, segments);
    open.erase(found);
  };
  for (const Event& event : client.events) {
    if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      end_part(leave->group);
    } else if (const auto* signal = std::get_if<Transitional>(&event.what)) {
      signalled.insert(signal->group);
      if (const auto found = open.find(signal->group); found != open.end()) {
        Open& part = found->second;
        part.segment.signalled = true;
        for (Segment& segment : std::exchange(part.doubted, {})) {
          segment.doubted.push_back(part.segment.start);
          part.ended.push_back(std::move(segment));
        }
      }
    } else if (const auto* request = std::get_if<FlushRequested>(&event.what)) {
      if (const auto found = open.find(request->group); found != open.end()) settle_doubt(found->second, segments);
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      const bool is_member = is_in(view->members, client.name);
      if (is_boundary(*view, ordered)) take_view(client, *view, is_member, open, signalled, segments);
      // The last view of one who leaves ends its part in the group.
      if (!is_member) end_part(view->group);
    } else if (const auto* gap = std::get_if<Gapped>(&event.what)) {
      for (auto& [group, part] : open) {
        const auto found = gap->of_name.find(group);
        part.segment.gaps += gap->unlisted + (found == gap->of_name.end() ? 0 : found->second);
      }
    } else if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
      const Service service = delivered->message.service;
      const bool is_of_pass = service != Service::unreliable && is_ordered(service) == ordered;
      for (const std::string& group : delivered->message.groups) {
        const auto found = open.find(group);
        if (found == open.end()) continue;
        settle_doubt(found->second, segments);
        if (!is_of_pass) continue;
        Segment& segment = found->second.segment;
        if (!counts(delivered->message, group, ordered, *segment.start, sending)) continue;
        segment.messages.insert(key_of(delivered->message));
      }
    }
  }
  for (auto& [group, part] : open) {
    complete(part, nullptr, segments);
    // One with a signal that no view has ended is told of in check_transitions.
    if (!at_rest || client.is_closed() || part.segment.signalled) continue;
    segments[key_of_segment(part.segment)].push_back(std::move(part.segment));
  }
}

/// The view with that id that the client got.
const GroupView* find_view(const ClientHistory& client, const GroupView* view) {
  if (view == nullptr) return nullptr;
  for (const GroupView* each : events_of<GroupView>(client)) {
    if (each->group == view->group && to_text(each->id) == to_text(view->id)) return each;
  }
  return nullptr;
}

/// Whether the client of `segment` was told of the other, with a view between two signals, that they had parted before.
bool had_parted(const Segment& segment, const Segment& other) {
  const auto is_told = [&](const GroupView* doubted) {
    const GroupView* view = find_view(*segment.client, doubted);
    return view != nullptr && !is_in(view->vs_set, other.client->name);
  };
  return std::any_of(segment.doubted.begin(), segment.doubted.end(), is_told) ||
         std::any_of(other.doubted.begin(), other.doubted.end(), is_told);
}

/// Behind a signal changes of membership are told among those who stay together, and what they hold for is known with
/// the network's next view.
bool moved_together(const Segment& a, const Segment& b) {
  if (a.end == nullptr) return true;
  const bool is_a_told = !a.doubted.empty() || b.doubted.empty();
  const bool is_b_told = !b.doubted.empty() || a.doubted.empty();
  const GroupView* with_a = is_a_told ? a.network : find_view(*a.client, b.network);
  const GroupView* with_b = is_b_told ? b.network : find_view(*b.client, a.network);
  const bool of_network = a.end->cause == ViewCause::network;
  if (!of_network && !a.signalled && !b.signalled) return true;
  if (had_parted(a, b) || had_parted(b, a)) return false;
  if (with_a == nullptr || with_b == nullptr || to_text(with_a->id) != to_text(with_b->id)) return false;
  return is_in(with_a->vs_set, b.client->name) && is_in(with_b->vs_set, a.client->name);
}

void compare(const Segment& a, const Segment& b, const SentIndex& index, Violations& violations) {
  std::vector<MessageKey> difference;
  std::set_symmetric_difference(a.messages.begin(), a.messages.end(), b.messages.begin(), b.messages.end(),
                                std::back_inserter(difference));
  std::uint64_t missed_by_a = 0, missed_by_b = 0;
  for (const MessageKey& key : difference) {
    const auto found = index.entries.find(key);
    if (found == index.entries.end()) continue;  // check_no_invention speaks of it
    const Sent& sent = *found->second.sent;
    const bool is_own = key.sender == a.client->name || key.sender == b.client->name;
    if (sent.self_discard && is_own) continue;
    const bool a_has_it = a.messages.contains(key);
    if (a_has_it ? ++missed_by_b <= b.gaps : ++missed_by_a <= a.gaps) continue;
    const std::string where = a.end == nullptr
                                  ? fmt::format("since view {}", to_text(a.start->id))
                                  : fmt::format("between views {} and {}", to_text(a.start->id), to_text(a.end->id));
    report(violations,
           fmt::format("virtual synchrony: {} got {} in {} {}, {} did not", a_has_it ? a.client->name : b.client->name,
                       to_text(sent.message), a.start->group, where, a_has_it ? b.client->name : a.client->name));
    return;
  }
}

}  // namespace

Violations check_virtual_synchrony(const History& history, bool at_rest) {
  Violations violations;
  const SentIndex index(history);
  const Sending sending{sending_views_of(history), taken_out_by_rules(history)};
  for (const bool ordered : {true, false}) {
    Segments segments;
    for (const ClientHistory& client : history.clients) collect(client, sending, ordered, at_rest, segments);
    for (const auto& entry : segments) {
      const std::vector<Segment>& same = entry.second;
      for (std::size_t i = 1; i < same.size(); ++i) {
        // Moving together is an equivalence: one of the others stands for all of its kind.
        const auto other = std::find_if(same.begin(), same.begin() + static_cast<std::ptrdiff_t>(i),
                                        [&](const Segment& each) { return moved_together(each, same[i]); });
        if (other != same.begin() + static_cast<std::ptrdiff_t>(i)) compare(*other, same[i], index, violations);
      }
    }
  }
  return violations;
}

}  // namespace spindled::checkers
