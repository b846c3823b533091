// What stands behind the handles of the C interface, and how values cross between C and C++.
#pragma once

#include <chrono>
#include <deque>
#include <new>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bindings/c/include/spindle/spindle.h"
#include "spindle/bulk.h"
#include "spindle/connection.h"
#include "spindle/feed.h"
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
  std::stop_token stop;
};

struct spindle_cancel_token {
  std::stop_source value;
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

struct spindle_bulk_options {
  spindle::BulkOptions value;
};

struct spindle_bulk {
  spindle::Bulk value;
};

struct spindle_bulk_source {
  spindle::BulkSource value;
  std::string name;                // empty: the one that it has by itself
  std::string directory;           // empty: it is none
  spindle::BulkSource::Read read;  // null: it is no stream
  std::vector<std::string> left_out;
};

struct spindle_bulk_sink {
  spindle::BulkSink value;
  spindle::BulkSink::Write write;  // null: it is no stream
};

struct spindle_offer_options {
  spindle::OfferOptions value;
};

struct spindle_feed_options {
  spindle::FeedOptions value;
};

struct spindle_feed {
  spindle::Feed value;
};

namespace spindle::c {

inline std::string_view text_of(spindle_bytes bytes) {
  return {static_cast<const char*>(bytes.data), bytes.data == nullptr ? 0 : bytes.size};
}

inline spindle_bytes bytes_of(std::string_view text) { return {text.data(), text.size()}; }

inline std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

/// As much of it as fits, with a zero byte behind it.
inline void write_text(std::string_view from, char* text, std::size_t room) {
  if (text == nullptr || room == 0) return;
  text[from.copy(text, room - 1)] = '\0';
}

/// A channel is the id itself.
inline const spindle_channel* handle_of(const ChannelId& id) { return reinterpret_cast<const spindle_channel*>(&id); }
inline const ChannelId* id_of(const spindle_channel* channel) { return reinterpret_cast<const ChannelId*>(channel); }

inline spindle_code code_of(const std::error_code& error) { return error.value(); }
inline spindle_code code_of(Errc code) { return static_cast<spindle_code>(code); }

inline bool are_bytes(spindle_bytes bytes) { return bytes.data != nullptr || bytes.size == 0; }

/// Negative is the longest there is.
inline std::chrono::nanoseconds duration_of(std::int64_t timeout_ns) {
  return timeout_ns < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(timeout_ns);
}

/// Of no token: none that is ever stopped.
inline std::stop_token stop_of(const spindle_cancel_token* token) {
  return token == nullptr ? std::stop_token() : token->value.get_token();
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

}  // namespace spindle::c
