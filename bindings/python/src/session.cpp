#include "bindings/python/src/session.h"

#include <random>

#include "bindings/python/src/arguments.h"
#include "bindings/python/src/events.h"
#include "bindings/python/src/gil.h"
#include "bindings/python/src/message.h"
#include "bindings/python/src/protected_stream.h"
#include "bindings/python/src/registry.h"
#include "libclient/io/plain_stream.h"

namespace spindle::python {

namespace {

PyTypeObject* session_type = nullptr;
PyTypeObject* type_of_messages = nullptr;

Client& client_of(PyObject* self) { return *reinterpret_cast<SessionObject*>(self)->client; }

std::uint64_t draw_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

// --- The object ---

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  static const char* const kNames[] = {"name",
                                       "servers",
                                       "independent_flows",
                                       "slow_policy",
                                       "send_buffer",
                                       "receive_buffer",
                                       "connect_timeout",
                                       "reconnect_timeout",
                                       "keepalive",
                                       "resume",
                                       "bulk",
                                       nullptr};
  const char* name = nullptr;
  Py_ssize_t name_size = 0;
  Py_ssize_t servers = 1, send_buffer = 0, receive_buffer = 0;
  int independent = 0, policy = 0, resume = 1, bulk = 0;
  double connect_s = 0, reconnect_s = 0, keepalive_s = 0;
  if (PyArg_ParseTupleAndKeywords(arguments, names, "$y#npinndddpp", const_cast<char**>(kNames), &name, &name_size,
                                  &servers, &independent, &policy, &send_buffer, &receive_buffer, &connect_s,
                                  &reconnect_s, &keepalive_s, &resume, &bulk) == 0) {
    return nullptr;
  }
  if (policy < 0 || policy > 3 || servers < 1 || send_buffer < 0 || receive_buffer < 0) {
    PyErr_SetString(PyExc_ValueError, "an option of the session is out of its range");
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    // The most that the protocol carries.
    const auto milliseconds = [](double span) {
      return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(span, 0.0, 4e6) * 1e3));
    };
    protocol::SessionOptions options;
    options.name.assign(name, static_cast<std::size_t>(name_size));
    options.flags = protocol::kTellTakenBit;
    if (independent != 0) options.flags |= protocol::kIndependentFlowsBit;
    options.flags |= static_cast<std::uint8_t>(static_cast<unsigned>(policy) << protocol::kSlowPolicyShift &
                                               protocol::kSlowPolicyMask);
    options.servers = static_cast<std::size_t>(servers);
    options.connect_timeout = milliseconds(connect_s);
    options.reconnect_timeout = milliseconds(reconnect_s);
    options.may_resume = resume != 0;
    options.wants_channels = bulk != 0;
    options.keepalive = milliseconds(keepalive_s);
    options.seed = draw_seed();
    auto client = std::make_unique<Client>(std::move(options), static_cast<std::size_t>(send_buffer),
                                           static_cast<std::size_t>(receive_buffer));
    PyObject* const object = type->tp_alloc(type, 0);
    if (object == nullptr) return nullptr;
    auto* const self = reinterpret_cast<SessionObject*>(object);
    self->message_type = type_of_messages;
    self->client = client.release();
    return object;
  });
}

void dealloc(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  delete reinterpret_cast<SessionObject*>(object)->client;
  type->tp_free(object);
  Py_DECREF(type);
}

// --- Connections ---

PyObject* start(PyObject* self, PyObject*) {
  return guarded([&] {
    client_of(self).start();
    return none();
  });
}

PyObject* take_dial(PyObject* self, PyObject*) {
  const std::optional<std::size_t> server = client_of(self).take_dial();
  return server ? PyLong_FromSize_t(*server) : none();
}

PyObject* take_hang_up(PyObject* self, PyObject*) { return PyBool_FromLong(client_of(self).take_hang_up() ? 1 : 0); }

PyObject* connected(PyObject* self, PyObject* token) {
  return guarded([&]() -> PyObject* {
    BytesArgument bytes;
    if (!bytes.read(token)) return nullptr;
    client_of(self).connected(bytes.text());
    return none();
  });
}

/// A code that may be None, and a text.
bool read_reason(PyObject* const* arguments, std::optional<Errc>& code, std::string& kept, std::string_view& text) {
  if (arguments[0] != Py_None) {
    std::uint16_t number = 0;
    if (!read_number(arguments[0], number)) return false;
    code = static_cast<Errc>(number);
  }
  return read_name(arguments[1], kept, text);
}

template <typename Tell>
PyObject* tell_reason(const char* name, PyObject* const* arguments, Py_ssize_t count, Tell&& tell) {
  return guarded([&]() -> PyObject* {
    std::optional<Errc> code;
    std::string kept;
    std::string_view text;
    if (!wants(name, count, 2) || !read_reason(arguments, code, kept, text)) return nullptr;
    tell(code, text);
    return none();
  });
}

PyObject* failed(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return tell_reason("failed", arguments, count, [&](std::optional<Errc> code, std::string_view text) {
    client_of(self).failed(code.value_or(Errc::connect_failed), text);
  });
}

PyObject* end_stream(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return tell_reason("end_stream", arguments, count,
                     [&](std::optional<Errc> code, std::string_view text) { client_of(self).end_stream(code, text); });
}

PyObject* give_up(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return tell_reason("give_up", arguments, count, [&](std::optional<Errc> code, std::string_view text) {
    client_of(self).give_up(code.value_or(Errc::closed_by_client), text);
  });
}

/// The memory is the reader's: the view is to be filled, and dropped, before anything else is called. For how much, as
/// asyncio says, is of no interest.
PyObject* get_buffer(PyObject* self, PyObject* const* /*arguments*/, Py_ssize_t /*count*/) {
  return guarded([&] {
    const std::span<std::uint8_t> room = client_of(self).prepare();
    return PyMemoryView_FromMemory(reinterpret_cast<char*>(room.data()), static_cast<Py_ssize_t>(room.size()),
                                   PyBUF_WRITE);
  });
}

/// What has come of them: Client::News, as a number.
PyObject* commit(PyObject* self, PyObject* bytes) {
  return guarded([&]() -> PyObject* {
    std::size_t count = 0;
    if (!read_number(bytes, count)) return nullptr;
    client_of(self).commit(count);
    return PyLong_FromLong(static_cast<long>(client_of(self).news()));
  });
}

PyObject* handle_time(PyObject* self, PyObject*) {
  return guarded([&] {
    client_of(self).handle_time();
    return none();
  });
}

/// Seconds from now.
PyObject* to_span(Deadline until) {
  const Deadline now = std::chrono::steady_clock::now();
  return PyFloat_FromDouble(until <= now ? 0.0 : std::chrono::duration<double>(until - now).count());
}

/// Seconds from now, or None.
PyObject* deadline(PyObject* self, PyObject*) {
  const Deadline next = client_of(self).tell_deadline();
  return next == Deadline::max() ? none() : to_span(next);
}

/// Seconds from now that the server of take_dial() has.
PyObject* dial_time(PyObject* self, PyObject*) { return to_span(client_of(self).dial_until()); }

/// What is to be written next, as far as it stands in one piece; empty: nothing is.
PyObject* output(PyObject* self, PyObject*) {
  return guarded([&] {
    constexpr std::size_t kPieceBytes = 256u << 10;  // as much as a socket takes at once
    const ByteView piece = client_of(self).output();
    return to_bytes({reinterpret_cast<const char*>(piece.data()), std::min(piece.size(), kPieceBytes)});
  });
}

/// The same, counted as written.
PyObject* take_output(PyObject* self, PyObject*) {
  Client& client = client_of(self);
  client.gathering().begin_writing();
  PyObject* const piece = output(self, nullptr);
  if (piece == nullptr) return nullptr;
  const Ref kept(piece);
  return guarded([&] {
    if (const Py_ssize_t size = PyBytes_GET_SIZE(piece); size != 0) client.consume(static_cast<std::size_t>(size));
    return Ref::to(piece).release();
  });
}

PyObject* consume(PyObject* self, PyObject* bytes) {
  return guarded([&]() -> PyObject* {
    std::size_t count = 0;
    if (!read_number(bytes, count)) return nullptr;
    client_of(self).consume(count);
    return none();
  });
}

// --- What a program asks ---

/// Of (groups, payload, service, type, self_discard, ticket, headers).
class MulticastArguments {
 public:
  static constexpr Py_ssize_t kCount = 7;

  bool read(PyObject* const* arguments) {
    if (!groups_.read(arguments[0]) || !payload_.read(arguments[1]) || !read_service(arguments[2], service_) ||
        !read_number(arguments[3], options_.type) || !read_flag(arguments[4], options_.self_discard) ||
        !read_number(arguments[5], options_.ticket) || !headers_.read(arguments[6])) {
      return false;
    }
    options_.headers = headers_.get();
    return true;
  }
  std::error_code send(Client& client, bool waits) const {
    return client.multicast(service_, groups_.get(), payload_.text(), options_, waits);
  }

 private:
  GroupsArgument groups_;
  BytesArgument payload_;
  HeadersArgument headers_;
  Service service_{};
  SendOptions options_;
};

/// (groups, payload, service, type, self_discard, ticket, headers, waits)
PyObject* multicast(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (!wants("multicast", count, MulticastArguments::kCount + 1)) return nullptr;
    MulticastArguments message;
    if (!message.read(arguments)) return nullptr;
    return result(message.send(client_of(self), arguments[MulticastArguments::kCount] == Py_True));
  });
}

/// Something has been asked: what is to be done then, as a negative number, or 0.
PyObject* to_do_behind(Client& client) {
  const Gathering::Next next = client.gathering().sent(std::chrono::steady_clock::now(), client.output_size());
  return PyLong_FromLong(-static_cast<long>(next));
}

/// (groups, payload, service, type, self_discard, ticket, headers), waiting: 0, a code, or what is to be done then, as
/// a negative number. All of it with no other call between, so that threads need no lock for it.
PyObject* multicast_gathering(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (!wants("multicast_gathering", count, MulticastArguments::kCount)) return nullptr;
    MulticastArguments message;
    if (!message.read(arguments)) return nullptr;
    Client& client = client_of(self);
    if (const std::error_code error = message.send(client, true)) return result(error);
    return to_do_behind(client);
  });
}

/// The same of what else was asked.
PyObject* gather(PyObject* self, PyObject*) { return to_do_behind(client_of(self)); }

PyObject* begin_writing(PyObject* self, PyObject*) {
  client_of(self).gathering().begin_writing();
  return none();
}

PyObject* wrote(PyObject* self, PyObject*) {
  client_of(self).gathering().wrote(std::chrono::steady_clock::now());
  return none();
}

PyObject* set_polled(PyObject* self, PyObject* is_polled) {
  client_of(self).gathering().set_polled(is_polled == Py_True);
  return none();
}

/// Gathering::Sight, as a number.
PyObject* watch(PyObject* self, PyObject*) {
  Gathering& gathering = client_of(self).gathering();
  gathering.begin_watching();
  Py_BEGIN_ALLOW_THREADS;
  gathering.look_out();
  Py_END_ALLOW_THREADS;
  return PyLong_FromLong(static_cast<long>(gathering.end_watching()));
}

PyObject* call_back(PyObject* self, PyObject*) {
  client_of(self).gathering().call_back();
  return none();
}

/// (message, payload, type, headers)
PyObject* reply(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (!wants("reply", count, 4)) return nullptr;
    const Message* const request = message_of(type_of_messages, arguments[0]);
    BytesArgument payload;
    HeadersArgument headers;
    SendOptions options;
    if (request == nullptr || !payload.read(arguments[1]) || !read_number(arguments[2], options.type) ||
        !headers.read(arguments[3])) {
      return nullptr;
    }
    options.headers = headers.get();
    return result(client_of(self).reply(*request, payload.text(), options));
  });
}

/// (group, synchronous, auto_flush)
PyObject* join(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    std::string kept;
    std::string_view group;
    bool is_synchronous = false, is_flushed = false;
    if (!wants("join", count, 3) || !read_name(arguments[0], kept, group) || !read_flag(arguments[1], is_synchronous) ||
        !read_flag(arguments[2], is_flushed)) {
      return nullptr;
    }
    return result(client_of(self).join(group, is_synchronous, is_flushed));
  });
}

template <typename Ask>
PyObject* ask_about(PyObject* object, Ask&& ask) {
  return guarded([&]() -> PyObject* {
    std::string kept;
    std::string_view group;
    if (!read_name(object, kept, group)) return nullptr;
    return result(ask(group));
  });
}

PyObject* leave(PyObject* self, PyObject* group) {
  return ask_about(group, [&](std::string_view name) { return client_of(self).leave(name); });
}

PyObject* request_view(PyObject* self, PyObject* group) {
  return ask_about(group, [&](std::string_view name) { return client_of(self).request_view(name); });
}

PyObject* request_flow(PyObject* self, PyObject* object) {
  return guarded([&]() -> PyObject* {
    GroupsArgument groups;
    if (!groups.read(object)) return nullptr;
    return result(client_of(self).request_flow(groups.get()));
  });
}

/// (group, number)
PyObject* flush_ok(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    std::string kept;
    std::string_view group;
    FlushRequest request;
    if (!wants("flush_ok", count, 2) || !read_name(arguments[0], kept, group) ||
        !read_number(arguments[1], request.number)) {
      return nullptr;
    }
    request.group = group;
    return result(client_of(self).flush_ok(request));
  });
}

// --- Calls that wait ---
//
// They give the number of the call, or a negative one: the code of what has failed at once.

PyObject* call_result(const std::error_code& error, std::uint64_t call) {
  return error ? PyLong_FromLong(-error.value()) : PyLong_FromUnsignedLongLong(call);
}

/// (group, timeout), behind join().
PyObject* await_join(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    std::string kept;
    std::string_view group;
    Deadline until;
    if (!wants("await_join", count, 2) || !read_name(arguments[0], kept, group) ||
        !read_deadline(arguments[1], until)) {
      return nullptr;
    }
    return call_result({}, client_of(self).await_join(group, until));
  });
}

PyObject* confirm(PyObject* self, PyObject* timeout) {
  return guarded([&]() -> PyObject* {
    Deadline until;
    if (!read_deadline(timeout, until)) return nullptr;
    std::uint64_t call = 0;
    const std::error_code error = client_of(self).confirm(until, call);
    return call_result(error, call);
  });
}

/// (groups, timeout)
PyObject* await_room(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    GroupsArgument groups;
    Deadline until;
    if (!wants("await_room", count, 2) || !groups.read(arguments[0]) || !read_deadline(arguments[1], until)) {
      return nullptr;
    }
    return call_result({}, client_of(self).await_room(groups.get(), until));
  });
}

/// (groups, payload, answers, service, type, self_discard, headers, timeout)
PyObject* request(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (!wants("request", count, 8)) return nullptr;
    GroupsArgument groups;
    BytesArgument payload;
    HeadersArgument headers;
    RequestOptions options;
    Deadline until;
    if (!groups.read(arguments[0]) || !payload.read(arguments[1]) || !read_number(arguments[2], options.answers) ||
        !read_service(arguments[3], options.service) || !read_number(arguments[4], options.type) ||
        !read_flag(arguments[5], options.self_discard) || !headers.read(arguments[6]) ||
        !read_deadline(arguments[7], until)) {
      return nullptr;
    }
    options.headers = headers.get();
    std::uint64_t call = 0;
    const std::error_code error = client_of(self).request(groups.get(), payload.text(), options, until, call);
    return call_result(error, call);
  });
}

PyObject* cancel(PyObject* self, PyObject* call) {
  return guarded([&]() -> PyObject* {
    std::uint64_t number = 0;
    if (!read_number(call, number)) return nullptr;
    return PyBool_FromLong(client_of(self).cancel(number) ? 1 : 0);
  });
}

/// What calls have come to since: (number, code or None, value).
PyObject* take_outcomes(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::vector<Outcome> outcomes = client_of(self).take_outcomes();
    return to_tuple(outcomes, outcomes.size(), [](const Outcome& each) {
      return to_python(type_of_messages, std::move(const_cast<Outcome&>(each)));
    });
  });
}

// --- Feeds ---

/// (group, repair_for, rate, drops_oldest): the feed and the number of the call, or a negative code and 0.
PyObject* open_feed(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    std::string kept;
    std::string_view group;
    std::chrono::nanoseconds repair_for{};
    protocol::ClientFeeds::SourceTerms terms;
    if (!wants("open_feed", count, 4) || !read_name(arguments[0], kept, group) ||
        !read_seconds(arguments[1], repair_for) || !read_number(arguments[2], terms.bytes_per_second_max) ||
        !read_flag(arguments[3], terms.drops_oldest)) {
      return nullptr;
    }
    terms.repair_for_us = static_cast<std::uint64_t>(repair_for / std::chrono::microseconds(1));
    FeedId feed = 0;
    std::uint64_t call = 0;
    const std::error_code error = client_of(self).open_feed(group, terms, feed, call);
    const Ref called(call_result(error, call));
    return called ? Py_BuildValue("(KO)", static_cast<unsigned long long>(feed), called.get()) : nullptr;
  });
}

/// (feed, payload)
PyObject* send_feed(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    FeedId feed = 0;
    BytesArgument payload;
    if (!wants("send_feed", count, 2) || !read_number(arguments[0], feed) || !payload.read(arguments[1])) {
      return nullptr;
    }
    return result(client_of(self).send_feed(feed, payload.text()));
  });
}

template <typename Ask>
PyObject* ask_feed(PyObject* object, Ask&& ask) {
  return guarded([&]() -> PyObject* {
    FeedId feed = 0;
    return read_number(object, feed) ? ask(feed) : nullptr;
  });
}

PyObject* close_feed(PyObject* self, PyObject* feed) {
  return ask_feed(feed, [&](FeedId id) {
    client_of(self).close_feed(id);
    return none();
  });
}

PyObject* feed_is_open(PyObject* self, PyObject* feed) {
  return ask_feed(feed, [&](FeedId id) { return PyBool_FromLong(client_of(self).feeds().is_open(id) ? 1 : 0); });
}

PyObject* feed_dropped(PyObject* self, PyObject* feed) {
  return ask_feed(feed, [&](FeedId id) { return PyLong_FromUnsignedLongLong(client_of(self).feeds().dropped(id)); });
}

PyObject* feed_flow(PyObject* self, PyObject* feed) {
  return ask_feed(feed, [&](FeedId id) {
    const std::optional<FeedFlow> flow = client_of(self).feeds().flow(id);
    return flow ? to_python(*flow) : none();
  });
}

/// (group, ordered, deadline)
PyObject* listen(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    std::string kept;
    std::string_view group;
    protocol::ListenTerms terms;
    if (!wants("listen", count, 3) || !read_name(arguments[0], kept, group) ||
        !read_flag(arguments[1], terms.is_ordered) || !read_seconds(arguments[2], terms.deadline)) {
      return nullptr;
    }
    return result(client_of(self).listen(group, terms));
  });
}

PyObject* stop_listening(PyObject* self, PyObject* group) {
  return ask_about(group, [&](std::string_view name) { return client_of(self).stop_listening(name); });
}

// --- Bulk channels ---

PyObject* serve_channels(PyObject* self, PyObject*) {
  return guarded([&] {
    client_of(self).serve_channels();
    HeldObject::drop_released();
    return none();
  });
}

/// The number of a connection that is to be made, or None.
PyObject* take_bulk_dial(PyObject* self, PyObject*) {
  const std::shared_ptr<ChannelDesk>& desk = client_of(self).desk();
  const std::optional<std::uint64_t> number = desk != nullptr ? desk->take_dial() : std::nullopt;
  return number ? PyLong_FromUnsignedLongLong(*number) : none();
}

/// (number, descriptor, stream): the descriptor is taken over, -1: there is no connection; a stream that is not None is
/// the one that protects what goes over it.
PyObject* bulk_dialled(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    std::uint64_t number = 0;
    if (!wants("bulk_dialled", count, 3) || !read_number(arguments[0], number)) return nullptr;
    const long descriptor = PyLong_AsLong(arguments[1]);
    if (descriptor == -1 && PyErr_Occurred() != nullptr) return nullptr;
    DialledServer server;
    server.socket = Descriptor(static_cast<int>(descriptor));
    if (!server.socket) {
      server.error = Errc::connect_failed;
    } else if (arguments[2] == Py_None) {
      server.stream = std::make_unique<PlainStream>(server.socket.get());
    } else {
      server.stream =
          std::make_unique<ProtectedStream>(server.socket.get(), std::make_shared<HeldObject>(arguments[2]));
    }
    if (const auto& desk = client_of(self).desk()) desk->dialled(number, std::move(server));
    return none();
  });
}

/// -1: there is none.
PyObject* bulk_descriptor(PyObject* self, void*) {
  const std::shared_ptr<ChannelDesk>& desk = client_of(self).desk();
  return PyLong_FromLong(desk != nullptr ? desk->descriptor() : -1);
}

// --- The end ---

PyObject* close(PyObject* self, PyObject* timeout) {
  return guarded([&]() -> PyObject* {
    Deadline until;
    if (!read_deadline(timeout, until)) return nullptr;
    client_of(self).close(until);
    return none();
  });
}

PyObject* hurry(PyObject* self, PyObject*) {
  client_of(self).hurry();
  return none();
}

PyObject* leave_all(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(client_of(self).leave_all() ? 1 : 0); });
}

// --- Events ---

/// Up to so many, as a list.
PyObject* take_events(PyObject* self, PyObject* most) {
  return guarded([&]() -> PyObject* {
    std::size_t count = 0;
    if (!read_number(most, count)) return nullptr;
    return spindle::python::take_events(type_of_messages, client_of(self), count);
  });
}

// --- Attributes ---

template <bool (*kAsk)(Client&)>
PyObject* ask(PyObject* self, void*) {
  return PyBool_FromLong(kAsk(client_of(self)) ? 1 : 0);
}

PyObject* private_name(PyObject* self, void*) { return to_text(client_of(self).private_name()); }
PyObject* output_size(PyObject* self, void*) { return PyLong_FromSize_t(client_of(self).output_size()); }
PyObject* not_taken(PyObject* self, void*) {
  return guarded([&] { return to_python(client_of(self).not_taken()); });
}

bool asks_connected(Client& client) { return client.is_connected(); }
bool asks_over(Client& client) { return client.is_over(); }
bool asks_can_send(Client& client) { return client.can_send(); }
bool asks_events(Client& client) { return client.has_events(); }
bool asks_finished(Client& client) { return client.is_finished(); }
bool asks_outcomes(Client& client) { return client.has_outcomes(); }
bool asks_takes(Client& client) { return client.tell_takes_bytes(); }
bool asks_wants(Client& client) { return client.wants_owner(); }
bool asks_ends(Client& client) { return client.ends_output(); }
bool asks_left(Client& client) { return client.has_left_all(); }

PyGetSetDef attributes[] = {{"private_name", alone<private_name>, nullptr, nullptr, nullptr},
                            {"output_size", alone<output_size>, nullptr, nullptr, nullptr},
                            {"not_taken", alone<not_taken>, nullptr, nullptr, nullptr},
                            {"is_connected", alone<ask<asks_connected>>, nullptr, nullptr, nullptr},
                            {"is_over", alone<ask<asks_over>>, nullptr, nullptr, nullptr},
                            {"can_send", alone<ask<asks_can_send>>, nullptr, nullptr, nullptr},
                            {"has_events", alone<ask<asks_events>>, nullptr, nullptr, nullptr},
                            {"is_finished", alone<ask<asks_finished>>, nullptr, nullptr, nullptr},
                            {"has_outcomes", alone<ask<asks_outcomes>>, nullptr, nullptr, nullptr},
                            {"takes_bytes", alone<ask<asks_takes>>, nullptr, nullptr, nullptr},
                            {"wants_owner", alone<ask<asks_wants>>, nullptr, nullptr, nullptr},
                            {"ends_output", alone<ask<asks_ends>>, nullptr, nullptr, nullptr},
                            {"bulk_descriptor", alone<bulk_descriptor>, nullptr, nullptr, nullptr},
                            {"has_left_all", alone<ask<asks_left>>, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {{"start", alone<start>, METH_NOARGS, nullptr},
                         {"take_dial", alone<take_dial>, METH_NOARGS, nullptr},
                         {"dial_time", alone<dial_time>, METH_NOARGS, nullptr},
                         {"take_hang_up", alone<take_hang_up>, METH_NOARGS, nullptr},
                         {"connected", alone<connected>, METH_O, nullptr},
                         {"failed", as_fastcall<failed>(), METH_FASTCALL, nullptr},
                         {"end_stream", as_fastcall<end_stream>(), METH_FASTCALL, nullptr},
                         {"give_up", as_fastcall<give_up>(), METH_FASTCALL, nullptr},
                         {"get_buffer", as_fastcall<get_buffer>(), METH_FASTCALL, nullptr},
                         {"commit", alone<commit>, METH_O, nullptr},
                         {"handle_time", alone<handle_time>, METH_NOARGS, nullptr},
                         {"deadline", alone<deadline>, METH_NOARGS, nullptr},
                         {"output", alone<output>, METH_NOARGS, nullptr},
                         {"take_output", alone<take_output>, METH_NOARGS, nullptr},
                         {"consume", alone<consume>, METH_O, nullptr},
                         {"multicast", as_fastcall<multicast>(), METH_FASTCALL, nullptr},
                         {"multicast_gathering", as_fastcall<multicast_gathering>(), METH_FASTCALL, nullptr},
                         {"gather", alone<gather>, METH_NOARGS, nullptr},
                         {"begin_writing", alone<begin_writing>, METH_NOARGS, nullptr},
                         {"wrote", alone<wrote>, METH_NOARGS, nullptr},
                         {"set_polled", alone<set_polled>, METH_O, nullptr},
                         {"watch", alone<watch>, METH_NOARGS, nullptr},
                         {"call_back", alone<call_back>, METH_NOARGS, nullptr},
                         {"reply", as_fastcall<reply>(), METH_FASTCALL, nullptr},
                         {"join", as_fastcall<join>(), METH_FASTCALL, nullptr},
                         {"leave", alone<leave>, METH_O, nullptr},
                         {"request_view", alone<request_view>, METH_O, nullptr},
                         {"request_flow", alone<request_flow>, METH_O, nullptr},
                         {"flush_ok", as_fastcall<flush_ok>(), METH_FASTCALL, nullptr},
                         {"await_join", as_fastcall<await_join>(), METH_FASTCALL, nullptr},
                         {"confirm", alone<confirm>, METH_O, nullptr},
                         {"await_room", as_fastcall<await_room>(), METH_FASTCALL, nullptr},
                         {"request", as_fastcall<request>(), METH_FASTCALL, nullptr},
                         {"cancel", alone<cancel>, METH_O, nullptr},
                         {"take_outcomes", alone<take_outcomes>, METH_NOARGS, nullptr},
                         {"open_feed", as_fastcall<open_feed>(), METH_FASTCALL, nullptr},
                         {"send_feed", as_fastcall<send_feed>(), METH_FASTCALL, nullptr},
                         {"close_feed", alone<close_feed>, METH_O, nullptr},
                         {"feed_is_open", alone<feed_is_open>, METH_O, nullptr},
                         {"feed_dropped", alone<feed_dropped>, METH_O, nullptr},
                         {"feed_flow", alone<feed_flow>, METH_O, nullptr},
                         {"listen", as_fastcall<listen>(), METH_FASTCALL, nullptr},
                         {"stop_listening", alone<stop_listening>, METH_O, nullptr},
                         {"serve_channels", alone<serve_channels>, METH_NOARGS, nullptr},
                         {"take_bulk_dial", alone<take_bulk_dial>, METH_NOARGS, nullptr},
                         {"bulk_dialled", as_fastcall<bulk_dialled>(), METH_FASTCALL, nullptr},
                         {"close", alone<close>, METH_O, nullptr},
                         {"hurry", alone<hurry>, METH_NOARGS, nullptr},
                         {"leave_all", alone<leave_all>, METH_NOARGS, nullptr},
                         {"take_events", alone<take_events>, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, as_slot(make)},
                       {Py_tp_dealloc, as_slot(dealloc)},
                       {Py_tp_getset, attributes},
                       {Py_tp_methods, methods},
                       {Py_tp_doc, const_cast<char*>("A client without input and output.")},
                       {0, nullptr}};

PyType_Spec spec = {"spindle._engine.Session", sizeof(SessionObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

PyObject* make_session_type(PyTypeObject* message_type) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) return nullptr;
  session_type = reinterpret_cast<PyTypeObject*>(type);
  type_of_messages = message_type;
  return type;
}

SessionObject* session_of(PyObject* object) {
  if (Py_TYPE(object) == session_type) return reinterpret_cast<SessionObject*>(object);
  PyErr_SetString(PyExc_TypeError, "a Session is wanted");
  return nullptr;
}

}  // namespace spindle::python
