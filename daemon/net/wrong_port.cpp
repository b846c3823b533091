#include "daemon/net/wrong_port.h"

#include <fmt/format.h>

#include "daemon/admin/admin_frames.h"
#include "daemon/base/result.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"

namespace spindled {

namespace protocol = spindle::protocol;

namespace {

// All three protocols begin with a frame of one type, and tell each other apart by its body.
constexpr std::uint8_t kFirstType = 1;
static_assert(static_cast<std::uint8_t>(protocol::ClientFrame::hello) == kFirstType);
static_assert(static_cast<std::uint8_t>(LinkFrame::control) == kFirstType);
static_assert(static_cast<std::uint8_t>(AdminFrame::request) == kFirstType);

/// One embedded message of Protocol Buffers with a number as requests have it, and nothing else.
bool is_admin_request(ByteView body) {
  constexpr std::uint8_t kTypeBits = 0x07, kEmbedded = 2, kLongLength = 0x80;
  if (body.size() < 2 || (body[0] & kTypeBits) != kEmbedded || (body[0] & kLongLength) != 0) return false;
  return body[1] < kLongLength && body[1] == body.size() - 2;
}

std::string_view who_at(Port port) {
  switch (port) {
    case Port::client:
      return "clients (listen.clients, listen.client_socket)";
    case Port::link:
      return "other daemons (listen.links)";
    case Port::admin:
    case Port::bulk:
      break;
  }
  return "spmonitor (listen.admin_socket, listen.admin)";
}

}  // namespace

std::optional<Port> find_meant_port(ByteView bytes) {
  const std::optional<FrameHead> head = spindle::read_frame_head(bytes);
  if (!head || head->type != kFirstType || bytes.size() < kFrameHeadBytes + head->length) return std::nullopt;
  const ByteView body = bytes.subspan(kFrameHeadBytes, head->length);
  if (protocol::read_hello(body)) return Port::client;
  const Result<ControlMessage> control = decode_control(body);
  if (control && std::holds_alternative<LinkHello>(*control)) return Port::link;
  if (is_admin_request(body)) return Port::admin;
  return std::nullopt;
}

std::string explain_wrong_port(std::string_view daemon, Port here, Port meant) {
  return fmt::format("this is an address of daemon {} for {}; the one for {} is another", daemon, who_at(here),
                     who_at(meant));
}

std::vector<std::uint8_t> encode_refusal(Port port, std::string_view text) {
  constexpr auto kCode = static_cast<std::uint16_t>(Errc::bad_address);
  std::vector<std::uint8_t> frame;
  if (port == Port::client) {
    protocol::write_close(frame, {kCode, text});
    return frame;
  }
  std::vector<std::uint8_t> body;
  if (port == Port::link) {
    body = write_link_close({kCode, std::string(text)});
  } else {
    body.resize(2);
    Writer(body.data()).u16(kCode);
    body.insert(body.end(), text.begin(), text.end());
  }
  const auto type =
      port == Port::link ? static_cast<std::uint8_t>(LinkFrame::close) : static_cast<std::uint8_t>(AdminFrame::error);
  frame.resize(kFrameHeadBytes);
  Writer writer(frame.data());
  spindle::write_frame_head(writer, type, body.size());
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

}  // namespace spindled
