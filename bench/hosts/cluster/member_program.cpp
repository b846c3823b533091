#include "bench/hosts/cluster/member_program.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/cluster/load.h"

namespace spindle::bench {
namespace {

enum class Measure { throughput, latency, throughput_course, latency_course };

bool is_open_loop(Measure measure) { return measure == Measure::latency || measure == Measure::latency_course; }

struct Arguments {
  Plan plan;
  Membership membership{.address = {}, .group = "bench", .service = "agreed"};
  Measure measure = Measure::throughput;
  int span_ms = 5;
  int burst_ms = 1;
  double warmup_seconds = 1;
  double seconds = 3;
};

void define(CLI::App& app, Arguments& arguments) {
  const std::map<std::string, Measure> measures{{"throughput", Measure::throughput},
                                                {"latency", Measure::latency},
                                                {"throughput-course", Measure::throughput_course},
                                                {"latency-course", Measure::latency_course}};
  Plan& plan = arguments.plan;
  Membership& membership = arguments.membership;
  app.add_option("--address", membership.address, "Where the daemon of this member listens");
  app.add_option("--group", membership.group, "Different for each measurement: nobody else is to be in it");
  app.add_option("--member", plan.member, "Index of this member, from 0")->required();
  app.add_option("--members", plan.members, "Members in all")->required()->check(CLI::Range(1, 1000));
  app.add_option("--senders", plan.senders, "Members that send, the first ones")->required();
  app.add_option("--service", membership.service, "Of the messages; which there are depends on the system");
  app.add_option("--measure", arguments.measure)->transform(CLI::CheckedTransformer(measures));
  app.add_option("--size", plan.size, "Bytes of a message")->check(CLI::Range(int{sizeof(Stamp)}, 16 << 20));
  app.add_option("--window", plan.window, "Throughput: own messages under way")->check(CLI::Range(1, 1 << 20));
  app.add_option("--rate", plan.rate, "Latency: messages a second of all senders together")
      ->check(CLI::Range(1.0, 1e7));
  app.add_option("--burst-ms", arguments.burst_ms, "Latency: what is to be sent within so long is sent at once")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--span-ms", arguments.span_ms, "Courses: what is told together")->check(CLI::Range(1, 10'000));
  app.add_option("--warmup", arguments.warmup_seconds, "Seconds before the measurement");
  app.add_option("--seconds", arguments.seconds, "Seconds of the measurement");
}

std::int64_t read_go() {
  std::string word;
  std::int64_t start_ns = 0;
  if (!(std::cin >> word >> start_ns) || word != "go") fail("standard input does not say \"go <nanoseconds>\"");
  return start_ns;
}

template <typename Load>
void measure(Arguments& arguments, const MakeMember& make_member) {
  Plan& plan = arguments.plan;
  plan.span_ns = std::int64_t{arguments.span_ms} * 1'000'000;
  plan.burst_ns = std::int64_t{arguments.burst_ms} * 1'000'000;
  if (!is_open_loop(arguments.measure)) {
    arguments.membership.in_flight_bytes = plan.window * (plan.size + 64);
  }
  const std::unique_ptr<GroupMember> member = make_member(arguments.membership);
  Load load(plan, *member);
  member->join(plan.members, [&load](std::span<const std::byte> payload) { load.receive(payload); });
  say("ready");
  plan.start_ns = read_go();
  plan.measure_from_ns = plan.start_ns + static_cast<std::int64_t>(arguments.warmup_seconds * 1e9);
  plan.measure_to_ns = plan.measure_from_ns + static_cast<std::int64_t>(arguments.seconds * 1e9);
  load.run();
  say(load.result());
  for (std::string rest; std::getline(std::cin, rest);) {
  }
}

}  // namespace

int run_member(int argc, char** argv, const MakeMember& make_member, const DefineOptions& define_more) {
  Arguments arguments;
  CLI::App app("One sender-receiver of a measurement; tools/bench cluster starts it.");
  define(app, arguments);
  if (define_more) define_more(app);
  CLI11_PARSE(app, argc, argv);
  const Plan& plan = arguments.plan;
  if (is_open_loop(arguments.measure) && plan.rate == 0) fail("--measure latency and latency-course want --rate");
  if (plan.senders < 1 || plan.senders > plan.members) fail("--senders: from 1 to the number of members");
  switch (arguments.measure) {
    case Measure::throughput:
      measure<ClosedLoop>(arguments, make_member);
      break;
    case Measure::latency:
      measure<OpenLoop>(arguments, make_member);
      break;
    case Measure::throughput_course:
      measure<ClosedLoopCourse>(arguments, make_member);
      break;
    case Measure::latency_course:
      measure<OpenLoopCourse>(arguments, make_member);
      break;
  }
  return 0;
}

}  // namespace spindle::bench
