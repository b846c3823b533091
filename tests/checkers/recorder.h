// What clients send and are told, in the form that the checkers read. Simulated and real clients share it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libclient/common/bytes.h"
#include "spindle/membership.h"
#include "tests/checkers/history.h"

namespace spindled::checkers {

using What = decltype(Event::what);

/// Pseudo-random bytes. `client` is unique among the clients of a run, `count` among the messages of a client; with
/// the type that `message_type` gives no two messages of a run are equal, not even those of zero bytes.
std::vector<std::uint8_t> make_payload(std::uint32_t client, std::uint64_t count, std::size_t size);
inline std::uint16_t message_type(std::uint64_t count) { return static_cast<std::uint16_t>(count); }
/// The value of the one header that the message with this count has; empty: it has none.
std::string make_header(std::uint64_t count);
/// That header, which refers to `value`.
std::vector<spindle::Header> headers_of(std::string_view value);

/// What both ends compute for a message with this type and payload.
std::uint64_t message_digest(std::uint16_t type, std::string_view header, spindle::ByteView payload);

/// A message of `sender` that is about to be sent.
Sent record_sent(const std::string& sender, Service service, std::uint16_t type, const std::vector<std::string>& groups,
                 std::string_view header, spindle::ByteView payload, bool self_discard);

/// Puts what the library tells one client into words; knows the members of its groups, so that every view recorded
/// names them all.
class Recorder {
 public:
  /// Nothing where there is nothing to write down: the answer to a request for a view, where it repeats what the client
  /// knows, the refusal of one, and what the daemon says about queues.
  std::optional<What> record(const spindle::Event& event);
  /// The latest view of `group` with the client in it; otherwise nothing.
  const GroupView* view(const std::string& group) const;

 private:
  std::optional<What> record_view(const spindle::GroupView& view);

  std::map<std::string, spindle::Membership> memberships_;
  std::map<std::string, GroupView> views_;
};

}  // namespace spindled::checkers
