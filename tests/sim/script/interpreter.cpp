#include "tests/sim/script/interpreter.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace spindled::sim {

namespace {
/// From the words of a daemon to what a script does about them. What the daemon wrote in that turn has left by then,
/// and is read where it arrives before a reset can follow.
constexpr Duration kReaction = 100us;
constexpr Duration kQuiet = 1s;  // without a line, and there is rest
constexpr Duration kPatience = 60s;
}  // namespace

std::vector<std::string> Interpreter::run() {
  std::vector<std::string> outputs;
  for (const Block& block : script_.blocks) {
    for (const Command& command : block.commands) execute(command, false);
    outputs.push_back(transcript_->take());
  }
  static const std::vector<std::string> kRest = {"run", "until", "rest"};
  if (script_.blocks.empty() || script_.blocks.back().commands.back().words != kRest) {
    const std::size_t line = script_.blocks.empty() ? 1 : script_.blocks.back().commands.back().line;
    throw ScriptError(script_.file, line, "a script ends with \"run until rest\"");
  }
  if (!triggers_.empty()) {
    const Trigger& left = triggers_.front();
    throw ScriptError(script_.file, left.command.line, fmt::format("{} never says \"{}\"", left.host, left.text));
  }
  return outputs;
}

void Interpreter::execute(const Command& command, bool triggered) {
  const std::string& name = command.words.front();
  const auto known = commands().find(name);
  if (known == commands().end()) {
    throw ScriptError(script_.file, command.line, fmt::format("\"{}\" is no command", name));
  }
  Arguments arguments(script_.file, command, known->second.usage);
  if ((name == "cluster") != (simulator_ == nullptr)) arguments.fail("a script begins with its one cluster");
  if (triggered && known->second.takes_time) arguments.fail("this takes time, and cannot follow \"when\"");
  (this->*known->second.handler)(arguments);
  arguments.end();
}

// --- Triggers ---

void Interpreter::heard(std::string_view host, std::string_view line) {
  const auto is_it = [&](const std::string& wanted_host, const std::string& text) {
    return wanted_host == host && line.find(text) != std::string_view::npos;
  };
  if (awaited_ && is_it(awaited_->first, awaited_->second)) awaited_.reset();
  for (auto trigger = triggers_.begin(); trigger != triggers_.end();) {
    if (is_it(trigger->host, trigger->text)) {
      simulator_->after(kReaction, [this, command = trigger->command] { fire(command); });
      trigger = triggers_.erase(trigger);
    } else {
      ++trigger;
    }
  }
}

void Interpreter::fire(const Command& command) {
  transcript_->note(fmt::format("[{}]", fmt::join(command.words, " ")));
  try {
    execute(command, true);
  } catch (const ScriptError& error) {
    if (!failed_) failed_ = error;
  }
}

void Interpreter::when(Arguments& arguments) {
  const std::string name = host(arguments).name();
  arguments.expect("says");
  const std::string text = arguments.word("a text");
  triggers_.push_back({name, text, arguments.rest()});
  const std::string& what = triggers_.back().command.words.front();
  if (!commands().contains(what)) arguments.fail(fmt::format("\"{}\" is no command", what));
}

// --- Time ---

void Interpreter::run_command(Arguments& arguments) {
  if (!arguments.take("until")) {
    simulator_->run_for(arguments.duration());
  } else if (arguments.take("rest")) {
    run_until_rest(arguments);
  } else {
    const std::string& name = host(arguments).name();
    arguments.expect("says");
    awaited_.emplace(name, arguments.word("a text, or \"rest\","));
    const bool said = simulator_->run_until([this] { return !awaited_ || failed_; }, kPatience);
    if (!said) arguments.fail(fmt::format("{} did not say \"{}\"", name, awaited_->second));
  }
  if (failed_) throw ScriptError(*failed_);
}

void Interpreter::run_until_rest(const Arguments& arguments) {
  std::size_t last = transcript_->size();
  Time since = simulator_->now();
  const auto is_quiet = [&] {
    if (const std::size_t size = transcript_->size(); size != last) {
      last = size;
      since = simulator_->now();
    }
    return simulator_->now() - since >= kQuiet;
  };
  const auto have_views = [&] {
    const std::vector<std::vector<SimHost*>> all = components();
    return std::all_of(all.begin(), all.end(), have_one_view);
  };
  const bool rests = simulator_->run_until([&] { return failed_ || (is_quiet() && have_views()); }, kPatience);
  if (!rests) arguments.fail(have_views() ? "no rest" : "no rest: daemons that reach each other have no view");
}

std::vector<std::vector<SimHost*>> Interpreter::components() {
  std::vector<SimHost*> left = simulator_->running_hosts();
  std::erase_if(left, [](const SimHost* each) { return each->is_paused(); });
  const auto are_linked = [&](const SimHost* a, const SimHost* b) {
    const std::pair<std::size_t, std::size_t> edge = std::minmax<std::size_t>(a->index(), b->index());
    Network& network = simulator_->network();
    return std::find(edges_.begin(), edges_.end(), edge) != edges_.end() &&
           !network.is_blocked(a->index(), b->index()) && !network.is_blocked(b->index(), a->index());
  };
  std::vector<std::vector<SimHost*>> found;
  while (!left.empty()) {
    std::vector<SimHost*>& component = found.emplace_back(1, left.front());
    left.erase(left.begin());
    for (std::size_t i = 0; i < component.size(); ++i) {
      const auto linked = std::stable_partition(left.begin(), left.end(),
                                                [&](const SimHost* each) { return !are_linked(component[i], each); });
      component.insert(component.end(), linked, left.end());
      left.erase(linked, left.end());
    }
  }
  return found;
}

// --- Arguments that name something ---

SimHost& Interpreter::host(Arguments& arguments) {
  const std::string& name = arguments.word("a daemon");
  for (SimHost* each : simulator_->hosts()) {
    if (each->name() == name) return *each;
  }
  arguments.fail(fmt::format("there is no daemon \"{}\"", name));
}

SimHost& Interpreter::running_host(Arguments& arguments) {
  SimHost& found = host(arguments);
  if (!found.is_running()) arguments.fail(fmt::format("{} does not run", found.name()));
  return found;
}

SimClient& Interpreter::client(Arguments& arguments) {
  const std::string& name = arguments.word("a client");
  const auto found = clients_.find(name);
  if (found == clients_.end()) arguments.fail(fmt::format("there is no client \"{}\"", name));
  if (found->second->is_closed()) arguments.fail(fmt::format("client {} is closed", name));
  return *found->second;
}

std::pair<HostIndex, HostIndex> Interpreter::link(Arguments& arguments) {
  const SimHost& from = host(arguments);
  const SimHost& to = host(arguments);
  const std::pair<std::size_t, std::size_t> edge = std::minmax<std::size_t>(from.index(), to.index());
  if (std::find(edges_.begin(), edges_.end(), edge) == edges_.end()) {
    arguments.fail(fmt::format("there is no link between {} and {}", from.name(), to.name()));
  }
  return {from.index(), to.index()};
}

void Interpreter::each_running_host(Arguments& arguments, const std::function<void(SimHost&)>& action) {
  do {
    action(running_host(arguments));
  } while (!arguments.at_end());
}

void Interpreter::each_client(Arguments& arguments, const std::function<void(SimClient&)>& action) {
  do {
    action(client(arguments));
  } while (!arguments.at_end());
}

}  // namespace spindled::sim
