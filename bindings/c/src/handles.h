// What stands behind the handles of the C interface, and how values cross between C and C++.
#pragma once

#include <chrono>
#include <deque>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bindings/c/include/spindle/spindle.h"
#include "spindle/connection.h"
#include "spindle/membership.h"

struct spindle_options {
  spindle::ConnectOptions value;
};

struct spindle_connection {
  spindle::Connection value;
};

struct spindle_send_options {
  spindle::SendOptions value;
  std::deque<std::string> header_texts;  // keys and values, which stay where they are
  std::vector<spindle::Header> headers;  // what `value` refers to
};

namespace spindle::c {
struct EventBlock;
}

struct spindle_event {
  spindle::Event value;
  spindle::c::EventBlock* block = nullptr;  // whose it is
};

struct spindle_answers {
  std::deque<spindle_event> messages;  // of no block
  std::vector<std::string> missing;
};

struct spindle_membership {
  spindle::Membership value;
  std::vector<std::string> vs_set;  // after the view that was applied last
};

namespace spindle::c {

inline std::string_view text_of(spindle_bytes bytes) {
  return {static_cast<const char*>(bytes.data), bytes.data == nullptr ? 0 : bytes.size};
}

inline spindle_bytes bytes_of(std::string_view text) { return {text.data(), text.size()}; }

inline spindle_code code_of(const std::error_code& error) { return error.value(); }
inline spindle_code code_of(Errc code) { return static_cast<spindle_code>(code); }

inline bool are_bytes(spindle_bytes bytes) { return bytes.data != nullptr || bytes.size == 0; }

/// Negative is the longest there is.
inline std::chrono::nanoseconds duration_of(std::int64_t timeout_ns) {
  return timeout_ns < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(timeout_ns);
}

/// What a call comes to that returns std::error_code, or nothing: no exception leaves it. Inline, as what `function`
/// refers to would go through memory otherwise.
template <typename Function>
[[gnu::always_inline]] inline spindle_code guarded(Function&& function) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
      return 0;
    } else {
      return code_of(function());
    }
  } catch (const std::bad_alloc&) {
    return code_of(Errc::out_of_memory);
  } catch (...) {
    return code_of(Errc::internal_error);
  }
}

/// The name at a place of a list of them; nothing beyond its end.
inline spindle_bytes name_at(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() ? bytes_of(names[index]) : spindle_bytes{nullptr, 0};
}

/// Destinations in C's form as the library's. Few of them need no memory.
class Destinations {
 public:
  /// For more than one: a single one needs no array.
  Destinations(const spindle_bytes* groups, std::size_t count) : count_(groups == nullptr ? 0 : count) {
    std::string_view* names = few_;
    if (count_ > std::size(few_)) {
      many_.resize(count_);
      names = many_.data();
    }
    for (std::size_t i = 0; i < count_; ++i) names[i] = text_of(groups[i]);
  }

  operator Groups() const {  // NOLINT: implicit on purpose
    return std::span<const std::string_view>(count_ > std::size(few_) ? many_.data() : few_, count_);
  }

 private:
  const std::size_t count_;
  std::string_view few_[8];
  std::vector<std::string_view> many_;
};

}  // namespace spindle::c
