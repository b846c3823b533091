// How often random encoding symbols do not give a block: K' of them, one more, and two more (RFC 6330, section 5.8).
// No content takes part: the solver finds out by the ids alone. Prints a line of JSON for each number of symbols.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "libclient/codes/raptorq_solver.h"

namespace spindle::bench {

namespace {

using codes::BlockCode;

constexpr std::size_t kMore = 2;  // symbols beyond K'
using Failures = std::array<std::uint64_t, kMore + 1>;

/// Draws symbols, and solves for the first of them, for one more, and for all.
class Trial {
 public:
  Trial(const BlockCode& code, std::uint64_t seed) : code_(code), random_(seed) {}

  void run(Failures& failures) {
    draw();
    for (std::size_t more = 0; more <= kMore; ++more) {
      if (codes::solve(code_, std::span(isis_).first(code_.symbols + more))) return;  // as do further ones, then
      ++failures[more];
    }
  }

 private:
  /// Each ISI is any one of those that an ESI of 24 bits has, once.
  void draw() {
    isis_.clear();
    while (isis_.size() < code_.symbols + kMore) {
      while (isis_.size() < code_.symbols + kMore) isis_.push_back(static_cast<std::uint32_t>(random_() >> 40));
      sorted_ = isis_;
      std::sort(sorted_.begin(), sorted_.end());
      if (std::adjacent_find(sorted_.begin(), sorted_.end()) != sorted_.end()) isis_.clear();
    }
  }

  const BlockCode& code_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> isis_, sorted_;
};

/// The result does not depend on the number of threads: a batch has its own seed.
class Trials {
 public:
  Trials(std::uint32_t symbols, std::uint64_t trials, std::uint64_t seed)
      : code_(BlockCode::of(symbols)), trials_(trials), seed_(seed) {}

  Failures run(unsigned threads) {
    std::vector<Failures> found(threads, Failures{});
    std::vector<std::thread> running;
    for (Failures& failures : found) running.emplace_back([this, &failures] { run_batches(failures); });
    for (std::thread& thread : running) thread.join();
    Failures sum{};
    for (const Failures& each : found) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += each[i];
    }
    return sum;
  }

 private:
  static constexpr std::uint64_t kBatch = 1'000;

  void run_batches(Failures& failures) {
    for (std::uint64_t batch = 0; (batch = next_batch_++) * kBatch < trials_;) {
      std::seed_seq seeds{seed_, std::uint64_t{code_.symbols}, batch};
      std::array<std::uint32_t, 2> words{};
      seeds.generate(words.begin(), words.end());
      Trial trial(code_, std::uint64_t{words[0]} << 32 | words[1]);
      const std::uint64_t count = std::min(kBatch, trials_ - batch * kBatch);
      for (std::uint64_t i = 0; i < count; ++i) trial.run(failures);
    }
  }

  const BlockCode code_;
  const std::uint64_t trials_, seed_;
  std::atomic<std::uint64_t> next_batch_ = 0;
};

}  // namespace

}  // namespace spindle::bench

int main(int argc, char** argv) {
  CLI::App app("Counts how often random symbols of RaptorQ do not suffice.");
  std::vector<std::uint32_t> symbols;
  std::uint64_t trials = 0, seed = 1;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("--symbols", symbols, "of a block, rounded up to a K' of the RFC")->delimiter(',')->required();
  app.add_option("--trials", trials, "for each number of symbols")->required();
  app.add_option("--seed", seed);
  app.add_option("--threads", threads, "all processors where it is not given")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  for (const std::uint32_t each : symbols) {
    const auto start = std::chrono::steady_clock::now();
    const auto failures = spindle::bench::Trials(each, trials, seed).run(threads);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    fmt::print("{{\"symbols\": {}, \"trials\": {}, \"failures\": [{}], \"seconds\": {:.1f}}}\n",
               spindle::codes::BlockCode::of(each).symbols, trials, fmt::join(failures, ", "), time.count());
    std::fflush(stdout);
  }
  return 0;
}
