// A cluster that goes over to another CA while it runs, as docs/security.md says.
#include <gmock/gmock.h>
#include <signal.h>

#include <array>
#include <iostream>

#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/tls_peer.h"

namespace spindle::test {
namespace {

/// The longest that messages may stand still: what a machine that others use may do to them, and no view change.
constexpr std::chrono::seconds kPauseMax{5};

/// a to e in a line, each with a file of its own.
class Rotation : public testing::Test {
 protected:
  Rotation() {
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      write_bundle(name, old_, {});
      DaemonOptions options = with_bundle(name);
      if (!daemons_.empty()) options.neighbours = {daemons_.back()->link_address()};
      daemons_.push_back(std::make_unique<Daemon>(options));
    }
    for (const auto& daemon : daemons_) all_.push_back(daemon.get());
    wait_for_one_view(all_);
  }

  /// A certificate by `authority`, and trust in others beside it.
  void write_bundle(const std::string& name, const TestAuthority& authority, const std::string& trusted) {
    write_file(bundle(name), make_bundle(authority, Identities::contents("daemon/" + name)) + trusted);
  }
  DaemonOptions with_bundle(const std::string& name) {
    DaemonOptions options;
    options.name = name;
    options.configuration = "[tls]\nbundle = \"" + bundle(name) + "\"\n";
    return options;
  }
  std::string bundle(const std::string& name) const { return folder_.path(name + ".pem"); }

  /// One of the three rounds: all daemons one after the other, while those that have had their turn and those that have
  /// not go on finding each other.
  void reissue(const TestAuthority& authority, const std::string& trusted) {
    for (Daemon* daemon : all_) {
      write_bundle(daemon->name(), authority, trusted);
      const std::size_t before = daemon->process().line_count();
      daemon->process().signal(SIGHUP);
      daemon->process().wait_for_line("are taken: daemon:" + daemon->name() + ", serial ", before);
      for (Daemon* other : all_) {
        if (other == daemon) continue;
        EXPECT_TRUE(lets_in(*daemon, other->name())) << other->name() << " at " << daemon->name();
        EXPECT_TRUE(lets_in(*other, daemon->name())) << daemon->name() << " at " << other->name();
      }
      for (const auto& stream : streams_) stream->wait_for(200);
    }
  }
  bool lets_in(Daemon& daemon, const std::string& name) {
    return TlsPeer(daemon.link_address(), TlsPort::link, bundle(name)).is_greeted();
  }

  /// What would be another if a link had been lost or a view had changed.
  std::vector<std::uint64_t> state_of_links() {
    std::vector<std::uint64_t> state;
    spindle::admin::Request request;
    request.mutable_status();
    for (Daemon* daemon : all_) {
      for (const char* counter : {"links_up", "links_down", "views_installed"}) state.push_back(daemon->count(counter));
      state.push_back(daemon->ask(request).status().view().number());
    }
    return state;
  }
  void start_streams() {
    constexpr std::array<std::pair<std::size_t, std::size_t>, 3> kEnds{{{0, 4}, {4, 0}, {1, 3}}};
    for (const auto& [from, to] : kEnds) {
      streams_.push_back(std::make_unique<MessageStream>(*all_[from], *all_[to], "stream from " + all_[from]->name()));
    }
  }
  void end_streams() {
    Clock::duration longest{};
    for (const auto& stream : streams_) {
      EXPECT_EQ(stream->finish(), "");
      longest = std::max(longest, stream->longest_pause());
    }
    EXPECT_LT(longest, kPauseMax);
    const double milliseconds = std::chrono::duration<double, std::milli>(longest).count();
    RecordProperty("longest_pause_ms", std::to_string(milliseconds));
    std::cout << "longest pause between messages: " << milliseconds << " ms\n";
  }

  const TestAuthority old_{"the old CA"}, new_{"the new CA"};
  TemporaryDirectory folder_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::vector<Daemon*> all_;
  std::vector<std::unique_ptr<MessageStream>> streams_;
};

TEST_F(Rotation, CostsNoLinkAndNoMessage) {
  start_streams();
  const std::vector<std::uint64_t> before = state_of_links();
  reissue(old_, new_.certificate());
  reissue(new_, old_.certificate());
  reissue(new_, {});
  EXPECT_EQ(state_of_links(), before);
  end_streams();

  write_bundle("f", old_, new_.certificate());
  DaemonOptions late = with_bundle("f");
  late.neighbours = {all_.back()->link_address()};
  Daemon f(late);
  all_.back()->process().wait_for_line("is refused: the peer's certificate is signed by no CA certificate");
  f.process().wait_for_line("the peer knows no CA certificate that this side's certificate is signed by");
  write_bundle("g", new_, {});
  DaemonOptions comer = with_bundle("g");
  comer.neighbours = late.neighbours;
  Daemon g(comer);
  all_.push_back(&g);
  wait_for_one_view(all_);
}

}  // namespace
}  // namespace spindle::test
