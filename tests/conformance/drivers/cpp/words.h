// Lines between a driver and the runner: words, and key=value with values in percent-encoding. ../../README.md has the
// protocol.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spindle::conformance {

/// A line from the runner: the number of the call, its verb, and its values.
class Call {
 public:
  explicit Call(std::string_view line) {
    std::istringstream words{std::string(line)};
    words >> number >> verb;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      values_.emplace_back(word.substr(0, equals), decode(word.substr(equals + 1)));
    }
  }

  bool has(std::string_view key) const { return !all(key).empty(); }
  /// The first value of a key; empty without one.
  std::string text(std::string_view key) const { return has(key) ? all(key).front() : std::string(); }
  std::uint64_t integer(std::string_view key, std::uint64_t otherwise = 0) const {
    return has(key) ? std::stoull(text(key)) : otherwise;
  }
  std::vector<std::string> all(std::string_view key) const {
    std::vector<std::string> found;
    for (const auto& [name, value] : values_) {
      if (name == key) found.push_back(value);
    }
    return found;
  }

  std::string number;
  std::string verb;

 private:
  static std::string decode(const std::string& text) {
    std::string value;
    for (std::size_t i = 0; i < text.size(); i += text[i] == '%' ? 3 : 1) {
      value += text[i] == '%' ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
    }
    return value;
  }

  std::vector<std::pair<std::string, std::string>> values_;
};

/// A line to the runner, without its number: a word, and what is added to it.
class Answer {
 public:
  explicit Answer(std::string_view word) : line(word) {}

  Answer& add(std::string_view key, std::string_view value) {
    line.append(" ").append(key).append("=").append(encode(value));
    return *this;
  }
  Answer& add(std::string_view key, std::uint64_t value) { return add(key, std::to_string(value)); }
  template <typename Values>
  Answer& add_all(std::string_view key, const Values& values) {
    for (const std::string_view value : values) add(key, value);
    return *this;
  }

  std::string line;

 private:
  static std::string encode(std::string_view value) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string text;
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80 && (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~' || c == '/')) {
        text += c;
      } else {
        text += {'%', kDigits[byte >> 4], kDigits[byte & 0xf]};
      }
    }
    return text;
  }
};

/// The payload with this seed and size.
inline std::string payload(std::uint64_t seed, std::size_t size) {
  constexpr std::size_t kBlockBytes = 65521;
  std::string block(std::min(size, kBlockBytes), '\0');
  std::uint64_t state = seed;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (i % 8 == 0) state = state * 6364136223846793005 + 1442695040888963407;
    block[i] = static_cast<char>(state >> (8 * (i % 8)));
  }
  std::string bytes;
  bytes.reserve(size);
  while (bytes.size() < size) bytes.append(block, 0, size - bytes.size());
  return bytes;
}

/// CRC-32, as zlib has it.
inline std::uint32_t digest(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xedb88320 ^ (value >> 1) : value >> 1;
      table[i] = value;
    }
    return table;
  }();
  std::uint32_t value = 0xffffffff;
  for (const char c : bytes) value = kTable[(value ^ static_cast<unsigned char>(c)) & 0xff] ^ (value >> 8);
  return ~value;
}

}  // namespace spindle::conformance
