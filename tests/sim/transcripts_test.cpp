// Scenarios written as text, with the full transcript that each is expected to produce: tests/sim/transcripts. With
// SPINDLE_REWRITE=1 the files are rewritten with what happened; read what changed before you believe it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/checkers/checkers.h"
#include "tests/sim/script/interpreter.h"

namespace spindled::sim {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> script_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SPINDLE_TRANSCRIPTS)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): tests have one thread
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

class Transcripts : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Transcripts, AreAsExpected) {
  const std::string text = read_file(GetParam());
  try {
    const Script script = parse_script(GetParam().filename().string(), text);
    ASSERT_FALSE(script.blocks.empty()) << "there is nothing in " << script.file;
    Interpreter interpreter(script, is_set("SPINDLE_SIM_LOG"));
    const std::vector<std::string> outputs = interpreter.run();
    const Violations violations = check_all(interpreter.history(), true);
    EXPECT_TRUE(violations.empty()) << to_text(violations);
    if (is_set("SPINDLE_REWRITE")) {
      const std::string result = rewritten(script, outputs);
      if (result != text) std::ofstream(GetParam(), std::ios::binary) << result;
      return;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(script.blocks[i].expected, outputs[i])
          << "after\n"
          << script.blocks[i].source << "To accept what happened: SPINDLE_REWRITE=1 sim_tests "
          << "--gtest_filter='*Transcripts*/" << test_name(GetParam()) << "'";
    }
  } catch (const ScriptError& error) {
    FAIL() << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Transcripts, testing::ValuesIn(script_files()),
                         [](const auto& tested) { return test_name(tested.param); });

}  // namespace
}  // namespace spindled::sim
