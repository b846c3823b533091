// A cluster of view agreements in memory, on a virtual clock: links that are FIFO, lose what is in flight when they are
// cut and are noticed late; link state that floods over them; streams reduced to counters. For tests of view agreement
// alone.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "daemon/view/view_agreement.h"

namespace spindled::view_test {

/// Where a daemon crashes of itself: as it floods its own message of this kind, once `links` copies are sent.
struct CrashPoint {
  std::size_t kind = std::variant_npos;  // index in ControlMessage
  std::size_t links = 0;
};

template <typename Message>
constexpr std::size_t kind_of() {
  return ControlMessage(Message()).index();
}

struct Advertisement {
  DaemonId origin;
  std::uint64_t sequence = 0;
  std::map<DaemonId, std::uint32_t> links;  // neighbour, weight
};

struct RoutedPush {
  MemberIndex to = 0;
  Push push;
  std::uint64_t origin = 0, number = 0;
};

using LinkMessage = std::variant<Advertisement, ControlMessage, RoutedPush>;

/// One installation of a view at a daemon.
struct Installation {
  DaemonId daemon;
  View view;
  ViewId old_view;
  std::set<std::string> transitional_set;
  std::map<std::string, std::set<std::uint64_t>> messages;  // of the old view, by origin
};

class Cluster;

/// One life of a daemon.
class Host final : public ViewTransport, public ViewedStreams {
 public:
  Host(Cluster& cluster, std::size_t index, DaemonId self, std::uint64_t seed);
  void start();

  // ViewTransport
  void flood(const ControlMessage& message, std::optional<LinkId> except) override;
  void send(LinkId link, const ControlMessage& message) override;
  Topology reachable() const override;
  Duration longest_round_trip() const override { return 10ms; }
  void freeze() override { frozen_ = true; }
  void use_recovery_routes(const View& view) override { recovery_ = view; }
  void send_push(const Push& push, const MemberSet& to, const Slice& head, const Slice& tail) override;
  void install(Time now, const View& view) override;

  // ViewedStreams
  FrozenState freeze(Time now) override;
  std::vector<PushOut> plan_pushes(const Commit& commit, MemberIndex self) override;
  bool accept_push(Slice body) override;
  void recovered(Time now) override;
  void install(Time now, const View& view, const Transition& transition) override;

  // From the cluster.
  void link_changed(std::size_t peer, bool up);
  void receive(std::size_t from, const LinkMessage& message);
  /// Sends one message to all other members, if the view is open.
  void originate();
  void data_received(const ViewId& view, MemberIndex origin, std::uint64_t number);
  void reweigh(std::size_t peer, std::uint32_t weight);

  ViewAgreement& agreement() { return *agreement_; }
  const DaemonId& self() const { return self_; }
  Counters& counters() { return context_.counters; }

  CrashPoint crash_point;
  bool is_mute = false;  // its control messages are lost
  bool is_dead = false;

 private:
  enum class Step { open, frozen, recovering, transport_open };

  void advertise();
  void learn(std::optional<std::size_t> from, const Advertisement& advertisement);
  void forward(const RoutedPush& push);
  bool holds(MemberIndex origin, std::uint64_t number, const std::vector<std::uint64_t>& high) const {
    return number <= high[origin];
  }

  Cluster& cluster_;
  const std::size_t index_;
  const DaemonId self_;
  struct NullSink final : LogSink {
    bool wants(LogLevel) const override { return false; }
    void write(LogLevel, std::string_view, std::string_view) override {}
  } sink_;
  Context context_;
  std::unique_ptr<ViewAgreement> agreement_;

  std::map<std::size_t, std::uint32_t> links_;  // up, with weight
  std::map<std::size_t, DaemonId> peers_;
  std::map<std::string, Advertisement> database_;
  std::uint64_t sequence_ = 0;

  bool frozen_ = false;
  Step step_ = Step::transport_open;
  View recovery_;
  View view_;
  std::vector<std::uint64_t> high_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> recovered_;  // origin, number
  std::map<std::uint64_t, std::uint64_t> moving_;                // origins that move along: what they have sent
};

class Cluster {
 public:
  explicit Cluster(std::size_t size, std::uint64_t seed = 1) : random(seed), hosts_(size) {}

  // What happens to it.
  void start(std::size_t daemon);
  void start_all();
  void crash(std::size_t daemon);
  void connect(std::size_t a, std::size_t b);
  void cut(std::size_t a, std::size_t b);
  bool is_connected(std::size_t a, std::size_t b) const { return links_.contains(std::minmax(a, b)); }
  void run(Duration time);
  /// Until the condition holds; false if it does not within `limit`.
  bool run_until(const std::function<bool()>& condition, Duration limit);

  // What is seen.
  Host* host(std::size_t daemon) { return hosts_[daemon].get(); }
  const View& view(std::size_t daemon) { return hosts_[daemon]->agreement().installed(); }
  /// Whether these, and only these, are steady in one view.
  bool agree(const std::vector<std::size_t>& daemons);
  bool all_agree();
  const std::vector<Installation>& installations() const { return installations_; }
  void check_history() const;

  // For the hosts.
  Time now() const { return now_; }
  void transmit(std::size_t from, std::size_t to, LinkMessage message);
  void multicast_data(std::size_t from, const View& view, std::uint64_t number);
  void installed(Installation installation) { installations_.push_back(std::move(installation)); }
  void after(Duration delay, std::function<void()> action);
  static std::string name_of(std::size_t daemon) { return {'d', char('0' + daemon / 10), char('0' + daemon % 10)}; }
  static std::size_t index_of(const std::string& name) {
    return static_cast<std::size_t>((name[1] - '0') * 10 + (name[2] - '0'));
  }

  Random random;
  Duration notice_delay_max = 50ms;
  std::uint64_t first_number = 0;  // of daemons started from now on

 private:
  struct Link {
    std::uint64_t epoch = 0;
    Time free_at[2]{};  // per direction: nothing overtakes
  };
  struct Event {
    Time at;
    std::uint64_t order;
    std::function<void()> action;
    bool operator>(const Event& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
  };
  using Ends = std::pair<std::size_t, std::size_t>;

  void notice_loss(std::size_t daemon, std::size_t peer, std::uint64_t epoch);

  Time now_{};
  std::uint64_t order_ = 0;
  std::uint64_t epoch_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Host>> graveyard_;
  std::map<Ends, Link> links_;  // that carry messages
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>
      seen_;  // (daemon, peer): epoch of the link it believes up
  std::map<std::pair<std::size_t, std::size_t>, Time> data_free_at_;
  std::vector<Installation> installations_;
};

inline void Cluster::after(Duration delay, std::function<void()> action) {
  events_.push({now_ + delay, ++order_, std::move(action)});
}

inline void Cluster::start(std::size_t daemon) {
  ASSERT_EQ(hosts_[daemon], nullptr);
  hosts_[daemon] = std::make_unique<Host>(*this, daemon, DaemonId{name_of(daemon), ++epoch_}, random.next());
  hosts_[daemon]->start();
}

inline void Cluster::start_all() {
  for (std::size_t i = 0; i < hosts_.size(); ++i) start(i);
}

inline void Cluster::crash(std::size_t daemon) {
  if (!hosts_[daemon]) return;
  for (std::size_t peer = 0; peer < hosts_.size(); ++peer) {
    if (peer != daemon) cut(daemon, peer);
    seen_.erase({daemon, peer});
  }
  hosts_[daemon]->is_dead = true;
  graveyard_.push_back(std::move(hosts_[daemon]));
}

inline void Cluster::connect(std::size_t a, std::size_t b) {
  if (is_connected(a, b) || !hosts_[a] || !hosts_[b]) return;
  for (const auto& [daemon, peer] : {Ends(a, b), Ends(b, a)}) {
    if (const auto old = seen_.find({daemon, peer}); old != seen_.end()) notice_loss(daemon, peer, old->second);
  }
  links_[std::minmax(a, b)] = {++epoch_, {now_, now_}};
  for (const auto& [daemon, peer] : {Ends(a, b), Ends(b, a)}) {
    seen_[{daemon, peer}] = epoch_;
    hosts_[daemon]->link_changed(peer, true);
  }
}

inline void Cluster::cut(std::size_t a, std::size_t b) {
  const auto link = links_.find(std::minmax(a, b));
  if (link == links_.end()) return;
  const std::uint64_t epoch = link->second.epoch;
  links_.erase(link);
  for (const auto& [daemon, peer] : {Ends(a, b), Ends(b, a)}) {
    const Duration delay(
        static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(notice_delay_max.count()))));
    after(delay, [this, d = daemon, p = peer, epoch] { notice_loss(d, p, epoch); });
  }
}

inline void Cluster::notice_loss(std::size_t daemon, std::size_t peer, std::uint64_t epoch) {
  const auto seen = seen_.find({daemon, peer});
  if (seen == seen_.end() || seen->second != epoch) return;
  seen_.erase(seen);
  if (hosts_[daemon]) hosts_[daemon]->link_changed(peer, false);
}

inline void Cluster::transmit(std::size_t from, std::size_t to, LinkMessage message) {
  const auto link = links_.find(std::minmax(from, to));
  if (link == links_.end()) return;
  const std::uint64_t epoch = link->second.epoch;
  Time& free_at = link->second.free_at[from < to];
  free_at = std::max(free_at, now_ + Duration(100'000 + static_cast<Duration::rep>(random.below(2'000'000))));
  events_.push({free_at, ++order_, [this, from, to, epoch, moved = std::move(message)] {
                  const auto carrier = links_.find(std::minmax(from, to));
                  if (carrier == links_.end() || carrier->second.epoch != epoch || !hosts_[to]) return;
                  hosts_[to]->receive(from, moved);
                }});
}

/// Over no route in particular, but in order and with a chance to be lost, as if cut off by a freeze on the way.
inline void Cluster::multicast_data(std::size_t from, const View& view, std::uint64_t number) {
  for (std::size_t i = 0; i < view.size(); ++i) {
    const std::size_t to = index_of(view.members[i].name);
    if (to == from) continue;
    Time& free_at = data_free_at_[{from, to}];
    free_at = std::max(free_at, now_ + Duration(static_cast<Duration::rep>(random.below(5'000'000))));
    events_.push({free_at, ++order_, [this, to, id = view.id, origin = view.self, number] {
                    if (hosts_[to]) hosts_[to]->data_received(id, origin, number);
                  }});
  }
}

inline void Cluster::run(Duration time) {
  run_until([] { return false; }, time);
}

inline bool Cluster::run_until(const std::function<bool()>& condition, Duration limit) {
  const Time end = now_ + limit;
  for (;;) {
    if (condition()) return true;
    Time next = events_.empty() ? kNever : events_.top().at;
    Host* waker = nullptr;
    for (const auto& host : hosts_) {
      if (!host || host->is_dead || host->agreement().next_deadline() >= next) continue;
      next = std::max(now_, host->agreement().next_deadline());
      waker = host.get();
    }
    if (next > end) break;
    now_ = std::max(now_, next);
    if (waker != nullptr) {
      waker->agreement().handle_time(now_);
      continue;
    }
    const std::function<void()> action = events_.top().action;
    events_.pop();
    action();
  }
  now_ = end;
  return condition();
}

inline bool Cluster::agree(const std::vector<std::size_t>& daemons) {
  for (const std::size_t daemon : daemons) {
    Host* host = hosts_[daemon].get();
    if (host == nullptr || host->agreement().is_frozen() || view(daemon).size() != daemons.size()) return false;
    if (view(daemon).id != view(daemons[0]).id) return false;
    const std::optional<MemberIndex> self = index_in(view(daemon).members, host->self());
    if (!self || self != view(daemon).self) return false;
  }
  return true;
}

inline bool Cluster::all_agree() {
  std::vector<std::size_t> daemons;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i]) daemons.push_back(i);
  }
  return agree(daemons);
}

/// Everything that must hold of every run, whatever happened in it.
inline void Cluster::check_history() const {
  std::map<ViewId, const View*> views;
  std::map<DaemonId, ViewId> last;
  std::map<std::pair<ViewId, ViewId>, std::vector<const Installation*>> moves;  // (old, new)
  for (const Installation& installation : installations_) {
    const View& view = installation.view;
    const std::string what = installation.daemon.name + " installs " + to_string(view.id);
    ASSERT_EQ(index_in(view.members, installation.daemon), view.self) << what;
    if (const auto before = last.find(installation.daemon); before != last.end()) {
      ASSERT_LT(before->second, view.id) << what;
      ASSERT_EQ(before->second, installation.old_view) << what;
    }
    last[installation.daemon] = view.id;
    if (view.size() == 1) continue;  // every life of a daemon begins with the same name for the view of itself
    const View& first = *views.try_emplace(view.id, &view).first->second;
    ASSERT_EQ(first.members, view.members) << what;
    ASSERT_EQ(first.edges, view.edges) << what;
    ASSERT_EQ(first.sequencer, view.sequencer) << what;
    moves[{installation.old_view, view.id}].push_back(&installation);
  }
  for (const auto& [ids, together] : moves) {
    for (const Installation* one : together) {
      const std::string what = to_string(ids.first) + " to " + to_string(ids.second);
      ASSERT_EQ(one->transitional_set, together[0]->transitional_set) << what;
      ASSERT_TRUE(one->transitional_set.contains(one->daemon.name)) << what;
      ASSERT_EQ(one->messages, together[0]->messages) << what << ": " << one->daemon.name << " differs";
    }
  }
}

}  // namespace spindled::view_test

#include "tests/unit/view_cluster_host.h"  // needs all of the above
