// Seeds for the targets whose inputs are sequences of steps, and for the configuration.
#include <fmt/format.h>

#include "daemon/admin/admin_frames.h"
#include "daemon/base/driver.h"
#include "daemon/config/schema.h"
#include "daemon/group/operations.h"
#include "daemon/link/hello.h"
#include "daemon/order/records.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "libclient/bulk/bulk_frames.h"
#include "libclient/protocol/bulk_requests.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/feed_frames.h"
#include "libclient/protocol/header_block.h"
#include "libclient/protocol/member_list.h"
#include "libclient/protocol/requests.h"
#include "tests/fuzz/client_engine_steps.h"
#include "tests/fuzz/node_steps.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/payload_frames.h"

namespace spindle_fuzz {

namespace {

using namespace spindle;
using namespace spindle::protocol;
using Bytes = std::vector<std::uint8_t>;

/// Builds an input step by step.
class Steps {
 public:
  template <typename Step>
  Steps& op(Step step) {
    return u8(static_cast<unsigned>(step));
  }
  Steps& u8(unsigned value) {
    bytes_ += one_byte(value);
    return *this;
  }
  Steps& u16(unsigned value) { return u8(value & 0xff).u8(value >> 8); }
  Steps& text(std::string_view value) {
    u8(static_cast<unsigned>(value.size()));
    bytes_ += value;
    return *this;
  }
  Steps& long_text(std::string_view value) {
    u16(static_cast<unsigned>(value.size()));
    bytes_ += value;
    return *this;
  }
  /// A whole frame as `frame` and its arguments: its type, its length, its body.
  Steps& frame(const Bytes& whole) {
    u8(whole.at(3));
    return long_text(as_string(whole).substr(kFrameHeadBytes));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

template <typename Write, typename... Values>
Bytes frame_of(Write write, const Values&... values) {
  Bytes frame;
  write(frame, values...);
  return frame;
}

Bytes message_frame(const MessageHead& message) { return frame_of(spindle::test::append_message_frame, message); }

Bytes send_frame(const Send& send) { return frame_of(spindle::test::append_send_frame, send); }

Steps& welcome(Steps& steps) {
  return steps.op(EngineStep::frame).frame(frame_of(write_welcome, Welcome{1, "#me#alpha"}));
}

// --- The node ---

constexpr unsigned kLinkPort = static_cast<unsigned>(spindled::Port::link);
constexpr unsigned kClientPort = static_cast<unsigned>(spindled::Port::client);
constexpr unsigned kAdminPort = static_cast<unsigned>(spindled::Port::admin);

// The node dials its two neighbours at once, so the first connection that the fuzzer opens is number 2 of the list.
constexpr unsigned kFirst = 2;
constexpr unsigned kSecond = 3;

Steps& client(Steps& steps, unsigned connection, std::string_view name) {
  steps.op(NodeStep::accept).u8(kClientPort);
  steps.op(NodeStep::frame).u8(connection).frame(frame_of(write_hello, Hello{1, 1, 0, name}));
  return steps.op(NodeStep::end_turn);
}

Steps& client_frame(Steps& steps, unsigned connection, const Bytes& frame) {
  return steps.op(NodeStep::frame).u8(connection).frame(frame).op(NodeStep::time).u16(20);
}

Steps& large_message(Steps& steps, unsigned connection, unsigned handle, unsigned service, unsigned bytes) {
  steps.op(NodeStep::message).u8(connection).u8(handle).u8(service).u16(bytes);
  return steps.op(NodeStep::time).u16(20);
}

Steps& link(Steps& steps, unsigned connection, unsigned peer) {
  steps.op(NodeStep::accept).u8(kLinkPort).op(NodeStep::end_turn);
  return steps.op(NodeStep::hello).u8(connection).u8(peer).op(NodeStep::time).u16(50);
}

std::string join_and_send() {
  Steps steps;
  client(steps, kFirst, "a");
  client(steps, kSecond, "b");
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  client_frame(steps, kSecond, frame_of(write_define, Define{0, {"news", "#a#node"}}));
  for (unsigned service = 0; service <= 5; ++service) {
    client_frame(steps, kSecond, send_frame({0, static_cast<std::uint8_t>(service), false, 1, 5, as_bytes("hello")}));
  }
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::view_request, GroupRequest{2, "news"}));
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::leave, GroupRequest{3, "news"}));
  client_frame(steps, kSecond, frame_of(write_bye));
  steps.op(NodeStep::close).u8(kFirst);
  return steps.op(NodeStep::time).u16(1000).bytes();
}

std::string channels_of_two_clients() {
  Steps steps;
  for (const unsigned connection : {kFirst, kSecond}) {
    steps.op(NodeStep::accept).u8(kClientPort);
    const Hello hello{.name = connection == kFirst ? "a" : "b", .wants_channels = true};
    steps.op(NodeStep::frame).u8(connection).frame(frame_of(write_hello, hello)).op(NodeStep::end_turn);
    client_frame(steps, connection, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  }
  const auto ask = [&](unsigned connection, const BulkRequest& request) {
    client_frame(steps, connection, frame_of(write_bulk_request, request));
  };
  BulkOffer offer{2, "news", {}};
  offer.terms.layout = *ContentLayout::of(100'000);
  offer.terms.linger_s = 1;
  ask(kFirst, offer);
  const BulkChannelId channel{"node", 7, 1};
  ask(kFirst, BulkSetRate{3, channel, 1'000'000});
  ask(kFirst, BulkSeal{4, channel, 100'000, {}});
  ask(kSecond, BulkOutcomeSaid{5, channel, BulkOutcome::accepted, 0});
  ask(kSecond, BulkOutcomeSaid{6, channel, BulkOutcome::done, 0});
  ask(kSecond, BulkTokenRequest{7});
  steps.op(NodeStep::time).u16(2000);
  ask(kFirst, BulkCancel{8, channel});
  ask(kSecond, offer);
  steps.op(NodeStep::close).u8(kSecond).op(NodeStep::time).u16(200);
  return steps.op(NodeStep::time).u16(1000).bytes();
}

std::string feeds_of_two_clients() {
  Steps steps;
  for (const unsigned connection : {kFirst, kSecond}) {
    steps.op(NodeStep::accept).u8(kClientPort);
    const Hello hello{.name = connection == kFirst ? "a" : "b"};
    steps.op(NodeStep::frame).u8(connection).frame(frame_of(write_hello, hello)).op(NodeStep::end_turn);
    client_frame(steps, connection, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
    client_frame(steps, connection, frame_of(write_listen, ClientFrame::listen, GroupRequest{2, "news"}));
  }
  client_frame(steps, kFirst, frame_of(write_feed_open, FeedOpen{3, "news", 200'000, 0}));
  steps.op(NodeStep::time).u16(100);
  const std::string large(3000, 'x');
  client_frame(steps, kFirst, frame_of(write_feed_send, FeedSend{1, as_bytes("hello")}));
  client_frame(steps, kFirst, frame_of(write_feed_send, FeedSend{1, as_bytes(large)}));
  steps.op(NodeStep::time).u16(100);
  client_frame(steps, kSecond, frame_of(write_listen, ClientFrame::stop_listening, GroupRequest{4, "news"}));
  client_frame(steps, kFirst, frame_of(write_feed_send, FeedSend{1, as_bytes("more")}));
  client_frame(steps, kFirst, frame_of(write_feed_close, FeedClose{1}));
  client_frame(steps, kFirst, frame_of(write_feed_open, FeedOpen{5, "news", 0, 1000}));
  steps.op(NodeStep::close).u8(kFirst);
  return steps.op(NodeStep::time).u16(1000).bytes();
}

/// A client that hears of channels, is in "news", and has a token.
Steps& channel_client(Steps& steps, unsigned connection, std::string_view name) {
  steps.op(NodeStep::accept).u8(kClientPort);
  steps.op(NodeStep::frame).u8(connection).frame(frame_of(write_hello, Hello{.name = name, .wants_channels = true}));
  client_frame(steps, connection, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  return client_frame(steps, connection, frame_of(write_bulk_request, BulkRequest(BulkTokenRequest{2})));
}

/// The attachment of the session of that number, from 0, on which the node's first channel is open.
Steps& attachment(Steps& steps, unsigned connection, unsigned session) {
  steps.op(NodeStep::accept).u8(kClientPort).op(NodeStep::attach).u8(connection).u8(session);
  return steps.op(NodeStep::bulk_open).u8(connection).u8(0).u8(0);
}

Steps& ask_for_all(Steps& steps, unsigned connection, unsigned number) {
  constexpr unsigned kServes = 1, kBegun = 4;
  steps.op(NodeStep::bulk_need).u8(connection).u8(number).u8(0).u8(kServes | kBegun).u8(0).u8(2).u8(0);
  return steps.op(NodeStep::bulk_grant).u8(connection).u8(number).u8(0).u16(1000);
}

Steps& give(Steps& steps, unsigned connection, unsigned generation, unsigned stream, unsigned block) {
  return steps.op(NodeStep::bulk_symbols).u8(connection).u8(0).u8(generation).u8(stream).u8(block).u8(0).u8(7);
}

/// Content from a client to another one, and to a third that has come late and is served in a stream.
std::string content_of_a_client() {
  constexpr unsigned kSource = kFirst + 3, kReceiver = kFirst + 4, kLate = kFirst + 5;
  Steps steps;
  channel_client(steps, kFirst, "a");
  channel_client(steps, kSecond, "b");
  channel_client(steps, kSecond + 1, "c");
  steps.op(NodeStep::offer).u8(kFirst).u8(40).op(NodeStep::time).u16(50);
  attachment(steps, kSource, 0);
  attachment(steps, kReceiver, 1);
  ask_for_all(steps, kReceiver, 0).op(NodeStep::end_turn);
  steps.op(NodeStep::bulk_index).u8(kSource).u8(0).u8(0).u8(9);
  for (const unsigned block : {0u, 2u, 4u}) give(steps, kSource, 0, 0, block).op(NodeStep::end_turn);
  attachment(steps, kLate, 2);
  steps.op(NodeStep::bulk_need).u8(kLate).u8(0).u8(0).u8(2).u8(0).u8(0).u8(0);  // it has lost what has come
  steps.op(NodeStep::bulk_grant).u8(kLate).u8(0).u8(0).u16(1000).op(NodeStep::time).u16(50);
  steps.op(NodeStep::bulk_need).u8(kLate).u8(0).u8(0).u8(0).u8(0).u8(0).u8(1).op(NodeStep::time).u16(50);
  give(steps, kSource, 0, 1, 0);
  steps.op(NodeStep::bulk_release).u8(kSource).u8(0).u8(1).op(NodeStep::time).u16(300);
  steps.op(NodeStep::bulk_release).u8(kSource).u8(0).u8(0).op(NodeStep::time).u16(300);
  // The index is wrong: whoever says that it knows it is asked for another one.
  client_frame(steps, kFirst, frame_of(write_bulk_request, BulkRequest(BulkSeal{3, {"node", 7, 1}, 40u << 10, {}})));
  steps.op(NodeStep::time).u16(50).op(NodeStep::bulk_need).u8(kReceiver).u8(0).u8(0).u8(1 | 16).u8(3).u8(0).u8(0);
  steps.op(NodeStep::time).u16(1000).op(NodeStep::bulk_index).u8(kReceiver).u8(0).u8(0).u8(9);
  steps.op(NodeStep::frame).u8(kLate).frame(frame_of(bulk::write_ask_index, bulk::AskIndex{0}));
  steps.op(NodeStep::frame).u8(kReceiver).frame(frame_of(bulk::write_shut, std::uint32_t{0}));
  steps.op(NodeStep::frame).u8(kReceiver).frame(frame_of(bulk::write_close, bulk::BulkClose{5, "bye"}));
  return steps.op(NodeStep::close).u8(kSource).op(NodeStep::time).u16(1000).bytes();
}

/// The node between a neighbour that has dialled a hop and a client: the content comes from the one or the other.
std::string content_over_a_hop(bool is_from_peer) {
  constexpr unsigned kHop = kFirst + 2, kAttachment = kFirst + 3;
  constexpr unsigned kOfNode = 0, kOfPeer = 1;  // places in the view
  Steps steps;
  channel_client(steps, kFirst, "a");
  steps.op(NodeStep::offer).u8(kFirst).u8(40).op(NodeStep::time).u16(100);
  steps.op(NodeStep::accept).u8(kLinkPort).op(NodeStep::end_turn);
  steps.op(NodeStep::peer_view).u8(kSecond).u8(1);
  steps.op(NodeStep::bulk_plan).u8(kSecond).u8(0).u8(1).u8(is_from_peer ? kOfPeer : kOfNode);
  steps.op(NodeStep::time).u16(50).op(NodeStep::accept).u8(kLinkPort).op(NodeStep::end_turn);
  steps.op(NodeStep::bulk_hello).u8(kHop).u8(1).op(NodeStep::bulk_open).u8(kHop).u8(0).u8(0);
  attachment(steps, kAttachment, 0);
  ask_for_all(steps, is_from_peer ? kAttachment : kHop, 0).op(NodeStep::time).u16(20);
  const unsigned from = is_from_peer ? kHop : kAttachment;
  steps.op(NodeStep::bulk_index).u8(from).u8(0).u8(0).u8(9);
  give(steps, from, 1, 0, 0).op(NodeStep::bulk_mark).u8(from).u8(0).u8(0).u8(2).op(NodeStep::time).u16(20);
  give(steps, from, 1, 0, 2).op(NodeStep::time).u16(1000);
  steps.op(NodeStep::close).u8(kHop).op(NodeStep::time).u16(1000);
  return steps.op(NodeStep::close).u8(kSecond).op(NodeStep::time).u16(1000).bytes();
}

/// The node dials the hop itself, as it has dialled the link.
std::string content_over_a_dialled_hop() {
  constexpr unsigned kDialled = 0, kHop = kFirst + 1, kAttachment = kFirst + 2;
  constexpr unsigned kOfPeer = 1;
  Steps steps;
  channel_client(steps, kFirst, "a");
  steps.op(NodeStep::offer).u8(kFirst).u8(40).op(NodeStep::time).u16(100);
  steps.op(NodeStep::connected).u8(kDialled).op(NodeStep::end_turn).op(NodeStep::peer_view).u8(kDialled).u8(1);
  steps.op(NodeStep::bulk_token).u8(kDialled).op(NodeStep::bulk_plan).u8(kDialled).u8(0).u8(1).u8(kOfPeer);
  steps.op(NodeStep::time).u16(600).op(NodeStep::connected).u8(kHop).op(NodeStep::end_turn);
  steps.op(NodeStep::frame).u8(kHop).frame(frame_of(bulk::write_welcome, bulk::kBulkVersion));
  steps.op(NodeStep::bulk_open).u8(kHop).u8(0).u8(0);
  attachment(steps, kAttachment, 0);
  ask_for_all(steps, kAttachment, 0).op(NodeStep::time).u16(20);
  steps.op(NodeStep::bulk_index).u8(kHop).u8(0).u8(0).u8(9);
  give(steps, kHop, 1, 0, 0).op(NodeStep::time).u16(4000);
  return steps.op(NodeStep::close).u8(kHop).op(NodeStep::time).u16(1000).bytes();
}

/// The node and two neighbours: one is its parent, the other a peer that gives, is given to, and is told of others.
std::string content_of_a_mesh() {
  constexpr unsigned kParentLink = kFirst + 1, kPeerLink = kFirst + 2, kParent = kFirst + 3, kPeer = kFirst + 4;
  constexpr unsigned kAttachment = kFirst + 5, kOfPeer = 2;
  enum : unsigned { collect, distribute, request, answer, wants, holding, done, leave };
  Steps steps;
  channel_client(steps, kFirst, "a");
  steps.op(NodeStep::offer).u8(kFirst).u8(40).op(NodeStep::time).u16(100);
  link(link(steps, kParentLink, 0), kPeerLink, 1);
  steps.op(NodeStep::propose).u8(kParentLink).u8(0).u8(7).op(NodeStep::time).u16(5);
  steps.op(NodeStep::commit).u8(kParentLink).op(NodeStep::end_turn);
  steps.op(NodeStep::install).u8(kParentLink).u8(1).op(NodeStep::time).u16(50);
  steps.op(NodeStep::bulk_plan).u8(kParentLink).u8(0).u8(1).u8(0).op(NodeStep::time).u16(50);
  for (const unsigned peer : {0u, 1u}) {
    steps.op(NodeStep::accept).u8(kLinkPort).op(NodeStep::end_turn);
    steps.op(NodeStep::bulk_hello).u8(peer == 0 ? kParent : kPeer).u8(peer);
    steps.op(NodeStep::bulk_open).u8(peer == 0 ? kParent : kPeer).u8(0).u8(0);
  }
  attachment(steps, kAttachment, 0);
  ask_for_all(steps, kAttachment, 0).op(NodeStep::time).u16(20);
  const auto say = [&](unsigned from, unsigned type, unsigned a, unsigned b) {
    steps.op(NodeStep::bulk_mesh).u8(from).u8(0).u8(1).u8(type).u8(a).u8(b).op(NodeStep::end_turn);
  };
  say(kParent, distribute, 1, 0x0e);
  say(kPeer, answer, 1, 3);
  say(kPeer, request, 0, 0);
  ask_for_all(steps, kPeer, 0).op(NodeStep::time).u16(20);
  give(steps, kPeer, 1, 0, 0).op(NodeStep::time).u16(20);
  give(steps, kParent, 1, 0, 0).op(NodeStep::time).u16(20);
  give(steps, kPeer, 1, 0, 2).op(NodeStep::time).u16(20);
  steps.op(NodeStep::bulk_need).u8(kAttachment).u8(0).u8(0).u8(4).u8(0).u8(1).u8(0).op(NodeStep::time).u16(20);
  steps.op(NodeStep::bulk_need).u8(kAttachment).u8(0).u8(0).u8(2).u8(0).u8(0).u8(0).op(NodeStep::time).u16(20);
  say(kPeer, wants, 1, 4);
  say(kPeer, holding, 0, 4);
  say(kPeer, collect, 1, 0x13);
  say(kPeer, leave, 0, 0);
  say(kPeer, leave, 1, 0);
  steps.op(NodeStep::time).u16(1000);
  say(kPeer, answer, 0, kOfPeer);
  steps.op(NodeStep::bulk_plan).u8(kParentLink).u8(0).u8(2).u8(kOfPeer).op(NodeStep::time).u16(50);
  return steps.op(NodeStep::close).u8(kPeer).op(NodeStep::time).u16(2000).bytes();
}

/// A neighbour leads the node to a view with another daemon, which has no link to the node, and can be dialled.
Steps& view_with_a_stranger(Steps& steps, unsigned neighbour, unsigned stranger) {
  steps.op(NodeStep::bulk_address).u8(kFirst).u8(stranger).op(NodeStep::time).u16(5);
  steps.op(NodeStep::propose).u8(kFirst).u8(neighbour).u8(7).op(NodeStep::time).u16(5);
  steps.op(NodeStep::commit).u8(kFirst).op(NodeStep::end_turn);
  return steps.op(NodeStep::install).u8(kFirst).u8(1).op(NodeStep::time).u16(50);
}

/// Who is no neighbour invites the node to dial, and invites it anew when it has lost the hop.
std::string invited_by_a_stranger() {
  constexpr unsigned kNeighbour = 1, kStranger = 0, kHop = kFirst + 1;
  Steps steps;
  view_with_a_stranger(link(steps, kFirst, kNeighbour), kNeighbour, kStranger);
  const auto invite = [&](unsigned connection) {
    steps.op(NodeStep::bulk_invitation).u8(kFirst).u8(kStranger).u8(1).op(NodeStep::time).u16(600);
    steps.op(NodeStep::connected).u8(connection).op(NodeStep::end_turn);
    steps.op(NodeStep::frame).u8(connection).frame(frame_of(bulk::write_welcome, bulk::kBulkVersion));
    steps.op(NodeStep::time).u16(50);
  };
  steps.op(NodeStep::bulk_invitation).u8(kFirst).u8(kStranger).u8(0);  // it is the one that is dialled
  invite(kHop);
  steps.op(NodeStep::bulk_invitation).u8(kFirst).u8(kStranger).u8(1);  // older than the hop
  // Time goes by, and the link is not silent meanwhile.
  for (int i = 0; i < 8; ++i) steps.op(NodeStep::bulk_address).u8(kFirst).u8(kStranger).op(NodeStep::time).u16(300);
  view_with_a_stranger(steps, kNeighbour, kStranger);
  invite(kHop);
  return steps.op(NodeStep::close).u8(kHop).op(NodeStep::time).u16(1000).bytes();
}

/// Who is no neighbour asks to be invited, and dials.
std::string asked_by_a_stranger() {
  constexpr unsigned kNeighbour = 0, kStranger = 1, kHop = kFirst + 1;
  Steps steps;
  view_with_a_stranger(link(steps, kFirst, kNeighbour), kNeighbour, kStranger);
  steps.op(NodeStep::bulk_invitation).u8(kFirst).u8(kStranger).u8(0).op(NodeStep::time).u16(20);
  for (int times = 0; times < 2; ++times) {  // the second token was not given
    steps.op(NodeStep::accept).u8(kLinkPort).op(NodeStep::end_turn);
    steps.op(NodeStep::bulk_hello).u8(kHop + static_cast<unsigned>(times)).u8(kStranger).op(NodeStep::time).u16(50);
  }
  steps.op(NodeStep::bulk_invitation).u8(kFirst).u8(kStranger).u8(1);  // it is the one that dials
  return steps.op(NodeStep::close).u8(kFirst).op(NodeStep::time).u16(2000).bytes();
}

/// A neighbour whose datagrams get through, and who then sends them from elsewhere.
std::string datagrams_of_a_neighbour() {
  constexpr unsigned kNeighbour = 3, kElsewhere = 9;  // by the number of the connection, which the node takes it for
  const auto frames = [](Steps& steps, unsigned host, const std::string& bytes) {
    steps.op(NodeStep::datagram_frames).u8(host).u8(0).long_text(bytes);
  };
  const std::string question = std::string("\5\x6f\0", 3) + std::string(0x6f, '\0');
  Steps steps;
  link(steps.op(NodeStep::datagrams), kFirst, 0).op(NodeStep::datagram_answer).u8(kNeighbour);
  steps.op(NodeStep::frame).u8(kFirst).frame({5, 0, 0, 15, 9, 2, 0, 'h', 'i'}).op(NodeStep::time).u16(5);
  frames(steps, kNeighbour, std::string("\x9\2\0hi", 5));
  frames(steps, kNeighbour, question);
  frames(steps, kElsewhere, question);
  steps.op(NodeStep::time).u16(300).op(NodeStep::datagram_answer).u8(kElsewhere);
  steps.op(NodeStep::datagram).u8(kElsewhere).long_text("GET / HTTP/1.1\r\n\r\n").op(NodeStep::time).u16(4000);
  frames(steps, kNeighbour, std::string("\x5\1\0", 3));
  return steps.op(NodeStep::time).u16(1000).bytes();
}

/// A feed of alpha, which is the first member of the view, and one of the node, which is the second; over the
/// connection and by datagram.
std::string feeds_with_a_neighbour() {
  constexpr unsigned kPacket = 0, kNak = 1, kGone = 2, kBeat = 3;
  constexpr unsigned kAlpha = 0, kNode = 1, kNextView = 0x40;
  constexpr unsigned kWhole = 3, kRepair = 8, kServed = 1, kDown = 2;
  constexpr unsigned kLink = kFirst + 2;
  Steps steps;
  for (const unsigned connection : {kFirst, kSecond}) {
    client(steps, connection, connection == kFirst ? "a" : "b");
    client_frame(steps, connection, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
    client_frame(steps, connection, frame_of(write_listen, ClientFrame::listen, GroupRequest{2, "news"}));
  }
  steps.op(NodeStep::datagrams).op(NodeStep::accept).u8(kLinkPort).op(NodeStep::end_turn);
  steps.op(NodeStep::peer_view).u8(kLink).u8(0);
  client_frame(steps, kFirst, frame_of(write_feed_open, FeedOpen{3, "news", 200'000, 0}));
  steps.op(NodeStep::time).u16(100);
  client_frame(steps, kFirst, frame_of(write_feed_send, FeedSend{1, as_bytes("hello")}));
  client_frame(steps, kFirst, frame_of(write_feed_send, FeedSend{1, as_bytes("more")}));
  const auto frame = [&](unsigned host, unsigned type, unsigned origin, unsigned sequence, unsigned flags,
                         unsigned count, std::string_view content) {
    steps.op(NodeStep::feed_frame).u8(kLink).u8(host).u8(type).u8(origin).u8(1).u16(sequence).u8(flags).u8(count);
    steps.u8(2).text(content);
  };
  for (const unsigned host : {0u, kLink + 1}) {
    const unsigned first = host * 20;
    frame(host, kPacket, kAlpha, first, kWhole, 0, "zero");
    frame(host, kPacket, kAlpha, first + 3, kWhole | 4, 1, std::string_view("\1a\2bc", 5));
    steps.op(NodeStep::time).u16(50);
    frame(host, kPacket, kAlpha, first + 1, kWhole | kRepair, 0, "one");
    frame(host, kGone, kAlpha, first + 2, 0, 0, "");
    frame(host, kBeat, kAlpha, first + 9, 0, 3, "");
    frame(host, kNak, kNode, 0, 0, 2, std::string_view("\0", 1));
    frame(host, kNak, kNode, 1, kServed, 0, std::string_view("\0x", 2));
    frame(host, kNak, kAlpha, first + 3, kDown, 0, std::string_view("\0x", 2));
    frame(host, kPacket, kAlpha | kNextView, first + 11, kWhole, 0, "early");
    steps.op(NodeStep::time).u16(200);
  }
  client_frame(steps, kFirst, frame_of(write_feed_close, FeedClose{1}));
  steps.op(NodeStep::peer_view).u8(kLink).u8(0).op(NodeStep::time).u16(1000);
  return steps.op(NodeStep::close).u8(kLink).op(NodeStep::time).u16(1000).bytes();
}

std::string rules_come_and_go() {
  constexpr unsigned kCertA = 3, kCertB = 6, kUser = 9;
  Steps steps;
  unsigned connection = kFirst;
  for (const unsigned identity : {kCertA, kCertB, kUser}) {
    steps.op(NodeStep::accept).u8(kClientPort + identity);
    steps.op(NodeStep::frame).u8(connection).frame(frame_of(write_hello, Hello{1, 1, 0, ""})).op(NodeStep::end_turn);
    client_frame(steps, connection, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
    client_frame(steps, connection, frame_of(write_define, Define{0, {"news", "orders"}}));
    ++connection;
  }
  for (const unsigned rules : {0x01u, 0x7fu, 0x02u, 0x00u, 0x6cu}) {
    steps.op(NodeStep::rules).u8(rules).op(NodeStep::time).u16(20);
    for (unsigned each = kFirst; each < connection; ++each) {
      client_frame(steps, each, send_frame({0, 4, false, 1, 5, as_bytes("hello")}));
      client_frame(steps, each, frame_of(write_group_request, ClientFrame::join, GroupRequest{2, "prices"}));
    }
  }
  return steps.op(NodeStep::time).u16(1000).bytes();
}

std::string peer_coordinates_a_view() {
  Steps steps;
  client(steps, kFirst, "a");
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  link(steps, kSecond, 0);
  steps.op(NodeStep::propose).u8(kSecond).u8(0).u8(3).op(NodeStep::time).u16(5);
  steps.op(NodeStep::commit).u8(kSecond).op(NodeStep::time).u16(5);
  steps.op(NodeStep::install).u8(kSecond).op(NodeStep::time).u16(500);
  client_frame(steps, kFirst, frame_of(write_define, Define{0, {"news"}}));
  client_frame(steps, kFirst, send_frame({0, 4, false, 1, 5, as_bytes("hello")}));
  return steps.op(NodeStep::close).u8(kSecond).op(NodeStep::time).u16(2000).bytes();
}

std::string node_coordinates_a_view() {
  Steps steps;
  link(steps, kFirst, 1);
  const spindled::LinkState state{{"zeta", 22}, 1, {{"node", 7, 1, 100, 0}}};
  const spindled::LinkStateSummary nothing_asked{{}, true};  // from now on the link may be advertised
  for (const Bytes& each : {spindled::encode_control(state), spindled::encode_control(nothing_asked)}) {
    steps.op(NodeStep::frame).u8(kFirst).u8(1).long_text(as_string(each));
  }
  steps.op(NodeStep::time).u16(400);
  steps.op(NodeStep::state).u8(kFirst).u8(1).op(NodeStep::time).u16(5);
  steps.op(NodeStep::done).u8(kFirst).u8(1).op(NodeStep::time).u16(50);
  return steps.op(NodeStep::echo).u8(kFirst).op(NodeStep::time).u16(3000).bytes();
}

std::string garbage_on_all_ports() {
  Steps steps;
  for (const unsigned port : {kLinkPort, kClientPort, kAdminPort}) {
    steps.op(NodeStep::accept).u8(port);
    steps.op(NodeStep::raw).u8(kFirst + port).long_text("GET / HTTP/1.1\r\n\r\n");
  }
  return steps.op(NodeStep::time).u16(10'000).bytes();
}

/// One empty request of each kind: a field of the request's `oneof` and a length of zero (daemon/admin/admin.proto).
std::string admin_requests() {
  Steps steps;
  client(steps, kFirst, "a");
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  steps.op(NodeStep::accept).u8(kAdminPort);
  // An empty partition comes last: it ends the connection.
  for (const unsigned field : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 7u}) {
    const Bytes request{static_cast<std::uint8_t>(field << 3 | 2), 0};
    steps.op(NodeStep::frame).u8(kSecond).u8(static_cast<unsigned>(spindled::AdminFrame::request));
    steps.long_text(as_string(request)).op(NodeStep::end_turn);
  }
  return steps.op(NodeStep::time).u16(100).bytes();
}

/// A neighbour's order cuts it off, it comes again, and brings the heal in its hello.
std::string imposed_partition() {
  const auto control = [](Steps& steps, unsigned connection, const spindled::ControlMessage& message) {
    steps.op(NodeStep::frame).u8(connection).u8(1).long_text(as_string(spindled::encode_control(message)));
    steps.op(NodeStep::time).u16(5);
  };
  const spindled::DaemonId zeta{"zeta", 22};
  Steps steps;
  link(steps, kFirst, 1);
  control(steps, kFirst, spindled::PartitionOrder{{1, zeta}, {{"zeta"}}, std::chrono::seconds(5)});
  control(steps, kFirst, spindled::PartitionOrder{{1, zeta}, {{"node"}}, std::chrono::seconds(5)});
  steps.op(NodeStep::accept).u8(kLinkPort).op(NodeStep::end_turn);
  const std::uint64_t digest = spindled::settings_digest(spindled::NodeConfig{});
  const spindled::PartitionOrder heal{{2, zeta}, {}, {}};
  control(steps, kFirst, spindled::LinkHello{1, 1, "spindle", zeta, digest, heal});
  return steps.op(NodeStep::time).u16(6000).bytes();
}

/// A neighbour's link state comes in parts, as one does that no frame holds, and then parts that make no message.
std::string control_in_parts() {
  Steps steps;
  link(steps, kFirst, 1);
  const auto part = [&steps](bool is_last, const std::string& bytes) {
    steps.op(NodeStep::frame).u8(kFirst).u8(static_cast<unsigned>(spindled::LinkFrame::control_part));
    steps.long_text(one_byte(is_last ? 1 : 0) + bytes).op(NodeStep::time).u16(5);
  };
  const spindled::LinkState state{{"zeta", 22}, 1, {{"node", 7, 1, 100, 0}}};
  const std::string message = as_string(spindled::encode_control(state));
  part(false, message.substr(0, 5));
  part(false, "");
  part(true, message.substr(5));
  part(false, message);
  part(true, "no more of it");
  return steps.op(NodeStep::time).u16(1000).bytes();
}

std::string slow_client() {
  Steps steps;
  client(steps, kFirst, "a");
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  client_frame(steps, kFirst, frame_of(write_define, Define{0, {"news"}}));
  steps.op(NodeStep::throttle).u8(kFirst).u16(100);
  for (int i = 0; i < 4; ++i) large_message(steps, kFirst, 0, 2, 2000);
  return steps.op(NodeStep::time).u16(500).op(NodeStep::writable).u8(kFirst).op(NodeStep::time).u16(500).bytes();
}

/// What one group's slow member holds up is held, up to the window and beyond; another group's messages go on.
std::string independent_flows() {
  Steps steps;
  client(steps, kFirst, "a");
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  steps.op(NodeStep::accept).u8(kClientPort);
  const Hello hello{1, 1, kIndependentFlowsBit | 2 << kSlowPolicyShift, "b"};
  client_frame(steps, kSecond, frame_of(write_hello, hello));
  client_frame(steps, kSecond, frame_of(write_define, Define{0, {"news"}}));
  client_frame(steps, kSecond, frame_of(write_define, Define{1, {"sport"}}));
  steps.op(NodeStep::throttle).u8(kFirst).u16(100);
  for (unsigned i = 0; i < 4; ++i) {
    large_message(steps, kSecond, 0, 4, 20'000);
    client_frame(steps, kSecond, send_frame({1, 4, false, 0, 5, as_bytes("goals")}));
  }
  client_frame(steps, kSecond, frame_of(write_flow_request, FlowRequest{2, 0}));
  steps.op(NodeStep::throttle).u8(kFirst).u16(60'000).op(NodeStep::writable).u8(kFirst).op(NodeStep::time).u16(500);
  client_frame(steps, kSecond, frame_of(write_define, Define{0, {"weather"}}));
  for (unsigned i = 0; i < 5; ++i) large_message(steps, kSecond, 0, 4, 20'000);
  return steps.op(NodeStep::frame).u8(kSecond).frame(frame_of(write_bye)).op(NodeStep::time).u16(500).bytes();
}

/// A daemon that stops, and a client that goes elsewhere when its messages have entered, beside one that does not go.
std::string a_daemon_that_goes() {
  const auto hello = [](std::string_view name) {
    Hello greeting{1, 1, 0, name};
    greeting.moves = true;
    return frame_of(write_hello, greeting);
  };
  Steps steps;
  steps.op(NodeStep::accept).u8(kClientPort);
  client_frame(steps, kFirst, hello("a"));
  client_frame(steps, kFirst, frame_of(write_define, Define{0, {"news"}}));
  steps.op(NodeStep::accept).u8(kClientPort);
  client_frame(steps, kSecond, hello("b"));
  steps.op(NodeStep::time).u16(100).op(NodeStep::stop);
  client_frame(steps, kFirst, send_frame({0, 4, false, 0, 5, as_bytes("goals")}));
  client_frame(steps, kFirst, frame_of(write_confirm, std::uint32_t{1}));
  client_frame(steps, kFirst, frame_of(write_bye));
  steps.op(NodeStep::accept).u8(kClientPort);  // too late
  return steps.op(NodeStep::time).u16(1000).op(NodeStep::time).u16(3000).bytes();
}

/// A client that loses its connection again and again, and others who say that they were it.
std::string a_session_resumed() {
  const auto hello = [](std::uint64_t received) {
    Hello greeting{1, 1, 0, "a"};
    greeting.is_resumable = true;
    greeting.resume = Resume{{1, {}}, received};
    greeting.keepalive_ms = 1000;
    return frame_of(write_hello, greeting);
  };
  Steps steps;
  steps.op(NodeStep::accept).u8(kClientPort);
  client_frame(steps, kFirst, hello(0));  // of a session that nobody knows
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  client_frame(steps, kFirst, frame_of(write_define, Define{0, {"news"}}));
  for (unsigned received = 0; received < 3; ++received) {
    large_message(steps, kFirst, 0, 4, 2000);
    steps.op(NodeStep::close).u8(kFirst).op(NodeStep::time).u16(100).op(NodeStep::accept).u8(kClientPort);
    client_frame(steps, kFirst, hello(received));
    client_frame(steps, kFirst, frame_of(write_received, ClientFrame::received, received));
  }
  steps.op(NodeStep::accept).u8(kClientPort);
  client_frame(steps, kSecond, hello(1000));  // more than there were
  steps.op(NodeStep::accept).u8(kClientPort);
  client_frame(steps, kSecond, hello(3));  // while its connection stands
  return steps.op(NodeStep::time).u16(6000).bytes();
}

/// Clients that send tokens, good and bad, whose tokens are revoked.
std::string tokens() {
  constexpr unsigned kPrivate = 12, kNeedsToken = 24;
  Steps steps;
  steps.op(NodeStep::accept).u8(kClientPort + kPrivate + kNeedsToken);
  client_frame(steps, kFirst, frame_of(write_hello, Hello{1, 1, 0, "a", "t"}));
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  steps.op(NodeStep::accept).u8(kClientPort + kPrivate);
  client_frame(steps, kSecond, frame_of(write_hello, Hello{1, 1, 0, "b", "another"}));
  steps.op(NodeStep::accept).u8(kClientPort);
  client_frame(steps, kSecond + 1, frame_of(write_hello, Hello{1, 1, 0, "c", "t"}));
  steps.op(NodeStep::time).u16(100).op(NodeStep::rules).u8(0x87);
  return steps.op(NodeStep::time).u16(500).bytes();
}

/// One set under several numbers, of which one is given up and one gets another meaning while messages wait.
std::string one_set_under_several_numbers() {
  Steps steps;
  client(steps, kFirst, "a");
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  steps.op(NodeStep::accept).u8(kClientPort);
  client_frame(steps, kSecond, frame_of(write_hello, Hello{1, 1, kIndependentFlowsBit, "b"}));
  client_frame(steps, kSecond, frame_of(write_define, Define{0, {"news", "sport"}}));
  client_frame(steps, kSecond, frame_of(write_define, Define{1, {"sport", "news"}}));
  client_frame(steps, kSecond, frame_of(write_define, Define{2, {"sport", "news", "news"}}));
  steps.op(NodeStep::throttle).u8(kFirst).u16(100);
  for (unsigned i = 0; i < 6; ++i) large_message(steps, kSecond, i % 3, 4, 20'000);
  client_frame(steps, kSecond, frame_of(write_define, Define{0, {}}));
  client_frame(steps, kSecond, frame_of(write_define, Define{1, {"weather"}}));
  client_frame(steps, kSecond, send_frame({1, 4, false, 0, 4, as_bytes("rain")}));
  client_frame(steps, kSecond, frame_of(write_define, Define{0, {"news", "sport"}}));
  client_frame(steps, kSecond, send_frame({0, 4, false, 0, 5, as_bytes("goals")}));
  steps.op(NodeStep::throttle).u8(kFirst).u16(60'000).op(NodeStep::writable).u8(kFirst).op(NodeStep::time).u16(500);
  return steps.op(NodeStep::frame).u8(kSecond).frame(frame_of(write_bye)).op(NodeStep::time).u16(500).bytes();
}

/// A neighbour's part in a view that it coordinates: its message, its announcement of members, and, as the sequencer of
/// the view, the order of both; then what it has received, and what its link and its clients cost.
std::string peer_in_a_view(unsigned peer) {
  using spindled::MessageClass;
  using spindled::Service;
  Steps steps;
  client(steps, kFirst, "a");
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  steps.op(NodeStep::accept).u8(kLinkPort).op(NodeStep::end_turn);
  steps.op(NodeStep::peer_view).u8(kSecond).u8(peer);
  const auto data = [&](Service service, MessageClass message_class, const Bytes& content) {
    const unsigned kind = static_cast<unsigned>(service) + 6 * static_cast<unsigned>(message_class);
    steps.op(NodeStep::data).u8(kSecond).u8(peer).u8(kind).long_text(as_string(content)).op(NodeStep::end_turn);
  };
  const spindled::MemberIndex self = peer % 2 == 0 ? 1 : 0;
  const auto other = static_cast<spindled::MemberIndex>(1 - self);
  const auto both = spindled::MemberSet::first(2);
  // Another table than the node's: both have to announce what they have.
  data(Service::agreed, MessageClass::group, spindled::write_operation(spindled::TableState{9, 10, 1, {}, false}));
  spindled::OrderRecord record;
  record.first = 1;
  record.runs = {{other, false, 1, 1, both}, {self, false, 1, 1, both}};
  data(Service::reliable, MessageClass::order, spindled::write_order_record(record));
  spindled::Announce announce;
  announce.groups.push_back({"news", 5, {{9, "b"}}});
  data(Service::agreed, MessageClass::group, spindled::write_operation(announce));
  Bytes message;
  spindled::Envelope envelope;
  envelope.session = 9;
  envelope.sender = "b";
  envelope.type = 1;
  envelope.total = 5;
  envelope.targets = {{0, "news"}};
  spindled::write_envelope(message, envelope, spindled::write_targets(envelope.targets));
  message.insert(message.end(), {'h', 'e', 'l', 'l', 'o'});
  data(Service::fifo, MessageClass::client, message);
  data(Service::agreed, MessageClass::client, message);
  record.first = 3;
  record.runs = {{other, false, 3, 1, both}, {self, false, 2, 1, both}};
  data(Service::reliable, MessageClass::order, spindled::write_order_record(record));
  // Now the node has all that the peer announces, and says that it has announced all of its own.
  record.first = 5;
  record.runs = {{self, false, 3, 1, both}, {other, false, 5, 1, both}};
  data(Service::reliable, MessageClass::order, spindled::write_order_record(record));
  data(Service::reliable, MessageClass::order, spindled::write_run_report({1, {{other, false, 1, 1, both}}}));
  for (unsigned which = 0; which < 3; ++which) {
    steps.op(NodeStep::stability).u8(kSecond).u8(peer).u8(which).u16(1).op(NodeStep::end_turn);
  }
  steps.op(NodeStep::price).u8(kSecond).u8(peer).u16(40).text("");
  steps.op(NodeStep::price).u8(kSecond).u8(peer).u16(80).text("news").op(NodeStep::time).u16(100);
  const std::string token(8, 't');
  for (const spindled::LinkFrame type : {spindled::LinkFrame::ping, spindled::LinkFrame::pong}) {
    steps.op(NodeStep::frame).u8(kSecond).u8(static_cast<unsigned>(type)).long_text(token).op(NodeStep::end_turn);
  }
  const auto control = [&](const spindled::ControlMessage& said) {
    steps.op(NodeStep::frame).u8(kSecond).u8(1).long_text(as_string(spindled::encode_control(said)));
  };
  const std::string name = peer % 2 == 0 ? "alpha" : "zeta";
  control(spindled::LinkStateSummary{{{{name, peer % 2 == 0 ? 11u : 22u}, 1}}});
  control(spindled::Refuse{{7, name}, {name, peer % 2 == 0 ? 11u : 22u}, 8});
  steps.op(NodeStep::propose).u8(kSecond).u8(peer).u8(7).op(NodeStep::time).u16(5);
  steps.op(NodeStep::commit).u8(kSecond).op(NodeStep::end_turn);
  steps.op(NodeStep::push).u8(kSecond).u8(peer).u8(2).long_text(as_string(message)).op(NodeStep::end_turn);
  steps.op(NodeStep::install).u8(kSecond).u8(0).u8(1).u8(peer).op(NodeStep::time).u16(3000);
  const Bytes close = spindled::write_link_close({1, "enough"});
  steps.op(NodeStep::accept).u8(kLinkPort).op(NodeStep::hello).u8(kSecond).u8(peer);
  steps.op(NodeStep::frame)
      .u8(kSecond)
      .u8(static_cast<unsigned>(spindled::LinkFrame::close))
      .long_text(as_string(close));
  return steps.op(NodeStep::end_turn).bytes();
}

/// A large message in pieces, and all that a client may ask for.
std::string all_of_a_client() {
  Steps steps;
  client(steps, kFirst, "a");
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::join, GroupRequest{1, "news"}));
  client_frame(steps, kFirst, frame_of(write_define, Define{0, {"news"}}));
  const std::string chunk(kChunkBytesMax, 'x');
  steps.op(NodeStep::frame).u8(kFirst).frame(send_frame({0, 4, false, 1, kChunkBytesMax + 5, as_bytes(chunk)}));
  steps.op(NodeStep::frame).u8(kFirst).u8(static_cast<unsigned>(ClientFrame::send_more)).long_text("hello");
  client_frame(steps, kFirst, frame_of(write_ping, ClientFrame::ping, std::uint64_t{3}));
  client_frame(steps, kFirst, frame_of(write_flow_request, FlowRequest{2, 0}));
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::view_request, GroupRequest{3, "news"}));
  client_frame(steps, kFirst, frame_of(write_group_request, ClientFrame::leave, GroupRequest{4, "news"}));
  return client_frame(steps, kFirst, frame_of(write_bye)).bytes();
}

// --- The client ---

GroupViewFrame first_view() {
  GroupViewFrame view{"news", {5, "alpha", 3, 17}, ViewCause::join};
  view.digest = MemberList({"#me#alpha"}).digest();
  view.joined = view.members = {"#me#alpha"};
  return view;
}

/// A change that applies, one that does not, the request for the list, and its answer.
Steps large_group() {
  Steps steps;
  welcome(steps).op(EngineStep::join).text("news");
  steps.op(EngineStep::frame).frame(frame_of(write_view, first_view()));
  const MemberList two({"#me#alpha", "#you#beta"});
  GroupViewFrame change{"news", {5, "alpha", 3, 18}, ViewCause::join, ViewForm::change, 2, two.digest()};
  change.joined = {"#you#beta"};
  steps.op(EngineStep::frame).frame(frame_of(write_view, change));
  GroupViewFrame other{"news", {6, "alpha", 3, 1}, ViewCause::network, ViewForm::change, 7, 1};
  other.left = {"#you#beta"};
  other.apart = {"#me#alpha"};
  steps.op(EngineStep::frame).frame(frame_of(write_view, other)).op(EngineStep::request_view).text("news");
  GroupViewFrame answer{"news", {6, "alpha", 3, 1}, ViewCause::network, ViewForm::answer, 0, two.digest()};
  answer.members = {two.names().begin(), two.names().end()};
  steps.op(EngineStep::frame).frame(frame_of(write_view, answer));
  return steps.op(EngineStep::frame).frame(frame_of(write_reply, Reply{2, 0}));
}

/// A flow's window is filled, one more message is refused, and half of it becomes free.
Steps full_window() {
  Steps steps;
  welcome(steps);
  for (int i = 0; i < 6; ++i) steps.op(EngineStep::multicast).u8(4).u8(255).text("news");
  steps.op(EngineStep::multicast).u8(4).u8(1).text("sport").op(EngineStep::request_flow).text("news");
  const FlowReport report{1, 3250, 20'000, 50'000, 125'000, 40, "link alpha-beta"};
  steps.op(EngineStep::frame).frame(frame_of(write_flow_report, report));
  steps.op(EngineStep::frame).frame(frame_of(write_admitted, Admitted{0, 3 * (255 * 64 + 64)}));
  return steps.op(EngineStep::frame).frame(frame_of(write_admitted, Admitted{1, 500}));
}

}  // namespace

Bytes message_with_header(std::string_view sender, std::string_view key, std::string_view value) {
  Bytes content;
  write_header_block(content, {key, value}, {{"colour", "blue"}});
  MessageHead message{4, 9, sender, {"news"}, static_cast<std::uint32_t>(content.size()), content};
  message.has_headers = true;
  return message_frame(message);
}

/// A request to one client, one to all members, whose list is asked for, their answers, and another client's request.
Steps requests() {
  const std::string one = Requests::to_header(1), two = Requests::to_header(2);
  Steps steps;
  welcome(steps).op(EngineStep::join).text("news");
  steps.op(EngineStep::frame).frame(frame_of(write_reply, Reply{1, 0}));
  steps.op(EngineStep::frame).frame(frame_of(write_view, first_view()));
  steps.op(EngineStep::ask).u8(1).text("#you#beta");
  steps.op(EngineStep::frame).frame(message_with_header("#you#beta", kAnswerKey, one));
  steps.op(EngineStep::ask).u8(128).text("news");
  const MemberList list({"#me#alpha", "#you#beta"});
  GroupViewFrame answer{"news", {5, "alpha", 3, 18}, ViewCause::join, ViewForm::answer, 0, list.digest()};
  answer.members = {list.names().begin(), list.names().end()};
  steps.op(EngineStep::frame).frame(frame_of(write_view, answer));
  steps.op(EngineStep::frame).frame(frame_of(write_reply, Reply{2, 0}));
  steps.op(EngineStep::frame).frame(message_with_header("#me#alpha", kRequestKey, two));
  GroupViewFrame change{"news", {5, "alpha", 3, 19}, ViewCause::leave, ViewForm::change, 1, 0};
  change.left = {"#you#beta"};
  steps.op(EngineStep::frame).frame(frame_of(write_view, change));
  steps.op(EngineStep::frame).frame(message_with_header("#you#beta", kRequestKey, one));
  return steps.op(EngineStep::answer);
}

void add_client_engine_seeds(Seeds& seeds) {
  const auto add = [&seeds](std::string name, const Steps& steps) {
    seeds.push_back({"client_engine", std::move(name), steps.bytes()});
  };
  Steps session;
  welcome(session).op(EngineStep::join).text("news");
  session.op(EngineStep::frame).frame(frame_of(write_reply, Reply{1, 0}));
  session.op(EngineStep::frame).frame(frame_of(write_view, first_view()));
  session.op(EngineStep::multicast).u8(4).u8(1).text("news");
  session.op(EngineStep::frame).frame(message_frame({4, 9, "#me#alpha", {"news"}, 5, as_bytes("hello")}));
  session.op(EngineStep::frame).frame(frame_of(write_order_view, spindle::GroupViewId{300, "alpha", 7, 12}));
  session.op(EngineStep::frame).frame(message_frame({4, 9, "#me#alpha", {"news"}, 5, as_bytes("hello"), {1000, 3}}));
  session.op(EngineStep::frame).frame(frame_of(write_transitional, std::string_view("news")));
  session.op(EngineStep::leave).text("news").op(EngineStep::frame).frame(frame_of(write_reply, Reply{2, 21}));
  session.op(EngineStep::confirm);
  session.op(EngineStep::frame).frame(frame_of(write_confirmed, Confirmed{3, 1}));
  session.op(EngineStep::frame).frame(frame_of(write_going, std::uint32_t{2000}));
  session.op(EngineStep::ping).u16(3);
  session.op(EngineStep::frame).frame(frame_of(write_ping, ClientFrame::pong, std::uint64_t{3}));
  add("session", session.op(EngineStep::bye).op(EngineStep::end));

  Steps flush;
  welcome(flush).op(EngineStep::join_synchronous).text("news");
  flush.op(EngineStep::frame).frame(frame_of(write_flush, ClientFrame::flush_request, Flush{7, "news"}));
  flush.op(EngineStep::flush_ok).u8(1).text("news").op(EngineStep::multicast).u8(2).u8(1).text("news");
  flush.op(EngineStep::frame).frame(frame_of(write_view, first_view()));
  add("flush", flush.op(EngineStep::multicast).u8(2).u8(1).text("news"));

  for (const unsigned is_ordered : {0u, 1u}) {
    Steps feeds;
    const auto told = [&feeds](const FeedNews& news) {
      feeds.op(EngineStep::frame).frame(frame_of(write_feed_news, news));
    };
    welcome(feeds).op(EngineStep::listen).u8(is_ordered).text("news").op(EngineStep::open_feed).u8(1).text("news");
    feeds.op(EngineStep::frame).frame(frame_of(write_reply, Reply{1, 0}));
    told(FeedReady{2, 3, 100});
    feeds.op(EngineStep::send_feed).u8(1).u8(2).op(EngineStep::send_feed).u8(1).u8(1);
    told(spindle::protocol::FeedOpened{4, 200'000, "news", "#a#alpha"});
    told(spindle::protocol::FeedPacket{4, 0, 3, as_bytes("whole")});
    told(spindle::protocol::FeedPacket{4, 1, 1, as_bytes("begun ")});
    told(spindle::protocol::FeedPacket{4, 3, 3, as_bytes("next")});
    told(spindle::protocol::FeedPacket{4, 2, 2, as_bytes("ended")});
    told(spindle::protocol::FeedPacket{4, 5, 2, as_bytes("of what is lost")});
    told(spindle::protocol::FeedGap{4, 4, 1, FeedGapCause::lost});
    told(spindle::protocol::FeedPacket{4, 8, 3, as_bytes("late")});
    feeds.op(EngineStep::time).u16(60);
    told(FeedRoom{3, 100});
    told(spindle::protocol::FeedFlow{3, 1000, 0, 0, spindle::protocol::FeedLimit::source});
    told(FeedEnded{4, FeedEnd::closed});
    feeds.op(EngineStep::close_feed).u8(1);
    add(is_ordered != 0 ? "feeds" : "feeds_as_they_come", feeds.op(EngineStep::stop_listening).text("news"));
  }

  add("large_group", large_group());
  add("requests", requests());
  add("full_window", full_window());
  Steps refused;
  add("refused", refused.op(EngineStep::frame).frame(frame_of(write_close, Close{12, "the name is taken"})));
  Steps early;
  add("message_before_welcome",
      early.op(EngineStep::frame).frame(message_frame({4, 9, "#me#alpha", {"news"}, 5, as_bytes("hello")})));
  Steps half;
  add("ends_in_a_frame", welcome(half).op(EngineStep::raw).long_text(std::string("\x20\0\0\x12half", 8)));
}

void add_node_seeds(Seeds& seeds) {
  seeds.push_back({"node", "join_and_send", join_and_send()});
  seeds.push_back({"node", "channels_of_two_clients", channels_of_two_clients()});
  seeds.push_back({"node", "feeds_of_two_clients", feeds_of_two_clients()});
  seeds.push_back({"node", "feeds_with_a_neighbour", feeds_with_a_neighbour()});
  seeds.push_back({"node", "content_of_a_client", content_of_a_client()});
  seeds.push_back({"node", "content_from_a_peer", content_over_a_hop(true)});
  seeds.push_back({"node", "content_to_a_peer", content_over_a_hop(false)});
  seeds.push_back({"node", "content_of_a_mesh", content_of_a_mesh()});
  seeds.push_back({"node", "invited_by_a_stranger", invited_by_a_stranger()});
  seeds.push_back({"node", "asked_by_a_stranger", asked_by_a_stranger()});
  seeds.push_back({"node", "content_over_a_dialled_hop", content_over_a_dialled_hop()});
  seeds.push_back({"node", "datagrams_of_a_neighbour", datagrams_of_a_neighbour()});
  seeds.push_back({"node", "rules_come_and_go", rules_come_and_go()});
  seeds.push_back({"node", "peer_coordinates_a_view", peer_coordinates_a_view()});
  seeds.push_back({"node", "node_coordinates_a_view", node_coordinates_a_view()});
  seeds.push_back({"node", "garbage_on_all_ports", garbage_on_all_ports()});
  seeds.push_back({"node", "admin_requests", admin_requests()});
  seeds.push_back({"node", "imposed_partition", imposed_partition()});
  seeds.push_back({"node", "control_in_parts", control_in_parts()});
  seeds.push_back({"node", "slow_client", slow_client()});
  seeds.push_back({"node", "independent_flows", independent_flows()});
  seeds.push_back({"node", "a_session_resumed", a_session_resumed()});
  seeds.push_back({"node", "a_daemon_that_goes", a_daemon_that_goes()});
  seeds.push_back({"node", "tokens", tokens()});
  seeds.push_back({"node", "smaller_peer_in_a_view", peer_in_a_view(0)});
  seeds.push_back({"node", "larger_peer_in_a_view", peer_in_a_view(1)});
  seeds.push_back({"node", "all_of_a_client", all_of_a_client()});
  seeds.push_back({"node", "one_set_under_several_numbers", one_set_under_several_numbers()});
}

void add_config_seeds(Seeds& seeds) {
  std::string every_key;
  std::string_view section;
  for (const spindled::Key& key : spindled::schema()) {
    // For the neighbour below.
    const bool insecure = key.full_name() == "tls.insecure";
    const std::string value = insecure ? "true" : spindled::default_text(key);
    if (value.empty() || value == "\"\"") continue;
    const bool neighbour = key.section == spindled::kNeighbourSection;
    if (key.section != section) every_key += neighbour ? "[[neighbour]]\n" : fmt::format("[{}]\n", key.section);
    if (neighbour && key.section != section) every_key += "address = \"beta.example:4804\"\n";
    section = key.section;
    every_key += fmt::format("{} = {}\n", key.name, value);
  }
  seeds.push_back({"config", "every_key", every_key});
  seeds.push_back({"config", "empty", ""});
  seeds.push_back({"config", "listen", "[listen]\nclients = [\"[::1]:4803\", \"127.0.0.1:0\"]\nlinks = []\n"});
  seeds.push_back({"config", "exposed",
                   "[listen]\nclients = [\"[::]:4803\"]\nlinks = [\"0.0.0.0:4804\"]\n"
                   "[[neighbour]]\naddress = \"b:1\"\n"});
  seeds.push_back({"config", "protected",
                   "[listen]\nclients = [\"tls:0.0.0.0:4803\"]\nlinks = [\"0.0.0.0:4804\"]\n[tls]\n"
                   "bundle = \"/etc/spindle/a.pem\"\nrevocation_lists = \"/etc/spindle/t.crl\"\n"
                   "[[neighbour]]\naddress = \"b:1\"\n"});
  seeds.push_back({"config", "tokens",
                   "[[token]]\nname = \"web\"\nsha256 = \"" + std::string(64, 'a') + "\"\nuntil = 2027-11-26\n"});
  seeds.push_back({"config", "two_neighbours",
                   "[tls]\ninsecure = true\n[[neighbour]]\naddress = \"192.0.2.1:4804\"\n[[neighbour]]\naddress = "
                   "\"b:1\"\nweight = 7\n"});
  seeds.push_back(
      {"config", "wrong_types", "[daemon]\nname = 7\n[link]\nredial_min_ms = \"soon\"\n[log]\nlevel = 1979-05-27\n"});
  seeds.push_back({"config", "unknown_keys", "name = \"a\"\n[daemon]\nnom = \"a\"\n[deamon]\n"});
  seeds.push_back({"config", "syntax_error", "[daemon\nname = \"a\"\n"});
}

}  // namespace spindle_fuzz
