// What a configuration leaves open to other hosts without protection.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/daemon_config.h"

namespace spindled {

/// An address by which connections go beyond this host that TLS does not protect.
struct Exposure {
  std::string key;  // "listen.clients", "listen.links" or "neighbour.address"
  std::string address;
  std::string text;  // what is wrong with it, and the ways out, as a sentence that follows its key
};

/// Everything of that kind, whether tls.insecure allows it or not.
std::vector<Exposure> unprotected(const DaemonConfig& config);
/// What of it is an error: nothing with tls.insecure.
std::vector<Exposure> find_exposed(const DaemonConfig& config);

/// For the log: "listen.links 0.0.0.0:4804, neighbour.address beta:4804". Empty where everything is protected.
std::string list_unprotected(const DaemonConfig& config);

/// What is wrong with a client address that asks for TLS where there is no bundle, as a sentence that follows its key.
std::string needs_bundle(std::string_view address);

}  // namespace spindled
