// A client whose daemon is hostile. The input is a sequence of steps, each an opcode and its arguments: what the daemon
// sends, in frames or not, and what the program asks for in between.
#include <map>

#include "libclient/include/spindle/membership.h"
#include "libclient/protocol/client_engine.h"

#include "tests/fuzz/client_engine_steps.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace spindle;
using namespace spindle::protocol;
using spindle_fuzz::EngineStep;
using spindle_fuzz::Input;

class Run {
 public:
  /// Flows are independent: that adds to what can go wrong, and takes nothing away.
  explicit Run(Input input) : input_(input) { engine_.start({.flags = kIndependentFlowsBit, .name = {}}); }

  void go() {
    while (!input_.empty()) {
      step(EngineStep{input_.u8()});
      check_events();
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
