// `spmonitor token` on the command line. It asks no daemon.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace spmonitor::token {

/// Parsing sets `job` where the command is one of these: what there is to do, which returns the exit code.
void add_commands(CLI::App& app, std::function<int()>& job);

}  // namespace spmonitor::token
