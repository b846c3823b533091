// The administration port of a whole daemon: what it answers, and what it does with those who misbehave.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "daemon/admin/admin.pb.h"
#include "daemon/admin/admin_frames.h"
#include "daemon/admin/report.h"
#include "daemon/node/node.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/support/payload_frames.h"

namespace spindled {
namespace {

namespace proto = spindle::admin;
namespace protocol = spindle::protocol;

/// A daemon alone, whose connections are strings.
class AdminTest : public testing::Test, public Driver, public LogSink {
 protected:
  struct Connection {
    std::string written;
    std::size_t room = SIZE_MAX;  // bytes that `write` takes
    bool reading = true;
    bool closed = false;
  };

  AdminTest() {
    config_.name = "alpha";
    config_.incarnation = 0xabc;
    config_.admin.owner = "uid:500";
    config_.admin.operators = {"gid:27"};
    config_.admin.viewers = {"uid:33"};
    node_ = std::make_unique<Node>(config_, *this, *this, 1);
    node_->start(now_);
    node_->end_turn(now_);
  }

  // Driver
  ConnectionId dial(std::string_view) override { return ConnectionId{++last_}; }
  std::size_t write(ConnectionId id, std::span<const ByteView> buffers) override {
    Connection& connection = connections_[id];
    std::size_t taken = 0;
    for (const ByteView buffer : buffers) {
      const std::size_t part = std::min(buffer.size(), connection.room - taken);
      connection.written += spindle::as_text(buffer.first(part));
      taken += part;
    }
    if (connection.room != SIZE_MAX) connection.room -= taken;
    return taken;
  }
  void close(ConnectionId id) override { connections_[id].closed = true; }
  void set_reading(ConnectionId id, bool on) override { connections_[id].reading = on; }
  void wake_at(Time deadline) override { wake_at_ = deadline; }

  // LogSink
  bool wants(LogLevel) const override { return true; }
  void write(LogLevel, std::string_view room, std::string_view line) override {
    if (room == "audit") audit_.emplace_back(line);
  }

  ConnectionId open(Port port = Port::admin) {
    const ConnectionId id{++last_};
    connections_[id];
    node_->handle_accepted(now_, id, port, Peer("test", identities_));
    node_->end_turn(now_);
    return id;
  }
  void send(ConnectionId id, std::string_view bytes) {
    while (!bytes.empty() && !connections_[id].closed) {
      const std::span<std::uint8_t> space = node_->read_space(id);
      const std::size_t part = std::min(space.size(), bytes.size());
      std::copy_n(bytes.begin(), part, space.begin());
      node_->handle_read(now_, id, part);
      bytes.remove_prefix(part);
    }
    node_->end_turn(now_);
  }
  /// Moves the clock, calling the daemon as often as it asks for.
  void pass(Duration duration) {
    const Time until = now_ + duration;
    while (wake_at_ <= until) {
      now_ = std::max(now_, wake_at_);
      wake_at_ = kNever;
      node_->handle_time(now_);
      node_->end_turn(now_);
    }
    now_ = until;
  }

  static std::string frame(AdminFrame type, std::string_view body) {
    std::string bytes(spindle::kFrameHeadBytes, '\0');
    spindle::Writer writer(reinterpret_cast<std::uint8_t*>(bytes.data()));
    spindle::write_frame_head(writer, static_cast<std::uint8_t>(type), body.size());
    return bytes.append(body);
  }
  static std::string request(const proto::Request& message) {
    return frame(AdminFrame::request, message.SerializeAsString());
  }
  static std::string status_request() {
    proto::Request message;
    message.mutable_status();
    return request(message);
  }
  /// Takes the next frame that was written.
  std::pair<AdminFrame, std::string> take_frame(ConnectionId id) {
    std::string& written = connections_[id].written;
    const auto head = spindle::read_frame_head(spindle::as_bytes(written));
    if (!head || written.size() < spindle::kFrameHeadBytes + head->length) return {};
    std::pair<AdminFrame, std::string> result{static_cast<AdminFrame>(head->type),
                                              written.substr(spindle::kFrameHeadBytes, head->length)};
    written.erase(0, spindle::kFrameHeadBytes + head->length);
    return result;
  }
  proto::Reply take_reply(ConnectionId id) {
    const auto [type, body] = take_frame(id);
    EXPECT_EQ(type, AdminFrame::reply);
    proto::Reply reply;
    EXPECT_TRUE(reply.ParseFromString(body));
    return reply;
  }
  proto::Reply ask(const proto::Request& message) {
    const ConnectionId id = open();
    send(id, request(message));
    proto::Reply reply = take_reply(id);
    node_->handle_closed(now_, id, "end of stream");
    node_->end_turn(now_);
    return reply;
  }
  /// The connection was closed with this code.
  void expect_error(ConnectionId id, Errc code) {
    const auto [type, body] = take_frame(id);
    EXPECT_EQ(type, AdminFrame::error);
    spindle::Reader reader(spindle::as_bytes(body));
    EXPECT_EQ(static_cast<Errc>(reader.u16()), code);
    EXPECT_GT(reader.remaining(), 0u);
    EXPECT_TRUE(reader.ok());
    EXPECT_TRUE(connections_[id].closed);
  }
  std::uint64_t value(Counter counter) const { return node_->counters().value(counter); }

  /// A client that has joined `groups`.
  ConnectionId open_client(const std::string& name, const std::vector<std::string>& groups) {
    const ConnectionId id = open(Port::client);
    std::vector<std::uint8_t> bytes;
    protocol::Hello hello;
    hello.name = name;
    protocol::write_hello(bytes, hello);
    std::uint32_t number = 0;
    for (const std::string& group : groups) {
      protocol::write_group_request(bytes, protocol::ClientFrame::join, {++number, group});
    }
    send(id, spindle::as_text(bytes));
    pass(1s);
    return id;
  }

  void send_message(ConnectionId client, std::uint32_t handle) {
    std::vector<std::uint8_t> bytes;
    spindle::test::append_agreed_message(bytes, handle, spindle::as_bytes("hi"));
    send(client, spindle::as_text(bytes));
  }

  NodeConfig config_;
  Time now_ = Time(100s);
  Time wake_at_ = kNever;
  std::uint64_t last_ = 0;
  std::vector<std::string> identities_{"uid:0"};  // of who connects
  std::vector<std::string> audit_;
  std::map<ConnectionId, Connection> connections_;
  std::unique_ptr<Node> node_;
};

TEST_F(AdminTest, StatusTellsTheDaemonAndItsView) {
  pass(5s);
  proto::Request message;
  message.mutable_status();
  const proto::Reply reply = ask(message);
  const proto::StatusReply& status = reply.status();
  EXPECT_EQ(status.name(), "alpha");
  EXPECT_EQ(status.incarnation(), "0000000000000abc");
  EXPECT_EQ(status.cluster(), "spindle");
  EXPECT_FALSE(status.version().empty());
  EXPECT_DOUBLE_EQ(status.uptime_seconds(), 5);
  EXPECT_TRUE(status.settled());
  EXPECT_EQ(status.phase(), "steady");
  ASSERT_EQ(status.view().members_size(), 1);
  EXPECT_EQ(status.view().members(0), "alpha");
  EXPECT_EQ(status.view().sequencer(), "alpha");
  EXPECT_EQ(status.known_daemons(), 1u);
  EXPECT_EQ(value(Counter::admin_requests), 1u);
}

TEST_F(AdminTest, GroupsAndSessionsAreListed) {
  open_client("one", {"news", "a"});
  open_client("two", {"news"});
  proto::Request message;
  message.mutable_groups()->set_members(true);
  const proto::GroupsReply groups = ask(message).groups();
  ASSERT_EQ(groups.groups_size(), 2);
  EXPECT_EQ(groups.groups(0).name(), "a");
  EXPECT_EQ(groups.groups(1).name(), "news");
  EXPECT_EQ(groups.groups(1).member_count(), 2u);
  ASSERT_EQ(groups.groups(1).members_size(), 2);
  EXPECT_EQ(groups.groups(1).members(0), "#one#alpha");
  EXPECT_EQ(groups.groups(1).members(1), "#two#alpha");
  EXPECT_EQ(groups.groups(1).daemons(0), "alpha");

  message.mutable_sessions();
  const proto::SessionsReply sessions = ask(message).sessions();
  ASSERT_EQ(sessions.sessions_size(), 2);
  EXPECT_EQ(sessions.sessions(0).name(), "one");
  EXPECT_EQ(sessions.sessions(0).groups(), 2u);
  EXPECT_EQ(sessions.sessions(1).groups(), 1u);
  EXPECT_EQ(sessions.sessions(0).state(), "open");
  EXPECT_GT(sessions.sessions(0).bytes_in(), 0u);
}

TEST_F(AdminTest, FlowsThatHaveSentAreListed) {
  for (const char* name : {"one", "two", "three"}) {
    const ConnectionId client = open_client(name, {"news"});
    std::vector<std::uint8_t> bytes;
    protocol::write_define(bytes, {0, {"news", "a\nb"}});
    protocol::write_define(bytes, {1, {"never-used"}});
    send(client, spindle::as_text(bytes));
    if (name != std::string("two")) send_message(client, 0);
  }
  proto::Request message;
  message.mutable_flow();
  const proto::FlowReply reply = ask(message).flow();
  EXPECT_TRUE(reply.enabled());
  EXPECT_EQ(reply.links_size(), 0);
  EXPECT_EQ(reply.total(), 2u) << "of six sets of destinations two have been sent to";
  ASSERT_EQ(reply.flows_size(), 2);
  EXPECT_EQ(reply.flows(0).client(), "one");
  EXPECT_EQ(reply.flows(1).client(), "three");
  ASSERT_EQ(reply.flows(0).to_size(), 2);
  EXPECT_EQ(reply.flows(0).to(1), "a\\x0ab");
  EXPECT_EQ(reply.flows(0).packets(), 1u);
  EXPECT_EQ(reply.flows(0).price(), 0) << "all members are here";
  EXPECT_EQ(reply.flows(0).dollars(), 0);
  EXPECT_FALSE(reply.flows(0).blocked());

  message.mutable_flow()->set_limit(1);
  const proto::FlowReply first = ask(message).flow();
  ASSERT_EQ(first.flows_size(), 1);
  EXPECT_EQ(first.flows(0).client(), "one");
  EXPECT_TRUE(first.truncated());
  EXPECT_EQ(first.total(), 2u);
}

TEST_F(AdminTest, OneSetOfDestinationsIsOneFlowHoweverItIsNamed) {
  const ConnectionId client = open_client("one", {"news"});
  std::vector<std::uint8_t> bytes;
  protocol::write_define(bytes, {0, {"news", "sport"}});
  protocol::write_define(bytes, {1, {"sport", "news"}});
  protocol::write_define(bytes, {2, {"sport", "news", "sport"}});
  send(client, spindle::as_text(bytes));
  for (const std::uint32_t handle : {1u, 2u, 1u}) send_message(client, handle);
  proto::Request message;
  message.mutable_flow();
  const proto::FlowReply reply = ask(message).flow();
  ASSERT_EQ(reply.flows_size(), 1);
  EXPECT_EQ(reply.total(), 1u);
  EXPECT_EQ(reply.flows(0).packets(), 3u);
  ASSERT_EQ(reply.flows(0).to_size(), 2);
  EXPECT_EQ(reply.flows(0).to(0), "sport");
}

TEST_F(AdminTest, ManyDestinationsAreShownInPart) {
  const ConnectionId client = open_client("one", {});
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("g" + std::to_string(i));
  const protocol::Define define{0, {names.begin(), names.end()}};
  std::vector<std::uint8_t> bytes;
  protocol::write_define(bytes, define);
  send(client, spindle::as_text(bytes));
  send_message(client, 0);
  proto::Request message;
  message.mutable_flow();
  const proto::FlowReply reply = ask(message).flow();
  ASSERT_EQ(reply.flows_size(), 1);
  EXPECT_EQ(reply.flows(0).to_count(), 100u);
  EXPECT_GT(reply.flows(0).to_size(), 0);
  EXPECT_LT(reply.flows(0).to_size(), 20);
}

TEST_F(AdminTest, PagesContinueWhereTheLastOneEnded) {
  std::vector<std::string> names;
  for (int i = 10; i < 35; ++i) names.push_back("g" + std::to_string(i));
  names.emplace_back("not text \xff\n\\");
  open_client("one", names);
  std::vector<std::string> seen;
  std::string after;
  for (bool more = true; more;) {
    proto::Request message;
    message.mutable_groups()->set_limit(10);
    message.mutable_groups()->set_after(after);
    const proto::GroupsReply page = ask(message).groups();
    EXPECT_EQ(page.total(), 26u);
    EXPECT_LE(page.groups_size(), 10);
    for (const proto::Group& group : page.groups()) seen.push_back(group.name());
    after = page.last();
    more = page.truncated();
  }
  names.back() = "not text \\xff\\x0a\\x5c";
  EXPECT_EQ(seen, names);

  proto::Request one;
  one.mutable_groups()->set_name("not text \xff\n\\");
  EXPECT_EQ(ask(one).groups().groups_size(), 1);
  one.mutable_groups()->set_name("no such group");
  EXPECT_EQ(ask(one).groups().groups_size(), 0);
}

TEST_F(AdminTest, LinksRoutesAndCountersAreAnswered) {
  proto::Request message;
  message.mutable_links();
  EXPECT_TRUE(ask(message).has_links());
  message.mutable_routes();
  const proto::RoutesReply routes = ask(message).routes();
  ASSERT_EQ(routes.routes_size(), 1);
  EXPECT_TRUE(routes.routes(0).next_hop().empty());
  EXPECT_TRUE(routes.routes(0).usable());
  message.mutable_counters();
  const proto::CountersReply counters = ask(message).counters();
  EXPECT_EQ(static_cast<std::size_t>(counters.counters_size()), kCounterCount);
  const auto requests = std::find_if(counters.counters().begin(), counters.counters().end(),
                                     [](const proto::Counter& counter) { return counter.name() == "admin_requests"; });
  ASSERT_NE(requests, counters.counters().end());
  EXPECT_EQ(requests->value(), 2u);
}

TEST_F(AdminTest, RequestsInOnePieceOrManyAreAnsweredInTurn) {
  const ConnectionId id = open();
  send(id, status_request() + status_request());
  pass(0s);
  EXPECT_TRUE(take_reply(id).has_status());
  EXPECT_TRUE(take_reply(id).has_status());
  for (const char byte : status_request()) send(id, std::string_view(&byte, 1));
  EXPECT_TRUE(take_reply(id).has_status());
  EXPECT_FALSE(connections_[id].closed);
}

TEST_F(AdminTest, ATurnAnswersOneRequestWhoeverAsks) {
  const ConnectionId flood = open();
  const ConnectionId other = open();
  std::string many;
  for (int i = 0; i < 1000; ++i) many += status_request();
  send(flood, many);
  EXPECT_EQ(value(Counter::admin_requests), 1u);
  EXPECT_FALSE(connections_[flood].reading) << "what was read is answered first";
  EXPECT_LE(wake_at_, now_) << "the next turn is at once";
  send(other, status_request() + status_request().substr(0, 3));
  EXPECT_EQ(value(Counter::admin_requests), 2u);
  send(other, "");
  EXPECT_TRUE(take_reply(other).has_status()) << "nobody is behind more than one request of each other";
  EXPECT_EQ(value(Counter::admin_requests), 3u);
  EXPECT_TRUE(connections_[other].reading);
  pass(0s);
  EXPECT_EQ(value(Counter::admin_requests), 1001u);
  EXPECT_TRUE(connections_[flood].reading);
  send(other, status_request().substr(3));
  EXPECT_TRUE(take_reply(other).has_status());
}

TEST_F(AdminTest, WhoWaitsForItsTurnIsNotHeldToItsTime) {
  const ConnectionId flood = open(), other = open();
  for (const ConnectionId each : {flood, other}) {
    const std::string bytes = status_request();
    std::copy(bytes.begin(), bytes.end(), node_->read_space(each).begin());
    node_->handle_read(now_, each, bytes.size());
  }
  now_ += 5s;
  node_->end_turn(now_);
  EXPECT_EQ(value(Counter::admin_requests), 1u);
  now_ += 6s;  // the turn has taken as long
  node_->handle_time(now_);
  node_->end_turn(now_);
  EXPECT_EQ(value(Counter::admin_requests), 2u);
  EXPECT_FALSE(connections_[other].closed);
}

TEST_F(AdminTest, WhoWaitsForItsTurnMayGo) {
  const ConnectionId flood = open();
  send(flood, status_request() + status_request());
  const ConnectionId other = open();
  send(flood, "");
  node_->handle_closed(now_, flood, "end of stream");
  node_->end_turn(now_);
  pass(0s);
  send(other, status_request());
  EXPECT_TRUE(take_reply(other).has_status());
}

TEST_F(AdminTest, GarbageClosesOnlyItsConnection) {
  const ConnectionId good = open();
  const ConnectionId wrong_type = open();
  send(wrong_type, "GET / HTTP/1.0\r\n\r\n");
  expect_error(wrong_type, Errc::unexpected_frame);
  const ConnectionId malformed = open();
  send(malformed, frame(AdminFrame::request, "\xff\xff\xff"));
  expect_error(malformed, Errc::malformed_frame);
  const ConnectionId too_large = open();
  send(too_large, frame(AdminFrame::request, std::string(kAdminRequestBytesMax + 1, 'x')).substr(0, 100));
  expect_error(too_large, Errc::frame_too_large);
  const ConnectionId unknown = open();
  send(unknown, frame(AdminFrame::request, ""));
  expect_error(unknown, Errc::unknown_request);
  EXPECT_EQ(value(Counter::admin_frames_bad), 4u);
  send(good, status_request());
  EXPECT_TRUE(take_reply(good).has_status());
}

TEST_F(AdminTest, SilenceAndHalfRequestsTimeOut) {
  const ConnectionId silent = open();
  const ConnectionId half = open();
  send(half, status_request().substr(0, 3));
  pass(kAdminPatience - 1ms);
  send(half, status_request().substr(3, 1));  // a byte now and then gains no time
  EXPECT_FALSE(connections_[silent].closed);
  EXPECT_FALSE(connections_[half].closed);
  pass(1ms);
  expect_error(silent, Errc::timed_out);
  expect_error(half, Errc::timed_out);
}

TEST_F(AdminTest, ItMayIdleBetweenRequests) {
  const ConnectionId id = open();
  send(id, status_request());
  take_reply(id);
  pass(kAdminIdle - 1ms);
  send(id, status_request());
  EXPECT_TRUE(take_reply(id).has_status());
  pass(kAdminIdle - 1ms);
  send(id, "\x01");
  pass(kAdminPatience - 1ms);
  EXPECT_FALSE(connections_[id].closed);
  pass(1ms);
  expect_error(id, Errc::timed_out);
}

TEST_F(AdminTest, WhoDoesNotReadIsAskedNothingMoreAndClosed) {
  const ConnectionId id = open();
  connections_[id].room = 5;
  send(id, status_request() + status_request());
  EXPECT_FALSE(connections_[id].reading);
  EXPECT_EQ(value(Counter::admin_requests), 1u);
  connections_[id].room = SIZE_MAX;
  node_->handle_writable(now_, id);
  node_->end_turn(now_);
  EXPECT_TRUE(take_reply(id).has_status());
  EXPECT_TRUE(take_reply(id).has_status());
  EXPECT_TRUE(connections_[id].reading);

  connections_[id].room = 5;
  send(id, status_request());
  pass(kAdminPatience);
  EXPECT_TRUE(connections_[id].closed);
  EXPECT_EQ(connections_[id].written.size(), 5u);  // no last word in the middle of a reply
}

TEST_F(AdminTest, ConnectionsAreBounded) {
  std::vector<ConnectionId> held;
  for (std::size_t i = 0; i < kAdminConnectionsMax; ++i) held.push_back(open());
  const ConnectionId refused = open();
  expect_error(refused, Errc::limit_exceeded);
  node_->handle_closed(now_, held.front(), "end of stream");
  node_->end_turn(now_);
  const ConnectionId welcome = open();
  send(welcome, status_request());
  EXPECT_TRUE(take_reply(welcome).has_status());
}

TEST_F(AdminTest, StoppingSaysWhy) {
  const ConnectionId id = open();
  node_->stop(now_);
  node_->end_turn(now_);
  expect_error(id, Errc::daemon_stopping);
}

TEST_F(AdminTest, WhoMayLookAndWhoMayChange) {
  proto::Request change;
  change.mutable_admission()->set_enabled(false);
  const auto connect_as = [&](std::vector<std::string> identities) {
    identities_ = std::move(identities);
    return open();
  };
  for (const std::vector<std::string>& stranger :
       {std::vector<std::string>{}, {"uid:1000", "gid:1000"}, {"cert:anna"}, {"local"}}) {
    expect_error(connect_as(stranger), Errc::access_denied);
  }
  const ConnectionId viewer = connect_as({"uid:33", "gid:33"});
  send(viewer, status_request());
  EXPECT_EQ(take_reply(viewer).status().name(), "alpha");
  send(viewer, request(change));
  expect_error(viewer, Errc::access_denied);
  EXPECT_TRUE(audit_.empty());
  for (const std::vector<std::string>& may_operate :
       {std::vector<std::string>{"uid:0"}, {"uid:500", "gid:500"}, {"uid:1001", "gid:1001", "gid:27"}}) {
    const ConnectionId one = connect_as(may_operate);
    change.mutable_admission()->set_enabled(!change.admission().enabled());
    send(one, request(change));
    EXPECT_TRUE(take_reply(one).has_admission());
  }
  ASSERT_EQ(audit_.size(), 3u);
  EXPECT_EQ(audit_[0], "uid:0 from test switches admission on");
  EXPECT_EQ(audit_[1], "uid:500 from test switches admission off");
}

TEST_F(AdminTest, ListsThatChangeHoldForWhoIsConnected) {
  identities_ = {"operator:vera"};
  NodeConfig config = config_;
  config.admin.viewers = {"operator:v*"};
  node_->reconfigure(now_, config);
  const ConnectionId viewer = open();
  send(viewer, status_request());
  EXPECT_EQ(take_reply(viewer).status().name(), "alpha");
  node_->reconfigure(now_, config_);
  send(viewer, status_request());
  expect_error(viewer, Errc::access_denied);
}

TEST_F(AdminTest, ChangesAreLoggedWithWhoMadeThem) {
  proto::Request message;
  message.mutable_partition()->add_sides()->add_daemons("alpha");
  message.mutable_partition()->mutable_sides(0)->add_daemons("be\nta");
  message.mutable_partition()->add_sides()->add_daemons("gamma");
  const ConnectionId one = open();
  send(one, request(message));
  message.Clear();
  message.mutable_heal();
  const ConnectionId other = open();
  send(other, request(message));
  for (const std::string& line : audit_) EXPECT_EQ(line.find('\n'), std::string::npos);
  ASSERT_FALSE(audit_.empty());
  EXPECT_EQ(audit_.back(), "uid:0 from test ends the partition");
}

}  // namespace
}  // namespace spindled
