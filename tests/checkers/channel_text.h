// What clients say of bulk channels, and are told, for people to read.
#pragma once

#include <string>

#include "tests/checkers/history.h"

namespace spindled::checkers {

std::string to_text(const ChannelSaid& said);
std::string to_text(const ChannelTold& told);

}  // namespace spindled::checkers
