#include "bench/hosts/cluster/spindle_member.h"

#include "bench/hosts/client_lines.h"

namespace spindle::bench {

SpindleMember::SpindleMember(const Where& where, Service service, std::size_t in_flight_bytes)
    : groups_{where.group}, also_(where.also), service_(service) {
  for (std::size_t i = 1; i < where.groups; ++i) groups_.push_back(fmt::format("{}.{}", where.group, i));
  ConnectOptions options;
  options.address = where.address;
  if (!where.resume) options.reconnect_timeout = {};
  // Sending never waits for room: in a handler it may not.
  options.send_buffer_bytes += in_flight_bytes;
  spindle::Result<Connection> connection = Connection::connect(options);
  if (!connection) fail("cannot connect to {}: {}", where.address, connection.text());
  connection_ = *std::move(connection);
}

void SpindleMember::join(std::size_t members, Receive receive) {
  receive_ = std::move(receive);
  connection_.set_handler([this, members](Event&& event) { handle(event, members); });
  for (const std::string& group : groups_) {
    if (const std::error_code error = connection_.join(group)) fail("cannot join: {}", error.message());
  }
  complete_.get_future().wait();
}

void SpindleMember::send(std::span<const std::byte> payload) {
  const std::string& group = groups_[turn_];
  if (++turn_ == groups_.size()) turn_ = 0;
  const std::error_code error = also_.empty() ? connection_.multicast(service_, group, payload)
                                              : connection_.multicast(service_, {group, also_}, payload);
  if (error) fail("cannot send: {}", error.message());
}

void SpindleMember::handle(Event& event, std::size_t members) {
  if (const auto* message = event.get_if<Message>()) {
    receive_(message->payload());
  } else if (const auto* view = event.get_if<GroupView>()) {
    // Nobody leaves before all are there: each group comes to have so many members once.
    if (view->member_count == members && ++complete_groups_ == groups_.size()) complete_.set_value();
  } else if (const auto* refused = event.get_if<RequestFailed>()) {
    fail("cannot join: {}", refused->error.message());
  } else if (event.is<Reconnected>()) {
    fail("connected again: a measurement with a lost connection is none");
  } else if (const auto* end = event.get_if<Disconnected>()) {
    if (end->error != Errc::closed_by_client) fail("disconnected: {}", end->text);
  }
}

}  // namespace spindle::bench
