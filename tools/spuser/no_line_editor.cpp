// In place of line_editor.cpp where libedit was not there to build with: the terminal's own editing of a line.
#include <cstdio>
#include <utility>

#include "tools/spuser/input.h"
#include "tools/spuser/line_editor.h"

namespace spuser {

struct LineEditor::Library {
  explicit Library(const Wait& wait) : input({}, wait) {}
  Input input;
};

LineEditor::LineEditor(std::string prompt, Wait wait)
    : prompt_(std::move(prompt)), wait_(std::move(wait)), library_(std::make_unique<Library>(wait_)) {}

LineEditor::~LineEditor() = default;

bool LineEditor::next_line(std::string_view& line) {
  is_reading_ = true;
  redraw();
  const bool is_there = library_->input.next_line(line);
  is_reading_ = false;
  return is_there;
}

void LineEditor::redraw() {
  if (!is_reading_) return;
  std::fputs(prompt_.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace spuser
