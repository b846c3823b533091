// The program of one sender-receiver, whatever the system is that it is a member of.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/hosts/cluster/group_member.h"

namespace CLI {
class App;
}

namespace spindle::bench {

/// What the member is to be, as the command line says.
struct Membership {
  std::string address;  // of its daemon; empty where the system finds it alone
  std::string group;
  std::string service;
  std::size_t in_flight_bytes = 0;  // the most that is ever sent and not yet received back; 0: not bounded
};

using MakeMember = std::function<std::unique_ptr<GroupMember>(const Membership&)>;
/// Adds the options that only members of one system have.
using DefineOptions = std::function<void(CLI::App&)>;

/// The member joins the group, says "ready" once all members are in it, reads "go <nanoseconds>", the time at which all
/// start, from standard input, runs its load, prints its result as one line of JSON, and stays in the group until its
/// standard input ends. `tools/bench cluster` starts the members and adds up. Returns the status of the process.
int run_member(int argc, char** argv, const MakeMember& make_member, const DefineOptions& define_more = {});

}  // namespace spindle::bench
