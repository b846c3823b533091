#include "tools/spuser/line_editor.h"

#include <histedit.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <utility>

namespace spuser {

namespace {
constexpr int kLinesKept = 1000;
}

struct LineEditor::Library {
  static LineEditor& owner(EditLine* editor) {
    void* data = nullptr;
    ::el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<LineEditor*>(data);
  }
  static char* prompt(EditLine* editor) { return owner(editor).prompt_.data(); }
  static int read_character(EditLine* editor, wchar_t* character);

  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event{};
};

/// 1 with the next character, 0 at the end of the input, -1 where something went wrong. Exceptions must not pass
/// through the library, which is C.
int LineEditor::Library::read_character(EditLine* editor, wchar_t* character) {
  LineEditor& self = owner(editor);
  std::mbstate_t state{};
  for (;;) {
    try {
      self.wait_(STDIN_FILENO);
    } catch (...) {
      self.thrown_ = std::current_exception();
      return -1;
    }
    char byte = 0;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return static_cast<int>(count);
    const std::size_t taken = std::mbrtowc(character, &byte, 1, &state);
    if (taken == static_cast<std::size_t>(-2)) continue;  // more bytes belong to it
    if (taken == static_cast<std::size_t>(-1)) *character = L'?';
    return 1;
  }
}

LineEditor::LineEditor(std::string prompt, Wait wait)
    : prompt_(std::move(prompt)), wait_(std::move(wait)), library_(std::make_unique<Library>()) {
  std::setlocale(LC_CTYPE, "");
  library_->editor = ::el_init("spuser", stdin, stdout, stderr);
  library_->history = ::history_init();
  ::history(library_->history, &library_->event, H_SETSIZE, kLinesKept);
  EditLine* const editor = library_->editor;
  ::el_set(editor, EL_CLIENTDATA, static_cast<void*>(this));
  ::el_set(editor, EL_PROMPT, &Library::prompt);
  ::el_set(editor, EL_EDITOR, "emacs");
  ::el_set(editor, EL_HIST, &::history, library_->history);
  ::el_set(editor, EL_GETCFN, &Library::read_character);
}

LineEditor::~LineEditor() {
  ::history_end(library_->history);
  ::el_end(library_->editor);
}

bool LineEditor::next_line(std::string_view& line) {
  int count = 0;
  is_reading_ = true;
  const char* const typed = ::el_gets(library_->editor, &count);
  is_reading_ = false;
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (typed == nullptr || count <= 0) return false;
  line_.assign(typed, static_cast<std::size_t>(count));
  while (line_.ends_with('\n') || line_.ends_with('\r')) line_.pop_back();
  if (!line_.empty()) ::history(library_->history, &library_->event, H_ENTER, line_.c_str());
  line = line_;
  return true;
}

void LineEditor::redraw() {
  if (is_reading_) ::el_set(library_->editor, EL_REFRESH);
}

}  // namespace spuser
