// How much memory this host, or the control group that the process is in, has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

namespace spindled {

/// In bytes: what the host has, or the least that a control group around this process may use. 0: not known.
std::size_t host_memory();

/// What the control groups around a process may use at most, in bytes; nothing where none of them is bounded.
/// `membership` is what /proc/self/cgroup says, `root` where control groups are mounted (cgroups(7); versions 1 and 2).
std::optional<std::size_t> control_group_memory(std::string_view membership, const std::filesystem::path& root);

}  // namespace spindled
