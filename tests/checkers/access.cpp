#include <algorithm>
#include <optional>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"
#include "tests/checkers/rules.h"

namespace spindled::checkers {

namespace {

/// A time in which a client was a member, as far as it knew: from its first view of the group to its request to leave.
struct Stay {
  const ClientHistory* client = nullptr;
  std::string group;
  Time asked{};  // when it may have asked to join
  Time from{};
  Time to = Time::max();
  bool known = true;  // otherwise its daemon ended it before `to`
};

/// It said goodbye, and its daemon answered: everything before that was done.
bool has_said_bye(const ClientHistory& client) {
  return client.is_closed() && !client.killed && !client.bye_unanswered &&
         std::get<Closed>(client.events.back().what).code == static_cast<std::uint16_t>(Errc::closed_by_client);
}

/// The daemon had it until then for certain: it may close a connection long before the client is told.
Time certain_end(const ClientHistory& client) {
  if (!client.is_closed()) return Time::max();
  return client.killed ? client.events.back().at : client.since;
}

Time end_of(const ClientHistory& client, const History& history) {
  return client.is_closed() ? client.events.back().at : history.end;
}

/// Whom a daemon counts together.
std::string quota_key(const ClientHistory& client) {
  return client.daemon + " " + (client.identities.empty() ? std::string() : client.identities.front());
}

/// Of one that was never told a name: by its daemon, for its name or a quota.
bool is_refused(const ClientHistory& turned_away) {
  if (!turned_away.is_closed()) return false;
  const auto code = static_cast<Errc>(std::get<Closed>(turned_away.events.back().what).code);
  return code == Errc::access_denied || code == Errc::too_many_sessions;
}

class AccessCheck {
 public:
  AccessCheck(const History& history, bool at_rest) : history_(history), rules_(history), at_rest_(at_rest) {}

  Violations check() {
    if (!rules_.has_any()) return {};
    for (const ClientHistory& client : history_.clients) collect(client);
    for (const ClientHistory& client : history_.clients) {
      check_messages(client);
      check_name(client);
      check_connections(client);
      if (at_rest_ && !client.is_closed()) check_last_views(client);
    }
    for (const ClientHistory& client : history_.turned_away) check_turned_away(client);
    for (const Stay& stay : stays_) check_stay(stay);
    for (const ClientHistory& client : history_.clients) check_refusals(client);
    return std::move(violations_);
  }

 private:
  void collect(const ClientHistory& client);
  void check_messages(const ClientHistory& client);
  void check_refused_messages(const ClientHistory& client, std::uint64_t denied);
  void check_name(const ClientHistory& client);
  void check_connections(const ClientHistory& client);
  void check_turned_away(const ClientHistory& client);
  void check_stay(const Stay& stay);
  void check_created(const Stay& stay);
  void check_memberships(const Stay& stay);
  void check_refusals(const ClientHistory& client);
  void check_refused_join(const ClientHistory& client, const std::string& group, Errc code, Time from, Time to);
  void check_last_views(const ClientHistory& client);

  bool is_delivered(const Sent& sent) const { return delivered_.contains(key_of(sent.message)); }
  /// Whether the client was a member all the time: rules have it leave before it is told, and who does not read is told
  /// late that it was put out.
  bool is_certain(const Stay& stay, Time from, Time to) const {
    const std::optional<Time>& slow_since = stay.client->slow_since;
    return stay.known && stay.from <= from && stay.to >= to && !(slow_since && *slow_since <= to) &&
           rules_.of(*stay.client, Right::join, stay.group, stay.asked, to) == Verdict::allowed;
  }
  /// The largest quota of the time; 0: there was a moment without one.
  std::size_t bound(const ClientHistory& client, std::size_t QuotaLimits::*limit, Time from, Time to) const {
    std::size_t most = 0;
    for (const AccessConfig* each : rules_.between(client.daemon, from, to)) {
      const std::size_t bound = quota_of(*each, client.identities).*limit;
      if (bound == 0) return 0;
      most = std::max(most, bound);
    }
    return most;
  }

  const History& history_;
  RulesIndex rules_;
  bool at_rest_;
  Violations violations_;
  std::map<MessageKey, Time> delivered_;  // when first
  std::vector<Stay> stays_;
  std::map<std::string, std::set<const ClientHistory*>> wanted_;  // by group: who asked to join it
};

void AccessCheck::collect(const ClientHistory& client) {
  std::map<std::string, std::size_t> in;             // where in `stays_`
  std::map<std::string, std::vector<Time>> pending;  // joins that were asked for; some of them may be done
  std::set<std::string> leaving;                     // what is told of these may be of the stay that has ended
  const auto end = [&](const std::string& group, Time at, bool known) {
    const auto found = in.find(group);
    if (found == in.end()) return;
    stays_[found->second].to = at;
    stays_[found->second].known = known;
    in.erase(found);
  };
  for (const Event& event : client.events) {
    if (const auto* join = std::get_if<JoinRequested>(&event.what)) {
      pending[join->group].push_back(event.at);
      wanted_[join->group].insert(&client);
    } else if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      end(leave->group, event.at, !leave->by_rules);
      leaving.insert(leave->group);
    } else if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
      const auto [first, is_new] = delivered_.emplace(key_of(delivered->message), event.at);
      if (!is_new) first->second = std::min(first->second, event.at);
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      std::vector<Time>& asked = pending[view->group];
      const bool is_member = is_in(view->members, client.name);
      const bool joined_anew = view->cause == spindle::ViewCause::join && is_in(view->changed, client.name);
      if (joined_anew || !is_member) leaving.erase(view->group);
      if (!is_member) {
        end(view->group, event.at, false);
      } else if (leaving.contains(view->group)) {
        continue;
      } else if (!in.contains(view->group) && !asked.empty()) {
        in[view->group] = stays_.size();
        stays_.push_back({&client, view->group, asked.front(), event.at});
        // It may be another one that is done here; then the next is held to the rules of a longer time.
        asked.erase(asked.begin());
      }
    } else if (std::holds_alternative<Closed>(event.what)) {
      while (!in.empty()) end(in.begin()->first, event.at, client.killed);
    }
  }
}

// --- Messages ---

void AccessCheck::check_messages(const ClientHistory& client) {
  std::uint64_t denied = 0;
  for (const Event& event : client.events) {
    const auto* sent = std::get_if<Sent>(&event.what);
    if (sent == nullptr) continue;
    const auto first = delivered_.find(key_of(sent->message));
    const Time to = first == delivered_.end() ? end_of(client, history_) : first->second;
    if (rules_.of(client, sent->message, event.at, to) != Verdict::denied) continue;
    ++denied;
    if (first == delivered_.end()) continue;
    report(violations_, fmt::format("access: somebody got {}, which the rules at {} never allowed",
                                    to_text(sent->message), client.daemon));
  }
  check_refused_messages(client, denied);
}

/// `denied`: how many were never allowed.
void AccessCheck::check_refused_messages(const ClientHistory& client, std::uint64_t denied) {
  struct Told {
    std::uint64_t messages = 0;
    Time last{};
  };
  std::map<std::string, Told> told;  // by the name that was denied
  std::uint64_t all = 0;
  for (const Event& event : client.events) {
    const auto* refused = std::get_if<MessagesRefused>(&event.what);
    if (refused == nullptr || !refused->by_rules) continue;
    told[refused->name].messages += refused->messages;
    told[refused->name].last = event.at;
    all += refused->messages;
  }
  for (const auto& [name, refusal] : told) {
    std::uint64_t may_be = 0;
    for (const Event& event : client.events) {
      const auto* sent = std::get_if<Sent>(&event.what);
      if (sent == nullptr || event.at > refusal.last || !is_in(sent->message.groups, name)) continue;
      if (is_delivered(*sent)) continue;
      if (rules_.of(client, Right::send, name, event.at, refusal.last) != Verdict::allowed) ++may_be;
    }
    if (may_be >= refusal.messages) continue;
    report(violations_, fmt::format("access: {} was told that {} messages to {} were refused, and the rules denied {} "
                                    "that nobody got",
                                    client.name, refusal.messages, name, may_be));
  }
  const bool is_told = client.is_closed() ? has_said_bye(client) : at_rest_;
  if (!is_told || all >= denied) return;
  report(violations_, fmt::format("access: {} was told that {} messages were refused, and the rules never allowed {}",
                                  client.name, all, denied));
}

// --- Connections ---

void AccessCheck::check_name(const ClientHistory& client) {
  const auto may_be_called = [&](const AccessConfig& rules) {
    return rules_allow_name(rules, client.identities, client.wish);
  };
  if (rules_.ask(client, client.connected, client.since, may_be_called) != Verdict::denied) return;
  report(violations_, fmt::format("access: {} has a name that was reserved for others", client.name));
}

void AccessCheck::check_connections(const ClientHistory& client) {
  const std::size_t bound = this->bound(client, &QuotaLimits::connections, client.connected, client.since);
  if (bound == 0) return;
  const auto others = std::count_if(history_.clients.begin(), history_.clients.end(), [&](const ClientHistory& each) {
    return &each != &client && quota_key(each) == quota_key(client) && each.since <= client.connected &&
           certain_end(each) >= client.since;
  });
  if (static_cast<std::size_t>(others) < bound) return;
  report(violations_,
         fmt::format("access: {} was let in beside {} others, and the quota is {}", client.name, others, bound));
}

void AccessCheck::check_turned_away(const ClientHistory& client) {
  if (!client.is_closed()) return;
  const Event& last = client.events.back();
  const auto code = static_cast<Errc>(std::get<Closed>(last.what).code);
  if (code == Errc::access_denied) {
    const auto may_be_called = [&](const AccessConfig& rules) {
      return rules_allow_name(rules, client.identities, client.wish);
    };
    if (rules_.ask(client, client.connected, last.at, may_be_called) != Verdict::allowed) return;
    report(violations_,
           fmt::format("access: {} was refused at {}, and not reserved for others", client.wish, client.daemon));
  } else if (code == Errc::too_many_sessions) {
    const auto may_have_come = [&](const ClientHistory& each) {
      return quota_key(each) == quota_key(client) && each.connected <= last.at;
    };
    // Who was let in by a daemon that crashed at once has not heard of it.
    const auto may_be_untold = [&](const ClientHistory& each) { return may_have_come(each) && !is_refused(each); };
    const auto came = static_cast<std::size_t>(
        std::count_if(history_.clients.begin(), history_.clients.end(), may_have_come) +
        std::count_if(history_.turned_away.begin(), history_.turned_away.end(), may_be_untold));
    const auto has_room = [&](const AccessConfig& rules) {
      const std::size_t bound = quota_of(rules, client.identities).connections;
      return bound == 0 || came < bound;
    };
    if (rules_.ask(client, client.connected, last.at, has_room) != Verdict::allowed) return;
    report(violations_,
           fmt::format("access: {} was refused at {} for a quota that was not used up", client.wish, client.daemon));
  }
}

// --- Memberships ---

void AccessCheck::check_stay(const Stay& stay) {
  const ClientHistory& client = *stay.client;
  if (rules_.of(client, Right::join, stay.group, stay.asked, stay.from) == Verdict::denied) {
    report(violations_, fmt::format("access: {} joined {}, which the rules at {} never allowed", client.name,
                                    stay.group, client.daemon));
  }
  if (rules_.of(client, Right::create, stay.group, stay.asked, stay.from) == Verdict::denied) check_created(stay);
  check_memberships(stay);
}

/// Who may not create a group joins one that somebody is in, or was. Who has closed may have been without a word.
void AccessCheck::check_created(const Stay& stay) {
  const bool any = std::any_of(stays_.begin(), stays_.end(), [&](const Stay& each) {
    return &each != &stay && each.group == stay.group && each.asked <= stay.from;
  });
  const std::set<const ClientHistory*>& wanted = wanted_[stay.group];
  const bool any_may = std::any_of(wanted.begin(), wanted.end(), [&](const ClientHistory* each) {
    return each != stay.client && (each->is_closed() || !at_rest_);
  });
  if (any || any_may) return;
  report(violations_, fmt::format("access: {} created {}, which the rules at {} never allowed", stay.client->name,
                                  stay.group, stay.client->daemon));
}

void AccessCheck::check_memberships(const Stay& stay) {
  const std::size_t bound = this->bound(*stay.client, &QuotaLimits::memberships, stay.asked, stay.from);
  if (bound == 0) return;
  const auto others = std::count_if(stays_.begin(), stays_.end(), [&](const Stay& each) {
    return quota_key(*each.client) == quota_key(*stay.client) && is_certain(each, stay.asked, stay.from);
  });
  if (static_cast<std::size_t>(others) < bound) return;
  report(violations_, fmt::format("access: {} joined {} beside {} memberships, and the quota is {}", stay.client->name,
                                  stay.group, others, bound));
}

/// Joins that were refused. Which of several it was is not told: the rules of the whole time may have been asked.
void AccessCheck::check_refusals(const ClientHistory& client) {
  std::map<std::string, Time> asked;
  for (const Event& event : client.events) {
    if (const auto* join = std::get_if<JoinRequested>(&event.what)) asked.emplace(join->group, event.at);
    const auto* refused = std::get_if<Refused>(&event.what);
    if (refused == nullptr) continue;
    const auto code = static_cast<Errc>(refused->code);
    const auto since = asked.find(refused->group);
    if (since != asked.end()) check_refused_join(client, refused->group, code, since->second, event.at);
  }
}

void AccessCheck::check_refused_join(const ClientHistory& client, const std::string& group, Errc code, Time from,
                                     Time to) {
  if (code == Errc::access_denied) {
    if (rules_.of(client, Right::join, group, from, to) != Verdict::allowed) return;
    const bool is_populated = std::any_of(stays_.begin(), stays_.end(), [&](const Stay& each) {
      return each.group == group && each.client->daemon == client.daemon && is_certain(each, from, to);
    });
    if (!is_populated && rules_.of(client, Right::create, group, from, to) != Verdict::allowed) return;
    report(violations_, fmt::format("access: {} was refused {}, which the rules at {} allowed all the time",
                                    client.name, group, client.daemon));
  } else if (code == Errc::too_many_memberships) {
    std::size_t most = 0;  // that there may have been beside it
    for (const auto& wanted : wanted_) {
      for (const ClientHistory* each : wanted.second) {
        if (each == &client && wanted.first == group) continue;
        most += quota_key(*each) == quota_key(client) ? 1 : 0;
      }
    }
    const auto has_room = [&](const AccessConfig& rules) {
      const std::size_t bound = quota_of(rules, client.identities).memberships;
      return bound == 0 || most < bound;
    };
    if (rules_.ask(client, from, to, has_room) != Verdict::allowed) return;
    report(violations_, fmt::format("access: {} was refused {} for a quota that was not used up", client.name, group));
  }
}

void AccessCheck::check_last_views(const ClientHistory& client) {
  std::map<std::string, const GroupView*> last;
  for (const GroupView* view : events_of<GroupView>(client)) last[view->group] = view;
  for (const auto& [group, view] : last) {
    if (!is_in(view->members, client.name)) continue;
    if (rules_.of(client, Right::join, group, history_.end, history_.end) == Verdict::allowed) continue;
    report(violations_, fmt::format("access: {} is still in {}, which the rules at {} do not allow any more",
                                    client.name, group, client.daemon));
  }
}

}  // namespace

Violations check_access(const History& history, bool at_rest) { return AccessCheck(history, at_rest).check(); }

}  // namespace spindled::checkers
