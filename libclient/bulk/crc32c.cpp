#include "libclient/bulk/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace spindle::bulk {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41, its bits the other way round

/// What an octet does to the CRC when `i` octets follow it, for words of eight octets at a time.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t octet = 0; octet < 256; ++octet) {
    std::uint32_t crc = octet;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][octet] = crc;
  }
  for (std::size_t i = 1; i < tables.size(); ++i) {
    for (std::size_t octet = 0; octet < 256; ++octet) {
      const std::uint32_t crc = tables[i - 1][octet];
      tables[i][octet] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

/// Of eight octets that follow each other, the first one lowest.
std::uint64_t word_at(const std::uint8_t* at) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8; ++i) word |= std::uint64_t{at[i]} << (8 * i);
  return word;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(ByteView bytes, std::uint32_t before) {
  std::uint64_t crc = ~before;
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left) rest = _mm_crc32_u8(rest, *at++);
  return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c_by_tables(ByteView bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint64_t word = word_at(at) ^ crc;
    crc = 0;
    for (unsigned i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; left > 0; --left) crc = (crc >> 8) ^ kTables[0][(crc ^ *at++) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(ByteView bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") != 0) return crc32c_by_instruction(bytes, before);
#endif
  return crc32c_by_tables(bytes, before);
}

}  // namespace spindle::bulk
