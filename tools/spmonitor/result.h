// Results: a value, or why there is none.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace spmonitor {

/// What went wrong, in words that say what to do.
using Failure = std::string;
template <typename T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(Failure failure) { return tl::unexpected<Failure>(std::move(failure)); }

}  // namespace spmonitor
