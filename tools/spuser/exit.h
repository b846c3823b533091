// How spuser ends.
#pragma once

#include <string>

namespace spuser {

enum ExitCode {
  kExitDone = 0,
  kExitConnection = 1,
  kExitBadCommandLine = 2,
  kExitInputOutput = 3,
  kExitRefused = 4,
  kExitSignal = 128,  // plus the number of the signal
};

/// Thrown to end the program; caught in main, which says the text.
struct Exit {
  int code = kExitDone;
  std::string text{};

  /// On standard error, once; where the text is empty there is nothing to say.
  void say();
};

}  // namespace spuser
