#include "tests/integration/pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/support/files.h"

namespace spindle::test {

namespace {

std::string read_page(const std::string& name) {
  const std::string page = read_file(std::string(SPINDLE_SOURCE_DIR) + "/" + name);
  EXPECT_NE(page, "") << name;
  return page;
}

/// The blocks of code of a page, indented by four spaces or between fences.
std::vector<std::string> blocks_of(const std::string& page) {
  std::vector<std::string> blocks;
  std::string block;
  bool fenced = false;
  const auto end_block = [&] {
    if (!block.empty()) blocks.push_back(std::exchange(block, {}));
  };
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string line = page.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("```")) {
      end_block();
      fenced = !fenced;
    } else if (fenced) {
      block += line + "\n";
    } else if (line.starts_with("    ")) {
      block += line.substr(4) + "\n";
    } else if (line.empty()) {
      if (!block.empty()) block += "\n";
    } else {
      end_block();
    }
  }
  end_block();
  return blocks;
}

}  // namespace

std::vector<std::string> blocks_with(const std::string& page, const std::string& text) {
  std::vector<std::string> blocks = blocks_of(read_page(page));
  std::erase_if(blocks, [&](const std::string& block) { return block.find(text) == std::string::npos; });
  return blocks;
}

}  // namespace spindle::test
