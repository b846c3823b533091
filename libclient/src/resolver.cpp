#include "libclient/src/resolver.h"

#include <pthread.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "libclient/src/answer.h"
#include "libclient/src/blocked_signals.h"

namespace spindle {

namespace {

std::atomic<int> lookups = 0;

/// A child of fork() has none of its parent's threads.
void forget_lookups_in_children() {
  [[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, [] { lookups = 0; });
}

/// Counts one of the lookups that are under way.
class Counted {
 public:
  Counted() : is_one_too_many_(++lookups > kLookupsMax) {}
  ~Counted() { --lookups; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  bool is_one_too_many() const { return is_one_too_many_; }

 private:
  bool is_one_too_many_;
};

struct Found {
  int failure = 0;
  int system_error = 0;  // where the failure is EAI_SYSTEM
  Addresses addresses;
};

Found look_up(const Lookup& lookup, const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  Found found;
  addrinfo* first = nullptr;
  found.failure = lookup(host.c_str(), port.c_str(), &hints, &first);
  found.system_error = errno;
  if (found.failure == 0) found.addresses.reset(first);
  return found;
}

/// What the lookup on another thread finds; nothing at the deadline.
std::optional<Found> look_up_until(Deadline deadline, const Lookup& lookup, const std::string& host,
                                   const std::string& port) {
  const auto answer = std::make_shared<Answer<Found>>();
  forget_lookups_in_children();
  {
    const auto counted = std::make_shared<Counted>();
    if (counted->is_one_too_many()) return Found{EAI_SYSTEM, EAGAIN, {}};
    const BlockedSignals blocked;
    try {
      std::thread([=] {
        const auto until_done = counted;
        answer->give(look_up(lookup, host, port, AI_ADDRCONFIG));
      }).detach();
    } catch (const std::system_error& error) {
      return Found{EAI_SYSTEM, error.code().value(), {}};
    }
  }
  return answer->wait(deadline);
}

}  // namespace

int running_lookups() { return lookups; }

Addresses resolve(const std::string& host, const std::string& port, Deadline deadline, std::error_code& error,
                  std::string& text, const Lookup& lookup) {
  if (Found address = look_up(::getaddrinfo, host, port, AI_NUMERICHOST); address.failure == 0) {
    return std::move(address.addresses);
  }
  std::optional<Found> found = look_up_until(deadline, lookup, host, port);
  if (!found) {
    error = Errc::timed_out;
    text = "the resolver did not answer in time";
    return {};
  }
  if (found->failure == 0) return std::move(found->addresses);
  error = Errc::connect_failed;
  text = found->failure == EAI_SYSTEM ? std::strerror(found->system_error) : ::gai_strerror(found->failure);
  return {};
}

}  // namespace spindle
