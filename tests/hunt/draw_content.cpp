#include "tests/hunt/draw_content.h"

#include <algorithm>

#include "daemon/base/random.h"
#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr double kShare = 0.25;         // of the plans that have no other channels
constexpr double kShareQuiet = 0.15;    // of these: nothing fails, and nobody goes
constexpr double kShareDeaf = 0.08;     // of the clients of these: they do not hear of channels
constexpr double kShareOthers = 0.12;   // they hear of them, and say at once what comes of each
constexpr std::uint32_t kFirst = 4000;  // of the clients that are added
constexpr std::uint32_t kDaemonsMax = 24;
constexpr double kShareSilent = 0.1;    // of these plans: a relay falls silent, and its backup stands in
constexpr double kShareMesh = 0.4;      // daemons have the mesh beside trees
constexpr double kShareDialable = 0.5;  // of these: daemons without links, too
constexpr double kShareLiars = 0.3;     // likewise: some give their peers what is wrong
constexpr double kShareLate = 0.35;     // receivers come while the content does, or where there is a mesh,
constexpr double kShareLateToMesh = 0.7;
constexpr double kShareScarce = 0.15;  // daemons have little memory: that many times
constexpr std::uint64_t kScarceLeast = 1u << 20;
constexpr std::uint64_t kScarceEach = 256u << 10;       // for each daemon, whose messages are on their way
constexpr std::uint64_t kConnectionLeast = 768u << 10;  // for each link and hop, which have slabs of 128 KiB
constexpr std::uint64_t kScarceLargest = 4;             // times the largest message: no less may be configured

class ContentDrawer {
 public:
  ContentDrawer(Plan& plan, Duration end) : plan_(plan), end_(end), random_(plan.seed ^ 0xc0d3d) {}

  void draw() {
    const bool has_channels =
        std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const Step& step) { return step.channels.has_value(); });
    if (has_channels || plan_.daemons > kDaemonsMax || !random_.chance(kShare)) return;
    // What else is drawn is the same without these.
    Random mesh(plan_.seed ^ 0x3e5481);
    if (mesh.chance(kShareMesh)) {
      plan_.mesh = 1;
      if (mesh.chance(kShareDialable)) plan_.mesh |= 2;
      if (mesh.chance(kShareLiars)) plan_.mesh |= 4;
    }
    Random random(plan_.seed ^ 0x517e47);
    if (random.chance(kShareSilent)) return draw_silent_relay(random);
    if (random.chance(kShareScarce)) {
      plan_.memory_bytes = std::max({random.between(2, 4) * std::max(kScarceLeast, plan_.daemons * kScarceEach),
                                     most_connections() * kConnectionLeast, kScarceLargest * largest_message()});
    }
    for (Step& step : plan_.steps) {
      if (step.kind == StepKind::connect) draw_client(step);
    }
    if (clients_.empty()) return;
    draw_bad_blocks();
    for (std::size_t i = random_.between(1, 4); i > 0; --i) draw_offer();
    if (random_.chance(kShareQuiet)) return make_quiet();
    draw_restarts();
    draw_disturbances();
    draw_half_open(random);
    draw_caps(random);
    draw_late_receivers(random);
  }

 private:
  /// Of one daemon, to others: links, and the hops of contents beside them or to all that can be dialled.
  std::uint64_t most_connections() const {
    std::vector<std::uint64_t> links(plan_.daemons);
    for (const PlannedLink& link : plan_.links) {
      ++links[link.a];
      ++links[link.b];
    }
    const std::uint64_t most = *std::max_element(links.begin(), links.end());
    return most + ((plan_.mesh & 2) != 0 ? plan_.daemons - 1 : most);
  }

  std::uint64_t largest_message() const {
    std::uint64_t largest = 0;
    for (const Step& step : plan_.steps) {
      if (step.kind == StepKind::send) largest = std::max<std::uint64_t>(largest, step.size);
    }
    return largest;
  }

  void draw_client(Step& connect) {
    if (random_.chance(kShareDeaf)) return;
    if (random_.chance(kShareOthers)) {
      connect.channels = {random_.chance(0.5) ? sim::BulkOutcome::refused : sim::BulkOutcome::failed, {}};
      return;
    }
    ContentHabit habit;
    habit.serves = random_.chance(0.7);
    if (random_.chance(0.1)) habit.fails = static_cast<std::uint32_t>(random_.between(1, 6));
    if (random_.chance(0.2)) habit.memory = random_.between(1, 40) << 10;
    connect.content = habit;
    clients_.push_back(connect);
  }

  void draw_bad_blocks() {
    Random random(plan_.seed ^ 0xbadb10c);  // what else is drawn is the same without them
    for (Step& step : plan_.steps) {
      if (step.content && random.chance(0.15)) step.content->spoils = static_cast<std::uint32_t>(random.between(1, 6));
    }
  }

  /// What comes to receivers then is what they need.
  void make_quiet() {
    std::erase_if(plan_.steps, [](const Step& step) {
      const bool is_end = step.kind == StepKind::kill || step.kind == StepKind::bye || step.kind == StepKind::sever ||
                          step.kind == StepKind::leave || step.kind == StepKind::read_rate;
      return is_end || is_fault(step.kind);
    });
    for (Step& step : plan_.steps) {
      if (!step.content) continue;
      ContentHabit habit;
      habit.serves = step.content->serves;
      step.content = habit;
    }
  }

  std::uint64_t draw_size() {
    const double drawn = random_.real();
    if (drawn < 0.05) return random_.below(2);
    if (drawn < 0.45) return random_.between(1, 20'000);
    return random_.between(20'000, drawn < 0.85 ? 300'000 : 3'000'000);
  }

  void draw_offer() {
    const Step source = any_client();
    const std::vector<std::string> groups = groups_of(source.client);
    if (groups.empty()) return;
    Step& step = plan_.add(draw_time(source.at), StepKind::offer, source.client);
    step.groups = {groups[random_.below(groups.size())]};
    step.size = draw_size();
    step.linger_s = random_.chance(0.3) ? static_cast<std::uint32_t>(random_.below(4)) : 60;
    step.seals_after = Duration{};
    step.block_symbols = static_cast<std::uint32_t>(random_.between(1, random_.chance(0.7) ? 12 : 64));
    const Duration at = step.at;
    if (random_.chance(0.1)) plan_.add(at + us(random_.below(500'000)), StepKind::cancel_offers, source.client);
    offers_.push_back(at);
    sources_.push_back(source.client);
  }

  /// A receiver ends, and its program runs again with what is on its disk.
  void draw_restarts() {
    std::uint32_t next = kFirst;
    for (std::size_t i = random_.chance(0.5) ? random_.between(1, 3) : 0; i > 0; --i) {
      Step again = any_client();
      const std::uint32_t former = again.client;
      const std::vector<std::string> groups = groups_of(former);
      const Duration end = draw_time_of_offer();
      if (end <= again.at || groups.empty()) continue;
      plan_.add(end, random_.chance(0.8) ? StepKind::kill : StepKind::bye, former);
      again.at = end + us(random_.below(400'000));
      again.client = next++;
      again.named.reset();
      again.content->disk = former;
      again.content->is_torn = random_.chance(0.3);
      if (random_.chance(0.3)) again.host = static_cast<HostIndex>(random_.below(plan_.daemons));
      plan_.steps.push_back(again);
      for (const std::string& group : groups) plan_.add(again.at, StepKind::join, again.client).groups = {group};
    }
  }

  void draw_disturbances() {
    for (std::size_t i = random_.chance(0.6) ? random_.below(6) : 0; i > 0; --i) {
      const std::uint32_t client = sources_.empty() || random_.chance(0.6) ? any_client().client : any_source();
      const Duration at = draw_time_of_offer();
      if (random_.chance(0.6)) {
        plan_.add(at, StepKind::detach, client);
        continue;
      }
      plan_.add(at, StepKind::read_rate, client).bytes_per_second = 0;
      plan_.add(at + us(random_.below(1'500'000)), StepKind::read_rate, client).bytes_per_second = kReadAll;
    }
  }

  /// One side of a connection between daemons loses it, and the other hears nothing of that.
  void draw_half_open(Random& random) {
    if (plan_.links.empty() || offers_.empty() || !random.chance(0.4)) return;
    for (std::size_t i = random.between(1, 3); i > 0; --i) {
      const PlannedLink& link = plan_.links[random.below(plan_.links.size())];
      const bool is_turned = random.chance(0.5);
      Step& step = plan_.steps.emplace_back();
      step.at = offers_[random.below(offers_.size())] + us(random.below(2'000'000));
      step.kind = StepKind::reset_half;
      step.host = is_turned ? link.b : link.a;
      step.peer = is_turned ? link.a : link.b;
    }
  }

  /// Sources that are to keep to a rate, change it, and let go of it.
  void draw_caps(Random& random) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (!random.chance(0.3)) continue;
      Duration at = offers_[i] + us(random.below(50'000));
      for (std::size_t changes = random.between(1, 3); changes > 0; --changes) {
        const bool is_lifted = random.chance(0.2);
        plan_.add(at, StepKind::cap, sources_[i]).bytes_per_second = is_lifted ? 0 : random.between(20'000, 2'000'000);
        at += us(random.below(1'000'000));
      }
    }
  }

  /// A content that takes seconds, and members that come meanwhile and get it from those that have some of it, on whose
  /// disks blocks go bad. Now and then the source goes before all have it.
  void draw_late_receivers(Random& random) {
    if (offers_.empty() || !random.chance(plan_.mesh != 0 ? kShareLateToMesh : kShareLate)) return;
    const std::size_t which = random.below(offers_.size());
    const Duration begin = offers_[which];
    const std::uint32_t source = sources_[which];
    std::string group;
    for (Step& step : plan_.steps) {
      if (step.kind == StepKind::connect && step.content) {
        step.content->spoils = static_cast<std::uint32_t>(random.between(1, 6));
        step.content->serves = true;
      }
      if (step.kind != StepKind::offer || step.client != source || step.at != begin) continue;
      group = step.groups.front();
      step.size = random.between(600'000, plan_.mesh != 0 ? 3'600'000 : 1'800'000);
      step.block_symbols = static_cast<std::uint32_t>(random.between(4, 24));
      step.linger_s = 60;
    }
    // Those who are there have all of it where the source is slow behind that only, and late ones may get it of them.
    const bool is_for_peers = plan_.mesh != 0 && random.chance(0.6);
    const Duration slow = is_for_peers ? begin + 2'500ms : begin;
    plan_.add(slow, StepKind::cap, source).bytes_per_second =
        is_for_peers ? random.between(30'000, 150'000) : random.between(200'000, 600'000);
    for (auto i = static_cast<std::uint32_t>(random.between(2, 4)); i > 0; --i) {
      const std::uint32_t client = kFirst + 500 + i;
      Step& connect = plan_.add(slow + us(random.between(300'000, 2'500'000)), StepKind::connect, client);
      connect.host = static_cast<HostIndex>(random.below(plan_.daemons));
      connect.content = ContentHabit{};
      const Duration at = connect.at;
      plan_.add(at, StepKind::join, client).groups = {group};
    }
    plan_.add(slow + (plan_.mesh != 0 ? 9s : 4s), StepKind::cap, source).bytes_per_second = 0;
    if (random.chance(0.4)) plan_.add(begin + us(random.between(1'500'000, 5'000'000)), StepKind::kill, source);
  }

  /// Four daemons in a ring, of which one falls silent that relays, or may: nobody hears for long that it is gone. All
  /// others have the content while it is.
  void draw_silent_relay(Random& random) {
    plan_.daemons = 4;
    plan_.links.clear();
    plan_.steps.clear();
    plan_.rules.clear();
    plan_.varied = 0;
    plan_.hold_down = 50ms;
    plan_.heartbeat_interval = 200ms;
    plan_.liveness_timeout = 40s;
    const std::uint64_t rate = random.between(300, 500) * 1'000;
    for (HostIndex i = 0; i < 4; ++i) {
      const auto next = static_cast<HostIndex>((i + 1) % 4);
      plan_.links.push_back({.a = i, .b = next, .bytes_per_second = rate, .delay = us(random.between(100, 5'000))});
      plan_.add({}, StepKind::start, 0).host = i;
    }
    const auto source = static_cast<HostIndex>(random.below(4));
    for (HostIndex i = 0; i < 4; ++i) {
      Step& connect = plan_.add(3s + us(i), StepKind::connect, i);
      connect.host = i;
      connect.content = ContentHabit{};
    }
    for (std::uint32_t i = 0; i < 4; ++i) plan_.add(3s + us(10 + i), StepKind::join, i).groups = {"g"};
    Step& offer = plan_.add(5s, StepKind::offer, source);
    offer.groups = {"g"};
    offer.size = random.between(800'000, 1'400'000);
    offer.linger_s = 60;
    offer.seals_after = Duration{};
    offer.block_symbols = static_cast<std::uint32_t>(random.between(16, 64));
    const auto victim = static_cast<HostIndex>((source + (random.chance(0.5) ? 1 : 3)) % 4);
    // The content takes 2 to 5 s. The root may plan another tree 10 s after the first one.
    plan_.add(5s + us(random.between(400'000, 1'200'000)), StepKind::pause, 0).host = victim;
    plan_.add(14s, StepKind::received, 0);
    plan_.add(15s, StepKind::resume, 0).host = victim;
  }

  std::uint32_t any_source() { return sources_[random_.below(sources_.size())]; }
  const Step& any_client() { return clients_[random_.below(clients_.size())]; }

  std::vector<std::string> groups_of(std::uint32_t client) const {
    std::vector<std::string> groups;
    for (const Step& step : plan_.steps) {
      if (step.kind == StepKind::join && step.client == client) groups.push_back(step.groups.front());
    }
    return groups;
  }

  /// While something is likely to be on its way.
  Duration draw_time_of_offer() {
    const Duration offer = offers_.empty() ? end_ / 2 / 1us * 1us : offers_[random_.below(offers_.size())];
    return offer + us(random_.below(random_.chance(0.6) ? 100'000 : 1'000'000));
  }

  /// At any time of the client's life; half of them before a fault, where there is any.
  Duration draw_time(Duration from) {
    const std::vector<Duration> faults = faults_behind(plan_, from);
    if (!faults.empty() && random_.chance(0.6)) {
      return std::max(from, faults[random_.below(faults.size())] - us(random_.below(400'000)));
    }
    return draw_time_between(random_, from, end_);
  }

  Plan& plan_;
  Duration end_;
  Random random_;
  std::vector<Step> clients_;
  std::vector<Duration> offers_;
  std::vector<std::uint32_t> sources_;
};

}  // namespace

void draw_content(Plan& plan, Duration end) { ContentDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
