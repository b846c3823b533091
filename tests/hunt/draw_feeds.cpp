#include "tests/hunt/draw_feeds.h"

#include <algorithm>

#include "daemon/base/random.h"
#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr double kShare = 0.4;           // of all plans
constexpr double kShareQuiet = 0.2;      // of these: nothing fails, and nothing is lost
constexpr double kShareOthers = 0.15;    // of the feeds: to a group that the source does not join
constexpr double kShareListening = 0.6;  // of the memberships
constexpr std::uint32_t kDaemonsMax = 32;

class FeedsDrawer {
 public:
  FeedsDrawer(Plan& plan, Duration end) : plan_(plan), end_(end), random_(plan.seed ^ 0xfeed5) {}

  void draw() {
    if (plan_.daemons > kDaemonsMax || has_silent_relay() || !random_.chance(kShare)) return;
    is_quiet_ = random_.chance(kShareQuiet);
    draw_network();
    std::vector<Step> sources, joins;
    for (const Step& step : plan_.steps) {
      if (step.kind == StepKind::join) joins.push_back(step);
      if (step.kind == StepKind::connect) sources.push_back(step);
    }
    if (sources.empty() || joins.empty()) return;
    for (const Step& join : joins) {
      groups_.push_back(join.groups.front());
      draw_listening(join);
    }
    if (is_quiet_) make_quiet();
    for (std::size_t i = random_.between(1, random_.chance(0.1) ? 20 : 6); i > 0; --i) {
      draw_feed(sources[random_.below(sources.size())], static_cast<std::uint32_t>(i));
    }
    if (!is_quiet_ && plan_.datagrams != 0 && random_.chance(0.25)) draw_blocked();
  }

 private:
  /// All others are to have the content by a tree that they were told of before: on links feeds would hold that up.
  bool has_silent_relay() const {
    return std::any_of(plan_.steps.begin(), plan_.steps.end(),
                       [](const Step& step) { return step.kind == StepKind::received; });
  }

  void draw_network() {
    plan_.datagrams = random_.chance(0.15) ? 0 : random_.between(1, 2);
    if (random_.chance(0.4)) plan_.feed_cache_bytes = random_.between(2, 200) << 10;
    plan_.feed_members_keep = random_.chance(0.3) ? 1 : 0;
    plan_.feed_rate_min = random_.chance(0.5) ? 100'000 : 0;
    if (is_quiet_) return;
    if (random_.chance(0.6)) plan_.datagram_loss = random_.between(1, random_.chance(0.2) ? 300 : 60);
    if (random_.chance(0.3)) plan_.datagram_repeated = random_.between(1, 100);
    if (random_.chance(0.3)) plan_.datagram_late = random_.between(1, 200);
    plan_.datagram_late_by = us(random_.between(100, 20'000));
  }

  void add_listen(Duration at, std::uint32_t client, const std::string& group) {
    Step& listen = plan_.add(at, StepKind::listen, client);
    listen.groups = {group};
    listen.in_order = random_.chance(0.5);
    listen.deadline = random_.chance(0.2) ? Duration() : us(random_.between(1, 300) * 1'000);
    if (is_quiet_) listen.deadline = 500ms;  // what is only late is not missing
  }

  void draw_listening(const Step& join) {
    if (!random_.chance(kShareListening)) return;
    const Duration at = random_.chance(0.5) ? join.at : draw_time(join.at);
    add_listen(at, join.client, join.groups.front());
    if (!random_.chance(0.15)) return;
    const Duration later = draw_time(at);
    plan_.add(later, StepKind::stop_listening, join.client).groups = join.groups;
    if (random_.chance(0.5)) add_listen(draw_time(later), join.client, join.groups.front());
  }

  void draw_feed(const Step& source, std::uint32_t number) {
    const std::string group =
        random_.chance(kShareOthers) ? groups_[random_.below(groups_.size())] : draw_own_group(source);
    const Duration at = draw_time(source.at);
    Step& open = plan_.add(at, StepKind::open_feed, source.client);
    open.feed = number;
    open.groups = {group};
    const double drawn = random_.real();
    open.repair_for = drawn < 0.2
                          ? Duration()
                          : us(drawn < 0.4 ? random_.between(1'000, 50'000) : random_.between(50'000, 5'000'000));
    if (random_.chance(0.3)) open.bytes_per_second = random_.between(10'000, 200'000);
    open.drops_oldest = random_.chance(0.2);
    Duration last = at;
    std::size_t left = random_.between(1, 300);
    for (std::size_t i = random_.between(1, 5); i > 0; --i) {
      Step& feed = plan_.add(draw_time(at), StepKind::feed, source.client);
      feed.feed = number;
      feed.messages = static_cast<std::uint32_t>(random_.between(1, left));
      feed.size = draw_size();
      if (feed.size > 5'000) feed.messages = std::min(feed.messages, 20u);
      feed.interval = us(random_.chance(0.2) ? 0 : random_.below(random_.chance(0.5) ? 2'000 : 20'000));
      last = std::max(last, feed.at + feed.messages * feed.interval);
    }
    if (random_.chance(0.6)) {
      plan_
          .add(random_.chance(0.5) ? draw_time(at) : last + us(random_.below(300'000)), StepKind::close_feed,
               source.client)
          .feed = number;
    }
  }

  std::uint64_t draw_size() {
    const double drawn = random_.real();
    if (drawn < 0.4) return random_.between(8, 200);
    if (drawn < 0.85) return random_.between(200, 4'000);
    return random_.between(4'000, 64u << 10);
  }

  std::string draw_own_group(const Step& source) {
    std::vector<std::string> own;
    for (const Step& step : plan_.steps) {
      if (step.kind == StepKind::join && step.client == source.client) own.push_back(step.groups.front());
    }
    return own.empty() ? groups_[random_.below(groups_.size())] : own[random_.below(own.size())];
  }

  void draw_blocked() {
    for (std::size_t i = random_.between(1, 3); i > 0; --i) {
      const PlannedLink& link = plan_.links[random_.below(plan_.links.size())];
      Step& block = plan_.add(us(random_.below(static_cast<std::uint64_t>(end_ / 1us))), StepKind::block, 0);
      block.host = link.a;
      block.peer = link.b;
      if (!random_.chance(0.7)) continue;
      Step unblock = block;
      unblock.kind = StepKind::unblock;
      unblock.at += us(random_.below(3'000'000));
      plan_.steps.push_back(unblock);
    }
  }

  /// What is heard then is everything.
  void make_quiet() {
    std::erase_if(plan_.steps, [](const Step& step) {
      const bool is_end =
          step.kind == StepKind::kill || step.kind == StepKind::sever || step.kind == StepKind::read_rate;
      return is_end || is_fault(step.kind);
    });
  }

  /// At any time from then on; half of them near a fault, where there is any.
  Duration draw_time(Duration from) { return draw_time_near_faults(plan_, random_, from, end_); }

  Plan& plan_;
  Duration end_;
  Random random_;
  bool is_quiet_ = false;  // nothing fails, and nothing is lost
  std::vector<std::string> groups_;
};

}  // namespace

void draw_feeds(Plan& plan, Duration end) { FeedsDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
