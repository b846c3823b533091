#include "tools/spuser/publish.h"

#include <fmt/format.h>

#include <deque>

#include "tools/spuser/conversation.h"
#include "tools/spuser/exit.h"
#include "tools/spuser/input.h"
#include "tools/spuser/latencies.h"
#include "tools/spuser/membership.h"

namespace spuser {

namespace {

using namespace std::chrono_literals;

/// Sends what is read. With `measure` it is a member of the groups, too, and times its messages until they are back.
class Publisher {
 public:
  Publisher(Conversation& conversation, Output& output, const PublishOptions& options, bool independent_flows)
      : conversation_(conversation),
        output_(output),
        options_(options),
        independent_flows_(independent_flows),
        groups_(options.groups.begin(), options.groups.end()),
        membership_(options.groups) {
    conversation_.set_handler([this](spindle::Event&& event) { handle(event); });
  }

  void run() {
    join_and_wait();
    make_ready_file(options_.ready_file);
    Input input(options_.files, [this](int descriptor) { conversation_.wait_readable(descriptor); });
    started_ = Clock::now();
    std::string_view message;
    while (options_.whole ? input.next_file(message) : input.next_line(message)) send(message);
    if (options_.measure) {
      conversation_.wait_until([this] { return outstanding_.empty(); });
      print_measurements();
    }
    conversation_.finish();
  }

 private:
  void handle(const spindle::Event& event) {
    if (const auto* view = event.get_if<spindle::GroupView>()) membership_.note(*view);
    if (event.is<spindle::FlowReady>()) flow_ready_ = true;
    const auto* message = event.get_if<spindle::Message>();
    if (message == nullptr || outstanding_.empty()) return;
    if (message->sender() != conversation_.connection().private_name()) return;
    latencies_.add(static_cast<std::uint64_t>((Clock::now() - outstanding_.front()).count()));
    outstanding_.pop_front();
  }

  void join_and_wait() {
    if (!options_.measure && options_.wait_members == 0) return;
    spindle::Connection& connection = conversation_.connection();
    for (const std::string& group : options_.groups) conversation_.check(connection.join(group));
    conversation_.wait_until([this] { return membership_.is_complete(options_.wait_members + 1); });
    if (options_.measure) return;
    for (const std::string& group : options_.groups) conversation_.check(connection.leave(group));
    conversation_.wait_until([this] { return membership_.has_left(); });
  }

  void send(std::string_view message) {
    if (options_.rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(sent_) / options_.rate);
      conversation_.wait_until(started_ + std::chrono::duration_cast<Clock::duration>(due));
    }
    if (options_.measure) {
      conversation_.wait_until([this] { return outstanding_.size() < options_.window; });
      outstanding_.push_back(Clock::now());
      send_while_receiving(message);
    } else {
      conversation_.check(conversation_.connection().multicast(options_.service, groups_, message, send_options()));
    }
    ++sent_;
    bytes_ += message.size();
  }

  /// A member that waits to send and does not receive would hold itself up.
  void send_while_receiving(std::string_view message) {
    for (;;) {
      flow_ready_ = false;
      const std::error_code error =
          conversation_.connection().try_multicast(options_.service, groups_, message, send_options());
      if (error != spindle::Errc::would_block) {
        conversation_.check(error);
        break;
      }
      if (independent_flows_) {
        conversation_.wait_until([this] { return flow_ready_; });
      } else {
        conversation_.wait_until(Clock::now() + 1ms);
      }
    }
    conversation_.handle_events();
  }

  spindle::SendOptions send_options() const { return {.type = options_.type}; }

  void print_measurements() {
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    const auto microseconds = [](std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; };
    output_.add(fmt::format(R"({{"messages":{},"bytes":{},"seconds":{:.6f},"messages_per_second":{:.0f},"window":{},)"
                            R"("latency_p50_us":{:.0f},"latency_p99_us":{:.0f},"latency_max_us":{:.0f}}})"
                            "\n",
                            sent_, bytes_, seconds, static_cast<double>(sent_) / seconds, options_.window,
                            microseconds(latencies_.percentile(0.5)), microseconds(latencies_.percentile(0.99)),
                            microseconds(latencies_.max())));
    output_.flush();
  }

  Conversation& conversation_;
  Output& output_;
  const PublishOptions& options_;
  const bool independent_flows_;
  bool flow_ready_ = false;
  const std::vector<std::string_view> groups_;
  MembershipCounts membership_;
  Clock::time_point started_{};
  std::uint64_t sent_ = 0;
  std::uint64_t bytes_ = 0;
  std::deque<Clock::time_point> outstanding_;  // when each message was sent that is not back yet
  Latencies latencies_;
};

}  // namespace

void publish(Signals& signals, Output& output, const ConnectionOptions& connection, const PublishOptions& options) {
  spindle::ConnectOptions connect = connection.to_connect_options();
  // A daemon that makes senders wait takes what was sent when it can; a signal ends the waiting.
  connect.disconnect_timeout = 24h;
  Conversation conversation(signals, output, connect);
  try {
    Publisher(conversation, output, options, connection.independent_flows).run();
  } catch (Exit& exit) {
    exit.say();  // before the waiting
    throw;
  }
}

}  // namespace spuser
