// Clients of a whole daemon that is alone in its view, frame by frame.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/node/node.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/support/node_input.h"
#include "tests/support/payload_frames.h"

namespace spindled::test {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;

inline std::vector<std::uint8_t> frame_of(ClientFrame type, const std::vector<std::uint8_t>& body) {
  std::vector<std::uint8_t> frame(spindle::kFrameHeadBytes + body.size());
  spindle::Writer writer(frame.data());
  spindle::write_frame_head(writer, static_cast<std::uint8_t>(type), body.size());
  writer.bytes(body);
  return frame;
}

/// Connections that take what is written, or nothing.
class SessionsDriver final : public Driver, public LogSink {
 public:
  // Driver
  ConnectionId dial(std::string_view) override { return ConnectionId{0}; }
  std::size_t write(ConnectionId connection, std::span<const ByteView> buffers) override {
    if (deaf || deaf_to == connection) return 0;
    std::size_t taken = 0;
    for (const ByteView& buffer : buffers) {
      written[connection].append(spindle::as_text(buffer));
      taken += buffer.size();
    }
    return taken;
  }
  void close(ConnectionId connection) override { closed.insert(connection); }
  void set_reading(ConnectionId connection, bool on) override {
    if (on) {
      unread.erase(connection);
    } else {
      unread.insert(connection);
    }
  }
  Result<std::string> identify(ConnectionId, std::string_view token) override {
    const auto found = tokens.find(token);
    return found == tokens.end() ? fail(Errc::token_unknown) : found->second;
  }
  std::optional<Secret> draw_secret() override { return Secret{++secrets_drawn}; }
  void wake_at(Time deadline) override { wakes_at = deadline; }

  // LogSink
  bool wants(LogLevel) const override { return true; }
  void write(LogLevel, std::string_view, std::string_view line) override { log.emplace_back(line); }

  bool deaf = false;                                               // whoever connects reads nothing
  std::optional<ConnectionId> deaf_to;                             // or this one
  std::map<std::string, Result<std::string>, std::less<>> tokens;  // what they prove, or why they do not
  std::uint8_t secrets_drawn = 0;
  Time wakes_at = kNever;
  std::map<ConnectionId, std::string> written;
  std::set<ConnectionId> closed;
  std::set<ConnectionId> unread;  // nothing is to be read of them
  std::vector<std::string> log;
};

class SessionsTest : public testing::Test {
 protected:
  static constexpr std::size_t kSessionsMax = 3;

  static NodeConfig config() {
    NodeConfig config;
    config.name = "alpha";
    config.incarnation = 1;
    config.session.sessions_max = kSessionsMax;
    config.session.queue_full_price_bytes = 16u << 10;
    config.session.queue_hard_bytes = 256u << 10;
    return config;
  }
  explicit SessionsTest(const NodeConfig& of_node = config()) : node_{of_node, driver_, driver_, 1} {
    node_.start(now_);
    node_.end_turn(now_);
  }
  void turn() {
    now_ += 10ms;
    node_.handle_time(now_);
    node_.end_turn(now_);
  }
  void settle() {
    for (int i = 0; i < 1000 && !node_.is_settled(); ++i) turn();
    ASSERT_TRUE(node_.is_settled());
  }
  ConnectionId accept(std::vector<std::string> identities = {}) {
    return accept(Peer("a client", std::move(identities)));
  }
  ConnectionId accept(const Peer& peer) {
    const ConnectionId connection{++last_};
    node_.handle_accepted(now_, connection, Port::client, peer);
    return connection;
  }
  /// A `send`, and what it takes of `send_more`, whose bytes are those of its type.
  static void write_typed(std::vector<std::uint8_t>& out, std::uint16_t type, std::size_t bytes,
                          spindle::Service service = spindle::Service::agreed, std::uint32_t handle = 0,
                          bool self_discard = false) {
    const std::vector<std::uint8_t> payload(bytes, static_cast<std::uint8_t>(type));
    ByteView left = payload;
    const auto next_chunk = [&left] {
      const ByteView chunk = left.first(std::min(left.size(), spindle::kChunkBytesMax));
      left = left.subspan(chunk.size());
      return chunk;
    };
    spindle::test::append_send_frame(out, {handle, static_cast<std::uint8_t>(service), self_discard, type,
                                           static_cast<std::uint32_t>(bytes), next_chunk()});
    while (!left.empty()) {
      const ByteView chunk = next_chunk();
      const std::vector<std::uint8_t> more = frame_of(ClientFrame::send_more, {chunk.begin(), chunk.end()});
      out.insert(out.end(), more.begin(), more.end());
    }
  }
  void read(ConnectionId connection, ByteView bytes) { arrive(node_, now_, connection, bytes); }
  static void write_message(std::vector<std::uint8_t>& out, std::size_t bytes) { write_typed(out, 0, bytes); }
  /// A client that has joined "news", which is its destination set 0, at a daemon that has a view.
  ConnectionId open_member(std::string_view name = "ann") {
    settle();
    const ConnectionId connection = accept();
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = name});
    protocol::write_define(frames, {0, {"news"}});
    protocol::write_group_request(frames, ClientFrame::join, {1, "news"});
    read(connection, frames);
    for (int i = 0; i < 3; ++i) turn();
    return connection;
  }
  /// A client with these identities, whose destination set 0 is "news". Where it has a token nobody can read it.
  ConnectionId open(std::vector<std::string> identities, std::string_view name = {}, std::string_view token = {}) {
    settle();
    Peer peer("a client", std::move(identities));
    peer.is_private = !token.empty();
    const ConnectionId connection = accept(peer);
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = name, .token = token});
    protocol::write_define(frames, {0, {"news"}});
    read(connection, frames);
    turn();
    return connection;
  }
  /// What comes of a request: `kDone`, or why not.
  Errc ask(ConnectionId connection, ClientFrame type, const std::string& group) {
    std::vector<std::uint8_t> frames;
    protocol::write_group_request(frames, type, {++request_, group});
    read(connection, frames);
    for (int i = 0; i < 3; ++i) turn();
    const std::vector<ByteView> replies = frames_of(connection, ClientFrame::reply);
    if (replies.empty()) return Errc::internal_error;
    const auto reply = protocol::read_reply(replies.back());
    EXPECT_EQ(reply->request, request_);
    return static_cast<Errc>(reply->code);
  }
  static constexpr Errc kDone{};
  void reconfigure(const AccessConfig& access) {
    NodeConfig next = config();
    next.access = access;
    node_.reconfigure(now_, next);
    for (int i = 0; i < 3; ++i) turn();
  }
  /// Types and sizes of the messages that `connection` has got.
  std::vector<std::pair<std::uint16_t, std::size_t>> got(ConnectionId connection) {
    std::vector<std::pair<std::uint16_t, std::size_t>> messages;
    ByteView bytes = spindle::as_bytes(driver_.written[connection]);
    while (const auto head = spindle::read_frame_head(bytes)) {
      const ByteView body = bytes.subspan(spindle::kFrameHeadBytes, head->length);
      bytes = bytes.subspan(spindle::kFrameHeadBytes + head->length);
      if (static_cast<ClientFrame>(head->type) != ClientFrame::message) continue;
      const auto message = protocol::read_message(body);
      if (!message || message->chunk.size() != message->total) {
        ADD_FAILURE() << "a message frame that is not whole";
        return messages;
      }
      EXPECT_TRUE(std::all_of(message->chunk.begin(), message->chunk.end(),
                              [&](std::uint8_t byte) { return byte == (message->type & 0xff); }));
      messages.emplace_back(message->type, message->total);
    }
    return messages;
  }
  /// The bodies of the frames of this type that `connection` has got.
  std::vector<ByteView> frames_of(ConnectionId connection, ClientFrame type) {
    std::vector<ByteView> bodies;
    ByteView bytes = spindle::as_bytes(driver_.written[connection]);
    while (const auto head = spindle::read_frame_head(bytes)) {
      if (static_cast<ClientFrame>(head->type) == type) {
        bodies.push_back(bytes.subspan(spindle::kFrameHeadBytes, head->length));
      }
      bytes = bytes.subspan(spindle::kFrameHeadBytes + head->length);
    }
    return bodies;
  }
  /// How many of its messages have entered, as it was told last.
  std::optional<std::uint64_t> told_taken(ConnectionId connection) {
    const std::vector<ByteView> told = frames_of(connection, ClientFrame::taken);
    return told.empty() ? std::nullopt : protocol::read_taken(told.back());
  }
  /// The numbers and counts of the answers to its `confirm`s.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> confirmed(ConnectionId connection) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> answers;
    for (const ByteView body : frames_of(connection, ClientFrame::confirmed)) {
      const auto answer = protocol::read_confirmed(body);
      if (answer) answers.emplace_back(answer->request, answer->taken);
    }
    return answers;
  }
  protocol::Close close_of(ConnectionId connection) {
    const std::vector<ByteView> closes = frames_of(connection, ClientFrame::close);
    if (closes.size() == 1) return *protocol::read_close(closes.front());
    ADD_FAILURE() << closes.size() << " reasons";
    return {};
  }
  std::uint64_t count(Counter counter) const { return node_.counters().value(counter); }
  std::uint64_t closes(Errc code) const { return node_.counters().closes(static_cast<std::uint16_t>(code)); }
  /// Lines of the log that contain `part`.
  std::size_t logged(std::string_view part) const {
    return static_cast<std::size_t>(std::count_if(driver_.log.begin(), driver_.log.end(),
                                                  [&](const auto& line) { return line.find(part) != line.npos; }));
  }

  Time now_{1s};
  SessionsDriver driver_;
  Node node_;
  std::uint64_t last_ = 0;
  std::uint32_t request_ = 0;
};

}  // namespace spindled::test
