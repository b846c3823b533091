// A client whose daemon is hostile. The input is a sequence of steps, each an opcode and its arguments: what the daemon
// sends, in frames or not, and what the program asks for in between.
#include <map>

#include "libclient/include/spindle/membership.h"
#include "libclient/protocol/client_engine.h"
#include "libclient/protocol/client_feeds.h"

#include "tests/fuzz/client_engine_steps.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace spindle;
using namespace spindle::protocol;
using spindle_fuzz::EngineStep;
using spindle_fuzz::Input;

class Run final : private RequestObserver {
 public:
  /// Flows are independent: that adds to what can go wrong, and takes nothing away.
  explicit Run(Input input) : input_(input) {
    engine_.observe(this);
    engine_.start({.flags = kIndependentFlowsBit, .name = {}});
  }

  void go() {
    while (!input_.empty()) {
      step(EngineStep{input_.u8()});
      check_events();
      check_feeds();
      engine_.consume(engine_.output().size());
    }
    engine_.handle_end();
    check_events();
    SPINDLE_CHECK(ended_ && engine_.ended() && !engine_.is_open());
  }

 private:
  void step(EngineStep step) {
    switch (step) {
      case EngineStep::frame: {
        const std::uint8_t type = input_.u8();
        const ByteView body = input_.bytes(input_.u16());
        std::vector<std::uint8_t> frame(kFrameHeadBytes);
        Writer writer(frame.data());
        write_frame_head(writer, type, body.size());
        frame.insert(frame.end(), body.begin(), body.end());
        return engine_.handle_bytes(frame);
      }
      case EngineStep::raw:
        return engine_.handle_bytes(input_.bytes(input_.u16()));
      case EngineStep::join:
        return static_cast<void>(engine_.join(short_text()));
      case EngineStep::join_synchronous:
        return static_cast<void>(engine_.join(short_text(), true));
      case EngineStep::flush_ok: {
        const std::uint64_t number = input_.u8();
        return static_cast<void>(engine_.flush_ok({std::string(short_text()), number}));
      }
      case EngineStep::leave:
        return static_cast<void>(engine_.leave(short_text()));
      case EngineStep::request_view:
        return static_cast<void>(engine_.request_view(short_text()));
      case EngineStep::request_flow:
        return static_cast<void>(engine_.request_flow(short_text()));
      case EngineStep::multicast: {
        const spindle::Service service{input_.u8()};
        const std::vector<std::uint8_t> payload(std::size_t{input_.u8()} * 64);
        return static_cast<void>(engine_.multicast(service, short_text(), payload));
      }
      case EngineStep::ask: {
        const std::uint8_t answers = input_.u8();
        const RequestOptions options{.answers = answers & 127u, .self_discard = (answers & 128) != 0};
        Requests::Number number = 0;
        return static_cast<void>(engine_.ask(short_text(), "question", options, number));
      }
      case EngineStep::answer:
        return static_cast<void>(engine_.answer(request_, "answer", {}));
      case EngineStep::confirm:
        return static_cast<void>(engine_.confirm());
      case EngineStep::ping:
        return static_cast<void>(engine_.ping(input_.u16()));
      case EngineStep::bye:
        return engine_.bye();
      case EngineStep::end:
        return engine_.handle_end();
      case EngineStep::listen: {
        const bool is_ordered = (input_.u8() & 1) != 0;
        return static_cast<void>(feeds_.listen(short_text(), {is_ordered, std::chrono::milliseconds(50)}));
      }
      case EngineStep::stop_listening:
        return static_cast<void>(feeds_.stop_listening(short_text()));
      case EngineStep::open_feed: {
        const ClientFeeds::SourceTerms terms{.drops_oldest = (input_.u8() & 1) != 0};
        FeedId id = 0;
        return static_cast<void>(feeds_.open(short_text(), terms, id));
      }
      case EngineStep::send_feed: {
        const FeedId feed = input_.u8();
        const std::vector<std::uint8_t> payload(std::size_t{input_.u8()} * 64);
        return static_cast<void>(feeds_.send(feed, payload));
      }
      case EngineStep::close_feed:
        return feeds_.close(input_.u8());
      case EngineStep::time:
        now_ += std::chrono::milliseconds(input_.u16());
        return feeds_.handle_time(now_);
      default:
        return;
    }
  }

  /// All that an event refers to is read, so that a sanitizer sees what is not there.
  void check_events() {
    for (const Event& event : engine_.take_events()) {
      SPINDLE_CHECK(!ended_);
      if (const auto* message = event.get_if<Message>()) {
        std::size_t sum = message->type() + message->sender().size();
        for (const std::string_view group : message->groups()) sum += std::string(group).size();
        for (const Header& header : message->headers()) sum += std::string(header.key).size() + header.value.size();
        if (message->is_request()) request_ = *message;
        for (const std::byte byte : message->payload()) sum += static_cast<std::size_t>(byte);
        sum_ = sum_ + sum;
      } else if (const auto* view = event.get_if<GroupView>()) {
        SPINDLE_CHECK(!view->my_index || *view->my_index < view->members.size());
        check_membership(*view);
      } else if (const auto* ready = event.get_if<FlowReady>()) {
        SPINDLE_CHECK(!ready->groups.empty());
      } else if (const auto* flow = event.get_if<FlowState>()) {
        SPINDLE_CHECK(!flow->groups.empty() && flow->blocked_share <= 1 && flow->salary_period.count() >= 0);
      } else if (const auto* gap = event.get_if<spindle::Gap>()) {
        for (const spindle::Gap::Name& each : gap->names) SPINDLE_CHECK(each.messages <= gap->messages);
      } else if (const auto* request = event.get_if<FlushRequest>()) {
        SPINDLE_CHECK(!request->group.empty());
      } else if (event.is<Disconnected>()) {
        ended_ = true;
      }
    }
  }

  // RequestObserver
  bool refused(std::uint32_t, const RequestFailed& failed) override {
    if (failed.request == RequestFailed::Request::listen) feeds_.forget_group(failed.group);
    return false;
  }
  void confirmed(std::uint32_t) override {}
  void answered(Requests::Number, Answers) override {}
  void feed_refused(std::uint32_t request, std::error_code error) override { feeds_.refused(request, error); }
  void feed_news(const FeedNews& news) override { feeds_.take(now_, news); }
  void group_left(std::string_view group) override { feeds_.note_left(group); }

  /// Whatever comes, a sequence is in one message or in one gap, of a feed that is open.
  void check_feeds() {
    std::vector<Event> events;
    feeds_.take_events(events);
    for (const Event& event : events) {
      if (const auto* opened = event.get_if<spindle::FeedOpened>()) {
        SPINDLE_CHECK(heard_.try_emplace(opened->feed).second);
      } else if (const auto* packet = event.get_if<spindle::FeedPacket>()) {
        SPINDLE_CHECK(!packet->bytes.empty() && packet->bytes.size() <= kFeedMessageBytesMax);
        // Messages of one bundle come one after the other.
        const std::pair place(packet->feed, packet->sequence);
        if (packet->packets != 1 || place != bundle_) note_sequences(packet->feed, packet->sequence, packet->packets);
        bundle_ = packet->packets == 1 ? place : std::pair<FeedId, std::uint64_t>();
        continue;
      } else if (const auto* gap = event.get_if<spindle::FeedGap>()) {
        note_sequences(gap->feed, gap->first, gap->count);
      } else if (const auto* closed = event.get_if<FeedClosed>()) {
        heard_.erase(closed->feed);
      }
      bundle_ = {};
    }
    SPINDLE_CHECK(feeds_.next_deadline() > now_);
  }
  void note_sequences(FeedId feed, std::uint64_t first, std::uint64_t count) {
    const auto heard = heard_.find(feed);
    SPINDLE_CHECK(heard != heard_.end() && count != 0);
    std::uint64_t fresh = 0;
    heard->second.for_each_missing(first, first + count - 1,
                                   [&](std::uint64_t from, std::uint64_t to) { fresh += to - from + 1; });
    SPINDLE_CHECK(fresh == count);
    heard->second.add(first, first + count - 1);
  }

  /// Whatever the views say, the list is that of the latest one or none.
  void check_membership(const GroupView& view) {
    Membership& membership = memberships_[view.group];
    const bool is_current = membership.apply(view) == Membership::Outcome::current;
    SPINDLE_CHECK(is_current == membership.is_current());
    SPINDLE_CHECK(membership.members().size() == (is_current ? view.member_count : 0));
    SPINDLE_CHECK(membership.vs_set().size() <= membership.members().size());
  }

  std::string_view short_text() { return as_text(input_.bytes(input_.u8())); }

  Input input_;
  ClientEngine engine_;
  ClientFeeds feeds_{engine_.writer()};
  std::map<FeedId, SequenceRanges> heard_;
  std::pair<FeedId, std::uint64_t> bundle_;  // of the last packet, where that was one
  Instant now_{};
  std::map<std::string, Membership> memberships_;
  Message request_;
  bool ended_ = false;
  volatile std::size_t sum_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Run(Input(data, size)).go();
  return 0;
}
