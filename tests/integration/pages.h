// What the pages show, as it stands there.
#pragma once

#include <string>
#include <vector>

namespace spindle::test {

/// The blocks of code of a page, such as "docs/client.md", that have `text` in them: those indented by four spaces, or
/// between fences.
std::vector<std::string> blocks_with(const std::string& page, const std::string& text);

}  // namespace spindle::test
