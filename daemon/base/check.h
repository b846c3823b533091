// Assertions on our own bugs, on in release builds too: the daemon stops rather than break an invariant. Never used on
// what a peer, a client or a file can cause.
#pragma once

#include <string_view>

namespace spindled {

/// Says on standard error which condition failed, and aborts. Where there is a hook, the hook says it instead.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

/// `text` is "file:line: check failed: condition". May be called again from within itself.
using CheckHook = void (*)(std::string_view text);
/// Called before the abort. Process-wide, set by `main`.
void set_check_hook(CheckHook hook);

}  // namespace spindled

#define SPINDLE_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::spindled::check_failed(#condition, __FILE__, __LINE__))
