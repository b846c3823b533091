// Requests that wait for answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "spindle/headers.h"
#include "spindle/message.h"
#include "spindle/types.h"

namespace spindle {

struct RequestOptions {
  /// How many answers are waited for, each of another client; kAllMembers: those of all members of the group. Who
  /// leaves the group, or is out of reach, counts as having answered. For all members the client has to be a member
  /// itself, and there is one destination, a group.
  std::size_t answers = 1;
  static constexpr std::size_t kAllMembers = 0;
  Service service = Service::agreed;
  std::uint16_t type = 0;
  /// The client, where it is a member, neither gets the request nor is waited for.
  bool self_discard = false;
  Headers headers{};
};

/// What came of a request.
struct Answers {
  /// Nothing wrong: as many as were wanted. timed_out, or connection_lost where the connection was lost behind the
  /// request and the session could not be resumed: `messages` are those that came until then.
  std::error_code error;
  std::vector<Message> messages;     ///< in the order in which they came, one of each client
  std::vector<std::string> missing;  ///< with kAllMembers, those who have not answered, as far as that is known
};

}  // namespace spindle
