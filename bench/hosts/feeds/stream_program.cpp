#include "bench/hosts/feeds/stream_program.h"

#include <fmt/format.h>

#include <iostream>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/feeds/stream_sink.h"

namespace spindle::bench {
namespace {

void serve_sender(const StreamPlan& plan, StreamSource& source) {
  say("ready");
  for (std::string word; std::cin >> word;) {
    std::int64_t start_ns = 0;
    if (word != "go" || !(std::cin >> start_ns)) fail("does not know {}", word);
    const StreamSent done = send_stream(plan, start_ns, source);
    say(fmt::format(R"({{"sent": {}, "dropped": {}, "lag_max_ns": {}}})", done.sent, done.dropped, done.lag_max_ns));
  }
}

void serve_receiver(const StreamSink& sink) {
  say("ready");
  for (std::string word; std::cin >> word;) {
    if (word == "count") {
      say(sink.counts());
    } else if (word == "end") {
      say(sink.result());
    } else {
      fail("does not know {}", word);
    }
  }
}

}  // namespace

int run_stream(int argc, char** argv, const StreamSystem& system) {
  StreamPlan plan;
  bool sends = false;
  CLI::App app("Sends a stream of messages, or receives one; tools/bench feeds starts it.", system.name);
  app.add_flag("--send", sends, "send, instead of receiving");
  app.add_option("--rate", plan.rate, "messages a second; 0: as many as there is room for")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--bytes", plan.bytes, "of each message")->check(CLI::Range(sizeof(StreamHead), std::size_t{1} << 16));
  app.add_option("--warmup", plan.warmup, "seconds before what is measured")->check(CLI::Range(0.0, 600.0));
  app.add_option("--seconds", plan.seconds, "that are measured")->check(CLI::Range(0.0, 3600.0));
  app.add_option("--rest", plan.rest, "seconds after that")->check(CLI::Range(0.0, 600.0));
  app.add_option("--patience", plan.patience, "seconds that a message waits for room")->check(CLI::Range(0.0, 60.0));
  app.add_option("--receivers", plan.receivers, "how many there are")->check(CLI::Range(1, 1000));
  system.add_options(app);
  CLI11_PARSE(app, argc, argv);
  if (sends) {
    const std::unique_ptr<StreamSource> source = system.make_source(plan);
    serve_sender(plan, *source);
  } else {
    StreamSink sink(plan);
    const std::unique_ptr<StreamReceiver> receiver =
        system.make_receiver(plan, [&sink](std::span<const std::byte> message) { sink.take(message); });
    serve_receiver(sink);
  }
  return 0;
}

}  // namespace spindle::bench
