// A program that sends a stream, or receives one.
//
// It says "ready" once it can, and then does what it reads from standard input, until that ends:
//
//   go NANOSECONDS   the sender sends, from then on (CLOCK_MONOTONIC), and says what it sent when it has
//   count            a receiver says what has come so far
//   end              a receiver says what has come of the measured part
//
// Answers are lines of JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "bench/hosts/feeds/stream.h"

namespace spindle::bench {

/// What carries the stream. Both are made when options are read, and return when they are ready.
struct StreamSystem {
  std::string name;  // of the program
  std::function<void(CLI::App&)> add_options;
  std::function<std::unique_ptr<StreamSource>(const StreamPlan&)> make_source;
  std::function<std::unique_ptr<StreamReceiver>(const StreamPlan&, StreamReceive)> make_receiver;
};

/// The program's status. A failure ends it at once.
int run_stream(int argc, char** argv, const StreamSystem& system);

}  // namespace spindle::bench
