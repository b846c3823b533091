// Seeds for decoding steps of RaptorQ.
#include "tests/fuzz/raptorq_steps.h"
#include "tests/fuzz/seeds.h"

namespace spindle_fuzz {

namespace {

std::string step(RaptorqStep kind, std::initializer_list<unsigned> octets = {}) {
  std::string bytes = one_byte(static_cast<unsigned>(kind));
  for (const unsigned octet : octets) bytes += one_byte(octet);
  return bytes;
}

std::string block(unsigned symbols, unsigned bytes) {
  return one_byte(symbols - 1) + one_byte(bytes - 1) + one_byte(7);
}

}  // namespace

void add_raptorq_seeds(Seeds& seeds) {
  const auto add = [&](std::string name, std::string bytes) {
    seeds.push_back({"raptorq", std::move(name), std::move(bytes)});
  };
  const std::string decode = step(RaptorqStep::decode);
  std::string sources = block(5, 4);
  for (unsigned i = 0; i < 5; ++i) sources += step(RaptorqStep::source, {i}) + decode;
  add("source_symbols", sources);
  add("repair_symbols", block(40, 8) + step(RaptorqStep::several, {200, 1, 3}) + decode +
                            step(RaptorqStep::encoded, {1, 2, 3}) + step(RaptorqStep::encoded, {9, 9, 9}));
  add("one_symbol", block(1, 1) + decode + step(RaptorqStep::encoded, {77, 0, 0}) + decode);
  add("wrong_symbols",
      block(12, 3) + step(RaptorqStep::wrong, {50, 0, 0, 255}) + step(RaptorqStep::several, {0, 1, 0}) + decode);
  add("twice", block(10, 2) + step(RaptorqStep::several, {30, 0, 0}) + step(RaptorqStep::several, {30, 0, 0}));
}

}  // namespace spindle_fuzz
