// What the library does with a token.
#include <gtest/gtest.h>

#include <cstdlib>

#include "libclient/common/defaults.h"
#include "libclient/common/token.h"
#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using test::FakeDaemon;

const std::string kToken = std::string(kTokenPrefix) + std::string(64, '7');

class ClientToken : public testing::Test {
 protected:
  ~ClientToken() override { ::unsetenv(kTokenVariable); }

  /// The token that a daemon at a unix socket is sent.
  static std::string sent(const ConnectOptions& options) {
    FakeDaemon daemon;
    const Connection connection = daemon.connect(options);
    EXPECT_TRUE(connection.is_open());
    daemon.hang_up();
    return daemon.hello_token;
  }
  static std::string refusal(const ConnectOptions& options, Errc expected) {
    const Result<Connection> refused = Connection::connect(options);
    EXPECT_EQ(refused.error(), expected);
    EXPECT_EQ(refused.text().find("777"), std::string::npos) << refused.text();
    return refused.text();
  }
};

TEST_F(ClientToken, GoesToAUnixSocket) {
  EXPECT_EQ(sent({.token = kToken}), kToken);
  EXPECT_EQ(sent({}), "");
}

TEST_F(ClientToken, ComesFromTheEnvironmentWhereTheProgramSaysNothing) {
  const std::string other = std::string(kTokenPrefix) + std::string(64, '8');
  ::setenv(kTokenVariable, other.c_str(), 1);
  EXPECT_EQ(sent({}), other);
  EXPECT_EQ(sent({.token = kToken}), kToken);
  ::setenv(kTokenVariable, "", 1);
  EXPECT_EQ(sent({}), "");
}

TEST_F(ClientToken, IsSentNowhereElse) {
  // Nobody is asked: that the address leads nowhere does not matter.
  for (const char* address : {"tcp:127.0.0.1:1", "127.0.0.1:1", "[::1]:1", "no-such-host.invalid"}) {
    EXPECT_NE(refusal({.address = address, .token = kToken}, Errc::token_exposed).find("connect by \"tls:\""),
              std::string::npos);
  }
  ::setenv(kTokenVariable, kToken.c_str(), 1);
  EXPECT_EQ(refusal({.address = "127.0.0.1:1"}, Errc::token_exposed).find(kTokenVariable), 0u);
}

TEST_F(ClientToken, HasOneForm) {
  FakeDaemon daemon;
  for (const std::string& wrong : {std::string("secret"), kToken + "\n", kToken + "7", std::string(kTokenPrefix),
                                   std::string(kTokenPrefix) + std::string(64, 'F'), std::string(64, '7')}) {
    EXPECT_NE(refusal({.address = daemon.path(), .token = wrong}, Errc::bad_argument).find("spmonitor token new"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace spindle
