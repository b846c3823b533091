// How spuser ends.
#pragma once

#include <string>
#include <system_error>

#include "spindle/error.h"

namespace spuser {

enum ExitCode {
  kExitDone = 0,
  kExitConnection = 1,
  kExitBadCommandLine = 2,
  kExitInputOutput = 3,
  kExitRefused = 4,
  kExitSignal = 128,  // plus the number of the signal
};

/// kExitBadCommandLine where the error is of a name or an address that there cannot be; else `otherwise`.
inline ExitCode exit_code_of(const std::error_code& error, ExitCode otherwise) {
  using spindle::Errc;
  const bool is_usage = error == Errc::bad_group_name || error == Errc::too_many_groups ||
                        error == Errc::bad_client_name || error == Errc::bad_address;
  return is_usage ? kExitBadCommandLine : otherwise;
}

/// Thrown to end the program; caught in main, which says the text.
struct Exit {
  int code = kExitDone;
  std::string text{};

  /// On standard error, once; where the text is empty there is nothing to say.
  void say();
};

}  // namespace spuser
