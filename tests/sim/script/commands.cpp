// What each command of a script does.
#include <fmt/ranges.h>

#include <algorithm>

#include "tests/sim/script/interpreter.h"

namespace spindled::sim {

const std::map<std::string_view, Interpreter::Known>& Interpreter::commands() {
  using I = Interpreter;
  static const std::map<std::string_view, Known> all = {
      {"cluster",
       {"cluster SHAPE SIZE [delay DURATION] [rate BYTES_PER_SECOND] [unpriced] [seed NUMBER]", &I::cluster, true}},
      {"members", {"members GROUP [DAEMON...]", &I::members, true}},
      {"connect", {"connect CLIENT DAEMON", &I::connect, true}},
      {"join", {"join CLIENT... GROUP", &I::join}},
      {"leave", {"leave CLIENT... GROUP", &I::leave}},
      {"send", {"send CLIENT GROUP[,GROUP...] SERVICE [NUMBER] [size BYTES]", &I::send}},
      {"bye", {"bye CLIENT...", &I::bye}},
      {"kill", {"kill CLIENT...", &I::kill}},
      {"crash", {"crash DAEMON...", &I::crash}},
      {"lose-power", {"lose-power DAEMON...", &I::lose_power}},
      {"start", {"start DAEMON...", &I::start}},
      {"stop", {"stop DAEMON...", &I::stop}},
      {"pause", {"pause DAEMON...", &I::pause}},
      {"resume", {"resume DAEMON...", &I::resume}},
      {"stall", {"stall DAEMON DAEMON", &I::stall}},
      {"unstall", {"unstall DAEMON DAEMON", &I::unstall}},
      {"cut", {"cut DAEMON DAEMON", &I::cut}},
      {"mend", {"mend DAEMON DAEMON", &I::mend}},
      {"reset", {"reset DAEMON DAEMON", &I::reset}},
      {"delay", {"delay DAEMON DAEMON DURATION", &I::delay}},
      {"partition", {"partition DAEMON... | DAEMON... [| DAEMON...]", &I::partition}},
      {"heal", {"heal", &I::heal}},
      {"when", {"when DAEMON says TEXT COMMAND", &I::when}},
      {"run", {"run DURATION, run until rest, run until DAEMON says TEXT", &I::run_command, true}},
  };
  return all;
}

namespace {

PathProperties path_with(Duration delay, std::uint64_t rate) {
  PathProperties path;
  path.delay = delay;
  path.bytes_per_second = rate;
  path.jitter = 0ns;  // a transcript is easier to follow where what is simultaneous stays so
  return path;
}

Service service_of(Arguments& arguments) {
  const std::string& word = arguments.word("a service");
  const auto* const found = std::find(std::begin(spindle::kServiceNames), std::end(spindle::kServiceNames), word);
  if (found == std::end(spindle::kServiceNames)) arguments.fail(fmt::format("\"{}\" is no service", word));
  return static_cast<Service>(found - std::begin(spindle::kServiceNames));
}

std::vector<std::string> groups_of(std::string_view list) {
  std::vector<std::string> groups;
  while (true) {
    const std::size_t end = list.find(',');
    groups.emplace_back(list.substr(0, end));
    if (end == std::string_view::npos) return groups;
    list.remove_prefix(end + 1);
  }
}

}  // namespace

void Interpreter::cluster(Arguments& arguments) {
  ClusterOptions options;
  const std::string& shape = arguments.word("a shape");
  const auto found = std::find_if(std::begin(kShapes), std::end(kShapes),
                                  [&](Shape candidate) { return to_string(candidate) == shape; });
  if (found == std::end(kShapes)) arguments.fail(fmt::format("\"{}\" is no shape", shape));
  options.shape = *found;
  options.size = arguments.number("the size");
  constexpr std::size_t kSizeMax = 100;
  if (options.size == 0 || options.size > kSizeMax) arguments.fail("a cluster has 1 to 100 daemons");
  Duration delay = 1ms;
  std::uint64_t rate = 0;
  std::uint64_t seed = 1;
  while (!arguments.at_end()) {
    if (arguments.take("delay")) {
      delay = arguments.duration();
    } else if (arguments.take("rate")) {
      rate = arguments.number("the rate");
    } else if (arguments.take("unpriced")) {
      options.node.admission.enabled = false;
    } else {
      arguments.expect("seed");
      seed = arguments.number("the seed");
    }
  }
  options.path = path_with(delay, rate);
  simulator_ = std::make_unique<Simulator>(SimOptions{seed, LogLevel::debug, log_echo_});
  transcript_.emplace(*simulator_, [this](std::string_view host, std::string_view line) { heard(host, line); });
  edges_ = build_cluster(*simulator_, options);
  const bool formed = simulator_->run_until([this] { return have_one_view(simulator_->hosts()); }, 30s);
  if (!formed) arguments.fail("the daemons did not form a view");
  simulator_->run_for(1s);
  transcript_->restart();
  const View& view = simulator_->host(0).node().view();
  std::vector<std::string_view> names;
  for (const DaemonId& member : view.members) names.push_back(member.name);
  transcript_->note(fmt::format("{} is installed: {}, sequencer {}", transcript_->name_of(view.id),
                                fmt::join(names, " "), names[view.sequencer]));
}

// --- Clients ---

void Interpreter::connect(Arguments& arguments) {
  const std::string name = arguments.word("a client");
  if (clients_.contains(name)) arguments.fail(fmt::format("there is a client \"{}\" already", name));
  connect_to(running_host(arguments), name, arguments);
}

void Interpreter::members(Arguments& arguments) {
  const std::string& group = arguments.word("a group");
  const std::string before = transcript_->take();
  std::vector<SimHost*> at;
  if (arguments.at_end()) at = simulator_->running_hosts();
  while (!arguments.at_end()) at.push_back(&running_host(arguments));
  std::vector<SimClient*> joined;
  for (SimHost* each : at) {
    if (each->index() >= 26) arguments.fail("there are no more than 26 letters");
    const std::string name(1, static_cast<char>('a' + each->index()));
    if (!clients_.contains(name)) connect_to(*each, name, arguments);
    joined.push_back(clients_.at(name));
    joined.back()->join(group);
    if (!simulator_->run_until([&] { return have_one_group_view(joined, group); }, 5s)) arguments.fail("no group view");
  }
  // How they came one by one is no news; what the commands before have led to is.
  transcript_->take();
  transcript_->note(before + transcript_->words_of(*joined.front()->view(group)));
}

void Interpreter::connect_to(SimHost& to, const std::string& name, const Arguments& arguments) {
  SimClient& added = simulator_->add_client(to, name);
  clients_.emplace(name, &added);
  if (!simulator_->run_until([&] { return added.is_welcome() || added.is_closed(); }, 1s) || added.is_closed()) {
    arguments.fail("the daemon does not welcome the client");
  }
}

void Interpreter::join(Arguments& arguments) {
  std::vector<SimClient*> joining;
  do {
    joining.push_back(&client(arguments));
  } while (arguments.left() > 1);
  const std::string& group = arguments.word("a group");
  for (SimClient* each : joining) each->join(group);
}

void Interpreter::leave(Arguments& arguments) {
  std::vector<SimClient*> leaving;
  do {
    leaving.push_back(&client(arguments));
  } while (arguments.left() > 1);
  const std::string& group = arguments.word("a group");
  for (SimClient* each : leaving) each->leave(group);
}

void Interpreter::send(Arguments& arguments) {
  SimClient& sender = client(arguments);
  const std::vector<std::string> groups = groups_of(arguments.word("a group"));
  constexpr std::size_t kTravelsAlone = 1000;  // two of these are too large for one bundle
  SendOptions options{.service = service_of(arguments), .size = kTravelsAlone};
  std::uint64_t count = 1;
  while (!arguments.at_end()) {
    if (arguments.take("size")) {
      options.size = arguments.number("the size");
      constexpr std::size_t kSizeMax = 1u << 20;
      if (options.size > kSizeMax) arguments.fail("a message has up to 1048576 bytes here");
    } else {
      count = arguments.number("how many");
      constexpr std::uint64_t kCountMax = 1000;
      if (count == 0 || count > kCountMax) arguments.fail("1 to 1000 messages can be sent");
    }
  }
  for (std::uint64_t i = 0; i < count; ++i) sender.multicast(groups, options);
}

void Interpreter::bye(Arguments& arguments) {
  each_client(arguments, [](SimClient& each) { each.bye(); });
}

void Interpreter::kill(Arguments& arguments) {
  each_client(arguments, [](SimClient& each) { each.kill(); });
}

// --- Daemons ---

void Interpreter::crash(Arguments& arguments) {
  each_running_host(arguments, [](SimHost& each) { each.crash(); });
}

void Interpreter::lose_power(Arguments& arguments) {
  each_running_host(arguments, [](SimHost& each) { each.crash(true); });
}

void Interpreter::start(Arguments& arguments) {
  do {
    SimHost& each = host(arguments);
    if (each.is_running()) arguments.fail(fmt::format("{} runs", each.name()));
    each.start();
  } while (!arguments.at_end());
}

void Interpreter::stop(Arguments& arguments) {
  each_running_host(arguments, [](SimHost& each) { each.stop(); });
}

void Interpreter::pause(Arguments& arguments) {
  each_running_host(arguments, [](SimHost& each) { each.pause(); });
}

void Interpreter::resume(Arguments& arguments) {
  each_running_host(arguments, [](SimHost& each) { each.resume(); });
}

// --- The network ---

void Interpreter::stall(Arguments& arguments) {
  const auto [from, to] = link(arguments);
  simulator_->network().set_stalled(from, to, true);
}

void Interpreter::unstall(Arguments& arguments) {
  const auto [from, to] = link(arguments);
  simulator_->network().set_stalled(from, to, false);
}

void Interpreter::cut(Arguments& arguments) {
  const auto [a, b] = link(arguments);
  simulator_->network().set_cut(a, b, true);
}

void Interpreter::mend(Arguments& arguments) {
  const auto [a, b] = link(arguments);
  simulator_->network().set_cut(a, b, false);
}

void Interpreter::reset(Arguments& arguments) {
  const auto [a, b] = link(arguments);
  simulator_->network().reset_between(a, b);
}

void Interpreter::delay(Arguments& arguments) {
  const auto [a, b] = link(arguments);
  const std::uint64_t rate = simulator_->network().path(a, b).bytes_per_second;
  simulator_->network().set_path(a, b, path_with(arguments.duration(), rate));
}

void Interpreter::partition(Arguments& arguments) {
  std::vector<std::vector<HostIndex>> sides(1);
  do {
    if (arguments.take("|")) {
      sides.emplace_back();
    } else {
      sides.back().push_back(host(arguments).index());
    }
  } while (!arguments.at_end());
  if (sides.size() < 2) arguments.fail("a partition has two sides or more");
  simulator_->network().partition(sides);
}

void Interpreter::heal(Arguments&) { simulator_->network().heal(); }

}  // namespace spindled::sim
