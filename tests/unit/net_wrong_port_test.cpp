// Whose first frame it is, and what ends a connection in each protocol.
#include "daemon/net/wrong_port.h"

#include <gtest/gtest.h>

#include "daemon/admin/admin.pb.h"
#include "daemon/admin/admin_frames.h"
#include "daemon/link/hello.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using Bytes = std::vector<std::uint8_t>;

Bytes frame_of(std::uint8_t type, ByteView body) {
  Bytes frame(kFrameHeadBytes + body.size());
  Writer writer(frame.data());
  spindle::write_frame_head(writer, type, body.size());
  std::copy(body.begin(), body.end(), frame.begin() + kFrameHeadBytes);
  return frame;
}

Bytes client_hello() {
  Bytes bytes;
  protocol::write_hello(bytes, {1, 1, 0, "reader"});
  return bytes;
}

Bytes link_hello() {
  NodeConfig config;
  config.name = "alpha";
  config.incarnation = 17;
  return frame_of(1, encode_control(make_hello(config)));
}

Bytes admin_request(const spindle::admin::Request& request) {
  const std::string body = request.SerializeAsString();
  return frame_of(1, spindle::as_bytes(body));
}

TEST(WrongPort, FirstFramesAreToldApart) {
  EXPECT_EQ(find_meant_port(client_hello()), Port::client);
  EXPECT_EQ(find_meant_port(link_hello()), Port::link);
  spindle::admin::Request request;
  request.mutable_status();
  EXPECT_EQ(find_meant_port(admin_request(request)), Port::admin);
  request.mutable_groups()->set_after("news");
  EXPECT_EQ(find_meant_port(admin_request(request)), Port::admin);
}

TEST(WrongPort, OtherBytesAreNobodys) {
  for (const Bytes& hello : {client_hello(), link_hello()}) {
    for (std::size_t size = 0; size < hello.size(); ++size) {
      EXPECT_FALSE(find_meant_port(ByteView(hello).first(size))) << size;
    }
    Bytes other = hello;
    other[3] = 200;
    EXPECT_FALSE(find_meant_port(other));
  }
  EXPECT_FALSE(find_meant_port(frame_of(1, Bytes(40, 0xff))));
}

TEST(WrongPort, EveryProtocolIsAnsweredInItsOwn) {
  constexpr auto kCode = static_cast<std::uint16_t>(Errc::bad_address);
  const Bytes to_client = encode_refusal(Port::client, "why");
  const auto close = protocol::read_close(ByteView(to_client).subspan(kFrameHeadBytes));
  ASSERT_TRUE(close);
  EXPECT_EQ(to_client[3], static_cast<std::uint8_t>(protocol::ClientFrame::close));
  EXPECT_EQ(close->code, kCode);
  EXPECT_EQ(close->text, "why");

  const Bytes to_link = encode_refusal(Port::link, "why");
  const auto link_close = read_link_close(ByteView(to_link).subspan(kFrameHeadBytes));
  ASSERT_TRUE(link_close);
  EXPECT_EQ(to_link[3], static_cast<std::uint8_t>(LinkFrame::close));
  EXPECT_EQ(link_close->code, kCode);
  EXPECT_EQ(link_close->text, "why");

  const Bytes to_admin = encode_refusal(Port::admin, "why");
  EXPECT_EQ(to_admin, frame_of(static_cast<std::uint8_t>(AdminFrame::error), Bytes{kCode, 0, 'w', 'h', 'y'}));
}

}  // namespace
}  // namespace spindled
