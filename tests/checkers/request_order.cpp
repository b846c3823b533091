#include <algorithm>
#include <optional>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

using Place = std::size_t;  // among the client's events

/// Something that a client asked for, and where it saw that it was done.
struct Request {
  enum class Kind : std::uint8_t { join, leave, message };
  Kind kind{};
  const std::vector<std::string>* groups = nullptr;  // of a message
  std::string group;                                 // of a join or leave
  std::optional<Place> done;
  std::string text;
  bool synchronous = false;  // a join of a synchronous group: it is told when that has flushed
};

/// What a client saw of its own membership in a group.
struct Seen {
  std::vector<Place> farewells;
  std::vector<std::pair<Place, spindle::ViewCause>> starts;  // views with the client that follow one without, or none
};

struct Witnessed {
  std::map<std::string, Seen> memberships;  // by group
  std::map<MessageKey, Place> own;          // messages of the client that it got
  std::set<std::string> unknown;            // groups of which a request was refused, or that rules had it leave
};

Witnessed witness(const ClientHistory& client) {
  Witnessed witnessed;
  std::set<std::string> in;
  for (Place place = 0; place < client.events.size(); ++place) {
    const auto& what = client.events[place].what;
    if (const auto* view = std::get_if<GroupView>(&what)) {
      Seen& seen = witnessed.memberships[view->group];
      if (!is_in(view->members, client.name)) {
        seen.farewells.push_back(place);
        in.erase(view->group);
      } else if (in.insert(view->group).second) {
        seen.starts.emplace_back(place, view->cause);
      }
    } else if (const auto* delivered = std::get_if<Delivered>(&what)) {
      if (delivered->message.sender == client.name) witnessed.own.emplace(key_of(delivered->message), place);
    } else if (const auto* leave = std::get_if<LeaveRequested>(&what)) {
      if (leave->by_rules) witnessed.unknown.insert(leave->group);
    } else if (const auto* refused = std::get_if<Refused>(&what)) {
      const auto code = static_cast<Errc>(refused->code);
      if (code != Errc::already_a_member && code != Errc::not_a_member) witnessed.unknown.insert(refused->group);
    }
  }
  return witnessed;
}

/// Where the join before the leave number `leaves` was done. A change of the network may tell it together with others;
/// then nothing is known of its place.
std::optional<Place> place_of_join(const Seen& seen, std::size_t leaves) {
  const Place from = leaves == 0 ? 0 : seen.farewells.size() >= leaves ? seen.farewells[leaves - 1] : SIZE_MAX;
  const Place to = seen.farewells.size() > leaves ? seen.farewells[leaves] : SIZE_MAX;
  for (const auto& [place, cause] : seen.starts) {
    if (place >= from && place < to && cause != spindle::ViewCause::network) return place;
  }
  return std::nullopt;
}

/// Those that had an effect, in the order asked. Messages that the client was not to get itself are reported.
std::vector<Request> requests_of(const ClientHistory& client, const Witnessed& witnessed, Violations& violations) {
  std::vector<Request> requests;
  std::map<std::string, std::size_t> leaves;
  std::set<std::string> wanted{client.name};
  for (const Event& event : client.events) {
    if (const auto* join = std::get_if<JoinRequested>(&event.what)) {
      if (!wanted.insert(join->group).second || witnessed.unknown.contains(join->group)) continue;
      const auto seen = witnessed.memberships.find(join->group);
      if (seen == witnessed.memberships.end()) continue;
      requests.push_back({Request::Kind::join, nullptr, join->group, place_of_join(seen->second, leaves[join->group]),
                          "its join of " + join->group, join->synchronous});
    } else if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      if (wanted.erase(leave->group) == 0 || witnessed.unknown.contains(leave->group)) continue;
      const std::size_t number = leaves[leave->group]++;
      const auto seen = witnessed.memberships.find(leave->group);
      if (seen == witnessed.memberships.end() || seen->second.farewells.size() <= number) continue;
      requests.push_back({Request::Kind::leave, nullptr, leave->group, seen->second.farewells[number],
                          "its leave of " + leave->group, false});
    } else if (const auto* sent = std::get_if<Sent>(&event.what)) {
      const auto got = witnessed.own.find(key_of(sent->message));
      if (got == witnessed.own.end()) continue;
      const std::vector<std::string>& groups = sent->message.groups;
      const bool is_for_it = std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
        return wanted.contains(group) || witnessed.unknown.contains(group);
      });
      if (!is_for_it && !client.independent_flows) {
        report(violations, fmt::format("order of requests: {} got its {}, to no group that it had asked to be in",
                                       client.name, to_text(sent->message)));
      }
      requests.push_back({Request::Kind::message, &groups, {}, got->second, "its " + to_text(sent->message), false});
    }
  }
  return requests;
}

/// Holds requests against the latest of those before them.
class OrderCheck {
 public:
  OrderCheck(const ClientHistory& client, Violations& violations) : client_(client), violations_(violations) {}

  void add(const Request& request) {
    if (!request.done) return;
    if (request.synchronous) {
      synchronous_.insert(request.group);
      changes_[request.group] = &request;
      return;
    }
    if (request.kind != Request::Kind::message) {
      expect_behind(last_change_, request);
      if (!client_.independent_flows) expect_behind(last_message_, request);
      last_change_ = later(last_change_, request);
      changes_[request.group] = &request;
      return;
    }
    if (!client_.independent_flows) {
      expect_behind(last_change_, request);
    }
    for (const std::string& group : *request.groups) {
      if (client_.independent_flows || synchronous_.contains(group)) {
        if (const auto change = changes_.find(group); change != changes_.end()) expect_behind(change->second, request);
      }
    }
    last_message_ = later(last_message_, request);
  }

 private:
  static const Request* later(const Request* before, const Request& request) {
    return before != nullptr && *before->done > *request.done ? before : &request;
  }
  void expect_behind(const Request* before, const Request& request) {
    if (before == nullptr || *before->done < *request.done) return;
    report(violations_, fmt::format("order of requests: {} saw {} before {}, which it had asked for earlier",
                                    client_.name, request.text, before->text));
  }

  const ClientHistory& client_;
  Violations& violations_;
  std::set<std::string> synchronous_;              // groups
  const Request* last_change_ = nullptr;           // the one done last of those asked for so far
  const Request* last_message_ = nullptr;          // likewise
  std::map<std::string, const Request*> changes_;  // the last one of each group
};

}  // namespace

Violations check_request_order(const History& history) {
  Violations violations;
  for (const ClientHistory& client : history.clients) {
    const std::vector<Request> requests = requests_of(client, witness(client), violations);
    OrderCheck check(client, violations);
    for (const Request& request : requests) check.add(request);
  }
  return violations;
}

}  // namespace spindled::checkers
