// Seeds for the decoders of frames and control messages.
#include "daemon/base/check.h"
#include "daemon/bulk/tree_plan.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "libclient/protocol/bulk_requests.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/feed_frames.h"
#include "libclient/protocol/header_block.h"
#include "tests/fuzz/seeds.h"

namespace spindle_fuzz {

namespace {

using namespace spindled;
using Bytes = std::vector<std::uint8_t>;

std::string link_frame(LinkFrame type, const Bytes& body) {
  return one_byte(static_cast<unsigned>(type)) + as_string(body);
}

Bytes body_of(const BodyHead& head, const MemberSet& destinations, std::string_view content) {
  Bytes bytes(body_head_size(head, destinations));
  Writer writer(bytes.data());
  write_body_head(writer, head, destinations);
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

template <typename Frame>
Bytes short_frame(std::size_t (*write)(std::uint8_t*, const Frame&), const Frame& frame) {
  Bytes bytes(kShortFrameBytesMax);
  bytes.resize(write(bytes.data(), frame));
  return bytes;
}

Bytes push_of(const Push& push, const Bytes& body) {
  Bytes bytes(push_size(push));
  Writer writer(bytes.data());
  write_push(writer, push);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

const DaemonId kAlpha{"alpha", 0x1111111111111111};
const ViewId kOldView{4, kAlpha.name, kAlpha.incarnation};
const ViewId kProposal{5, kAlpha.name, kAlpha.incarnation};
const DaemonId kBeta{"beta", 0x2222222222222222};
const DaemonId kGamma{"gamma", 0x3333333333333333};

Commit sample_commit() {
  Commit commit;
  commit.proposal = kProposal;
  commit.members = {kAlpha, kBeta, kGamma};
  commit.edges = {{0, 1, 10, 250}, {1, 2, 20, 900}};
  commit.sequencer = 1;
  commit.transitions = {{kOldView, {{0, {7, 9}}, {1, {7, 8}}}, 3}, {{2, "gamma"}, {{2, {1}}}, 0}};
  return commit;
}

/// The part of a frame that its reader takes: what follows the frame head.
std::string client_body(Bytes frame, std::string_view chunk = {}) {
  const std::string text = as_string(frame).append(chunk);
  return text.substr(3);  // the type stays, in front
}

}  // namespace

void add_link_frame_seeds(Seeds& seeds) {
  const auto add = [&seeds](std::string name, std::string bytes) {
    seeds.push_back({"link_frames", std::move(name), std::move(bytes)});
  };
  const MemberSet three = MemberSet::first(3);
  MemberSet wide = MemberSet::of(2);
  wide.insert(700);
  BodyHead head{1, 42, Service::agreed, MessageClass::client, true, true, 0, 300};
  const Bytes whole = body_of(head, three, "hello");
  add(
      "member_set_wide", one_byte(0) + [&wide] {
        Bytes bytes(wide.encoded_size());
        Writer writer(bytes.data());
        wide.write(writer);
        return as_string(bytes);
      }());
  add("view", link_frame(LinkFrame::view, write_view_id(kOldView)));
  add("data_whole", link_frame(LinkFrame::data, whole));
  head.first = false;
  head.after = 40;
  head.seen = 0;
  head.service = Service::fifo;
  add("data_last_fragment_after", link_frame(LinkFrame::data, body_of(head, wide, "the end")));
  add("data_unreliable", link_frame(LinkFrame::data, body_of({2, 0, Service::unreliable}, three, "")));
  add("data_to_everybody",
      link_frame(LinkFrame::data, body_of({2, 300, Service::agreed}, MemberSet::first(100), "all")));
  add("data_to_one", link_frame(LinkFrame::data, body_of({2, 301, Service::agreed}, MemberSet::of(200), "one")));
  add("acknowledgement", link_frame(LinkFrame::acknowledgement, short_frame(write_acknowledgement, {2, 1u << 20})));
  add("stable", link_frame(LinkFrame::stable, short_frame(write_stable, {1, 77})));
  add("ready_largest", link_frame(LinkFrame::ready, short_frame(write_ready, {0, ~std::uint64_t{0}})));
  add("push", link_frame(LinkFrame::push, push_of({kProposal, kOldView}, whole)));
  add("ping", link_frame(LinkFrame::ping, {1, 2, 3, 4, 5, 6, 7, 8}));
  add("bulk_token", link_frame(LinkFrame::bulk_token, Bytes(kBulkTokenFrameBytes, 7)));
  Bytes plan{0x01, 0x06};
  const Bytes places = write_tree_plan({"alpha", 7, 1}, {1, {{0, 0, {}}, {1, 0, {}}, {2, 1, MemberIndex{0}}}});
  plan.insert(plan.end(), places.begin(), places.end());
  add("bulk_plan", link_frame(LinkFrame::bulk_plan, plan));
  add("bulk_invitation",
      link_frame(LinkFrame::bulk_invitation, {0x01, 0x04, 0x00, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  add("bulk_invitation_asked_for", link_frame(LinkFrame::bulk_invitation, {0x01, 0x01, 0x02}));
  add("datagram", link_frame(LinkFrame::datagram, {9, 2, 0, 'h', 'i', 9, 0, 0}));
  add("price_of_link", link_frame(LinkFrame::price, write_price({4, 1, 700, {}, 1u << 20, level_of(20), 240, {}})));
  add("price_of_clients", link_frame(LinkFrame::price, write_price({4, 2, 0, "#slow#gamma", 1, 0, 400, "slow"})));
  add("close", link_frame(LinkFrame::close, write_link_close({23, "cluster 'a' is not cluster 'b'"})));
}

void add_control_seeds(Seeds& seeds) {
  const auto add = [&seeds](std::string name, const ControlMessage& message) {
    const Bytes bytes = encode_control(message);
    SPINDLE_CHECK(decode_control(bytes).has_value());
    seeds.push_back({"control", std::move(name), as_string(bytes)});
  };
  add("link_hello", LinkHello{kLinkVersionMin, kLinkVersionMax, "spindle", kAlpha, 0x0123456789abcdef});
  add("link_hello_datagrams", LinkHello{1, 1, "spindle", kAlpha, 7, std::nullopt, {4804, 1400, 0x0706050403020100}});
  add("link_state", LinkState{kBeta, 12, {{"alpha", kAlpha.incarnation, 10, 250, 1'000'000}, {"gamma", 5, 1, 0, 0}}});
  add("link_state_alone", LinkState{kGamma, 1, {}, true});
  add("link_state_summary", LinkStateSummary{{{kAlpha, 3}, {kBeta, 12}}});
  add("link_state_answer", LinkStateSummary{{}, true});
  add("propose", Propose{kProposal, {kAlpha, kBeta, kGamma}});
  add("member_state", MemberState{kProposal, kBeta, kOldView, {7, 8}, 3, 4, 1, 6});
  add("refuse", Refuse{kProposal, kGamma, 6});
  add("commit", sample_commit());
  add("done", Done{kProposal, kAlpha, {{1, 2}, {2, 1}}});
  add("counts", Counts{kProposal, {0, 2, 1}});
  add("received", Received{kProposal, kAlpha});
  add("install", Install{kProposal});
  const PartitionOrder partition{{3, kBeta}, {{"alpha", "beta"}, {"gamma"}}, 60s};
  add("partition_order", partition);
  add("partition_healed", PartitionOrder{{4, kGamma}, {}, 0s});
  add("link_hello_partition", LinkHello{kLinkVersionMin, kLinkVersionMax, "spindle", kAlpha, 7, partition});
}

void add_client_frame_seeds(Seeds& seeds) {
  using namespace spindle;
  using namespace spindle::protocol;
  const auto add = [&seeds](std::string name, std::string bytes) {
    seeds.push_back({"client_frames", std::move(name), std::move(bytes)});
  };
  const auto frame = [](const auto& write, const auto&... values) {
    Bytes bytes;
    write(bytes, values...);
    return client_body(bytes);
  };
  const auto chunked = [](const auto& value, std::size_t size, const auto& write) {
    Bytes bytes(size);
    Writer writer(bytes.data());
    write(writer, value);
    return client_body(bytes, as_text(value.chunk));
  };
  add("hello", frame(write_hello, Hello{1, 1, 0, "worker"}));
  add("hello_token", frame(write_hello, Hello{1, 1, kTellTakenBit, "worker", "spindle-token-7"}));
  add("hello_resume", frame(write_hello, Hello{1, 1, 0, "worker", {}, true, Resume{{7, {1, 2, 3}}, 300}, 5000}));
  add("hello_moves", frame(write_hello, Hello{1, 1, 0, "worker", {}, false, {}, 5000, true}));
  add("hello_independent", frame(write_hello, Hello{1, 1, kIndependentFlowsBit | 2 << kSlowPolicyShift, "worker"}));
  add("define_two", frame(write_define, Define{7, {"prices", "#worker#alpha"}}));
  add("define_none", frame(write_define, Define{7, {}}));
  const Send send{7, 4, true, 99, 5, as_bytes("hello")};
  add("send", chunked(send, send_head_size(send), write_send_head));
  std::vector<std::uint8_t> with_headers;
  write_header_block(with_headers, {kRequestKey, "12345678"}, {{"colour", "blue"}, {"empty", ""}});
  Send described = send;
  described.total = static_cast<std::uint32_t>(with_headers.size());
  described.chunk = with_headers;
  described.has_headers = true;
  add("send_headers", chunked(described, send_head_size(described), write_send_head));
  add("join", frame(write_group_request, ClientFrame::join, GroupRequest{1, "prices"}));
  add("join_synchronous", frame(write_group_request, ClientFrame::join, GroupRequest{5, "state", kSynchronousBit}));
  add("flush_ok", frame(write_flush, ClientFrame::flush_ok, Flush{3, "state"}));
  add("flush_request", frame(write_flush, ClientFrame::flush_request, Flush{3, "state"}));
  add("leave", frame(write_group_request, ClientFrame::leave, GroupRequest{2, "prices"}));
  add("view_request", frame(write_group_request, ClientFrame::view_request, GroupRequest{3, "prices"}));
  add("flow_request", frame(write_flow_request, FlowRequest{4, 7}));
  add("confirm", frame(write_confirm, std::uint32_t{5}));
  add("confirmed", frame(write_confirmed, Confirmed{5, 300}));
  add("going", frame(write_going, std::uint32_t{2000}));
  add("ping", frame(write_ping, ClientFrame::ping, std::uint64_t{42}));
  add("welcome", frame(write_welcome, Welcome{1, "#worker#alpha"}));
  add("welcome_resumed", frame(write_welcome, Welcome{1, "#worker#alpha", Resumable{{7, {1, 2, 3}}, 5000}, 300}));
  add("close", frame(write_close, Close{18, "the client did not read its messages in time"}));
  const MessageHead message{4, 99, "#worker#alpha", {"prices", "news"}, 7, as_bytes("payload")};
  MessageHead placed = message;
  placed.place = {1000, 3};
  add("message_placed", chunked(placed, message_head_size(placed), write_message_head));
  placed.total = described.total;
  placed.chunk = with_headers;
  placed.has_headers = true;
  add("message_headers", chunked(placed, message_head_size(placed), write_message_head));
  add("order_view", frame(write_order_view, spindle::GroupViewId{300, "alpha", 7, 12}));
  add("message", chunked(message, message_head_size(message), write_message_head));
  GroupViewFrame view{"prices", {5, "alpha", 3, 17}, ViewCause::network, ViewForm::full, 0, 0x0123456789abcdef};
  view.joined = {"#b#beta"};
  view.left = {"#c#gamma"};
  view.apart = {"#d#delta"};
  view.members = {"#a#alpha", "#b#beta", "#d#delta"};
  add("view_network", frame(write_view, view));
  view.synchronous = true;
  add("view_synchronous", frame(write_view, view));
  view.synchronous = false;
  view.form = ViewForm::change;
  view.member_count = 1000;
  add("view_change", frame(write_view, view));
  view.form = ViewForm::answer;
  view.joined = view.left = view.apart = {};
  add("view_answer", frame(write_view, view));
  GroupViewFrame farewell{"prices", {5, "alpha", 3, 18}, ViewCause::leave, ViewForm::farewell};
  farewell.left = {"#a#alpha"};
  add("view_farewell", frame(write_view, farewell));
  add("transitional", frame(write_transitional, std::string_view("prices")));
  add("reply", frame(write_reply, Reply{2, 21}));
  add("admitted", frame(write_admitted, Admitted{7, 16'500}));
  add("flow", frame(write_flow_report, FlowReport{4, 3250, -500, 50'000, 87'500, 40, "link alpha-beta"}));
  add("gap", frame(write_gap, Gap{300, 300'000, {{"prices", 299}, {"#worker#alpha", 2}}, 0}));
  add("gap_unlisted", frame(write_gap, Gap{2, 0, {}, 2}));
  add("warning", frame(write_warning, Warning{80, 3'400'000, 4'194'304}));
  add("private_name", one_byte(0) + "#worker#alpha");
  add("hello_channels", frame(write_hello, Hello{.name = "worker", .wants_channels = true}));
  const BulkChannelId channel{"alpha", 7, 3};
  ContentTerms terms;
  terms.name = "map";
  terms.layout = *ContentLayout::of(100'000);
  const auto request = [&](std::string name, const BulkRequest& asked) { add(name, frame(write_bulk_request, asked)); };
  request("bulk_offer", BulkOffer{1, "prices", terms});
  request("bulk_seal", BulkSeal{2, channel, 100'000, {}});
  request("bulk_outcome", BulkOutcomeSaid{3, channel, BulkOutcome::failed, 30});
  request("bulk_cancel", BulkCancel{4, channel});
  request("bulk_set_rate", BulkSetRate{5, channel, 1'000'000});
  request("bulk_token_request", BulkTokenRequest{6});
  const auto news = [&](std::string name, const BulkNews& told) { add(name, frame(write_bulk_news, told)); };
  BulkOffered offered{channel, 1, true, false, "prices", "#worker#alpha", terms, {}};
  news("bulk_offered", offered);
  offered.root.emplace();
  news("bulk_offered_sealed", offered);
  news("bulk_sealed", BulkSealed{channel, 100'000, {}});
  news("bulk_complete",
       BulkComplete{channel, {300, "alpha", 7, 12}, {"#a#alpha"}, {{"#b#beta", 30}}, {"#c#gamma"}, {3, 1, 0, 2}});
  news("bulk_ended", BulkEnded{channel, BulkEnd::over});
  news("bulk_token", BulkToken{6, 9, {}});
  news("bulk_returned", BulkReturned{channel, {1, 0, 0, 2}, 1});
  add("feed_open", frame(write_feed_open, FeedOpen{7, "prices", 200'000, 0}));
  add("feed_send", frame(write_feed_send, FeedSend{3, as_bytes("hello")}));
  add("feed_close", frame(write_feed_close, FeedClose{3}));
  add("listen", frame(write_listen, ClientFrame::listen, GroupRequest{8, "prices"}));
  const auto of_feed = [&](std::string name, const FeedNews& told) { add(name, frame(write_feed_news, told)); };
  of_feed("feed_ready", FeedReady{7, 3, 20'000});
  of_feed("feed_room", FeedRoom{3, 1200});
  of_feed("feed_flow", FeedFlow{3, 1'250'000, 40'000, 655, FeedLimit::link});
  of_feed("feed_opened", FeedOpened{3, 200'000, "prices", "#worker#alpha"});
  of_feed("feed_packet", FeedPacket{3, 300, FeedPacket::kFirst, as_bytes("hello")});
  of_feed("feed_gap", FeedGap{3, 301, 4, FeedGapCause::slow});
  of_feed("feed_end", FeedEnded{3, FeedEnd::lost});
}

}  // namespace spindle_fuzz
