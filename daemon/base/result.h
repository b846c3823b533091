// Results: a value, or an error whose code is in the one table of `spindle/error.h`.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "libclient/include/spindle/error.h"

namespace spindled {

using spindle::Errc;

struct Error {
  Errc code{};
  std::string text;  // what exactly, for a person: empty where the code's own sentence says it all

  /// The text, or the code's sentence where there is none.
  std::string message() const { return text.empty() ? std::string(spindle::describe(code)) : text; }
  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Errc code, std::string text = {}) {
  return tl::unexpected<Error>(Error{code, std::move(text)});
}

}  // namespace spindled
