// The language of scripts: what it takes, and what it says about what it does not take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/script/interpreter.h"

namespace spindled::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string parse_error(std::string_view text) {
  try {
    parse_script("t.txt", text);
  } catch (const ScriptError& error) {
    return error.what();
  }
  return "no error";
}

/// What a script of one block says that runs `commands`, in a cluster of two where they do not begin with their own.
std::string run_error(std::string commands) {
  if (!commands.starts_with("cluster") && !commands.starts_with("!")) commands = "cluster line 2\n" + commands;
  if (commands.starts_with("!")) commands.erase(0, 1);
  try {
    const Script script = parse_script("t.txt", commands + "\n----\n");
    Interpreter(script).run();
  } catch (const ScriptError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ScriptParser, TakesBlocksApart) {
  const std::string text =
      "# What it is about.\n"
      "\n"
      "cluster line 2   # behind a command\n"
      "when d000 says \"commits v2\" crash d000\n"
      "----\n"
      "first\n"
      "second # no comment\n"
      "\n"
      "run 5ms\n"
      "----\n"
      "\n"
      "# The end.\n";
  const Script script = parse_script("t.txt", text);
  ASSERT_EQ(script.blocks.size(), 2u);
  ASSERT_EQ(script.blocks[0].commands.size(), 2u);
  EXPECT_EQ(script.blocks[0].commands[0].line, 3u);
  EXPECT_THAT(script.blocks[0].commands[0].words, ElementsAre("cluster", "line", "2"));
  EXPECT_THAT(script.blocks[0].commands[1].words, ElementsAre("when", "d000", "says", "commits v2", "crash", "d000"));
  EXPECT_EQ(script.blocks[0].expected, "first\nsecond # no comment\n");
  EXPECT_EQ(script.blocks[1].expected, "");
  EXPECT_EQ(script.rest, "# The end.\n");
  EXPECT_EQ(rewritten(script, {script.blocks[0].expected, ""}), text);
  EXPECT_EQ(rewritten(script, {"other\n", "new\n"}),
            "# What it is about.\n\ncluster line 2   # behind a command\n"
            "when d000 says \"commits v2\" crash d000\n----\nother\n\nrun 5ms\n----\nnew\n\n# The end.\n");
}

TEST(ScriptParser, LastBlockNeedsNoBlankLine) {
  const std::string text = "run 5ms\n----\nsomething\n";
  EXPECT_EQ(rewritten(parse_script("t.txt", text), {"something\n"}), text);
}

TEST(ScriptParser, TellsWhatIsWrongAndWhere) {
  EXPECT_EQ(parse_error("\nwhen d000 says \"commits\n----\n"), "t.txt:2: a quotation has no end");
  EXPECT_EQ(parse_error("when d000 says \"commits\"crash\n----\n"), "t.txt:1: a blank must follow a quotation");
  EXPECT_EQ(parse_error("# nothing\n----\nx\n"), "t.txt:2: there is no command above the line");
  EXPECT_EQ(parse_error("run 1ms\n----\nx\n----\n"), "t.txt:4: a blank line ends the expected output");
  EXPECT_EQ(parse_error("run 1ms\n----\n\nrun 2ms\n"),
            "t.txt:4: the last commands have no ---- and no expected output behind them");
}

TEST(ScriptInterpreter, TellsWhatIsWrongWithACommand) {
  EXPECT_EQ(run_error("sned a g agreed"), "t.txt:2: \"sned\" is no command");
  EXPECT_THAT(run_error("!run 5ms"), StartsWith("t.txt:1: a script begins with its one cluster"));
  EXPECT_THAT(run_error("cluster line 2"), HasSubstr("ends with \"run until rest\""));
  EXPECT_THAT(run_error("cluster ring 3\ncluster ring 3"), StartsWith("t.txt:2: a script begins with its one cluster"));
  EXPECT_EQ(run_error("cluster tree 4"),
            "t.txt:1: \"tree\" is no shape (usage: cluster SHAPE SIZE [delay DURATION] [rate BYTES_PER_SECOND] "
            "[unpriced] [seed NUMBER])");
  EXPECT_THAT(run_error("cluster line"), StartsWith("t.txt:1: the size is missing"));
  EXPECT_THAT(run_error("cluster line many"), StartsWith("t.txt:1: the size is \"many\", which is no number"));
  EXPECT_THAT(run_error("cluster line 0"), StartsWith("t.txt:1: a cluster has 1 to 100 daemons"));
  EXPECT_THAT(run_error("cluster line 2 jitter"), StartsWith("t.txt:1: \"seed\" is missing"));
  EXPECT_THAT(run_error("run 5"), StartsWith("t.txt:2: \"5\" is no duration, such as 20us, 5ms or 2s"));
  EXPECT_THAT(run_error("run -5ms"), StartsWith("t.txt:2: \"-5ms\" is no duration"));
  EXPECT_THAT(run_error("run 5ms now"), StartsWith("t.txt:2: \"now\" is too much"));
  EXPECT_THAT(run_error("run"), StartsWith("t.txt:2: a duration is missing"));
}

TEST(ScriptInterpreter, TellsWhatIsNotThere) {
  EXPECT_THAT(run_error("crash d002"), StartsWith("t.txt:2: there is no daemon \"d002\""));
  EXPECT_THAT(run_error("crash d001 d001"), StartsWith("t.txt:2: d001 does not run"));
  EXPECT_THAT(run_error("start d001"), StartsWith("t.txt:2: d001 runs"));
  EXPECT_THAT(run_error("cluster line 3\ncut d000 d002"),
              StartsWith("t.txt:2: there is no link between d000 and d002"));
  EXPECT_THAT(run_error("partition d000 d001"), StartsWith("t.txt:2: a partition has two sides or more"));
  EXPECT_THAT(run_error("join a g"), StartsWith("t.txt:2: there is no client \"a\""));
  EXPECT_THAT(run_error("connect a d000\nconnect a d001"), StartsWith("t.txt:3: there is a client \"a\" already"));
  EXPECT_THAT(run_error("connect a d000\nkill a\nsend a g safe"), StartsWith("t.txt:4: client a is closed"));
  EXPECT_THAT(run_error("connect a d000\nsend a g best"), StartsWith("t.txt:3: \"best\" is no service"));
  EXPECT_THAT(run_error("connect a d000\nsend a g safe 0"), StartsWith("t.txt:3: 1 to 1000 messages can be sent"));
  EXPECT_THAT(run_error("connect a d000\njoin a"), StartsWith("t.txt:3: a group is missing"));
}

TEST(ScriptInterpreter, TellsWhatIsWrongWithTriggers) {
  EXPECT_THAT(run_error("when d000 commits crash d000"), StartsWith("t.txt:2: \"says\" is missing"));
  EXPECT_THAT(run_error("when d000 says commits"), StartsWith("t.txt:2: a command is missing"));
  EXPECT_THAT(run_error("when d000 says commits crush d000"), StartsWith("t.txt:2: \"crush\" is no command"));
  EXPECT_THAT(run_error("when d000 says commits run 5ms\ncrash d001\nrun until rest"),
              StartsWith("t.txt:2: this takes time, and cannot follow \"when\""));
  EXPECT_THAT(run_error("when d000 says commits start d000\ncrash d001\nrun until rest"),
              StartsWith("t.txt:2: d000 runs"));
  EXPECT_EQ(run_error("when d000 says confesses crash d000\nrun until rest"), "t.txt:2: d000 never says \"confesses\"");
  EXPECT_THAT(run_error("run until d000 says confesses"), StartsWith("t.txt:2: d000 did not say \"confesses\""));
}

TEST(ScriptInterpreter, RunsTheSameScriptTheSameWay) {
  const Script script = parse_script("t.txt",
                                     "cluster ring 3 delay 2ms\nmembers g\n----\n\nsend b g safe\nrun 3ms\n"
                                     "crash d000\nrun until rest\n----\n");
  const std::vector<std::string> first = Interpreter(script).run();
  EXPECT_EQ(first, Interpreter(script).run());
  ASSERT_EQ(first.size(), 2u);
  EXPECT_THAT(first[0], HasSubstr("v1 is installed: d000 d001 d002"));
  EXPECT_THAT(first[1], HasSubstr("gets safe b:1 in g"));
}

}  // namespace
}  // namespace spindled::sim
