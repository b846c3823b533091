// Assertions on our own bugs, on in release builds too: the daemon stops rather than break an invariant. Never used on
// what a peer, a client or a file can cause.
#pragma once

namespace spindled {

/// Prints the condition and aborts; the driver may install a hook that first dumps the state of the node.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

using CheckHook = void (*)();
/// Called once before the abort. Process-wide, set by `main`.
void set_check_hook(CheckHook hook);

}  // namespace spindled

#define SPINDLE_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::spindled::check_failed(#condition, __FILE__, __LINE__))
