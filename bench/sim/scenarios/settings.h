// Constants of admission by name, for experiments.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/node_config.h"

namespace spindled::scenarios {

/// Sets what `assignment` ("queue_time=10ms", "price_max=40", "enabled=false") says. False where there is no such
/// constant, or the value is none for it.
[[nodiscard]] bool set(AdmissionConfig& config, const std::string& assignment);

/// Sets all of them, or says on standard error which one `program` cannot, and what there is.
[[nodiscard]] bool set_all(AdmissionConfig& config, const std::vector<std::string>& assignments, const char* program);

/// The names, with their values in `config`.
std::vector<std::string> settings(const AdmissionConfig& config);

}  // namespace spindled::scenarios
