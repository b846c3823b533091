// What an adversary does, one entry each.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/adversary/scene.h"

namespace spindle::test {

/// How large the attacks are.
struct Scale {
  std::size_t groups = 100'000;           // that one client joins
  std::size_t groups_of_all = 1'000'000;  // that ten clients join
  std::size_t connections = 1'000;
  std::size_t crowd = 300;
};

struct Attack {
  std::string name;
  std::string what;  // the attacker does, for people
  SceneOptions scene;
  std::uint64_t views_allowed = 0;  // that the attack brings about rightly
  double rate_share_min = 0.5;      // of its rate that the pair must keep; 0 where only what the stream keeps is judged
  /// Before anything is measured.
  std::function<void(Scene&, const Scale&)> prepare;
  /// The attack itself, until `stop`. Throws where it cannot be made.
  std::function<void(Scene&, const Scale&, const std::stop_token&)> run;
};

/// Until the attack is to end: for those that have begun something and now do nothing.
inline void wait_for_stop(const std::stop_token& stop) {
  while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

std::vector<Attack> attacks_on_membership();
std::vector<Attack> attacks_on_memory();
std::vector<Attack> attacks_on_the_limit();
std::vector<Attack> attacks_by_many();
std::vector<Attack> attacks_by_neighbours();
std::vector<Attack> attacks_by_frames();
std::vector<Attack> all_attacks();

}  // namespace spindle::test
