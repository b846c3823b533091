#include "tests/faults/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <random>

namespace spindle::test {

using namespace spindled::checkers;

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kFaultsPerRound = 15;

FieldOptions draw_field(std::mt19937_64& random) {
  FieldOptions options;
  options.seed = random();
  options.daemons = 3 + random() % 3;
  options.clients_each = 2;
  options.descriptors_max = 128;
  options.log_to_disk = true;
  options.traffic.groups = {"news", "sports", "weather"};
  options.traffic.interval = std::chrono::milliseconds(20 + random() % 80);
  const std::size_t shape = random() % 3;  // 0: all pairs
  if (shape != 0) {
    for (std::size_t i = 1; i < options.daemons; ++i) options.links.emplace_back(i, i - 1);
  }
  if (shape == 2) options.links.emplace_back(0, options.daemons - 1);  // a ring
  return options;
}

void count(const History& history, RoundResult& result) {
  result.clients = history.clients.size();
  for (const ClientHistory& client : history.clients) {
    spindled::Time last{};
    for (const spindled::checkers::Event& event : client.events) {
      result.sent += std::holds_alternative<Sent>(event.what);
      result.views += std::holds_alternative<spindled::checkers::GroupView>(event.what);
      if (!std::holds_alternative<Delivered>(event.what)) continue;
      ++result.delivered;
      if (last != spindled::Time{}) result.longest_pause = std::max(result.longest_pause, event.at - last);
      last = event.at;
    }
  }
}

}  // namespace

RoundResult hunt_round(std::uint64_t seed, std::size_t faults, const std::string& folder, bool black_boxes) {
  std::mt19937_64 random(seed);
  RoundResult result;
  FieldOptions options = draw_field(random);
  options.black_boxes_each = black_boxes ? 1 : 0;
  result.daemons = options.daemons;
  Field field(options);
  Trouble trouble(field, random());
  try {
    trouble.make(faults);
    result.failure = spindled::checkers::to_text(field.finish());
  } catch (const std::exception& error) {
    result.failure = std::string(error.what()) + "\n";
    for (const auto& client : field.clients()) result.failure += client->state() + "\n";
    field.give_up();
  }
  result.faults = trouble.injected();
  count(field.history(), result);
  if (!result.failure.empty()) field.save(folder + "/" + std::to_string(seed), result.failure, trouble.diary());
  return result;
}

int run_hunt(const HuntOptions& options) {
  const std::uint64_t first = options.seed != 0 ? options.seed : std::random_device()();
  RoundResult sum;
  std::size_t done = 0, failures = 0;
  const Clock::time_point start = Clock::now();
  for (std::uint64_t seed = first; done < options.faults; ++seed) {
    const RoundResult round = hunt_round(seed, std::min(kFaultsPerRound, options.faults - done), options.folder);
    for (const auto& [kind, number] : round.faults) {
      sum.faults[kind] += number;
      done += number;
    }
    sum.clients += round.clients;
    sum.sent += round.sent;
    sum.delivered += round.delivered;
    sum.views += round.views;
    sum.longest_pause = std::max(sum.longest_pause, round.longest_pause);
    failures += !round.failure.empty();
    fmt::print("seed {}: {} daemons, {} of {} faults, {} clients, {} messages delivered, {}\n", seed, round.daemons,
               done, options.faults, round.clients, round.delivered, round.failure.empty() ? "well" : "FAILED");
    if (!round.failure.empty()) {
      fmt::print("{}saved in {}/{}; again: tools/faults --faults {} --seed {}\n", round.failure, options.folder, seed,
                 kFaultsPerRound, seed);
    }
    std::fflush(stdout);
  }
  fmt::print("\n");
  for (const auto& [kind, number] : sum.faults) fmt::print("{:<48} {:>10}\n", to_string(kind), number);
  fmt::print("{:<48} {:>10}\n", "faults in all", done);
  fmt::print("{:<48} {:>10}\n", "clients", sum.clients);
  fmt::print("{:<48} {:>10}\n", "messages sent", sum.sent);
  fmt::print("{:<48} {:>10}\n", "messages delivered", sum.delivered);
  fmt::print("{:<48} {:>10}\n", "group views delivered", sum.views);
  fmt::print("{:<48} {:>10.3f}\n", "longest pause of a client, s",
             std::chrono::duration<double>(sum.longest_pause).count());
  fmt::print("{:<48} {:>10.0f}\n", "time, s", std::chrono::duration<double>(Clock::now() - start).count());
  fmt::print("{:<48} {:>10}\n", "rounds with violations or without rest", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace spindle::test
