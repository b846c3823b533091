// The load on Corosync, through its closed process groups.
#pragma once

#include <corosync/cpg.h>

#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/hosts/cluster/group_member.h"

namespace spindle::bench {

/// Finds the daemon of the network namespace that it is in. Messages are agreed: Corosync has nothing weaker.
class CorosyncMember final : public GroupMember {
 public:
  explicit CorosyncMember(const std::string& group);
  ~CorosyncMember() override;

  void join(std::size_t members, Receive receive) override;
  void send(std::span<const std::byte> payload) override;

 private:
  void run();
  bool try_send(std::span<const std::byte> payload);
  void send_waiting();
  void deliver(std::span<const std::byte> payload) { receive_(payload); }
  void count_members(std::size_t members);

  static CorosyncMember& of(cpg_handle_t handle);

  cpg_handle_t handle_ = 0;
  cpg_name group_{};
  Receive receive_;
  std::size_t members_ = 0;
  bool is_complete_ = false;
  std::promise<void> complete_;
  // What the daemon did not take when it was sent, because its own queue was full.
  std::mutex mutex_;
  std::deque<std::vector<std::byte>> waiting_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;  // receives
};

}  // namespace spindle::bench
