// Datagrams between real daemons on loopback.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/raw_socket.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

/// beta dials alpha.
class DatagramsOfDaemons : public testing::Test {
 protected:
  void start(DaemonOptions alpha, DaemonOptions beta) {
    alpha_.emplace(alpha);
    beta.neighbours = {alpha_->link_address()};
    beta_.emplace(beta);
    alpha_->process().wait_for_line("link to beta up");
  }
  static DaemonOptions plain(const std::string& name, const std::string& configuration = {}) {
    DaemonOptions options;
    options.name = name;
    options.configuration = configuration;
    return options;
  }
  admin::LinksReply links(Daemon& daemon) {
    admin::Request request;
    request.mutable_links();
    return daemon.ask(request).links();
  }
  /// Of the one link, once it goes by UDP.
  admin::Datagrams await_udp(Daemon& daemon) {
    admin::Datagrams datagrams;
    wait_until([&] {
      const admin::LinksReply reply = links(daemon);
      if (reply.links_size() == 0) return false;
      datagrams = reply.links(0).datagrams();
      return datagrams.by_udp();
    });
    return datagrams;
  }
  template <typename Condition>
  void wait_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  Identities identities_;
  std::optional<Daemon> alpha_, beta_;
};

TEST_F(DatagramsOfDaemons, GoByUdpEncryptedWhereTheLinkIs) {
  start(identities_.daemon("alpha"), identities_.daemon("beta"));
  for (Daemon* each : {&*alpha_, &*beta_}) {
    const admin::Datagrams datagrams = await_udp(*each);
    EXPECT_TRUE(datagrams.encrypted());
    EXPECT_GT(datagrams.round_trip_us(), 0u);
    EXPECT_EQ(each->count("datagrams_forged"), 0u);
  }
  EXPECT_THAT(run_spmonitor(*alpha_, {"links"}).out, HasSubstr("udp, encrypted"));
}

TEST_F(DatagramsOfDaemons, GoByUdpWithTokensWhereItIsNot) {
  start(plain("alpha"), plain("beta"));
  for (Daemon* each : {&*alpha_, &*beta_}) EXPECT_FALSE(await_udp(*each).encrypted());
}

TEST_F(DatagramsOfDaemons, AreOffWhereTheConfigurationSaysSo) {
  start(plain("alpha", "[feed]\ndatagrams = false\n"), plain("beta"));
  wait_until([&] { return links(*alpha_).links_size() == 1 && links(*beta_).links_size() == 1; });
  const admin::LinksReply reply = links(*beta_);
  EXPECT_FALSE(reply.links(0).datagrams().by_udp());
  EXPECT_THAT(run_spmonitor(*alpha_, {"links"}).out, HasSubstr("no udp to beta: switched off here (feed.datagrams)"));
}

TEST_F(DatagramsOfDaemons, StrangersAreCountedAndChangeNothing) {
  start(plain("alpha"), plain("beta"));
  await_udp(*alpha_);
  const std::string& address = alpha_->link_address();
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(socket, 0);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Bytes bytes = random_bytes(i % 1400, i);
    EXPECT_EQ(::sendto(socket, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(bytes.size()));
  }
  wait_until([&] { return alpha_->count("datagrams_unknown") >= 900; });
  char answer[1];
  EXPECT_EQ(::recv(socket, answer, sizeof answer, MSG_DONTWAIT), -1) << "nobody is answered";
  ::close(socket);
  alpha_->expect_serving();
  EXPECT_TRUE(links(*alpha_).links(0).datagrams().by_udp());
}

TEST_F(DatagramsOfDaemons, ComeBackWithADaemonThatWasKilled) {
  start(identities_.daemon("alpha"), identities_.daemon("beta"));
  await_udp(*alpha_);
  beta_->kill();
  beta_->start();
  wait_until([&] { return alpha_->count("links_up") >= 2 && links(*alpha_).links_size() == 1; });
  await_udp(*alpha_);
}

}  // namespace
}  // namespace spindle::test
