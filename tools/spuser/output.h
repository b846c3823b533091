// Standard output, fit for pipes.
#pragma once

#include <string>
#include <string_view>

namespace spuser {

/// Gathers what is printed and writes it in large pieces; `flush` before waiting for anything. That nobody reads any
/// more ends the program without a complaint.
class Output {
 public:
  void add(std::string_view text);
  void flush();

 private:
  std::string buffer_;
};

}  // namespace spuser
