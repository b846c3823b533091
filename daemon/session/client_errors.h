// Why a session ends for what its client has sent.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "daemon/base/result.h"

namespace spindled {

inline Error malformed(std::string_view what) {
  return {Errc::malformed_frame, fmt::format("malformed {} frame", what)};
}

inline Error undefined(std::uint32_t handle) {
  return {Errc::malformed_frame, fmt::format("destination set {} is not defined", handle)};
}

}  // namespace spindled
