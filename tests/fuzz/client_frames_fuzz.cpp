// The frames between client and daemon, in both directions. The first byte chooses the frame, the rest is what follows
// its head.
#include "libclient/protocol/bulk_requests.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/feed_frames.h"

#include "tests/fuzz/fuzz.h"

namespace {

using namespace spindle;
using namespace spindle::protocol;
using spindle_fuzz::check_round_trip;
using Bytes = std::vector<std::uint8_t>;

/// The body of a frame that `write` appends, so that it can be read again.
template <typename Value>
auto body_writer(void (*write)(Bytes&, const Value&)) {
  return [write](const Value& value) {
    Bytes frame;
    write(frame, value);
    const std::optional<FrameHead> head = read_frame_head(frame);
    SPINDLE_CHECK(head.has_value() && head->length + kFrameHeadBytes == frame.size());
    frame.erase(frame.begin(), frame.begin() + kFrameHeadBytes);
    return frame;
  };
}

/// Likewise for frames whose chunk the writer leaves to the caller.
template <typename Value>
auto chunked_writer(std::size_t (*size)(const Value&), void (*write)(Writer&, const Value&)) {
  return [size, write](const Value& value) {
    Bytes frame(size(value));
    Writer writer(frame.data());
    write(writer, value);
    SPINDLE_CHECK(writer.size() == frame.size());
    const std::optional<FrameHead> head = read_frame_head(frame);
    SPINDLE_CHECK(head.has_value() && head->length + kFrameHeadBytes == frame.size() + value.chunk.size());
    frame.erase(frame.begin(), frame.begin() + kFrameHeadBytes);
    frame.insert(frame.end(), value.chunk.begin(), value.chunk.end());
    return frame;
  };
}

/// Of a frame that may have options which are not known: what is known of it comes back.
template <typename Read, typename Write>
void check_known_part(ByteView body, Read read, Write write) {
  if (const auto value = read(body)) check_round_trip(write(*value), read, write);
}

/// Checks that a request of that type comes back as it was.
template <ClientFrame type>
void check_group_request(ByteView body) {
  const auto read = [](ByteView bytes) { return read_group_request(type, bytes); };
  const auto write = [](Bytes& out, const GroupRequest& request) { write_group_request(out, type, request); };
  check_round_trip(body, read, body_writer(+write));
}

void fuzz_names(std::string_view text) {
  static_cast<void>(is_group_name(text));
  static_cast<void>(is_client_name(text));
  static_cast<void>(is_daemon_name(text));
  if (const std::optional<PrivateName> name = parse_private_name(text)) {
    SPINDLE_CHECK(is_client_name(name->client) && is_daemon_name(name->daemon));
    SPINDLE_CHECK(make_private_name(name->client, name->daemon) == text);
  }
}

void fuzz_bulk_request(ClientFrame type, ByteView body) {
  const auto read = [type](ByteView bytes) { return read_bulk_request(type, bytes); };
  check_round_trip(body, read, body_writer(write_bulk_request));
}

/// A `bulk_complete` that goes on is a frame of its own here.
void fuzz_bulk_news(ClientFrame type, ByteView body) {
  bool more = false;
  const auto read = [&](ByteView bytes) { return read_bulk_news(type, bytes, more); };
  if (body.size() <= kBulkCompleteBytesMax) check_round_trip(body, read, body_writer(write_bulk_news));
}

/// A message, or the frame of a packet, ends where its frame does.
void fuzz_feed_request(ClientFrame type, ByteView body) {
  switch (type) {
    case ClientFrame::feed_open:
      return check_round_trip(body, read_feed_open, body_writer(write_feed_open));
    case ClientFrame::feed_send:
      return check_round_trip(body, read_feed_send, body_writer(write_feed_send));
    case ClientFrame::feed_close:
      return check_round_trip(body, read_feed_close, body_writer(write_feed_close));
    default:
      return check_round_trip(body, read_listen, body_writer(+[](Bytes& out, const GroupRequest& request) {
                                write_listen(out, ClientFrame::listen, request);
                              }));
  }
}

void fuzz_feed_news(ClientFrame type, ByteView body) {
  const auto read = [type](ByteView bytes) { return read_feed_news(type, bytes); };
  check_round_trip(body, read, body_writer(write_feed_news));
}

void fuzz_from_client(ClientFrame type, ByteView body) {
  switch (type) {
    case ClientFrame::hello:
      return check_known_part(body, read_hello, body_writer(write_hello));
    case ClientFrame::define:
      return check_round_trip(body, read_define, body_writer(write_define));
    case ClientFrame::send:
      return check_round_trip(body, read_send, chunked_writer(send_head_size, write_send_head));
    case ClientFrame::join:
      return check_group_request<ClientFrame::join>(body);
    case ClientFrame::leave:
    case ClientFrame::view_request:
      return check_group_request<ClientFrame::leave>(body);
    case ClientFrame::flush_ok:
      static_cast<void>(read_flush(body));
      return;
    case ClientFrame::received:
      static_cast<void>(read_received(body));
      return;
    case ClientFrame::flow_request:
      return check_round_trip(body, read_flow_request, body_writer(write_flow_request));
    case ClientFrame::confirm:
      static_cast<void>(read_confirm(body));
      return;
    case ClientFrame::ping:
      static_cast<void>(read_ping(body));
      return;
    default:
      return fuzz_names(as_text(body));
  }
}

void fuzz_from_daemon(ClientFrame type, ByteView body) {
  switch (type) {
    case ClientFrame::welcome:
      return check_known_part(body, read_welcome, body_writer(write_welcome));
    case ClientFrame::close:
      return check_round_trip(body, read_close, body_writer(write_close));
    case ClientFrame::message:
      return check_round_trip(body, read_message, chunked_writer(message_head_size, write_message_head));
    case ClientFrame::view:
      return check_round_trip(body, read_view, body_writer(write_view));
    case ClientFrame::order_view:
      return check_round_trip(body, read_order_view, body_writer(write_order_view));
    case ClientFrame::flush_request:
      static_cast<void>(read_flush(body));
      return;
    case ClientFrame::received_by_daemon:
      static_cast<void>(read_received(body));
      return;
    case ClientFrame::going:
      static_cast<void>(read_going(body));
      return;
    case ClientFrame::transitional:
      static_cast<void>(read_transitional(body));
      return;
    case ClientFrame::reply:
      return check_round_trip(body, read_reply, body_writer(write_reply));
    case ClientFrame::admitted:
      return check_round_trip(body, read_admitted, body_writer(write_admitted));
    case ClientFrame::confirmed:
      return check_round_trip(body, read_confirmed, body_writer(write_confirmed));
    case ClientFrame::flow:
      return check_round_trip(body, read_flow_report, body_writer(write_flow_report));
    case ClientFrame::gap:
      return check_round_trip(body, read_gap, body_writer(write_gap));
    case ClientFrame::warning:
      return check_round_trip(body, read_warning, body_writer(write_warning));
    default:
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Input input(data, size);
  const ClientFrame type{input.u8()};
  const ByteView body = input.rest();
  if (is_bulk_request(type)) {
    fuzz_bulk_request(type, body);
  } else if (is_bulk_news(type)) {
    fuzz_bulk_news(type, body);
  } else if (is_feed_request(type)) {
    fuzz_feed_request(type, body);
  } else if (is_feed_news(type)) {
    fuzz_feed_news(type, body);
  } else if (type < ClientFrame::welcome) {
    fuzz_from_client(type, body);
  } else {
    fuzz_from_daemon(type, body);
  }
  return 0;
}
