// More than a daemon has memory for, from all sides at once.
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/adversary/attack.h"

namespace spindle::test {

namespace {

constexpr std::size_t kLimit = 256u << 20;
constexpr std::size_t kReaders = 1000;
constexpr std::size_t kSenders = 50;
/// Sets of destinations of a sender: those of a reader each.
constexpr std::size_t kSets = 40;
constexpr std::size_t kSizes[] = {1'000, 3'000, 30'000, 1'000'000};

std::string group_of(std::size_t reader) { return "stalled " + std::to_string(reader); }

std::uint8_t policy_of(std::size_t reader) {
  constexpr SlowPolicy kPolicies[] = {SlowPolicy::price, SlowPolicy::price, SlowPolicy::drop, SlowPolicy::disconnect};
  return static_cast<std::uint8_t>(static_cast<unsigned>(kPolicies[reader % 4]) << protocol::kSlowPolicyShift);
}

/// A group of its own for each reader, so that nothing of what waits is shared, and one of all.
void add_stalled_readers(Scene& scene, const Scale& scale, const std::stop_token& stop) {
  for (std::size_t i = 0; i < std::min(kReaders, scale.connections) && !stop.stop_requested(); ++i) {
    Bytes joins = join_frame(group_of(i));
    joins += join_frame("all stalled");
    scene.keep(HostileClient(scene.gamma(), {}, policy_of(i))).write(joins, stop, false);
  }
}

/// Half of the senders have independent flows, so that none of their messages holds up those to others.
void flood(Scene& scene, std::size_t sender, const std::stop_token& stop) {
  Bytes start, round;
  for (std::uint32_t handle = 0; handle < kSets; ++handle) {
    const std::size_t reader = (sender * kSets + handle) % kReaders;
    start += define_frame(handle, {handle == 0 ? "all stalled" : group_of(reader)});
    round += message_frames(handle, Service::fifo, kSizes[sender % std::size(kSizes)]);
  }
  const std::uint8_t flags = sender % 2 == 0 ? protocol::kIndependentFlowsBit : 0;
  while (!stop.stop_requested()) {
    try {
      HostileClient client(scene.alpha(), {}, flags);
      if (!client.write(start, stop)) continue;
      while (client.write(round, stop)) {
      }
    } catch (const std::exception&) {  // it is refused, as there is no memory left
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

}  // namespace

std::vector<Attack> attacks_on_the_limit() {
  Attack attack;
  attack.name = "memory_limit";
  attack.what = "50 clients of alpha flood 1,000 of gamma, which read nothing; daemons may have 256 MiB each";
  attack.scene.configuration = "[limits]\nmemory_bytes = " + std::to_string(kLimit) + "\n";
  attack.scene.memory_limit = kLimit;
  attack.scene.stream = true;
  // Daemons and flooding clients never leave the processors idle, and each step of the pair waits for one.
  attack.rate_share_min = 0;
  attack.run = [](Scene& scene, const Scale& scale, const std::stop_token& stop) {
    add_stalled_readers(scene, scale, stop);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kSenders; ++i) {
      threads.emplace_back([&scene, &stop, i] { flood(scene, i, stop); });
    }
  };
  return {attack};
}

}  // namespace spindle::test
