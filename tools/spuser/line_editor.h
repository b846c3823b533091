// The prompt at a terminal: editing of the line, and the lines before it, by libedit.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace spuser {

class LineEditor {
 public:
  /// Waits until a descriptor can be read. It may throw, and may call `redraw`.
  using Wait = std::function<void(int descriptor)>;

  LineEditor(std::string prompt, Wait wait);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  /// Leaves the terminal as it was.
  ~LineEditor();

  /// The next line from standard input, without its end, valid until the next call; false at the end of the input.
  bool next_line(std::string_view& line);
  /// Whether a line is being typed at this moment.
  bool is_reading() const { return is_reading_; }
  /// Shows the prompt and what has been typed again, after something else was printed.
  void redraw();

 private:
  struct Library;

  std::string prompt_;
  Wait wait_;
  std::exception_ptr thrown_;  // by `wait_`, within the library
  bool is_reading_ = false;
  std::string line_;
  std::unique_ptr<Library> library_;
};

}  // namespace spuser
