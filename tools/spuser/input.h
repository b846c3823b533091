// What is to be published: the lines, or the whole, of standard input or of files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace spuser {

class Input {
 public:
  /// Waits until a descriptor can be read.
  using Wait = std::function<void(int descriptor)>;

  /// `files` empty: standard input; "-" stands for it, too.
  Input(std::vector<std::string> files, Wait wait);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Both give false at the end, and throw Exit for what cannot be read or is larger than a message can be. What `next`
  // points to is valid until the next call.

  /// The next line, without its end.
  bool next_line(std::string_view& line);
  /// The whole of the next file.
  bool next_file(std::string_view& content);

 private:
  bool open_next();
  /// Reads some more; false at the end of the file.
  bool fill();
  std::string name() const;
  [[noreturn]] void too_large() const;

  std::vector<std::string> files_;
  std::size_t next_ = 0;  // in `files_`
  Wait wait_;
  int descriptor_ = -1;
  std::string buffer_;
  std::size_t start_ = 0;    // of what has not been given out
  std::size_t scanned_ = 0;  // up to where there is no end of line
};

}  // namespace spuser
