// The load on Spindle, through its client library.
#pragma once

#include <future>
#include <string>
#include <vector>

#include "bench/hosts/cluster/group_member.h"
#include "libclient/include/spindle/connection.h"

namespace spindle::bench {

class SpindleMember final : public GroupMember {
 public:
  struct Where {
    std::string address;
    std::string group;
    std::size_t groups = 1;  // that messages go to in turn: `group`, and others whose names are longer
    std::string also;        // a group that every message goes to besides; none where empty
    bool resume = false;     // its session can be resumed
  };

  /// `in_flight_bytes` is the most that is ever sent and not yet received back.
  SpindleMember(const Where& where, Service service, std::size_t in_flight_bytes);

  void join(std::size_t members, Receive receive) override;
  void send(std::span<const std::byte> payload) override;

 private:
  void handle(Event& event, std::size_t members);

  std::vector<std::string> groups_;
  std::size_t turn_ = 0;  // of the group that the next message goes to
  std::string also_;
  Service service_;
  Receive receive_;
  std::promise<void> complete_;
  std::size_t complete_groups_ = 0;
  Connection connection_;  // the last member: its thread uses the others
};

}  // namespace spindle::bench
