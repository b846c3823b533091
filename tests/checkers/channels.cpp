#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace protocol = spindle::protocol;
using protocol::BulkChannelId;
using protocol::BulkOutcome;

namespace {

/// What a client knows of a channel.
struct Known {
  std::string group;
  bool is_own = false;
  bool is_late = false;
  bool is_sealed = false;
  bool is_complete = false;
  std::uint64_t missing = 0;        // of the audience when it was complete
  const GroupView* view = nullptr;  // of the group, where it was offered; null: the client was no member
};

/// What a client has ever had to do with a channel.
struct Part {
  bool was_in_time = false;
  BulkOutcome said = BulkOutcome::none;  // the first that is final
  Time said_at{};
};

/// Between two views of a group.
struct Segment {
  const ClientHistory* client = nullptr;
  const GroupView* start = nullptr;
  const GroupView* end = nullptr;  // null: it is a member at the end
  bool is_signalled = false;
  std::set<BulkChannelId> offers;  // that it is in time for
  std::set<BulkChannelId> late;    // and that it is not
  std::set<BulkChannelId> known;   // of which it was told before
};

/// Goes through what one client was told.
class Reading {
 public:
  Reading(const ClientHistory& client, Violations& violations) : client_(client), violations_(violations) {}

  struct Completion {
    const protocol::BulkComplete* complete = nullptr;
    Time at{};
    const GroupView* view = nullptr;  // of the group; null: the client is no member
    bool is_of_audience = false;      // for sure: its daemon has not been parted from others since the offer
  };

  void run() {
    for (const Event& event : client_.events) {
      if (const auto* view = std::get_if<GroupView>(&event.what)) take(*view);
      if (const auto* signal = std::get_if<Transitional>(&event.what)) {
        if (const auto open = open_.find(signal->group); open != open_.end()) open->second.is_signalled = true;
      }
      if (const auto* said = std::get_if<ChannelSaid>(&event.what)) {
        if (const auto* outcome = std::get_if<protocol::BulkOutcomeSaid>(&said->request)) take(event.at, *outcome);
      }
      if (const auto* told = std::get_if<ChannelTold>(&event.what)) {
        if (const auto* offered = std::get_if<protocol::BulkOffered>(&told->news)) take(*offered);
        if (const auto* sealed = std::get_if<protocol::BulkSealed>(&told->news)) {
          if (Known* known = find(sealed->channel, "sealed")) once(known->is_sealed, sealed->channel, "sealed");
        }
        if (const auto* complete = std::get_if<protocol::BulkComplete>(&told->news)) take(event.at, *complete);
        if (const auto* returned = std::get_if<protocol::BulkReturned>(&told->news)) take(*returned);
        if (const auto* ended = std::get_if<protocol::BulkEnded>(&told->news)) {
          if (find(ended->channel, "ended") != nullptr) known_.erase(ended->channel);
        }
      }
    }
    for (auto& [group, segment] : open_) segments_.push_back(std::move(segment));
  }

  const ClientHistory& client() const { return client_; }
  const std::map<BulkChannelId, Known>& known() const { return known_; }
  const std::map<BulkChannelId, Part>& parts() const { return parts_; }
  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<Completion>& completions() const { return completions_; }

 private:
  void take(const GroupView& view) {
    const auto open = open_.find(view.group);
    const bool is_member = is_in(view.members, client_.name);
    if (open != open_.end()) {
      open->second.end = &view;
      segments_.push_back(std::move(open->second));
      open_.erase(open);
    }
    if (is_member) {
      Segment& begun = open_[view.group] = {&client_, &view, nullptr, false, {}, {}, {}};
      for (const auto& [id, known] : known_) {
        if (known.group == view.group) begun.known.insert(id);
      }
    } else {
      std::erase_if(known_, [&](const auto& each) { return !each.second.is_own && each.second.group == view.group; });
    }
  }

  void take(Time at, const protocol::BulkOutcomeSaid& said) {
    Part& part = parts_[said.channel];
    if (protocol::is_final(part.said) || !protocol::is_final(said.outcome)) return;
    part.said = said.outcome == BulkOutcome::kept ? BulkOutcome::done : said.outcome;
    part.said_at = at;
  }

  void take(const protocol::BulkOffered& offered) {
    const bool is_own = offered.request != 0;
    const auto open = open_.find(offered.group);
    if (!known_
             .try_emplace(offered.channel,
                          Known{offered.group, is_own, offered.is_late, offered.root.has_value(), offered.is_complete})
             .second) {
      violate("is told twice that {} is offered", offered.channel);
    }
    known_[offered.channel].view = open == open_.end() ? nullptr : open->second.start;
    if (!is_own && open == open_.end()) violate("is told that {} is offered, and is no member", offered.channel);
    if (offered.is_late && open != open_.end()) open->second.late.insert(offered.channel);
    if (offered.is_late) return;
    if (!is_own) parts_[offered.channel].was_in_time = true;
    if (open != open_.end()) open->second.offers.insert(offered.channel);
  }

  void take(Time at, const protocol::BulkComplete& complete) {
    Known* known = find(complete.channel, "complete");
    if (known == nullptr) return;
    if (!known->is_sealed) violate("is told that {} is complete, and not sealed", complete.channel);
    once(known->is_complete, complete.channel, "complete");
    known->missing = complete.gone.missing;
    const auto open = open_.find(known->group);
    const bool is_of_audience = !known->is_own && !known->is_late && open != open_.end() && known->view != nullptr &&
                                are_of_one_order(known->view->id, complete.place);
    completions_.push_back({&complete, at, open == open_.end() ? nullptr : open->second.start, is_of_audience});
  }

  void take(const protocol::BulkReturned& returned) {
    const Known* known = find(returned.channel, "returned to");
    if (known == nullptr) return;
    if (!known->is_own || !known->is_complete) {
      violate("is told who has come back for {}, and is no source that knows it complete", returned.channel);
    }
    const protocol::BulkGone& gone = returned.gone;
    if (gone.done + gone.failed + gone.refused + gone.missing != known->missing) {
      violate("is told of other numbers of those that came back for {} than were missing", returned.channel);
    }
  }

  Known* find(const BulkChannelId& id, std::string_view what) {
    const auto known = known_.find(id);
    if (known != known_.end()) return &known->second;
    report(violations_, fmt::format("channels: {} is told that {} is {}, and not before that it is offered",
                                    client_.name, to_string(id), what));
    return nullptr;
  }
  void once(bool& flag, const BulkChannelId& id, std::string_view what) {
    if (!std::exchange(flag, true)) return;
    report(violations_, fmt::format("channels: {} is told twice that {} is {}", client_.name, to_string(id), what));
  }
  void violate(const char* what, const BulkChannelId& id) {
    report(violations_, fmt::format("channels: {} {}", client_.name, fmt::format(fmt::runtime(what), to_string(id))));
  }

  const ClientHistory& client_;
  Violations& violations_;
  std::map<BulkChannelId, Known> known_;
  std::map<BulkChannelId, Part> parts_;
  std::map<std::string, Segment> open_;
  std::vector<Segment> segments_;
  std::vector<Completion> completions_;
};

// --- Offers ---

bool move_together(const Segment& a, const Segment& b) {
  if (a.end == nullptr || b.end == nullptr) return true;  // at rest
  if (a.end->cause == spindle::ViewCause::network) {
    return is_in(a.end->vs_set, b.client->name) && is_in(b.end->vs_set, a.client->name) &&
           !(a.end->synchronous && (a.is_signalled || b.is_signalled));
  }
  return !a.is_signalled && !b.is_signalled;
}

/// Of what one was in time for the other knows, too. What was offered as the view before ended is told with this one:
/// there who comes from another side is late, or was told of it where its side ended that view, and is not told again.
bool knows_all(const Segment& one, const Segment& other) {
  const bool has_come_along =
      one.start->cause != spindle::ViewCause::network ||
      (is_in(one.start->vs_set, other.client->name) && is_in(other.start->vs_set, one.client->name));
  return std::all_of(one.offers.begin(), one.offers.end(), [&](const BulkChannelId& id) {
    return other.offers.contains(id) || (!has_come_along && (other.late.contains(id) || other.known.contains(id)));
  });
}

void check_offers(const std::vector<Reading>& readings, bool at_rest, Violations& violations) {
  std::map<std::string, std::vector<const Segment*>> segments;
  for (const Reading& reading : readings) {
    if (!reading.client().wants_channels) continue;
    for (const Segment& segment : reading.segments()) {
      if (segment.end == nullptr && (!at_rest || reading.client().is_closed())) continue;
      segments[fmt::format("{} {} {}", segment.start->group, to_text(segment.start->id),
                           segment.end == nullptr ? "" : to_text(segment.end->id))]
          .push_back(&segment);
    }
  }
  for (const auto& [key, all] : segments) {
    for (const Segment* each : all) {
      const Segment& first = *all.front();
      if (!move_together(first, *each) || (knows_all(first, *each) && knows_all(*each, first))) continue;
      report(violations, fmt::format("channels: {} and {} move together from view {} of {}, and are told of {} and {} "
                                     "offers in it",
                                     first.client->name, each->client->name, to_text(first.start->id),
                                     first.start->group, first.offers.size(), each->offers.size()));
    }
  }
}

// --- Completion ---

class Completions {
 public:
  Completions(const std::vector<Reading>& readings, Violations& violations)
      : readings_(readings), violations_(violations) {
    for (const Reading& reading : readings) by_name_[reading.client().name].push_back(&reading);
  }

  void check() {
    for (const Reading& reading : readings_) {
      for (const Reading::Completion& each : reading.completions()) check(reading, each);
    }
  }

 private:
  void check(const Reading& reading, const Reading::Completion& completion) {
    const protocol::BulkComplete& told = *completion.complete;
    const std::string view =
        fmt::format("{}@{}/{:x}", told.place.view_number, told.place.coordinator, told.place.incarnation);
    const auto [first, is_new] = first_.try_emplace({told.channel, view}, std::pair(&reading, &told));
    const protocol::BulkComplete& other = *first->second.second;
    if (!is_new && told != other) {
      report(violations_,
             fmt::format("channels: {} and {} are told at other places, or other things, when {} is "
                         "complete in view {}",
                         reading.client().name, first->second.first->client().name, to_string(told.channel), view));
    }
    const bool is_in_list = is_in(told.done, reading.client().name) || is_in(told.refused, reading.client().name) ||
                            std::any_of(told.failed.begin(), told.failed.end(),
                                        [&](const auto& failed) { return failed.name == reading.client().name; });
    if (completion.is_of_audience && !is_in_list) {
      report(violations_, fmt::format("channels: {} is told that {} is complete, of whose audience it is itself",
                                      reading.client().name, to_string(told.channel)));
    }
    for (const std::string& name : told.done) check(reading, completion, name, BulkOutcome::done);
    for (const auto& failed : told.failed) check(reading, completion, failed.name, BulkOutcome::failed);
    for (const std::string& name : told.refused) check(reading, completion, name, BulkOutcome::refused);
  }

  void check(const Reading& reading, const Reading::Completion& completion, const std::string& name,
             BulkOutcome outcome) {
    const BulkChannelId& id = completion.complete->channel;
    const auto violate = [&](std::string_view what) {
      report(violations_, fmt::format("channels: {} is told that {} is complete, with {}, who {}",
                                      reading.client().name, to_string(id), name, what));
    };
    // Where a view of a synchronous group is pending, its members do not know who has come.
    if (completion.view != nullptr && !completion.view->synchronous && !is_in(completion.view->members, name))
      violate("is no member");
    const auto found = by_name_.find(name);
    bool any_in_time = false, any_said = false;
    if (found != by_name_.end()) {
      for (const Reading* each : found->second) {
        // For who does not hear of channels its daemon refuses.
        const bool is_deaf = !each->client().wants_channels && outcome == BulkOutcome::refused;
        any_in_time = any_in_time || is_deaf;
        any_said = any_said || is_deaf;
        const auto part = each->parts().find(id);
        if (part == each->parts().end()) continue;
        any_in_time = any_in_time || part->second.was_in_time;
        any_said = any_said || (part->second.said == outcome && part->second.said_at <= completion.at);
      }
    }
    if (!any_in_time) violate("was not in time for it");
    if (!any_said) violate("has not said so before");
  }

  const std::vector<Reading>& readings_;
  Violations& violations_;
  std::map<std::string, std::vector<const Reading*>> by_name_;
  std::map<std::pair<BulkChannelId, std::string>, std::pair<const Reading*, const protocol::BulkComplete*>> first_;
};

void check_rest(const std::vector<Reading>& readings, Violations& violations) {
  std::set<BulkChannelId> awaited;  // by who has not said what came of it
  for (const Reading& reading : readings) {
    if (reading.client().is_closed()) continue;
    for (const auto& [id, known] : reading.known()) {
      const auto part = reading.parts().find(id);
      const bool is_final = part != reading.parts().end() && protocol::is_final(part->second.said);
      if (!known.is_own && !known.is_late && !is_final) awaited.insert(id);
    }
  }
  for (const Reading& reading : readings) {
    if (reading.client().is_closed()) continue;
    for (const auto& [id, known] : reading.known()) {
      if (!known.is_sealed || known.is_complete || awaited.contains(id)) continue;
      report(violations, fmt::format("channels: {} is not complete for {}, and nobody is waited for", to_string(id),
                                     reading.client().name));
    }
  }
}

}  // namespace

Violations check_channels(const History& history, bool at_rest) {
  Violations violations;
  std::vector<Reading> readings;
  readings.reserve(history.clients.size());
  bool any = false;
  for (const ClientHistory& client : history.clients) {
    any = any || std::any_of(client.events.begin(), client.events.end(),
                             [](const Event& event) { return std::holds_alternative<ChannelTold>(event.what); });
  }
  if (!any) return violations;
  for (const ClientHistory& client : history.clients) readings.emplace_back(client, violations).run();
  Completions(readings, violations).check();
  check_offers(readings, at_rest, violations);
  if (at_rest) check_rest(readings, violations);
  return violations;
}

}  // namespace spindled::checkers
