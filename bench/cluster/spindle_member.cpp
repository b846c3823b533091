#include "bench/cluster/spindle_member.h"

#include "bench/client_lines.h"

namespace spindle::bench {

SpindleMember::SpindleMember(const std::string& address, std::string group, Service service,
                             std::size_t in_flight_bytes)
    : group_(std::move(group)), service_(service) {
  ConnectOptions options;
  options.address = address;
  // Sending never waits for room: in a handler it may not.
  options.send_buffer_bytes += in_flight_bytes;
  std::error_code error;
  std::string text;
  connection_ = Connection::connect(options, error, &text);
  if (error) fail("cannot connect to {}: {}", address, text);
}

void SpindleMember::join(std::size_t members, Receive receive) {
  receive_ = std::move(receive);
  connection_.set_handler([this, members](Event&& event) { handle(event, members); });
  if (const std::error_code error = connection_.join(group_)) fail("cannot join: {}", error.message());
  complete_.get_future().wait();
}

void SpindleMember::send(std::span<const std::byte> payload) {
  if (const std::error_code error = connection_.multicast(service_, group_, payload)) {
    fail("cannot send: {}", error.message());
  }
}

void SpindleMember::handle(Event& event, std::size_t members) {
  if (const auto* message = std::get_if<Message>(&event)) {
    receive_(message->payload());
  } else if (const auto* view = std::get_if<GroupView>(&event)) {
    if (view->member_count == members && !is_complete_) {
      is_complete_ = true;
      complete_.set_value();
    }
  } else if (const auto* refused = std::get_if<RequestFailed>(&event)) {
    fail("cannot join: {}", refused->error.message());
  } else if (const auto* end = std::get_if<Disconnected>(&event)) {
    if (end->error != Errc::closed_by_client) fail("disconnected: {}", end->text);
  }
}

}  // namespace spindle::bench
