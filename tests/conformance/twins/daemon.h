// A daemon that is played: what it says is mostly right, drawn at random, and not what any network would bring about.
#pragma once

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "libclient/common/framing.h"
#include "libclient/protocol/bulk_requests.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/feed_frames.h"
#include "libclient/protocol/member_list.h"

namespace spindle::conformance {

using Bytes = std::vector<std::uint8_t>;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename Range>
  const auto& of(const Range& range) {
    return range[below(range.size())];
  }

 private:
  std::mt19937_64 random_;  // the same numbers everywhere
};

class PlayedDaemon {
 public:
  explicit PlayedDaemon(Draw& draw) : draw_(draw) {}

  /// Another connection of the client.
  void begin() {
    in_.clear();
    out_.clear();
    is_welcomed_ = false;
  }
  /// What the client has written.
  void take(ByteView bytes);
  /// Says something of its own accord.
  void speak();
  /// What it has said and was not read yet.
  Bytes& out() { return out_; }
  bool is_welcomed() const { return is_welcomed_; }

 private:
  void react(protocol::ClientFrame type, ByteView body);
  void welcome(ByteView body);
  void say_message();
  void say_view(std::string_view group);
  void say_feed();
  void say_channel();
  void answer(const protocol::BulkRequest& request);
  protocol::BulkChannelId channel() { return {draw_.chance(90) ? "a" : "b", draw_.below(3), 1 + draw_.below(5)}; }
  protocol::BulkOffered offered(std::uint32_t request);
  std::string name() { return "c" + std::to_string(draw_.below(3)); }
  std::string group() { return draw_.chance(95) ? "g" + std::to_string(draw_.below(3)) : std::string("\xff\0g", 3); }
  GroupViewId view_id() { return {draw_.below(1000), "a", draw_.below(1u << 30), draw_.below(300)}; }

  Draw& draw_;
  Bytes in_;
  Bytes out_;
  bool is_welcomed_ = false;
  bool has_order_ = false;
  bool has_session_ = false;
  std::string own_ = "#me#a";
  std::uint64_t frames_ = 0;  // of the session
  std::uint64_t messages_ = 0;
  std::uint64_t flushes_ = 0;
  std::vector<protocol::FeedNumber> feeds_;
  std::uint64_t sequence_ = 0;
};

}  // namespace spindle::conformance
