// Addresses of a host, within a time.
#pragma once

#include <netdb.h>

#include <functional>
#include <memory>
#include <string>

#include "libclient/src/socket.h"

namespace spindle {

struct AddressesDeleter {
  void operator()(addrinfo* first) const { ::freeaddrinfo(first); }
};
using Addresses = std::unique_ptr<addrinfo, AddressesDeleter>;

/// As getaddrinfo().
using Lookup = std::function<int(const char* host, const char* port, const addrinfo* hints, addrinfo** found)>;

/// The addresses of streams to `port` of the host, none with `error` and `text` set. What the resolver does cannot be
/// ended, so it does it on a thread of its own, which is left behind at the deadline; no more than kLookupsMax of them
/// are there at one time. A host that is given as an address needs no thread.
Addresses resolve(const std::string& host, const std::string& port, Deadline deadline, std::error_code& error,
                  std::string& text, const Lookup& lookup = ::getaddrinfo);
inline constexpr int kLookupsMax = 16;
/// How many there are; none in a child of fork() at first.
int running_lookups();

}  // namespace spindle
