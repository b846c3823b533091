#include "tests/hunt/plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tests/hunt/plan_words.h"
#include "tests/hunt/rules_text.h"

namespace spindled::hunt {

namespace {

constexpr std::string_view kDiallers[] = {"both", "first", "second"};
constexpr std::string_view kOutcomes[] = {"silent", "accepts", "done", "fails", "refuses"};
constexpr std::string_view kDeliveries[] = {"at-once", "in-order"};
constexpr std::uint64_t kFedMax = 100'000;
constexpr std::uint64_t kFeedBytesMax = 64u << 10;
constexpr std::string_view kServing[] = {"keeps", "serves"};
constexpr std::string_view kTitle = "hunt-plan 1";
constexpr std::uint32_t kDaemonsMax = 1000;
constexpr std::uint64_t kClientsMax = 1'000'000;
constexpr std::uint64_t kAnswersMax = 1'000;
constexpr std::uint64_t kBlockSymbolsMax = 1'024;
constexpr std::uint64_t kSizeMax = 16u << 20;

std::int64_t us(Duration duration) { return duration / 1us; }

// X(name, member of the plan): the plain numbers
#define SPINDLE_HUNT_NUMBERS(X) \
  X(seed)                       \
  X(first_number)               \
  X(retention_bytes)            \
  X(window_bytes)               \
  X(queue_soft_bytes)           \
  X(queue_hard_bytes)           \
  X(full_view_members)          \
  X(admission)                  \
  X(varied)                     \
  X(incarnations)               \
  X(turn_work)                  \
  X(memory_bytes)               \
  X(datagrams)                  \
  X(datagram_loss)              \
  X(datagram_repeated)          \
  X(datagram_late)              \
  X(feed_cache_bytes)           \
  X(feed_members_keep)          \
  X(feed_rate_min)              \
  X(mesh)                       \
  X(resume_bytes)
// and the durations, in microseconds
#define SPINDLE_HUNT_DURATIONS(X) \
  X(stall_timeout)                \
  X(flush_timeout)                \
  X(announce_stable_within)       \
  X(heartbeat_interval)           \
  X(liveness_timeout)             \
  X(hold_down)                    \
  X(resume_timeout)               \
  X(going_time)                   \
  X(keepalive)                    \
  X(datagram_late_by)

std::string sides_to_text(const Step& step) {
  std::string text;
  for (const auto& side : step.sides) {
    if (!text.empty()) text += " |";
    for (const HostIndex host : side) text += fmt::format(" d{}", host);
  }
  return text;
}

std::string to_text(const ContentHabit& habit) {
  std::string text = fmt::format("content {}", kServing[habit.serves ? 1 : 0]);
  if (habit.disk) text += fmt::format(" disk m{}", *habit.disk);
  if (habit.is_torn) text += " torn";
  if (habit.fails > 0) text += fmt::format(" fails {}", habit.fails);
  if (habit.spoils > 0) text += fmt::format(" spoils {}", habit.spoils);
  if (habit.forges > 0) text += fmt::format(" forges {}", habit.forges);
  if (habit.memory > 0) text += fmt::format(" memory {}", habit.memory);
  return text;
}

class Parser {
 public:
  tl::expected<Plan, std::string> parse(std::string_view text);

 private:
  void parse_line(Words& words, std::string_view line);
  void parse_step(Words& words);
  void parse_client_step(Words& words, Step& step);
  void parse_send(Words& words, Step& step);
  static void parse_feed_step(Words& words, Step& step);
  void parse_sides(Words& words, Step& step);
  static std::string view_step(Words& words);
  void parse_options(Words& words, Step& step);
  static void parse_content(Words& words, Step& step);
  void parse_link(Words& words);
  HostIndex host(Words& words) {
    if (plan_.daemons == 0) words.fail("the number of daemons comes first");
    return words.name('d', "daemon of the plan", plan_.daemons - std::uint64_t{1});
  }
  void parse_hosts(Words& words, Step& step) {
    step.host = host(words);
    step.peer = host(words);
  }

  Plan plan_;
  bool has_title_ = false;
};

void Parser::parse_link(Words& words) {
  PlannedLink link;
  link.a = host(words);
  link.b = host(words);
  if (link.a == link.b) words.fail("a link joins two daemons");
  link.dialler = static_cast<PlannedLink::Dialler>(words.one_of(kDiallers, "dialler (both, first, second)"));
  link.bytes_per_second = words.number("rate");
  link.delay = words.micros("delay");
  link.jitter = words.micros("jitter");
  plan_.links.push_back(link);
}

void Parser::parse_send(Words& words, Step& step) {
  step.service = static_cast<Service>(words.one_of(spindle::kServiceNames, "service"));
  step.size = words.number("size", kSizeMax);
  std::string_view word = words.next("destination");
  if (word == "discard") {
    step.self_discard = true;
    word = words.next("destination");
  }
  if (word != "to") words.fail("\"to\" and the destinations are missing");
  do {
    step.groups.emplace_back(words.next("destination"));
  } while (!words.at_end());
}

void Parser::parse_feed_step(Words& words, Step& step) {
  if (step.kind == StepKind::listen || step.kind == StepKind::stop_listening) {
    step.groups = {std::string(words.next("group"))};
    if (step.kind == StepKind::stop_listening) return;
    step.in_order = words.one_of(kDeliveries, "delivery (at-once, in-order)") == 1;
    step.deadline = words.micros("deadline");
    return;
  }
  step.feed = static_cast<std::uint32_t>(words.number("number of a feed", kClientsMax));
  if (step.kind == StepKind::open_feed) {
    step.groups = {std::string(words.next("group"))};
    step.repair_for = words.micros("time for repairs");
    step.bytes_per_second = words.number("rate");
    if (words.at_end()) return;
    step.drops_oldest = words.next("option") == "drops";
    if (!step.drops_oldest) words.fail("a feed \"drops\", or nothing is said");
  } else if (step.kind == StepKind::feed) {
    step.messages = static_cast<std::uint32_t>(words.number("number of messages", kFedMax));
    step.size = words.number("size", kFeedBytesMax);
    step.interval = words.micros("interval");
  }
}

void Parser::parse_sides(Words& words, Step& step) {
  std::string_view word;
  step.sides.emplace_back();
  while (!words.at_end()) {
    word = words.next("daemon");
    if (word == "|") {
      step.sides.emplace_back();
      continue;
    }
    Words one(word);
    step.sides.back().push_back(host(one));
    if (one.error()) words.fail(*one.error());
  }
}

/// The last option of a client that connects.
void Parser::parse_content(Words& words, Step& step) {
  ContentHabit habit;
  habit.serves = words.one_of(kServing, "word for what a client does with content (keeps, serves)") == 1;
  while (!words.at_end()) {
    const std::string_view word = words.next("option");
    if (word == "disk") {
      habit.disk = words.name('m', "client", kClientsMax);
    } else if (word == "torn") {
      habit.is_torn = true;
    } else if (word == "fails") {
      habit.fails = static_cast<std::uint32_t>(words.number("number of writes", kClientsMax));
    } else if (word == "spoils") {
      habit.spoils = static_cast<std::uint32_t>(words.number("number of reads", kClientsMax));
    } else if (word == "forges") {
      habit.forges = static_cast<std::uint32_t>(words.number("number of blocks", kClientsMax));
    } else if (word == "memory") {
      habit.memory = words.number("number of bytes");
    } else {
      words.fail(fmt::format("\"{}\" is no option of content (disk, torn, fails, spoils, forges, memory)", word));
    }
  }
  step.content = habit;
}

/// Of a client that connects.
void Parser::parse_options(Words& words, Step& step) {
  while (!words.at_end()) {
    const std::string_view word = words.next("option");
    const auto* const policy =
        std::find(std::begin(spindle::kSlowPolicyNames), std::end(spindle::kSlowPolicyNames), word);
    if (word == "flows") {
      step.independent_flows = true;
    } else if (word == "returns") {
      step.returns = true;
    } else if (word == "or") {
      step.others.push_back(host(words));
    } else if (word == "as") {
      step.named = words.name('m', "client", kClientsMax);
    } else if (word == "is") {
      step.identities = words.list("identity");
    } else if (word == "answers") {
      step.answers = static_cast<std::uint32_t>(words.number("number of answers", kAnswersMax));
    } else if (word == "channels") {
      sim::ChannelHabit habit;
      habit.outcome = static_cast<sim::BulkOutcome>(words.one_of(kOutcomes, "what comes of channels"));
      habit.after = words.micros("time");
      step.channels = habit;
    } else if (word == "content") {
      parse_content(words, step);
    } else if (word == "flushes") {
      const std::string_view when = words.next("time");
      Words one(when);
      step.flushes_after = when == "never" ? std::nullopt : std::optional(one.micros("time"));
      if (one.error()) words.fail(*one.error());
    } else if (policy != std::end(spindle::kSlowPolicyNames)) {
      step.policy = static_cast<SlowPolicy>(1 + policy - std::begin(spindle::kSlowPolicyNames));
    } else {
      words.fail(
          fmt::format("\"{}\" is no option (as, is, flows, answers, flushes, channels, content, returns, or, price, "
                      "drop, disconnect)",
                      word));
    }
  }
}

void Parser::parse_client_step(Words& words, Step& step) {
  step.client = words.name('m', "client", kClientsMax);
  switch (step.kind) {
    case StepKind::connect:
      step.host = host(words);
      return parse_options(words, step);
    case StepKind::join:
    case StepKind::leave:
    case StepKind::ask_view:
      step.groups = {std::string(words.next("group"))};
      if (step.kind != StepKind::join || words.at_end()) return;
      step.synchronous = words.next("word") == "synchronous";
      if (!step.synchronous) words.fail("a group is \"synchronous\", or nothing is said");
      return;
    case StepKind::send:
      return parse_send(words, step);
    case StepKind::offer: {
      step.groups = {std::string(words.next("group"))};
      step.size = words.number("size", kSizeMax);
      step.linger_s = static_cast<std::uint32_t>(words.number("seconds to linger", 1'000'000));
      const std::string_view when = words.next("time");
      Words one(when);
      if (when != "never") step.seals_after = one.micros("time");
      if (one.error()) words.fail(*one.error());
      if (words.at_end()) return;
      if (words.next("option") != "content") words.fail("an offer has \"content\", or nothing more is said");
      step.block_symbols = static_cast<std::uint32_t>(words.number("symbols of a block", kBlockSymbolsMax));
      if (step.block_symbols == 0) words.fail("a block has symbols");
      return;
    }
    case StepKind::listen:
    case StepKind::stop_listening:
    case StepKind::open_feed:
    case StepKind::feed:
    case StepKind::close_feed:
      return parse_feed_step(words, step);
    case StepKind::sever:
      step.delay = words.micros("time out of reach");
      step.silently = !words.at_end() && words.next("option") == "silently";
      return;
    case StepKind::ask_flow:
      do {
        step.groups.emplace_back(words.next("destination"));
      } while (!words.at_end());
      return;
    case StepKind::cap:
      step.bytes_per_second = words.number("rate");
      return;
    case StepKind::read_rate: {
      const std::string_view word = words.next("rate");
      Words one(word);
      step.bytes_per_second = word == "all" ? kReadAll : one.number("rate");
      if (one.error()) words.fail(*one.error());
      return;
    }
    default:
      return;
  }
}

std::string Parser::view_step(Words& words) {
  std::string word(words.next("step of a view change"));
  const bool known = std::any_of(std::begin(kViewSteps), std::end(kViewSteps),
                                 [&](const ViewStep& each) { return each.word == word; });
  if (!known) words.fail(fmt::format("\"{}\" is no step of a view change", word));
  return word;
}

void Parser::parse_step(Words& words) {
  Step step;
  step.at = words.micros("time");
  const std::string_view name = words.next("step");
  std::size_t kind = 0;
  while (kind < kStepKinds && to_string(static_cast<StepKind>(kind)) != name) ++kind;
  if (kind == kStepKinds) return words.fail(fmt::format("\"{}\" is no step", name));
  step.kind = static_cast<StepKind>(kind);
  if (is_of_client(step.kind)) {
    parse_client_step(words, step);
  } else if (step.kind == StepKind::partition) {
    parse_sides(words, step);
  } else if (step.kind == StepKind::impose) {
    step.host = host(words);
    step.delay = words.micros("duration");
    parse_sides(words, step);
  } else if (step.kind == StepKind::part_when) {
    step.host = host(words);
    step.says = view_step(words);
    step.delay = words.micros("delay");
    parse_sides(words, step);
  } else if (step.kind == StepKind::path) {
    parse_hosts(words, step);
    step.bytes_per_second = words.number("rate");
    step.delay = words.micros("delay");
    step.jitter = words.micros("jitter");
  } else if (step.kind >= StepKind::cut && step.kind <= StepKind::unblock) {
    parse_hosts(words, step);
  } else if (step.kind < StepKind::cut) {
    step.host = host(words);
    if (waits(step.kind)) step.says = view_step(words);
    if (step.kind == StepKind::reload) {
      step.rules = words.number("number of rules of the plan", std::max<std::size_t>(plan_.rules.size(), 1) - 1);
    }
  }
  if (!plan_.steps.empty() && step.at < plan_.steps.back().at) words.fail("the step comes before the one above it");
  plan_.steps.push_back(std::move(step));
}

void Parser::parse_line(Words& words, std::string_view line) {
  if (!has_title_) {
    has_title_ = line == kTitle;
    if (!has_title_) words.fail(fmt::format("a plan begins with \"{}\"", kTitle));
    while (!words.at_end()) words.next("");
    return;
  }
  if (line[0] >= '0' && line[0] <= '9') return parse_step(words);
  const std::string_view key = words.next("key");
  if (key == "daemons") {
    if (plan_.daemons != 0) words.fail("the number of daemons was given above");
    plan_.daemons = static_cast<std::uint32_t>(words.number("number of daemons", kDaemonsMax));
    if (plan_.daemons == 0) words.fail("a plan has daemons");
    return;
  }
  if (key == "link") return parse_link(words);
  if (parse_rules(words, key, plan_.rules)) return;
#define SPINDLE_HUNT_NUMBER(member)   \
  if (key == #member) {               \
    plan_.member = words.number(key); \
    return;                           \
  }
  SPINDLE_HUNT_NUMBERS(SPINDLE_HUNT_NUMBER)
#undef SPINDLE_HUNT_NUMBER
#define SPINDLE_HUNT_DURATION(member) \
  if (key == #member "_us") {         \
    plan_.member = words.micros(key); \
    return;                           \
  }
  SPINDLE_HUNT_DURATIONS(SPINDLE_HUNT_DURATION)
#undef SPINDLE_HUNT_DURATION
  words.fail(fmt::format("\"{}\" means nothing here", key));
}

tl::expected<Plan, std::string> Parser::parse(std::string_view text) {
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t size = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line[0] == '#') continue;
    Words words(line);
    parse_line(words, line);
    if (!words.error() && !words.at_end()) words.fail("there is more than belongs here");
    if (words.error()) return tl::unexpected(fmt::format("line {}: {}: {}", number, *words.error(), line));
  }
  if (!has_title_) return tl::unexpected(std::string("the plan is empty"));
  if (plan_.daemons == 0) return tl::unexpected(std::string("the plan does not say how many daemons it has"));
  if (!is_connected(plan_)) return tl::unexpected(std::string("the links of the plan do not connect all its daemons"));
  return std::move(plan_);
}

}  // namespace

std::string to_text(const Step& step) {
  std::string text = fmt::format("{} {}", us(step.at), to_string(step.kind));
  if (is_of_client(step.kind)) text += fmt::format(" m{}", step.client);
  switch (step.kind) {
    case StepKind::connect:
      text += fmt::format(" d{}", step.host);
      if (step.named) text += fmt::format(" as m{}", *step.named);
      if (step.independent_flows) text += " flows";
      if (step.policy != SlowPolicy{})
        text += fmt::format(" {}", spindle::kSlowPolicyNames[static_cast<std::size_t>(step.policy) - 1]);
      if (step.returns) text += " returns";
      for (const HostIndex other : step.others) text += fmt::format(" or d{}", other);
      if (step.answers > 0) text += fmt::format(" answers {}", step.answers);
      if (!step.flushes_after) text += " flushes never";
      if (step.flushes_after.value_or(0ns) != 0ns) text += fmt::format(" flushes {}", us(*step.flushes_after));
      if (step.channels) {
        text += fmt::format(" channels {} {}", kOutcomes[static_cast<std::size_t>(step.channels->outcome)],
                            us(step.channels->after));
      }
      if (!step.identities.empty()) text += fmt::format(" is {}", fmt::join(step.identities, ","));
      return step.content ? text + " " + to_text(*step.content) : text;
    case StepKind::join:
    case StepKind::leave:
    case StepKind::ask_view:
      return text + " " + step.groups.front() + (step.synchronous ? " synchronous" : "");
    case StepKind::ask_flow:
      for (const std::string& group : step.groups) text += " " + group;
      return text;
    case StepKind::reload:
      return text + fmt::format(" d{} {}", step.host, step.rules);
    case StepKind::crash_when:
      return text + fmt::format(" d{} {}", step.host, step.says);
    case StepKind::part_when:
      return text + fmt::format(" d{} {} {}", step.host, step.says, us(step.delay)) + sides_to_text(step);
    case StepKind::impose:
      return text + fmt::format(" d{} {}", step.host, us(step.delay)) + sides_to_text(step);
    case StepKind::send:
      text += fmt::format(" {} {}{} to", to_string(step.service), step.size, step.self_discard ? " discard" : "");
      for (const std::string& group : step.groups) text += " " + group;
      return text;
    case StepKind::read_rate:
      return text + (step.bytes_per_second == kReadAll ? " all" : fmt::format(" {}", step.bytes_per_second));
    case StepKind::cap:
      return text + fmt::format(" {}", step.bytes_per_second);
    case StepKind::partition:
      return text + sides_to_text(step);
    case StepKind::sever:
      return text + fmt::format(" {}{}", us(step.delay), step.silently ? " silently" : "");
    case StepKind::offer:
      text += fmt::format(" {} {} {}", step.groups.front(), step.size, step.linger_s);
      text += step.seals_after ? fmt::format(" {}", us(*step.seals_after)) : " never";
      return step.block_symbols > 0 ? text + fmt::format(" content {}", step.block_symbols) : text;
    case StepKind::listen:
      return text +
             fmt::format(" {} {} {}", step.groups.front(), kDeliveries[step.in_order ? 1 : 0], us(step.deadline));
    case StepKind::stop_listening:
      return text + " " + step.groups.front();
    case StepKind::open_feed:
      return text + fmt::format(" {} {} {} {}{}", step.feed, step.groups.front(), us(step.repair_for),
                                step.bytes_per_second, step.drops_oldest ? " drops" : "");
    case StepKind::feed:
      return text + fmt::format(" {} {} {} {}", step.feed, step.messages, step.size, us(step.interval));
    case StepKind::close_feed:
      return text + fmt::format(" {}", step.feed);
    case StepKind::bye:
    case StepKind::kill:
    case StepKind::cancel_offers:
    case StepKind::detach:
    case StepKind::heal:
    case StepKind::heal_with_resets:
    case StepKind::received:
      return text;
    case StepKind::path:
      return text + fmt::format(" d{} d{} {} {} {}", step.host, step.peer, step.bytes_per_second, us(step.delay),
                                us(step.jitter));
    case StepKind::cut:
    case StepKind::repair:
    case StepKind::reset:
    case StepKind::reset_half:
    case StepKind::stall:
    case StepKind::unstall:
    case StepKind::block:
    case StepKind::unblock:
      return text + fmt::format(" d{} d{}", step.host, step.peer);
    default:
      return text + fmt::format(" d{}", step.host);
  }
}

std::string to_text(const Plan& plan) {
  std::string text = fmt::format("{}\ndaemons {}\n", kTitle, plan.daemons);
#define SPINDLE_HUNT_NUMBER(member) text += fmt::format(#member " {}\n", plan.member);
  SPINDLE_HUNT_NUMBERS(SPINDLE_HUNT_NUMBER)
#undef SPINDLE_HUNT_NUMBER
#define SPINDLE_HUNT_DURATION(member) text += fmt::format(#member "_us {}\n", us(plan.member));
  SPINDLE_HUNT_DURATIONS(SPINDLE_HUNT_DURATION)
#undef SPINDLE_HUNT_DURATION
  for (const PlannedLink& link : plan.links) {
    text += fmt::format("link d{} d{} {} {} {} {}\n", link.a, link.b, kDiallers[static_cast<std::size_t>(link.dialler)],
                        link.bytes_per_second, us(link.delay), us(link.jitter));
  }
  for (const AccessConfig& rules : plan.rules) text += to_text(rules);
  for (const Step& step : plan.steps) text += to_text(step) + "\n";
  return text;
}

tl::expected<Plan, std::string> parse_plan(std::string_view text) { return Parser().parse(text); }

}  // namespace spindled::hunt
