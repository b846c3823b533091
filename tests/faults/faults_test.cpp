// Each kind of fault once by itself, under load: what it does to clients and what the log says, and that nothing was
// violated in the end. How long it takes is printed, and asserted nowhere but in the simulator: a machine that others
// use can stand still for seconds. `tools/faults --figures` measures.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <iostream>

#include "tests/faults/field.h"
#include "tests/faults/trouble.h"
#include "tests/integration/clients.h"
#include "tests/integration/needs.h"

namespace spindle::test {
namespace {

using namespace std::chrono_literals;
using spindled::Time;

class Faults : public ::testing::Test {
 protected:
  void SetUp() override { SPINDLE_TEST_NEEDS(Lan::unavailable()); }

  /// Whatever failed, what the clients saw and what the daemons logged is kept.
  void TearDown() override {
    if (!HasFailure() || !field_) return;
    field_->give_up();
    const std::string folder = std::string("faults/") + testing::UnitTest::GetInstance()->current_test_info()->name();
    field_->save(folder, "see what the test printed");
    std::cout << "histories and logs are in " << folder << "\n";
  }

  /// Three daemons, each linked with both others unless said otherwise.
  Field& make_field(FieldOptions options = {}) {
    options.traffic.interval = 10ms;
    field_ = std::make_unique<Field>(options);
    return *field_;
  }

  /// After each test that came this far.
  void expect_no_violation() { EXPECT_EQ(spindled::checkers::to_text(field_->finish()), ""); }

  /// After the fault all clients at `daemons` form a group of their own.
  void expect_view(const std::vector<std::size_t>& daemons, Time since) {
    const std::chrono::duration<double> taken = field_->wait_for_clients(daemons, since) - since;
    std::cout << "a view of " << daemons.size() << " daemons after " << taken.count() << " s\n";
  }

  /// No client has got a view that the network caused since then.
  void expect_no_network_view(Time since) {
    for (const auto& client : field_->clients()) {
      EXPECT_FALSE(client->has_network_view(since)) << client->private_name() << " got a view";
    }
  }

  /// Each client at `daemons` gets something that was sent behind this point.
  void expect_traffic(const std::vector<std::size_t>& daemons) {
    const Time since = time_now();
    for (const std::size_t daemon : daemons) {
      for (std::size_t k = 0; k < kClientsEach; ++k) {
        RecordingClient& client = field_->client(daemon, k);
        wait_until("traffic at " + client.private_name(), [&] { return client.last_delivery() > since; });
      }
    }
  }

  Process& process(std::size_t daemon) { return field_->daemon(daemon).process(); }

  /// The lines in the log file of a daemon that contain `text`.
  std::size_t logged(std::size_t daemon, const std::string& text) {
    return occurrences(read_file(field_->log_file(daemon)), text);
  }
  static std::size_t occurrences(const std::string& all, const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = all.find(text, at)) != std::string::npos; at += text.size()) ++count;
    return count;
  }

  static constexpr std::size_t kClientsEach = 2;
  const std::vector<std::size_t> all_{0, 1, 2};
  std::unique_ptr<Field> field_;
};

TEST_F(Faults, AKilledDaemonIsMissedAtOnceAndComesBack) {
  Field& field = make_field();
  const Time killed = time_now();
  field.kill(1);
  expect_view({0, 2}, killed);
  expect_traffic({0, 2});
  const Time started = time_now();
  field.start(1);
  expect_view(all_, started);
  expect_traffic(all_);
  expect_no_violation();
}

TEST_F(Faults, AShortStopChangesNoGroup) {
  FieldOptions options;
  options.configuration = "[link]\nliveness_timeout_ms = 5000\n";
  Field& field = make_field(options);
  const Time stopped = time_now();
  field.pause(1);
  std::this_thread::sleep_for(600ms);
  field.resume(1);
  expect_traffic(all_);
  expect_no_network_view(stopped);
  expect_no_violation();
}

TEST_F(Faults, ADaemonThatStopsForLongIsMissedAndItsClientsStay) {
  Field& field = make_field();
  const std::string before = field.client(1).private_name();
  const Time stopped = time_now();
  field.pause(1);
  expect_view({0, 2}, stopped);
  expect_traffic({0, 2});
  const Time resumed = time_now();
  field.resume(1);
  expect_view(all_, resumed);
  EXPECT_EQ(field.client(1).private_name(), before);
  expect_no_violation();
}

TEST_F(Faults, AHostWhoseInterfaceIsDownIsAloneUntilItIsUp) {
  Field& field = make_field();
  const Time cut = time_now();
  field.lan().set_interface("b", false);
  expect_view({0, 2}, cut);
  expect_view({1}, cut);
  expect_traffic(all_);
  const Time healed = time_now();
  field.lan().heal();
  expect_view(all_, healed);
  expect_no_violation();
}

TEST_F(Faults, WhatIsLostInOneDirectionGoesByAnotherPath) {
  FieldOptions options;
  options.configuration = "[link]\nliveness_timeout_ms = 5000\n";
  Field& field = make_field(options);
  const Time cut = time_now();
  field.lan().drop("a", "b", true);
  process(1).wait_for_line("link to a (");
  process(1).wait_for_line("silent_peer");
  expect_traffic(all_);
  expect_no_network_view(cut);
  field.lan().heal();
  expect_no_violation();
}

TEST_F(Faults, ADaemonThatIsHeardByNobodyIsMissed) {
  Field& field = make_field();
  const Time cut = time_now();
  field.lan().drop("b", "a", true);
  field.lan().drop("b", "c", true);
  expect_view({0, 2}, cut);
  expect_view({1}, cut);
  expect_traffic(all_);
  const Time healed = time_now();
  field.lan().heal();
  expect_view(all_, healed);
  expect_no_violation();
}

TEST_F(Faults, LossOfFramesSlowsAndBreaksNothing) {
  Field& field = make_field();
  for (const unsigned percent : {1u, 5u, 20u}) {
    field.lan().set_loss(percent);
    std::this_thread::sleep_for(1s);
    expect_traffic(all_);
  }
  expect_no_violation();
}

TEST_F(Faults, HalvesGoOnAndMerge) {
  FieldOptions options;
  options.daemons = 4;
  Field& field = make_field(options);
  const Time cut = time_now();
  field.lan().part({"a", "c"});
  expect_view({0, 2}, cut);
  expect_view({1, 3}, cut);
  expect_traffic({0, 1, 2, 3});
  const Time healed = time_now();
  field.lan().heal();
  expect_view({0, 1, 2, 3}, healed);
  expect_no_violation();
}

TEST_F(Faults, AFullDiskCostsLinesOfTheLogAndNothingElse) {
  FieldOptions options;
  options.log_to_disk = true;
  Field& field = make_field(options);
  field.disk().fill();
  const std::size_t before = logged(0, "link to c up");
  const Time killed = time_now();
  field.kill(2);
  expect_view({0, 1}, killed);
  expect_traffic({0, 1});
  process(0).wait_for_line("cannot write the log");
  const Time cut = time_now();
  field.lan().part({"a"});
  expect_view({0}, cut);
  field.lan().heal();
  EXPECT_EQ(occurrences(process(0).output(Process::Stream::error), "cannot write the log"), 1u);

  field.disk().clear();
  field.start(2);
  wait_until("the log to go on", [&] { return logged(0, "link to c up") > before; });
  field.wait_for_one_view();
  expect_traffic(all_);
  expect_no_violation();
}

TEST_F(Faults, IdleClientsTakeNoDescriptorFromLinks) {
  FieldOptions options;
  options.descriptors_max = 128;
  Field& field = make_field(options);
  {
    const IdleClients idle(field.daemon(1).socket(), 150);
    EXPECT_EQ(idle.count(), 150u);
    process(1).wait_for_line("cannot accept on " + field.daemon(1).socket());
    expect_traffic(all_);
    // The daemon dials one of the others and is dialled by the second.
    const Time cut = time_now();
    field.lan().part({"b"});
    expect_view({1}, cut);
    expect_view({0, 2}, cut);
    const Time healed = time_now();
    field.lan().heal();
    expect_view(all_, healed);
    expect_traffic(all_);
  }
  process(1).wait_for_line("accepting on " + field.daemon(1).socket() + " again");
  field.daemon(1).expect_serving();
  expect_no_violation();
}

TEST_F(Faults, AllAreKilledAndStartAnew) {
  Field& field = make_field();
  for (const std::size_t daemon : all_) field.kill(daemon);
  const Time started = time_now();
  for (const std::size_t daemon : all_) field.start(daemon);
  expect_view(all_, started);
  expect_traffic(all_);
  expect_no_violation();
}

}  // namespace
}  // namespace spindle::test
