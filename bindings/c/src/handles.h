// What the handles of the C interface stand for, and how nothing is thrown into C.
#pragma once

#include <chrono>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/c/include/spindle/spindle.h"
#include "spindle/connection.h"
#include "spindle/membership.h"

struct spindle_options {
  spindle::ConnectOptions options;
};

struct spindle_send_options {
  spindle::SendOptions options;
};

struct spindle_connection {
  spindle::Connection connection;
};

struct spindle_event {
  spindle::Event event;
};

struct spindle_membership {
  spindle::Membership membership;
  std::vector<std::string> vs_set;  // as it was asked for last
};

namespace spindle::c {

inline spindle_code to_code(std::error_code error) {
  if (!error) return SPINDLE_OK;
  return error.category() == error_category() ? error.value() : SPINDLE_INTERNAL_ERROR;
}
inline spindle_code to_code(Errc code) { return static_cast<spindle_code>(code); }

/// What `call` gives, which is a spindle_code or an error; where it throws, the code of that.
template <typename Call>
spindle_code guarded(Call&& call) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return SPINDLE_OK;
    } else {
      return call();
    }
  } catch (const std::bad_alloc&) {
    return SPINDLE_OUT_OF_MEMORY;
  } catch (...) {
    return SPINDLE_INTERNAL_ERROR;
  }
}

/// Negative numbers are no bound.
inline std::chrono::nanoseconds to_timeout(std::int64_t timeout_ns) {
  return timeout_ns < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(timeout_ns);
}

/// Whether there is what is said to be there.
inline bool is_valid(spindle_bytes bytes) { return bytes.data != nullptr || bytes.size == 0; }

inline std::string_view to_view(spindle_bytes bytes) { return {static_cast<const char*>(bytes.data), bytes.size}; }
inline spindle_bytes to_bytes(std::string_view text) { return {text.data(), text.size()}; }

/// Fills in as many names as there is room for; gives how many there are.
template <typename Names>
std::size_t give_names(const Names& names, spindle_bytes* out, std::size_t room) {
  std::size_t at = 0;
  for (const std::string_view name : names) {
    if (at == room || out == nullptr) break;
    out[at++] = to_bytes(name);
  }
  return names.size();
}

}  // namespace spindle::c
