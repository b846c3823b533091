// Making a token, by which a client proves who it is.
#pragma once

#include <optional>
#include <string>

#include "tools/spmonitor/pki/times.h"
#include "tools/spmonitor/result.h"

namespace spmonitor::token {

struct NewTokenOptions {
  std::string name;         // clients are "token:NAME"
  std::optional<int> days;  // how long it counts; nothing: for ever
  std::string output;       // the file for the token; empty: none
};
/// What there is to tell: the token, unless a file has it, and the section that a daemon's configuration is to have.
/// The token is random, and kept nowhere else.
Result<std::string> make_token(const NewTokenOptions& options, pki::Time now);

}  // namespace spmonitor::token
