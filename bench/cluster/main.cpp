// cluster_client: one sender-receiver at a daemon of Spindle, see member_program.h.
#include <map>

#include "bench/client_lines.h"
#include "bench/cluster/member_program.h"
#include "bench/cluster/spindle_member.h"

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

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  return run_member(argc, argv, [](const Membership& membership) {
    return std::make_unique<SpindleMember>(membership.address, membership.group, service_of(membership.service),
                                           membership.in_flight_bytes);
  });
}
