#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/feed_listening.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

/// What a view, or a rule that is no more, brings its clients may read so much later.
constexpr Duration kHearsLate = 5s;
/// What a client has sent so long before its end has left, however slow its feed is: a message of 64 KiB at 10 kB/s.
constexpr Duration kLeaves = 10s;

/// A feed as its source knows it, in one of its sessions.
struct OwnFeed {
  const ClientHistory* client = nullptr;
  spindle::FeedId id = 0;
  std::string group;
  bool drops_oldest = false;
  Time asked_at{};
  std::optional<Time> over_at{};  // given up, refused, or with its session
  bool is_open = true;            // at the end of the history
  bool is_taken_away = false;     // its daemon has ended it: what it had sent may be thrown away
  std::vector<Time> sent;         // each message
};

/// Who sent a message, and as which of the feed's.
struct Origin {
  std::size_t client = 0;  // number of the program, and its first session
  spindle::FeedId feed = 0;
  std::size_t index = 0;
};

/// What sources did. A message that was kept for want of room may go in a later session: a feed is that of a program.
class Sources {
 public:
  explicit Sources(const History& history) {
    for (const ClientHistory& client : history.clients) read(client);
  }

  const Origin* find(std::uint64_t digest) const {
    const auto found = origins_.find(digest);
    return found == origins_.end() ? nullptr : &found->second;
  }
  const std::vector<OwnFeed>& feeds() const { return feeds_; }
  /// All sessions of a feed that carries such messages.
  template <typename Visit>
  void for_each_of(const Origin& origin, Visit&& visit) const {
    for (const OwnFeed& each : feeds_) {
      if (each.id == origin.feed && programs_.at(each.client) == origin.client) visit(each);
    }
  }
  /// In its first session.
  Time asked_at(const Origin& origin) const {
    Time first = Time::max();
    for_each_of(origin, [&](const OwnFeed& each) { first = std::min(first, each.asked_at); });
    return first;
  }
  /// Messages that the program has sent to the feed.
  std::size_t count(const Origin& origin) const { return counts_.at({origin.client, origin.feed}); }
  /// Those of them that nothing but a loss keeps from listeners: who goes leaves behind what has yet to leave.
  std::size_t count_due(const Origin& origin) const {
    std::size_t gone = 0;
    for_each_of(origin, [&](const OwnFeed& own) {
      if (!own.client->is_closed()) return;
      const Time end = own.client->events.back().at;
      gone += static_cast<std::size_t>(
          std::count_if(own.sent.begin(), own.sent.end(), [&](Time sent) { return sent + kLeaves > end; }));
    });
    return count(origin) - gone;
  }

 private:
  void read(const ClientHistory& client) {
    const std::size_t program = client.program != 0
                                    ? program_numbers_.try_emplace(client.program, programs_.size()).first->second
                                    : programs_.size();
    programs_[&client] = program;
    const std::size_t first = feeds_.size();
    const auto find = [&](spindle::FeedId id) -> OwnFeed* {
      for (std::size_t i = first; i < feeds_.size(); ++i) {
        if (feeds_[i].id == id) return &feeds_[i];
      }
      return nullptr;
    };
    for (const FeedEvent& event : client.feeds) {
      if (const auto* asked = std::get_if<FeedAsked>(&event.what)) {
        feeds_.push_back({&client, asked->feed, asked->group, asked->drops_oldest, event.at, {}, true, false, {}});
      } else if (const auto* sent = std::get_if<FeedSent>(&event.what)) {
        origins_[sent->digest] = {program, sent->feed, counts_[{program, sent->feed}]++};
        if (OwnFeed* feed = find(sent->feed)) feed->sent.push_back(event.at);
      } else if (const auto* given_up = std::get_if<FeedGivenUp>(&event.what)) {
        end(find(given_up->feed), event.at);
      } else if (const auto* over = std::get_if<OwnFeedOver>(&event.what)) {
        end(find(over->feed), event.at);
        if (OwnFeed* feed = find(over->feed)) feed->is_taken_away = true;
      } else if (std::holds_alternative<OwnFeedDenied>(event.what)) {
        for (std::size_t i = first; i < feeds_.size(); ++i)
          feeds_[i].is_taken_away = feeds_[i].is_taken_away || !feeds_[i].is_open;
      }
    }
    if (!client.is_closed()) return;
    for (std::size_t i = first; i < feeds_.size(); ++i) end(&feeds_[i], client.events.back().at);
  }
  static void end(OwnFeed* feed, Time at) {
    if (feed == nullptr || !feed->is_open) return;
    feed->is_open = false;
    feed->over_at = at;
  }

  std::vector<OwnFeed> feeds_;
  std::map<std::uint64_t, Origin> origins_;
  std::map<std::pair<std::size_t, spindle::FeedId>, std::size_t> counts_;
  std::map<const ClientHistory*, std::size_t> programs_;
  std::map<std::uint32_t, std::size_t> program_numbers_;
};

class Listener {
 public:
  Listener(const History& history, const ClientHistory& client, const Sources& sources, bool at_rest,
           Violations& violations)
      : history_(history), client_(client), sources_(sources), at_rest_(at_rest), violations_(violations) {}

  void check() {
    FeedListening listening(client_);
    for (const FeedListening::Fault& each : listening.read(at_rest_)) violate(each);
    for (const HeardFeed& feed : listening.feeds()) check(feed);
    if (at_rest_ && !client_.is_closed()) check_rest(listening);
  }

 private:
  void violate(const std::string& what) { report(violations_, fmt::format("feeds: {} {}", client_.name, what)); }

  void check(const HeardFeed& feed) {
    const Origin* origin = check_messages(feed);
    check_end(feed, origin);
    check_tail(feed, origin);
    if (history_.is_undisturbed) check_undisturbed(feed, origin);
  }

  /// Of all messages one feed has to be the origin.
  const Origin* check_messages(const HeardFeed& feed) {
    const Origin* first = nullptr;
    std::map<std::uint64_t, std::vector<std::size_t>> by_sequence;
    for (const FeedGot& got : feed.messages) {
      const Origin* origin = sources_.find(got.digest);
      if (origin == nullptr) {
        violate(
            fmt::format("is given a message of {} to {} that nobody has sent", feed.opened.source, feed.opened.group));
        return nullptr;
      }
      bool is_of_it = false;
      sources_.for_each_of(*origin, [&](const OwnFeed& own) {
        is_of_it = is_of_it || (own.group == feed.opened.group && own.client->name == feed.opened.source);
      });
      if (!is_of_it)
        violate(fmt::format("is given a message of another source or group than {} and {}", feed.opened.source,
                            feed.opened.group));
      if (first == nullptr) first = origin;
      if (origin->client != first->client || origin->feed != first->feed) {
        violate(fmt::format("is given messages of two feeds of {} as one", feed.opened.source));
      }
      by_sequence[got.sequence].push_back(origin->index);
    }
    std::optional<std::size_t> before;
    for (const auto& [sequence, indices] : by_sequence) {
      for (const std::size_t index : indices) {
        if (before && *before >= index) {
          violate(
              fmt::format("is given messages of {} in another order, or twice, at {}", feed.opened.source, sequence));
        }
        before = index;
      }
    }
    return first;
  }

  void check_end(const HeardFeed& feed, const Origin* origin) {
    if (!feed.over) return;
    const auto& [at, why] = *feed.over;
    if (why == spindle::FeedClosed::Why::closed) {
      bool was_closed = false;
      // Who comes back, or does not read, hears later than its listeners that its session is over, and of a feed that
      // its daemon ends the source and the listeners hear in any order.
      const auto look = [&, until = at](const OwnFeed& own) {
        const bool hears_late = own.client->program != 0 || own.client->slow_since.has_value();
        const Duration late_by = own.is_taken_away ? kHearsLate : Duration::zero();
        was_closed = was_closed || (own.over_at && (hears_late || *own.over_at <= until + late_by));
      };
      if (origin != nullptr) {
        sources_.for_each_of(*origin, look);
      } else {
        for (const OwnFeed& own : sources_.feeds()) {
          if (own.group == feed.opened.group && own.client->name == feed.opened.source) look(own);
        }
      }
      if (!was_closed) violate(fmt::format("is told that a feed of {} is closed, and it is not", feed.opened.source));
    }
    const bool is_moved = client_.is_closed() && at >= client_.events.back().at;
    // One that does not read hears of a view whenever it goes on.
    const Time from = std::min(feed.at, client_.slow_since.value_or(feed.at)) - kHearsLate;
    if (why == spindle::FeedClosed::Why::lost && !is_moved && client_.program == 0 && !changes_views(from, at)) {
      violate(
          fmt::format("is told that a feed of {} is lost, and its daemon has seen no other view", feed.opened.source));
    }
  }

  /// At any daemon, from then on.
  bool changes_any_view(Time from) const {
    for (const DaemonHistory& daemon : history_.daemons) {
      for (const DaemonEvent& event : daemon.events) {
        if (std::holds_alternative<ViewInstalled>(event.what) && event.at >= from) return true;
      }
    }
    return false;
  }

  /// Who is told that a feed is closed has got all of it, or a gap for what is missing at its end.
  void check_tail(const HeardFeed& feed, const Origin* origin) {
    if (!feed.over || feed.over->second != spindle::FeedClosed::Why::closed || origin == nullptr) return;
    if (changes_views(feed.at, feed.over->first) || client_.program != 0) return;
    bool is_known = true;
    sources_.for_each_of(*origin, [&](const OwnFeed& own) {
      is_known =
          is_known && !own.drops_oldest && !own.is_taken_away && own.client->program == 0 && !own.client->is_closed();
    });
    if (!is_known) return;
    std::uint64_t end = 0;
    std::size_t messages = 0;
    for (const FeedGot& got : feed.messages) {
      end = std::max(end, got.sequence + got.packets);
      messages = std::max(messages, sources_.find(got.digest)->index + 1);
    }
    const bool has_gap = std::any_of(feed.missed.begin(), feed.missed.end(),
                                     [&](const FeedMissed& missed) { return missed.first + missed.count > end; });
    if (!has_gap && messages != sources_.count(*origin)) {
      violate(fmt::format("is given {} messages of {} of a feed of {} that is closed, and told of no gap at its end",
                          messages, sources_.count(*origin), feed.opened.source));
    }
  }

  bool changes_views(Time from, Time to) const {
    if (history_.daemons.empty()) return true;
    for (const DaemonHistory& daemon : history_.daemons) {
      if (daemon.id.name != client_.daemon) continue;
      for (const DaemonEvent& event : daemon.events) {
        if (std::holds_alternative<ViewInstalled>(event.what) && event.at >= from && event.at <= to) return true;
      }
    }
    return false;
  }

  /// Packets that are missing would be lost ones, and a feed that it hears from the beginning it hears to the end.
  void check_undisturbed(const HeardFeed& feed, const Origin* origin) {
    // What is overtaken by others counts as missing at once where nothing is repaired; and to who was away and is back,
    // what was sent meanwhile.
    if (changes_any_view(feed.at) || !feed.opened.is_repaired || feed.is_rejoined) return;
    // Who comes late begins anywhere, and what was before may count as missing.
    const bool is_late = origin == nullptr || feed.wanted_at >= sources_.asked_at(*origin);
    const bool is_left = feed.is_cut_short || (feed.over && feed.over->second != spindle::FeedClosed::Why::closed);
    // Of a message of which a part has left its daemon may have thrown away the rest.
    bool is_thrown_away = false;
    if (origin != nullptr && feed.over) {
      sources_.for_each_of(*origin, [&](const OwnFeed& own) {
        is_thrown_away = is_thrown_away || own.is_taken_away || own.client->is_closed();
      });
    }
    std::uint64_t begin = UINT64_MAX, end = 0;
    for (const FeedGot& got : feed.messages) {
      begin = std::min(begin, got.sequence);
      end = std::max(end, got.sequence + got.packets);
    }
    for (const FeedMissed& missed : feed.missed) {
      if (missed.cause == spindle::FeedGap::Cause::lost && !(is_late && missed.first < begin) &&
          !(is_thrown_away && missed.first >= end) &&
          !(is_left && (missed.first >= end || feed.is_told_with_end(missed.first)))) {
        violate(fmt::format("misses packet {} of {}, and nothing was lost", missed.first, feed.opened.source));
      }
    }
    const bool has_left = feed.over && feed.over->second != spindle::FeedClosed::Why::closed;
    if (!at_rest_ || origin == nullptr || has_left || client_.is_closed() || feed.is_cut_short) return;
    bool drops = false;
    sources_.for_each_of(*origin, [&](const OwnFeed& own) { drops = drops || own.drops_oldest || own.is_taken_away; });
    const Origin* last = sources_.find(feed.messages.back().digest);
    const bool is_slow = std::any_of(feed.missed.begin(), feed.missed.end(), [](const FeedMissed& missed) {
      return missed.cause == spindle::FeedGap::Cause::slow;
    });
    if (drops || is_slow) return;
    for (const FeedGot& got : feed.messages) {
      const Origin* each = sources_.find(got.digest);
      if (each != nullptr && each->index > last->index) last = each;
    }
    if (last->index + 1 < sources_.count_due(*origin)) {
      violate(fmt::format("is given {} messages of {} of a feed of {}, and nothing was lost", last->index + 1,
                          sources_.count(*origin), feed.opened.source));
    }
  }

  /// Members that listen hear what is open, and nothing else.
  void check_rest(const FeedListening& listening) {
    std::map<std::pair<std::string, std::string>, int> heard, open;
    for (const HeardFeed& feed : listening.feeds()) {
      if (!feed.over && !feed.is_cut_short) ++heard[{feed.opened.group, feed.opened.source}];
    }
    const std::set<std::string> groups = listening.groups_at_end();
    for (const OwnFeed& own : sources_.feeds()) {
      if (own.is_open && groups.contains(own.group)) ++open[{own.group, own.client->name}];
    }
    for (const auto& [feed, count] : heard) {
      const auto found = open.find(feed);
      const int due = found == open.end() ? 0 : found->second;
      if (count > due)
        violate(fmt::format("hears {} feeds of {} to {}, of which {} are open", count, feed.second, feed.first, due));
    }
    for (const auto& [feed, count] : open) {
      const auto found = heard.find(feed);
      const int known = found == heard.end() ? 0 : found->second;
      if (known < count)
        violate(
            fmt::format("hears {} of the {} feeds of {} to {} that are open", known, count, feed.second, feed.first));
    }
  }

  const History& history_;
  const ClientHistory& client_;
  const Sources& sources_;
  const bool at_rest_;
  Violations& violations_;
};

/// Nothing else disturbs the run: a view of all daemons stays.
void check_views_stay(const History& history, Violations& violations) {
  for (const DaemonHistory& daemon : history.daemons) {
    bool is_whole = false;
    for (const DaemonEvent& event : daemon.events) {
      const auto* view = std::get_if<ViewInstalled>(&event.what);
      if (view == nullptr) continue;
      // Another one of the same daemons is that of a link that has come up.
      const bool has_all = view->members != nullptr && view->members->size() == history.daemons.size();
      if (is_whole && !has_all) {
        report(violations, fmt::format("feeds: {} installs another view though all were in one", daemon.id.name));
      }
      is_whole = has_all;
    }
  }
}

}  // namespace

Violations check_feeds(const History& history, bool at_rest) {
  Violations violations;
  const bool any = std::any_of(history.clients.begin(), history.clients.end(),
                               [](const ClientHistory& client) { return !client.feeds.empty(); });
  if (!any) return violations;
  if (history.is_undisturbed) check_views_stay(history, violations);
  const Sources sources(history);
  for (const ClientHistory& client : history.clients) {
    Listener(history, client, sources, at_rest, violations).check();
    if (client.is_closed() &&
        std::get<Closed>(client.events.back().what).code == static_cast<std::uint16_t>(Errc::flow_exceeded)) {
      report(violations, fmt::format("feeds: {} was ended for what it has sent to a feed", client.name));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
