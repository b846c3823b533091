// spuser at a prompt: commands from a pipe, and lines that are edited at a terminal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/integration/clients.h"

namespace spindle::test {
namespace {

struct Ends {
  Descriptor ours;
  Descriptor theirs;
};

Ends make_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  return {Descriptor(ends[1]), Descriptor(ends[0])};
}

Ends make_terminal() {
  Descriptor ours(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_EQ(::grantpt(ours.get()), 0);
  EXPECT_EQ(::unlockpt(ours.get()), 0);
  Descriptor theirs(::open(::ptsname(ours.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  return {std::move(ours), std::move(theirs)};
}

ProcessOptions options_for(const Daemon& daemon, const Descriptor& input) {
  ProcessOptions options;
  options.arguments = {"--connect", "unix:" + daemon.socket(), "--name", "typist"};
  options.environment = {"TERM=vt100"};
  options.input = input.get();
  return options;
}

/// What is typed and what is shown is at the terminal.
ProcessOptions options_at(const Daemon& daemon, const Ends& terminal) {
  ProcessOptions options = options_for(daemon, terminal.theirs);
  options.output = terminal.theirs.get();
  return options;
}

void type(const Descriptor& descriptor, std::string_view text) {
  ASSERT_EQ(::write(descriptor.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

/// Reads what a terminal shows until that contains `text`, and returns the rest.
std::string wait_for(const Descriptor& terminal, std::string shown, std::string_view text) {
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience).count();
  std::size_t at;
  while ((at = shown.find(text)) == std::string::npos) {
    pollfd readable{terminal.get(), POLLIN, 0};
    std::array<char, 4096> bytes;
    const ssize_t count =
        ::poll(&readable, 1, static_cast<int>(patience)) > 0 ? ::read(terminal.get(), bytes.data(), bytes.size()) : 0;
    if (count <= 0) throw std::runtime_error("the terminal does not show " + std::string(text) + ": " + shown);
    shown.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return shown.substr(at + text.size());
}

TEST(SpuserPrompt, MembersOfAGroup) {
  Daemon daemon({});
  Connection other = daemon.connect("other");
  ASSERT_FALSE(other.join("news"));
  wait_for_members(other, "news", {"#other#alpha"});
  const Ends pipe = make_pipe();
  Process spuser(SPUSER_PATH, options_for(daemon, pipe.theirs));
  type(pipe.ours, "members news\n");
  spuser.wait_for_line("the daemon refused to tell the members of news: the client is not a member of the group");
  type(pipe.ours, "join news\n");
  wait_for_members(other, "news", {"#other#alpha", "#typist#alpha"});
  type(pipe.ours, "members news\n");
  spuser.wait_for_line("news has 2 members: #other#alpha #typist#alpha");
  type(pipe.ours, "quit\n");
  EXPECT_EQ(spuser.wait(), 0);
}

TEST(SpuserPrompt, WhatOthersSendDoesNothingToTheTerminal) {
  Daemon daemon({});
  Connection other = daemon.connect("other");
  const Ends terminal = make_terminal();
  Process spuser(SPUSER_PATH, options_at(daemon, terminal));
  const std::string shown = wait_for(terminal.ours, {}, "> ");
  ASSERT_FALSE(other.multicast(Service::agreed, "#typist#alpha", "\r\x1b[2J[news] #admin#alpha: a\\b\n"));
  wait_for(terminal.ours, shown, "#other#alpha: \\x0d\\x1b[2J[news] #admin#alpha: a\\b\\x0a");
  type(terminal.ours, "quit\n");
  EXPECT_EQ(spuser.wait(), 0);
}

TEST(SpuserPrompt, WhatOthersSendDoesNothingToTheTerminalBehindAPipe) {
  Daemon daemon({});
  Connection other = daemon.connect("other");
  const Ends pipe = make_pipe();
  const Ends terminal = make_terminal();
  ProcessOptions options = options_for(daemon, pipe.theirs);
  options.output = terminal.theirs.get();
  Process spuser(SPUSER_PATH, options);
  const std::string shown = wait_for(terminal.ours, {}, "connected as");
  ASSERT_FALSE(other.multicast(Service::agreed, "#typist#alpha", "\x1b[2J\xc2\x9b"));
  wait_for(terminal.ours, shown, "#other#alpha: \\x1b[2J\\xc2\\x9b");
  type(pipe.ours, "quit\n");
  EXPECT_EQ(spuser.wait(), 0);
}

// C1 characters, too: terminals take them for the escapes that they stand for.
TEST(SpuserPrompt, WhatOthersCallAContentDoesNothingToTheTerminal) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string name =
                        "a\xc2\x9b"
                        "2Jb",
                    shown = "a\\xc2\\x9b2Jb";
  std::ofstream(directory.path(name)) << "content";
  const std::string place = directory.path("place");
  std::filesystem::create_directory(place);
  for (const bool is_there : {false, true}) {
    SCOPED_TRACE(is_there);
    const std::string group = is_there ? "again" : "news";  // the first content is still offered in its group
    const Ends terminal = make_terminal();
    ProcessOptions options;
    options.arguments = {"--connect", daemon.socket(), "receive-file", group, place, "--count", "1"};
    options.output = terminal.theirs.get();
    Process receiver(SPUSER_PATH, options);
    options = {};
    options.arguments = {"--connect", daemon.socket(), "send-file", group, directory.path(name), "--wait-members", "1"};
    const Finished sender = run(SPUSER_PATH, options);
    EXPECT_EQ(receiver.wait(), is_there ? 3 : 0) << receiver.transcript();
    if (!is_there) wait_for(terminal.ours, {}, place + "/" + shown);
    for (const std::string& text : {sender.out, receiver.output(Process::Stream::error)}) {
      EXPECT_THAT(text, testing::HasSubstr(shown));
      EXPECT_THAT(text, testing::Not(testing::HasSubstr(name)));
    }
    EXPECT_EQ(std::filesystem::exists(place + "/" + name), true);
  }
}

TEST(SpuserPrompt, LinesAreEditedAndKept) {
  Daemon daemon({});
  Connection other = daemon.connect("other");
  const Ends terminal = make_terminal();
  Process spuser(SPUSER_PATH, options_at(daemon, terminal));
  std::string shown = wait_for(terminal.ours, {}, "> ");
  type(terminal.ours, "elp\x1b[D\x1b[D\x1b[Dh\n");  // three to the left
  shown = wait_for(terminal.ours, shown, "become a member");
  shown = wait_for(terminal.ours, shown, "> ");
  type(terminal.ours, "\x1b[A\n");  // the line before
  shown = wait_for(terminal.ours, shown, "become a member");
  shown = wait_for(terminal.ours, shown, "> ");
  // What comes while something is typed goes in front of it.
  type(terminal.ours, "qui");
  shown = wait_for(terminal.ours, shown, "qui");
  ASSERT_FALSE(other.multicast(Service::agreed, "#typist#alpha", "a message"));
  shown = wait_for(terminal.ours, shown, "#other#alpha: a message");
  shown = wait_for(terminal.ours, shown, "> qui");
  type(terminal.ours, "t\n");
  EXPECT_EQ(spuser.wait(), 0);
}

}  // namespace
}  // namespace spindle::test
