// scale_client: clients at the daemons of a measurement of scale. `tools/bench scale` starts them.
//
//   scale_client crowd --address A ...     idle clients at one daemon; says "ready" once they are all there and in
//                                          their groups, and stays until standard input ends
//   scale_client watch --address A B ...   one client at each daemon, all in one group; answers "expect N" with the
//                                          time, in ns, at which the last of N clients had a view with N members
#include <CLI/CLI.hpp>
#include <iostream>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/scale/crowd.h"
#include "bench/hosts/scale/watch.h"

namespace spindle::bench {
namespace {

void run_crowd(const CrowdPlan& plan) {
  Crowd crowd(plan);
  crowd.gather();
  say("ready");
  crowd.stay();
}

void run_watch(const std::vector<std::string>& addresses, const std::string& group) {
  Watch watch(addresses, group);
  std::string word;
  std::size_t members = 0;
  while (std::cin >> word >> members) {
    if (word != "expect" || members > addresses.size()) fail("standard input does not say \"expect <members>\"");
    say(std::to_string(watch.wait_for(members)));
  }
}

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  CLI::App app("Clients for a measurement of scale; tools/bench scale starts them.", "scale_client");
  app.require_subcommand(1);
  CrowdPlan plan;
  CLI::App* crowd = app.add_subcommand("crowd", "Idle clients at one daemon");
  crowd->add_option("--address", plan.address, "Where the daemon listens")->required();
  crowd->add_option("--clients", plan.clients, "How many")->check(CLI::Range(1, 100'000));
  crowd->add_option("--groups", plan.groups, "Groups that each of them joins");
  crowd->add_option("--prefix", plan.prefix, "Of the names of groups, which end in a number from 0");
  std::vector<std::string> addresses;
  std::string group;
  CLI::App* watch = app.add_subcommand("watch", "Clients that wait for views");
  watch->add_option("--address", addresses, "Where the daemons listen")->required();
  watch->add_option("--group", group, "That they are in, and nobody else")->required();
  CLI11_PARSE(app, argc, argv);
  if (*crowd) {
    run_crowd(plan);
  } else {
    run_watch(addresses, group);
  }
}
