// Plans that once failed, with what they broke and why: tests/hunt/plans. Each is a run of its own; what is drawn from
// seeds may change, these stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/hunt/plan_text.h"
#include "tests/hunt/run.h"

namespace spindled::hunt {
namespace {

std::vector<std::filesystem::path> plan_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SPINDLE_PLANS)) {
    if (entry.path().extension() == ".plan") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class HuntPlans : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(HuntPlans, AreClean) {
  std::ifstream file(GetParam());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto plan = parse_plan(text);
  ASSERT_TRUE(plan) << GetParam() << ": " << plan.error();
  const Outcome outcome = run(*plan, {.explain = true});
  for (const Finding& each : outcome.findings) ADD_FAILURE() << each.sentence;
  if (outcome.failed()) std::cerr << outcome.explanation << "To replay: tools/simulate --replay " << GetParam() << "\n";
}

INSTANTIATE_TEST_SUITE_P(Files, HuntPlans, testing::ValuesIn(plan_files()),
                         [](const auto& tested) { return test_name(tested.param); });

}  // namespace
}  // namespace spindled::hunt
