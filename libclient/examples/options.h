// What the command lines of the examples have in common: options with a value each, and words.
#pragma once

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

class Options {
 public:
  /// `defaults` are the options that there are. Shows `help` and ends the program where that is asked for, or where the
  /// command line is wrong.
  Options(int argc, char** argv, std::string_view help, std::map<std::string, std::string> defaults)
      : values_(std::move(defaults)) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--help") {
        std::cout << help;
        std::exit(0);
      }
      if (word.substr(0, 2) != "--") {
        words_.push_back(word);
      } else if (values_.count(word.substr(2)) == 0 || ++i == argc) {
        refuse(help);
      } else {
        values_[word.substr(2)] = argv[i];
      }
    }
    if (words_.empty()) refuse(help);
  }

  const std::string& operator[](const std::string& name) const { return values_.at(name); }
  int number(const std::string& name) const { return std::atoi(values_.at(name).c_str()); }
  /// At least one.
  const std::vector<std::string>& words() const { return words_; }

 private:
  [[noreturn]] static void refuse(std::string_view help) {
    std::cerr << help;
    std::exit(2);
  }

  std::map<std::string, std::string> values_;
  std::vector<std::string> words_;
};

}  // namespace examples
