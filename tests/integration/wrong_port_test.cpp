// Who comes to the wrong address of a daemon is told so, in words and in the protocol that it speaks.
#include <gmock/gmock.h>

#include "tests/integration/clients.h"
#include "tests/integration/raw_socket.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

/// Why a client cannot connect to `address`.
std::string refusal_of_client(const std::string& address, std::error_code& error) {
  ConnectOptions options;
  options.address = address;
  options.connect_timeout = kPatience;
  const Result<Connection> refused = Connection::connect(options);
  error = refused.error();
  return refused.text();
}

TEST(WrongPort, AClientWhereLinksAreTaken) {
  Daemon daemon({});
  std::error_code error;
  EXPECT_THAT(refusal_of_client(daemon.link_address(), error), HasSubstr("for other daemons (listen.links)"));
  EXPECT_EQ(error, Errc::bad_address);
  daemon.process().wait_for_line("the one for clients (listen.clients, listen.client_socket) is another");
  daemon.expect_serving();
}

TEST(WrongPort, AClientAtTheAdministrationSocket) {
  Daemon daemon({});
  std::error_code error;
  EXPECT_THAT(refusal_of_client("unix:" + daemon.admin_socket(), error),
              HasSubstr("this is an address of daemon alpha for spmonitor (listen.admin_socket, listen.admin)"));
  EXPECT_EQ(error, Errc::bad_address);
  daemon.expect_serving();
}

TEST(WrongPort, SpmonitorAtTheSocketForClients) {
  Daemon daemon({});
  ProcessOptions options;
  options.arguments = {"--socket", daemon.socket(), "status"};
  const Finished finished = run(SPMONITOR_PATH, options);
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.error, HasSubstr("the daemon says: this is an address of daemon alpha for clients"));
  daemon.expect_serving();
}

TEST(WrongPort, ADaemonThatDialsWhereClientsAreTaken) {
  Daemon alpha({});
  DaemonOptions options;
  options.name = "beta";
  options.neighbours = {alpha.client_address()};
  Daemon beta(options);
  beta.process().wait_for_line("bad_address: this is an address of daemon alpha for clients");
  alpha.expect_serving();
  beta.expect_serving();
}

}  // namespace
}  // namespace spindle::test
