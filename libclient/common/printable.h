// What others have written, for people to read.
#pragma once

#include <string>
#include <string_view>

namespace spindle {

enum class Backslash {
  escaped,  ///< as "\x5c", so that nothing that is shown can be mistaken for something else
  kept,     ///< as it is: for text that is a person's
};

/// `text` with everything but printable UTF-8 as "\x1b", so that it can do nothing to a terminal, nor begin a line.
std::string printable(std::string_view text, Backslash backslash = Backslash::escaped);

}  // namespace spindle
