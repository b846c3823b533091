// The exit codes that `spuser --help` tells.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/integration/clients.h"
#include "tests/support/files.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

Finished run_spuser(const std::string& address, const std::vector<std::string>& arguments) {
  ProcessOptions options;
  options.arguments = {"--connect", address};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  return run(SPUSER_PATH, options);
}

void expect_bad(const std::string& address, const std::vector<std::string>& arguments, std::string_view why) {
  const Finished finished = run_spuser(address, arguments);
  EXPECT_EQ(finished.code, 2) << testing::PrintToString(arguments);
  EXPECT_THAT(finished.error, HasSubstr(std::string(why)));
}

TEST(SpuserExit, NamesThatCannotBeAreOfTheCommandLine) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string lines = directory.path("lines");
  std::ofstream(lines) << "a line\n";
  const std::string groups_say = "a group name has 1 to 255 bytes";
  expect_bad(daemon.socket(), {"subscribe", "#x"}, groups_say);
  expect_bad(daemon.socket(), {"listen", "#x"}, groups_say);
  expect_bad(daemon.socket(), {"feed", "#x", "--size", "1", "--count", "1"}, groups_say);
  expect_bad(daemon.socket(), {"publish", "#x", "--file", lines}, groups_say);
  expect_bad(daemon.socket(), {"send-file", "#x", lines}, groups_say);
  expect_bad(daemon.socket(), {"receive-file", "#x", directory.path(".")}, groups_say);
  expect_bad(daemon.socket(), {"--name", "a b", "subscribe", "news"}, "(bad_client_name)");
  expect_bad("tcp:host:99999", {"subscribe", "news"}, "(bad_address)");
  std::vector<std::string> many{"publish", "--file", lines};
  for (int i = 0; i <= 1000; ++i) many.push_back("g" + std::to_string(i));
  expect_bad(daemon.socket(), many, "1 to 1,000 groups");
}

TEST(SpuserExit, AClientThatIsNotTakenHasNoConnection) {
  Daemon daemon({});
  const Connection taken = daemon.connect("taken");
  EXPECT_EQ(run_spuser(daemon.socket(), {"--name", "taken", "subscribe", "news"}).code, 1);
  EXPECT_EQ(run_spuser("/no/such/socket", {"subscribe", "news"}).code, 1);
}

}  // namespace
}  // namespace spindle::test
