// The three hosts of README.md: what the page says is typed there as it stands, on hosts that have a network, a /etc
// and a /tmp of their own.
#include <gmock/gmock.h>

#include <filesystem>
#include <iostream>
#include <map>

#include "tests/integration/namespaces.h"
#include "tests/integration/needs.h"
#include "tests/integration/openssl.h"
#include "tests/integration/pages.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// The only block of README.md with `text` in it.
std::string block_with(const std::string& text) {
  const std::vector<std::string> blocks = blocks_with("README.md", text);
  EXPECT_THAT(blocks, SizeIs(1)) << text;
  return blocks.empty() ? std::string() : blocks.front();
}

/// A shell at which somebody types. What it has started ends with it.
class Host {
 public:
  explicit Host(const std::string& network) : shell_(kEnv, options(network)) {
    // The programs first: where they lie may be about to disappear.
    type("set -e; mount -t tmpfs none /mnt");
    for (const std::string program : {SPINDLED_PATH, SPUSER_PATH, SPMONITOR_PATH}) {
      const std::string installed = "/mnt" + program.substr(program.rfind('/'));
      type("touch " + installed + "; mount --bind " + program + " " + installed);
    }
    type("mount -t tmpfs none /etc; mkdir /etc/spindle");
  }
  ~Host() {
    if (testing::Test::HasFailure() || std::uncaught_exceptions() != 0) std::cerr << shell_.transcript();
  }

  void type(const std::string& line) { keyboard_.type(line + "\n"); }
  /// From here on nothing is seen of the /tmp of the test.
  void leave_tmp() { type("mount -t tmpfs none /tmp; cd /tmp; set +e"); }
  void write(const std::string& file, const std::string& text) {
    type("cat > " + file + " << 'the end'\n" + text + "the end");
  }
  void wait_for(const std::string& text) { shell_.wait_for_line(text); }
  /// All that the command has written to standard output.
  std::string ask(const std::string& command) {
    const std::size_t before = shell_.output(Process::Stream::out).size();
    const std::string end = "end of answer " + std::to_string(++questions_);
    type(command + "; echo " + end);
    shell_.wait_for_line(end);
    return shell_.output(Process::Stream::out).substr(before);
  }

 private:
  ProcessOptions options(const std::string& network) const {
    ProcessOptions options;
    options.arguments = {"unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh"};
    options.environment = {"PATH=/mnt:/usr/sbin:/usr/bin:/sbin:/bin"};
    options.network_namespace = network;
    options.input = keyboard_.input();
    return options;
  }

  Keyboard keyboard_;
  Process shell_;
  int questions_ = 0;
};

class ReadmeHosts : public testing::Test {
 protected:
  void SetUp() override {
    SPINDLE_TEST_NEEDS(Namespaces::unavailable());
    networks_ = std::make_unique<Namespaces>(std::vector<std::string>{"a", "b", "c"});
    networks_->connect("a", "b");
    networks_->connect("b", "c");
    for (const char* name : {"a", "b", "c"}) hosts_[name] = std::make_unique<Host>(networks_->name(name));
    hosts_["a"]->write("/etc/hosts", networks_->address("b", "a") + " b.example.net\n");
    hosts_["b"]->write("/etc/hosts", networks_->address("c", "b") + " c.example.net\n");
  }
  /// What is made "anywhere", and each host given its own.
  void make_certificates() {
    ProcessOptions options;
    options.arguments = {"-c", "cd " + anywhere_.path("") +
                                   "; PATH=" + std::filesystem::path(SPMONITOR_PATH).parent_path().string() + "\n" +
                                   block_with("spmonitor pki init")};
    const Finished finished = run("/bin/sh", options);
    ASSERT_EQ(finished.code, 0) << finished.error;
    for (const auto& [name, host] : hosts_) host->type("cp " + anywhere_.path(name + ".pem") + " /etc/spindle/");
  }

  TemporaryDirectory anywhere_;
  std::unique_ptr<Namespaces> networks_;
  std::map<std::string, std::unique_ptr<Host>> hosts_;
};

TEST_F(ReadmeHosts, HaveLinksByTlsAndMessagesAcrossThem) {
  make_certificates();
  for (const auto& [name, host] : hosts_) {
    host->leave_tmp();
    host->write("spindle.toml", block_with("\nname = \"" + name + "\""));
    const std::string command = block_with("spindled --config");
    host->type(command.substr(0, command.find('\n')) + " &");
    host->wait_for("ready: ");
  }
  const std::string talk = block_with("spuser publish");
  const std::size_t half = talk.find('\n');
  hosts_["a"]->type(talk.substr(0, half));
  hosts_["c"]->type(talk.substr(half + 1));
  hosts_["a"]->wait_for("hello");
  for (const auto& [name, host] : hosts_) EXPECT_THAT(host->ask("spmonitor status"), HasSubstr("3 members: a b c"));
  const std::string links = hosts_["b"]->ask("spmonitor links --json");
  EXPECT_THAT(links, HasSubstr("daemon:a"));
  EXPECT_THAT(links, HasSubstr("daemon:c"));
}

}  // namespace
}  // namespace spindle::test
