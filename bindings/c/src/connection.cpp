#include <algorithm>
#include <cstring>

#include "bindings/c/src/handles.h"

using namespace spindle::c;

namespace {

void give_text(const std::string& from, char* text, std::size_t room) {
  if (text == nullptr || room == 0) return;
  const std::size_t bytes = std::min(from.size(), room - 1);
  std::memcpy(text, from.data(), bytes);
  text[bytes] = 0;
}

void give(const spindle::NotTaken& from, uint64_t* not_taken, int* exact) {
  if (not_taken != nullptr) *not_taken = from.messages;
  if (exact != nullptr) *exact = from.exact ? 1 : 0;
}

/// Of a single group or private name.
template <typename Call>
spindle_code with_group(spindle_connection* connection, spindle_bytes group, Call&& call) {
  if (connection == nullptr || !is_valid(group)) return SPINDLE_BAD_ARGUMENT;
  return guarded([&] { return to_code(call(connection->connection, to_view(group))); });
}

/// Of one or several destinations: most messages go to one, which needs no list.
template <typename Call>
spindle_code with_groups(spindle_connection* connection, const spindle_bytes* groups, std::size_t count, Call&& call) {
  if (connection == nullptr || (groups == nullptr && count != 0)) return SPINDLE_BAD_ARGUMENT;
  if (!std::all_of(groups, groups + count, is_valid)) return SPINDLE_BAD_ARGUMENT;
  return guarded([&] {
    if (count == 1) return to_code(call(connection->connection, spindle::Groups(to_view(*groups))));
    std::vector<std::string_view> names(count);
    std::transform(groups, groups + count, names.begin(), to_view);
    return to_code(call(connection->connection, spindle::Groups(names)));
  });
}

std::error_code send(spindle::Connection& connection, unsigned service, const spindle::Groups& groups,
                     const spindle::Payload& payload, const spindle_send_options* options, int64_t timeout_ns) {
  if (service > SPINDLE_SAFE) return spindle::Errc::bad_argument;
  spindle::SendOptions send_options = options == nullptr ? spindle::SendOptions() : options->options;
  if (timeout_ns == 0) return connection.try_multicast(spindle::Service(service), groups, payload, send_options);
  send_options.timeout = to_timeout(timeout_ns);
  return connection.multicast(spindle::Service(service), groups, payload, send_options);
}

}  // namespace

spindle_code spindle_connect(const spindle_options* options, int64_t timeout_ns, spindle_connection** connection,
                             char* text, size_t room) {
  if (connection == nullptr) return SPINDLE_BAD_ARGUMENT;
  const spindle_code code = guarded([&] {
    spindle::ConnectOptions all = options == nullptr ? spindle::ConnectOptions() : options->options;
    all.connect_timeout = std::chrono::floor<std::chrono::milliseconds>(to_timeout(timeout_ns));
    spindle::Result<spindle::Connection> connected = spindle::Connection::connect(all);
    if (connected) *connection = new spindle_connection{*std::move(connected)};
    give_text(connected.text(), text, room);
    return to_code(connected.error());
  });
  if (code == SPINDLE_OUT_OF_MEMORY || code == SPINDLE_INTERNAL_ERROR) give_text(spindle_error_text(code), text, room);
  return code;
}

void spindle_close(spindle_connection* connection) {
  static_cast<void>(guarded([&] { delete connection; }));
}

spindle_code spindle_disconnect(spindle_connection* connection, uint64_t* not_taken, int* exact) {
  if (connection == nullptr) return SPINDLE_BAD_ARGUMENT;
  return guarded([&] { give(connection->connection.disconnect(), not_taken, exact); });
}

spindle_code spindle_drain(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken, int* exact) {
  if (connection == nullptr) return SPINDLE_BAD_ARGUMENT;
  return guarded([&] { give(connection->connection.drain(to_timeout(timeout_ns)), not_taken, exact); });
}

spindle_bytes spindle_private_name(const spindle_connection* connection) {
  return connection == nullptr ? spindle_bytes{nullptr, 0} : to_bytes(connection->connection.private_name());
}

int spindle_is_open(const spindle_connection* connection) {
  return connection != nullptr && connection->connection.is_open() ? 1 : 0;
}

spindle_code spindle_join(spindle_connection* connection, spindle_bytes group, unsigned flags, int64_t timeout_ns) {
  if (flags != 0) return SPINDLE_BAD_ARGUMENT;
  return with_group(connection, group, [&](spindle::Connection& client, std::string_view name) {
    return timeout_ns == 0 ? client.join(name) : client.join(name, to_timeout(timeout_ns)).error();
  });
}

spindle_code spindle_leave(spindle_connection* connection, spindle_bytes group) {
  return with_group(connection, group,
                    [](spindle::Connection& client, std::string_view name) { return client.leave(name); });
}

spindle_code spindle_request_view(spindle_connection* connection, spindle_bytes group) {
  return with_group(connection, group,
                    [](spindle::Connection& client, std::string_view name) { return client.request_view(name); });
}

spindle_code spindle_request_flow(spindle_connection* connection, const spindle_bytes* groups, size_t count) {
  return with_groups(connection, groups, count, [](spindle::Connection& client, const spindle::Groups& names) {
    return client.request_flow(names);
  });
}

spindle_code spindle_multicast(spindle_connection* connection, unsigned service, const spindle_bytes* groups,
                               size_t count, spindle_bytes payload, const spindle_send_options* options,
                               int64_t timeout_ns) {
  if (!is_valid(payload)) return SPINDLE_BAD_ARGUMENT;
  return with_groups(connection, groups, count, [&](spindle::Connection& client, const spindle::Groups& names) {
    return send(client, service, names, to_view(payload), options, timeout_ns);
  });
}

spindle_code spindle_multicast_pieces(spindle_connection* connection, unsigned service, const spindle_bytes* groups,
                                      size_t count, const spindle_bytes* pieces, size_t piece_count,
                                      const spindle_send_options* options, int64_t timeout_ns) {
  if (pieces == nullptr && piece_count != 0) return SPINDLE_BAD_ARGUMENT;
  if (!std::all_of(pieces, pieces + piece_count, is_valid)) return SPINDLE_BAD_ARGUMENT;
  return with_groups(connection, groups, count, [&](spindle::Connection& client, const spindle::Groups& names) {
    std::vector<spindle::Bytes> payload(piece_count);
    std::transform(pieces, pieces + piece_count, payload.begin(), to_view);
    return send(client, service, names, payload, options, timeout_ns);
  });
}

spindle_code spindle_confirm(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken, int* exact) {
  if (connection == nullptr) return SPINDLE_BAD_ARGUMENT;
  return guarded([&] {
    const spindle::NotTaken left = connection->connection.confirm(to_timeout(timeout_ns));
    give(left, not_taken, exact);
    if (left.messages == 0 && left.exact) return SPINDLE_OK;
    return connection->connection.is_open() ? SPINDLE_TIMED_OUT : SPINDLE_NOT_CONNECTED;
  });
}

spindle_code spindle_confirm_then(spindle_connection* connection, int64_t timeout_ns,
                                  void (*done)(uint64_t not_taken, int exact, void* context), void* context) {
  if (connection == nullptr || done == nullptr) return SPINDLE_BAD_ARGUMENT;
  return guarded([&] {
    connection->connection.confirm_then(to_timeout(timeout_ns), [done, context](spindle::NotTaken left) {
      done(left.messages, left.exact ? 1 : 0, context);
    });
  });
}

spindle_code spindle_join_then(spindle_connection* connection, spindle_bytes group, unsigned flags, int64_t timeout_ns,
                               void (*done)(spindle_code code, void* context), void* context) {
  if (flags != 0 || done == nullptr) return SPINDLE_BAD_ARGUMENT;
  return with_group(connection, group, [&](spindle::Connection& client, std::string_view name) {
    client.join_then(name, to_timeout(timeout_ns), [done, context](const spindle::Result<spindle::GroupView>& view) {
      done(to_code(view.error()), context);
    });
    return std::error_code();
  });
}

spindle_code spindle_when_writable(spindle_connection* connection, const spindle_bytes* groups, size_t count,
                                   int64_t timeout_ns, void (*done)(spindle_code code, void* context), void* context) {
  if (done == nullptr) return SPINDLE_BAD_ARGUMENT;
  return with_groups(connection, groups, count, [&](spindle::Connection& client, const spindle::Groups& names) {
    client.when_writable(names, to_timeout(timeout_ns),
                         [done, context](std::error_code error) { done(to_code(error), context); });
    return std::error_code();
  });
}

size_t spindle_next(spindle_connection* connection, spindle_event** events, size_t room, int64_t timeout_ns) {
  if (connection == nullptr || events == nullptr) return 0;
  std::size_t count = 0;
  static_cast<void>(guarded([&] {
    for (std::chrono::nanoseconds timeout = to_timeout(timeout_ns); count < room; timeout = {}) {
      // Where there is no memory for the event it is left where it is.
      auto event = std::make_unique<spindle_event>();
      std::error_code error;
      std::optional<spindle::Event> next = connection->connection.receive(timeout, error);
      if (!next) break;
      event->event = *std::move(next);
      events[count++] = event.release();
    }
  }));
  return count;
}

int spindle_descriptor(spindle_connection* connection) {
  int descriptor = -1;
  if (connection != nullptr) static_cast<void>(guarded([&] { descriptor = connection->connection.descriptor(); }));
  return descriptor;
}

spindle_code spindle_set_handler(spindle_connection* connection, void (*handler)(spindle_event* event, void* context),
                                 void* context) {
  if (connection == nullptr) return SPINDLE_BAD_ARGUMENT;
  return guarded([&] {
    if (handler == nullptr) return connection->connection.set_handler({});
    connection->connection.set_handler(
        [handler, context](spindle::Event&& event) { handler(new spindle_event{std::move(event)}, context); });
  });
}
