// What is sent, and where to, as it crosses from C to C++.
#pragma once

#include "bindings/c/src/handles.h"
#include "libclient/common/limits.h"

namespace spindle::c {

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

/// `call` with the connection and the destinations, unless these are none at all.
template <typename Call>
spindle_code with_destinations(spindle_connection* connection, const spindle_bytes* groups, size_t count,
                               Call&& call) noexcept {
  if (connection == nullptr || (groups == nullptr && count > 0)) return code_of(Errc::bad_argument);
  if (count > kGroupsPerMessageMax) return code_of(Errc::too_many_groups);
  return guarded([&] { return call(connection->value, Destinations(groups, count)); });
}

inline SendOptions send_options_of(const spindle_send_options* options) {
  return options == nullptr ? SendOptions() : options->value;
}

inline std::stop_token stop_of(const spindle_send_options* options) {
  return options == nullptr ? std::stop_token() : options->stop;
}

}  // namespace spindle::c
