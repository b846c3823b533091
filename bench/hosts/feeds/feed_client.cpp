// feed_client: a stream as a feed, at a daemon. See stream_program.h.
#include <fmt/format.h>

#include <future>
#include <utility>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/cluster/clock.h"
#include "bench/hosts/feeds/stream_program.h"
#include "spindle/connection.h"
#include "spindle/feed.h"

namespace spindle::bench {
namespace {

struct Options {
  std::string address;
  std::string group;
  std::uint64_t repair_ms = 500;    // how long the source has what is lost repaired
  std::uint64_t deadline_ms = 500;  // how long a receiver waits for what is lost before what is behind it
  bool immediate = false;
  bool shows_flow = false;
};

Connection connect(const Options& options) {
  ConnectOptions how;
  how.address = options.address;
  how.reconnect_timeout = std::chrono::milliseconds(0);  // a measurement with a lost connection is none
  spindle::Result<Connection> connection = Connection::connect(how);
  if (!connection) fail("cannot connect to {}: {}", options.address, connection.text());
  return *std::move(connection);
}

/// What ends a measurement.
void look_for_failure(const Event& event) {
  if (const auto* refused = event.get_if<RequestFailed>()) fail("refused: {}", refused->error.message());
  if (const auto* end = event.get_if<Disconnected>()) {
    if (end->error != Errc::closed_by_client) fail("disconnected: {}", end->text);
  }
}

void show(const FeedFlow& flow) {
  fmt::print(stderr, "{:.3f} s: {} bytes/s, round trip {} us, loss {:.4f}, limited by {}\n",
             static_cast<double>(now_ns()) / 1e9, flow.bytes_per_second, flow.round_trip.count(), flow.loss,
             to_string(flow.limited_by));
}

class Source final : public StreamSource {
 public:
  explicit Source(const Options& options) : connection_(connect(options)) {
    connection_.set_handler([shows_flow = options.shows_flow](Event&& event) {
      if (const auto* flow = event.get_if<FeedFlow>(); flow != nullptr && shows_flow) show(*flow);
      look_for_failure(event);
    });
    FeedOptions how;
    how.repair_for = std::chrono::milliseconds(options.repair_ms);
    spindle::Result<Feed> feed = connection_.open_feed(options.group, how);
    if (!feed) fail("cannot open a feed: {}", feed.text());
    feed_ = *std::move(feed);
  }

  bool send(std::span<const std::byte> message) override {
    const std::error_code error = feed_.try_send(message);
    if (error && error != Errc::would_block) fail("cannot send: {}", error.message());
    return !error;
  }

 private:
  Connection connection_;
  Feed feed_;
};

class Receiver final : public StreamReceiver {
 public:
  Receiver(const Options& options, StreamReceive receive)
      : receive_(std::move(receive)), connection_(connect(options)) {
    connection_.set_handler([this](Event&& event) { handle(event); });
    ListenOptions how;
    how.delivery = options.immediate ? ListenOptions::Delivery::immediate : ListenOptions::Delivery::ordered;
    how.deadline = std::chrono::milliseconds(options.deadline_ms);
    if (const std::error_code error = connection_.listen(options.group, how))
      fail("cannot listen: {}", error.message());
    if (const std::error_code error = connection_.join(options.group)) fail("cannot join: {}", error.message());
    joined_.get_future().wait();
  }

 private:
  void handle(const Event& event) {
    if (const auto* packet = event.get_if<FeedPacket>()) {
      receive_(packet->payload());
    } else if (event.get_if<GroupView>() != nullptr) {
      if (!std::exchange(is_member_, true)) joined_.set_value();
    } else {
      look_for_failure(event);
    }
  }

  StreamReceive receive_;
  std::promise<void> joined_;
  bool is_member_ = false;
  Connection connection_;  // the last member: its thread uses the others
};

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  Options options;
  return run_stream(argc, argv,
                    {.name = "feed_client",
                     .add_options =
                         [&](CLI::App& app) {
                           app.add_option("--address", options.address, "where its daemon listens")->required();
                           app.add_option("--group", options.group)->required();
                           app.add_option("--repair-ms", options.repair_ms, "how long what is lost is repaired");
                           app.add_option("--deadline-ms", options.deadline_ms, "how long what is behind it waits");
                           app.add_flag("--show-flow", options.shows_flow,
                                        "a sender says on standard error what its rate follows");
                           app.add_flag("--immediate", options.immediate, "messages as they come, instead of in order");
                         },
                     .make_source = [&](const StreamPlan&) { return std::make_unique<Source>(options); },
                     .make_receiver =
                         [&](const StreamPlan&, StreamReceive receive) {
                           return std::make_unique<Receiver>(options, std::move(receive));
                         }});
}
