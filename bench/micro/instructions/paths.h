// The ways of a message that are counted, by name.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "bench/micro/instructions/meter.h"

namespace spindled::bench {

struct Path {
  std::string_view name;
  std::string_view what;
  /// Has the work for `messages` messages of `bytes` bytes counted, after some that are not. At least as many
  /// messages, in whole rounds; how many they were.
  std::function<std::size_t(Meter& meter, std::size_t bytes, std::size_t messages)> run;
};

std::span<const Path> paths();

}  // namespace spindled::bench
