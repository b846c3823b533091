// A cipher for tests: keeps datagrams apart as the real one does, and protects nothing.
#pragma once

#include <cstdint>

#include "daemon/base/datagram.h"
#include "tests/checkers/digest.h"

namespace spindled::test {

/// Both ends of a link are given the same `key`, and other values of `has_dialled`.
class ToyCipher final : public DatagramCipher {
 public:
  ToyCipher(std::uint64_t key, bool has_dialled) : out_(2 * key + has_dialled), in_(2 * key + !has_dialled) {}

  void seal(std::uint64_t number, ByteView head, std::span<std::uint8_t> body) override {
    const std::span<std::uint8_t> text = body.first(body.size() - kTagBytes);
    mask(out_ + number, text);
    put_tag(out_, number, head, text, body.last(kTagBytes));
  }
  bool open(std::uint64_t number, ByteView head, std::span<std::uint8_t> body) override {
    const std::span<std::uint8_t> text = body.first(body.size() - kTagBytes);
    std::uint8_t tag[kTagBytes];
    put_tag(in_, number, head, text, tag);
    mask(in_ + number, text);
    return std::equal(body.end() - kTagBytes, body.end(), tag);
  }

 private:
  static void mask(std::uint64_t key, std::span<std::uint8_t> text) {
    for (std::uint8_t& byte : text) byte ^= static_cast<std::uint8_t>((key = key * 0x5851f42d4c957f2d + 1) >> 56);
  }
  static void put_tag(std::uint64_t key, std::uint64_t number, ByteView head, ByteView text,
                      std::span<std::uint8_t> tag) {
    checkers::Digest digest;
    digest.add(key);
    digest.add(number);
    digest.add(head);
    digest.add(text);
    for (std::size_t i = 0; i < tag.size(); ++i) {
      tag[i] = static_cast<std::uint8_t>(digest.value() >> (8 * (i % 8)));
    }
  }

  const std::uint64_t out_;
  const std::uint64_t in_;
};

}  // namespace spindled::test
