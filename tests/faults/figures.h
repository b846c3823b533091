// How long clients wait for a new view, or for messages, after a fault: measured, with default configuration.
#pragma once

#include <string>

namespace spindle::test {

struct FiguresOptions {
  int rounds = 5;
  std::string only;
};

/// Prints a table; returns the exit code.
int run_figures(const FiguresOptions& options);

}  // namespace spindle::test
