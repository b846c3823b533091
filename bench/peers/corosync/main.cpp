// corosync_client: one sender-receiver at a daemon of Corosync, see bench/hosts/cluster/member_program.h.
#include "bench/hosts/client_lines.h"
#include "bench/hosts/cluster/member_program.h"
#include "bench/peers/corosync/corosync_member.h"

int main(int argc, char** argv) {
  using namespace spindle::bench;
  return run_member(argc, argv, [](const Membership& membership) {
    if (membership.service != "agreed") fail("there is no service {}", membership.service);
    return std::make_unique<CorosyncMember>(membership.group);
  });
}
