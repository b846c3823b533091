// The worked examples of docs/wire-format.md, byte for byte. A change here is a change there.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

#include "daemon/bulk/hop_invitation.h"
#include "daemon/bulk/tree_plan.h"
#include "daemon/feed/feed_operations.h"
#include "daemon/group/bundle.h"
#include "daemon/group/operations.h"
#include "daemon/wire/control.h"
#include "daemon/wire/datagram_envelope.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/header_block.h"
#include "libclient/protocol/member_list.h"
#include "tests/support/payload_frames.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using Bytes = std::vector<std::uint8_t>;

std::string hex(ByteView bytes) { return fmt::format("{:02x}", fmt::join(bytes, " ")); }

std::string hex_frame(std::uint8_t type, const Bytes& content) {
  Bytes frame(kFrameHeadBytes);
  Writer writer(frame.data());
  spindle::write_frame_head(writer, type, content.size());
  frame.insert(frame.end(), content.begin(), content.end());
  return hex(frame);
}

std::string link_frame(LinkFrame type, const Bytes& content) {
  return hex_frame(static_cast<std::uint8_t>(type), content);
}

Bytes written(std::size_t size_max, const std::function<void(Writer&)>& write) {
  Bytes bytes(size_max);
  Writer writer(bytes.data());
  write(writer);
  bytes.resize(writer.size());
  return bytes;
}

const ViewId kView{300, "alpha", 7};
const ViewId kNext{301, "alpha", 7};
const MemberSet kBetaAndGamma = MemberSet::of(1) | MemberSet::of(2);

void write_body(Writer& writer) {
  BodyHead head;
  head.number = 5;
  head.service = Service::agreed;
  head.seen = 7;
  write_body_head(writer, head, kBetaAndGamma);
  writer.bytes(spindle::as_bytes("hi"));
}

TEST(WireExamples, DaemonControl) {
  EXPECT_EQ(link_frame(LinkFrame::control, encode_control(Counts{kNext, {0, 2, 1}})),
            "1c 00 00 01 5a 1a 0a 13 08 ad 02 12 05 61 6c 70 68 61 19 07 00 00 00 00 00 00 00 12 03 00 02 01");
}

TEST(WireExamples, DaemonPartitionOrder) {
  EXPECT_EQ(link_frame(LinkFrame::control, encode_control(PartitionOrder{{1, {"alpha", 7}}, {{"alpha"}}, 60s})),
            "23 00 00 01 52 21 08 01 12 10 0a 05 61 6c 70 68 61 11 07 00 00 00 00 00 00 00 1a 07 0a 05 61 6c 70 68 61 "
            "20 e0 d4 03");
}

TEST(WireExamples, DaemonView) {
  EXPECT_EQ(link_frame(LinkFrame::view, write_view_id(kView)),
            "10 00 00 02 ac 02 05 61 6c 70 68 61 07 00 00 00 00 00 00 00");
}

TEST(WireExamples, DaemonData) {
  EXPECT_EQ(link_frame(LinkFrame::data, written(64,
                                                [](Writer& writer) {
                                                  kBetaAndGamma.write(writer);
                                                  write_body(writer);
                                                })),
            "0a 00 00 03 01 06 1c 00 05 01 06 07 68 69");
  EXPECT_EQ(link_frame(LinkFrame::data, written(64,
                                                [](Writer& writer) {
                                                  MemberSet::of(2).write(writer);
                                                  write_body(writer);
                                                })),
            "0a 00 00 03 01 04 1c 00 05 01 06 07 68 69");
  BodyHead fifo;
  fifo.number = 6;
  fifo.service = Service::fifo;
  fifo.after = 5;
  EXPECT_EQ(hex(written(64, [&](Writer& writer) { write_body_head(writer, fifo, kBetaAndGamma); })),
            "3a 00 06 01 06 01");
}

TEST(WireExamples, DaemonDataContent) {
  Envelope envelope;
  envelope.session = 1;
  envelope.sender = "ann";
  envelope.type = 7;
  envelope.total = 2;
  const Bytes targets = write_targets({{12, {}}});
  Bytes content;
  write_envelope(content, envelope, targets);
  EXPECT_EQ(hex(content) + " 68 69", "01 03 61 6e 6e 07 00 00 02 01 0c 68 69");
  envelope.is_fifo = envelope.has_views = true;
  write_envelope(content, envelope, write_targets({{12, {}, 4}}, true));
  EXPECT_EQ(hex(content) + " 68 69", "01 03 61 6e 6e 07 00 18 02 01 0c 04 68 69");
  envelope.is_fifo = envelope.has_views = false;
  const Bytes part = write_part_head(3, 5);
  EXPECT_EQ(hex(part) + " 68 65 6c", "03 05 68 65 6c");
  envelope.total = 5;
  envelope.parts = 3;
  envelope.ahead = 3;
  write_envelope(content, envelope, targets);
  EXPECT_EQ(hex(content) + " 6c 6f", "01 03 61 6e 6e 07 00 04 05 03 03 01 0c 6c 6f");
  envelope.parts = envelope.ahead = 0;
  envelope.type = 0;
  envelope.total = 0;
  envelope.bundle = true;
  write_envelope(content, envelope, targets);
  append_bundled(content, {7, spindle::as_bytes("hi")});
  append_bundled(content, {8, spindle::as_bytes("you there")});
  EXPECT_EQ(hex(content), "01 03 61 6e 6e 00 00 02 00 01 0c 07 00 02 68 69 08 00 09 79 6f 75 20 74 68 65 72 65");
}

TEST(WireExamples, DaemonReportStableReady) {
  const auto routed = [](LinkFrame type, const MemberSet& to, auto write, const auto& frame) {
    Bytes payload(kShortFrameBytesMax);
    payload.resize(write(payload.data(), frame));
    return link_frame(type, written(64, [&](Writer& writer) {
                        to.write(writer);
                        writer.bytes(payload);
                      }));
  };
  EXPECT_EQ(routed(LinkFrame::acknowledgement, MemberSet::of(0), write_acknowledgement, Acknowledgement{2, 300}),
            "05 00 00 04 01 01 02 ac 02");
  EXPECT_EQ(routed(LinkFrame::stable, kBetaAndGamma, write_stable, Stable{0, 300}), "05 00 00 05 01 06 00 ac 02");
  EXPECT_EQ(routed(LinkFrame::ready, MemberSet::of(1), write_ready, Ready{2, 9}), "04 00 00 06 01 02 02 09");
}

TEST(WireExamples, DaemonPush) {
  EXPECT_EQ(link_frame(LinkFrame::push, written(64,
                                                [](Writer& writer) {
                                                  MemberSet::of(2).write(writer);
                                                  write_push(writer, {kNext, kView});
                                                  write_body(writer);
                                                })),
            "2a 00 00 07 01 04 ad 02 05 61 6c 70 68 61 07 00 00 00 00 00 00 00 "
            "ac 02 05 61 6c 70 68 61 07 00 00 00 00 00 00 00 1c 00 05 01 06 07 68 69");
}

TEST(WireExamples, DaemonPingAndClose) {
  const Bytes ping = written(8, [](Writer& writer) { writer.u64(1000); });
  EXPECT_EQ(link_frame(LinkFrame::ping, ping), "08 00 00 08 e8 03 00 00 00 00 00 00");
  EXPECT_EQ(read_ping(ping)->token, 1000u);
  EXPECT_EQ(link_frame(LinkFrame::close, write_link_close({14, "bad"})), "05 00 00 0a 0e 00 62 61 64");
}

TEST(WireExamples, DaemonPrice) {
  EXPECT_EQ(link_frame(LinkFrame::price, write_price({300, 1, 2, {}, 9, level_of(2.5), 240, {}})),
            "09 00 00 0b 2c 01 02 02 09 56 47 f0 00");
  EXPECT_EQ(link_frame(LinkFrame::price, write_price({300, 2, 0, "news", 1, level_of(10), 400, "slow"})),
            "12 00 00 0b 2c 01 05 04 6e 65 77 73 01 6d 52 90 01 04 73 6c 6f 77");
}

TEST(WireExamples, DaemonBulk) {
  Bytes token(kBulkTokenFrameBytes);
  std::iota(token.begin(), token.end(), std::uint8_t{0});
  EXPECT_EQ(link_frame(LinkFrame::bulk_token, token), "10 00 00 0d 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
  Bytes plan{0x01, 0x06};  // beta and gamma
  const Bytes content = write_tree_plan({"alpha", 7, 1}, {1, {{0, 0, {}}, {1, 0, {}}, {2, 1, {}}}});
  plan.insert(plan.end(), content.begin(), content.end());
  Bytes invitation{0x01, 0x04};  // gamma
  std::array<std::uint8_t, 16> secret{};
  std::copy(token.begin(), token.end(), secret.begin());
  const Bytes invited = write_hop_invitation({0, secret});
  invitation.insert(invitation.end(), invited.begin(), invited.end());
  EXPECT_EQ(link_frame(LinkFrame::bulk_invitation, invitation),
            "13 00 00 10 01 04 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
  Bytes request{0x01, 0x01};  // alpha
  const Bytes asked = write_hop_invitation({2, {}});
  request.insert(request.end(), asked.begin(), asked.end());
  EXPECT_EQ(link_frame(LinkFrame::bulk_invitation, request), "03 00 00 10 01 01 02");
  EXPECT_EQ(link_frame(LinkFrame::bulk_plan, plan),
            "1c 00 00 0e 01 06 05 61 6c 70 68 61 07 00 00 00 00 00 00 00 01 01 03 00 00 00 01 00 00 02 01 00");
}

TEST(WireExamples, OperationsOfFeeds) {
  const auto with_number = [](const FeedOperation& operation) {
    Bytes bytes{number_of(operation)};
    const Bytes content = write_feed_operation(operation);
    bytes.insert(bytes.end(), content.begin(), content.end());
    return hex(bytes);
  };
  EXPECT_EQ(with_number(FeedsOpened{{{7, "ticks", "ann", 200ms, 0}}}),
            "90 01 07 05 74 69 63 6b 73 03 61 6e 6e c0 9a 0c 00");
  EXPECT_EQ(with_number(FeedsClosed{{{7, 300}}}), "91 01 07 ac 02");
}

TEST(WireExamples, DaemonDatagrams) {
  const Bytes frames = written(64, [](Writer& writer) {
    write_datagram_frame_head(writer, 9, 2);
    writer.bytes(spindle::as_bytes("hi"));
  });
  EXPECT_EQ(link_frame(LinkFrame::datagram, frames), "05 00 00 0f 09 02 00 68 69");
  EXPECT_EQ(hex(written(64,
                        [&](Writer& writer) {
                          write_datagram_head(writer, {0x0706050403020100, 300});
                          writer.bytes(frames);
                        })),
            "00 01 02 03 04 05 06 07 2c 01 00 00 09 02 00 68 69");
  const Probe answer{.kind = Probe::Kind::answer, .mark = 0x1716151413121110, .received = 298, .highest = 301};
  EXPECT_EQ(hex(written(64,
                        [&](Writer& writer) {
                          write_datagram_frame_head(writer, kProbeFrame, kProbeBytesMin);
                          write_probe(writer, answer);
                        })),
            "05 11 00 01 10 11 12 13 14 15 16 17 2a 01 00 00 2d 01 00 00");
}

TEST(WireExamples, DaemonLinkHello) {
  const LinkHello hello{1, 1, "lab", {"alpha", 7}, 9, std::nullopt, {4804, 1400, 0x0706050403020100}};
  EXPECT_EQ(
      link_frame(LinkFrame::control, encode_control(hello)),
      "35 00 00 01 0a 33 08 01 10 01 1a 03 6c 61 62 22 10 0a 05 61 6c 70 68 61 11 07 00 00 00 00 00 00 00 29 09 00 "
      "00 00 00 00 00 00 38 c4 25 40 f8 0a 49 00 01 02 03 04 05 06 07");
}

std::string client_frame(const std::function<void(Bytes&)>& write) {
  Bytes bytes;
  write(bytes);
  return hex(bytes);
}

TEST(WireExamples, ClientHandshake) {
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_hello(out, {1, 1, 0, "ann"});
            }),
            "0d 00 00 01 53 50 44 4c 01 00 01 00 00 03 61 6e 6e");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_hello(out, {1, 1, 0, "ann", "secret"});
            }),
            "16 00 00 01 53 50 44 4c 01 00 01 00 00 03 61 6e 6e 01 06 00 73 65 63 72 65 74");
  const protocol::SessionKey key{
      7, {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f}};
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_hello(out, {.name = "ann", .is_resumable = true, .keepalive_ms = 10'000});
            }),
            "17 00 00 01 53 50 44 4c 01 00 01 00 00 03 61 6e 6e 02 00 00 04 04 00 10 27 00 00");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_hello(out, {.name = "ann", .is_resumable = true, .keepalive_ms = 10'000, .moves = true});
            }),
            "1a 00 00 01 53 50 44 4c 01 00 01 00 00 03 61 6e 6e 02 00 00 04 04 00 10 27 00 00 05 00 00");
  EXPECT_EQ(
      client_frame([&](Bytes& out) {
        protocol::write_welcome(
            out, {.version = 1, .private_name = "#ann#alpha", .resumable = protocol::Resumable{key, 5000}});
      }),
      "2c 00 00 10 01 00 0a 23 61 6e 6e 23 61 6c 70 68 61 01 1c 00 07 00 00 00 00 00 00 00 10 11 12 13 14 15 16 17 "
      "18 19 1a 1b 1c 1d 1e 1f 88 13 00 00");
  EXPECT_EQ(
      client_frame([&](Bytes& out) {
        protocol::write_hello(out, {.name = "ann", .is_resumable = true, .resume = protocol::Resume{key, 300}});
      }),
      "33 00 00 01 53 50 44 4c 01 00 01 00 00 03 61 6e 6e 02 00 00 03 20 00 07 00 00 00 00 00 00 00 10 11 12 13 14 "
      "15 16 17 18 19 1a 1b 1c 1d 1e 1f 2c 01 00 00 00 00 00 00");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_received(out, protocol::ClientFrame::received, 300); }),
            "02 00 00 0b ac 02");
  EXPECT_EQ(
      client_frame([](Bytes& out) { protocol::write_received(out, protocol::ClientFrame::received_by_daemon, 300); }),
      "02 00 00 1f ac 02");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_welcome(out, {1, "#ann#alpha"});
            }),
            "0d 00 00 10 01 00 0a 23 61 6e 6e 23 61 6c 70 68 61");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_close(out, {18, "slow", 300});
            }),
            "0a 00 00 11 12 00 04 00 73 6c 6f 77 ac 02");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_taken(out, 300); }), "02 00 00 1d ac 02");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_refused(out, {protocol::Refused::What::messages, 39, 3, "orders"});
            }),
            "0b 00 00 1e 00 27 00 03 06 6f 72 64 65 72 73");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_confirm(out, 4); }), "01 00 00 0d 04");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_confirmed(out, {4, 300}); }), "03 00 00 23 04 ac 02");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_going(out, 2000); }), "02 00 00 24 d0 0f");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_bye(out); }), "00 00 00 07");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_ping(out, protocol::ClientFrame::ping, 1000); }),
            "08 00 00 08 e8 03 00 00 00 00 00 00");
}

TEST(WireExamples, ClientRequests) {
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_define(out, {0, {"news"}});
            }),
            "07 00 00 02 00 01 04 6e 65 77 73");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_define(out, {0, {}}); }), "02 00 00 02 00 00");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_group_request(out, protocol::ClientFrame::join, {1, "news"});
            }),
            "07 00 00 05 01 04 6e 65 77 73 00");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_group_request(out, protocol::ClientFrame::join, {4, "state", protocol::kSynchronousBit});
            }),
            "08 00 00 05 04 05 73 74 61 74 65 01");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_flush(out, protocol::ClientFrame::flush_ok, {3, "state"});
            }),
            "07 00 00 0c 03 05 73 74 61 74 65");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_flush(out, protocol::ClientFrame::flush_request, {3, "state"});
            }),
            "07 00 00 20 03 05 73 74 61 74 65");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_group_request(out, protocol::ClientFrame::view_request, {2, "news"});
            }),
            "06 00 00 09 02 04 6e 65 77 73");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_reply(out, {1, 0}); }), "03 00 00 16 01 00 00");
}

TEST(WireExamples, ClientFlows) {
  EXPECT_EQ(
      client_frame([](Bytes& out) {
        protocol::write_hello(out, {1, 1, protocol::kIndependentFlowsBit | 2 << protocol::kSlowPolicyShift, "ann"});
      }),
      "0d 00 00 01 53 50 44 4c 01 00 01 00 05 03 61 6e 6e");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_flow_request(out, {3, 0}); }), "02 00 00 0a 03 00");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_admitted(out, {0, 16'500}); }), "04 00 00 18 00 f4 80 01");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_flow_report(out, {3, 3250, 12'500, 50'000, 87'500, 40, "link beta-gamma"});
            }),
            "1f 00 00 19 03 b2 19 a8 c3 01 d0 86 03 cc ab 05 28 00 0f 00 6c 69 6e 6b 20 62 65 74 61 2d 67 61 6d 6d 61");
}

TEST(WireExamples, ClientGapAndWarning) {
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_gap(out, {300, 300'000, {{"news", 299}, {"#ann#alpha", 1}}, 0});
            }),
            "1a 00 00 1a ac 02 e0 a7 12 02 04 6e 65 77 73 ab 02 0a 23 61 6e 6e 23 61 6c 70 68 61 01 00");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_warning(out, {80, 3'400'000, 4'194'304});
            }),
            "09 00 00 1b 50 c0 c2 cf 01 80 80 80 02");
}

TEST(WireExamples, ClientSend) {
  protocol::Send send;
  send.service = static_cast<std::uint8_t>(Service::agreed);
  send.type = 7;
  send.total = 2;
  send.chunk = spindle::as_bytes("hi");
  const Bytes frame = written(64, [&](Writer& writer) {
    protocol::write_send_head(writer, send);
    EXPECT_EQ(writer.size(), protocol::send_head_size(send));
    writer.bytes(send.chunk);
  });
  EXPECT_EQ(hex(frame), "07 00 00 03 00 04 07 00 02 68 69");
  EXPECT_TRUE(protocol::read_send(ByteView(frame).subspan(kFrameHeadBytes)));
}

TEST(WireExamples, ClientSendWithHeaders) {
  Bytes content;
  protocol::write_header_block(content, {}, {{"to", "b"}});
  content.insert(content.end(), {'h', 'i'});
  protocol::Send send;
  send.service = static_cast<std::uint8_t>(Service::agreed);
  send.type = 7;
  send.total = static_cast<std::uint32_t>(content.size());
  send.chunk = content;
  send.has_headers = true;
  Bytes frame;
  spindle::test::append_send_frame(frame, send);
  EXPECT_EQ(hex(frame), "0f 00 00 03 00 14 07 00 0a 06 00 02 74 6f 01 00 62 68 69");
  EXPECT_TRUE(protocol::read_send(ByteView(frame).subspan(kFrameHeadBytes)));
}

TEST(WireExamples, ClientMessage) {
  protocol::MessageHead message;
  message.service = static_cast<std::uint8_t>(Service::agreed);
  message.type = 7;
  message.sender = "#ann#alpha";
  message.groups = {"news"};
  message.total = 2;
  message.chunk = spindle::as_bytes("hi");
  message.place = {1000, 0};
  const Bytes frame = written(64, [&](Writer& writer) {
    protocol::write_message_head(writer, message);
    EXPECT_EQ(writer.size(), protocol::message_head_size(message));
    writer.bytes(message.chunk);
  });
  EXPECT_EQ(hex(frame), "1a 00 00 12 0c 07 00 02 e8 07 00 01 0a 23 61 6e 6e 23 61 6c 70 68 61 04 6e 65 77 73 68 69");
  EXPECT_EQ(client_frame([](Bytes& out) {
              protocol::write_order_view(out, {300, "alpha", 7, 12});
            }),
            "11 00 00 22 ac 02 05 61 6c 70 68 61 07 00 00 00 00 00 00 00 0c");
  EXPECT_TRUE(protocol::read_message(ByteView(frame).subspan(kFrameHeadBytes)));
}

TEST(WireExamples, ClientView) {
  protocol::MemberList members({"#ann#alpha"});
  protocol::GroupViewFrame view;
  view.group = "news";
  view.id = {300, "alpha", 7, 12};
  view.cause = spindle::ViewCause::join;
  view.digest = members.digest();
  view.joined = {"#ann#alpha"};
  view.members = {"#ann#alpha"};
  EXPECT_EQ(client_frame([&](Bytes& out) { protocol::write_view(out, view); }),
            "3a 00 00 14 04 6e 65 77 73 ac 02 05 61 6c 70 68 61 07 00 00 00 00 00 00 00 0c 01 00 ce 8a b3 7b fe 78 99 "
            "61 01 0a 23 61 6e 6e 23 61 6c 70 68 61 00 00 01 0a 23 61 6e 6e 23 61 6c 70 68 61");
  EXPECT_EQ(client_frame([](Bytes& out) { protocol::write_transitional(out, "news"); }), "05 00 00 15 04 6e 65 77 73");

  members.add("#bob#beta");
  protocol::GroupViewFrame change{"news", {300, "alpha", 7, 13}, spindle::ViewCause::join, spindle::ViewForm::change};
  change.member_count = 2;
  change.digest = members.digest();
  change.joined = {"#bob#beta"};
  EXPECT_EQ(client_frame([&](Bytes& out) { protocol::write_view(out, change); }),
            "2e 00 00 14 04 6e 65 77 73 ac 02 05 61 6c 70 68 61 07 00 00 00 00 00 00 00 0d 01 01 f2 4a 0c a3 09 ee 2d "
            "63 01 09 23 62 6f 62 23 62 65 74 61 00 00 02");
}

}  // namespace
}  // namespace spindled
