// The load on Spindle, through its client library.
#pragma once

#include <future>
#include <string>

#include "bench/cluster/group_member.h"
#include "libclient/include/spindle/connection.h"

namespace spindle::bench {

class SpindleMember final : public GroupMember {
 public:
  /// `in_flight_bytes` is the most that is ever sent and not yet received back.
  SpindleMember(const std::string& address, std::string group, Service service, std::size_t in_flight_bytes);

  void join(std::size_t members, Receive receive) override;
  void send(std::span<const std::byte> payload) override;

 private:
  void handle(Event& event, std::size_t members);

  std::string group_;
  Service service_;
  Receive receive_;
  std::promise<void> complete_;
  bool is_complete_ = false;
  Connection connection_;  // the last member: its thread uses the others
};

}  // namespace spindle::bench
