// cluster_client: one sender-receiver at a daemon of Spindle, see member_program.h.
#include <CLI/CLI.hpp>
#include <map>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/cluster/member_program.h"
#include "bench/hosts/cluster/spindle_member.h"

namespace spindle::bench {
namespace {

Service service_of(const std::string& name) {
  static const std::map<std::string, Service> services{{"reliable", Service::reliable},
                                                       {"fifo", Service::fifo},
                                                       {"causal", Service::causal},
                                                       {"agreed", Service::agreed},
                                                       {"safe", Service::safe}};
  const auto found = services.find(name);
  if (found == services.end()) fail("there is no service {}", name);
  return found->second;
}

void define(CLI::App& app, SpindleMember::Where& where) {
  app.add_option("--groups", where.groups, "Groups that messages go to in turn, all with the same members")
      ->check(CLI::Range(1, 100'000));
  app.add_flag("--resume", where.resume, "Asks for a session that can be resumed, which no unix socket gives");
  app.add_option("--also", where.also, "A group of clients that get every message and take no part");
}

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  SpindleMember::Where where;
  const auto make_member = [&where](const Membership& membership) {
    where.address = membership.address;
    where.group = membership.group;
    return std::make_unique<SpindleMember>(where, service_of(membership.service), membership.in_flight_bytes);
  };
  return run_member(argc, argv, make_member, [&where](CLI::App& app) { define(app, where); });
}
