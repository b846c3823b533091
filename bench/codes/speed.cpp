// Bytes of content a second that RaptorQ encodes, or decodes from repair symbols alone, in processor time: what
// bench/peers/raptorq does with another implementation.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/codes/raptorq_code.h"
#include "tests/support/known_content.h"

namespace {

using namespace spindle::codes;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Calls `step` until so many seconds have passed.
template <typename Step>
double bytes_per_second(const BlockShape& shape, double seconds, Step&& step) {
  step();
  const double start = processor_seconds();
  double count = 0, taken = 0;
  for (; taken < seconds; taken = processor_seconds() - start, ++count) step();
  return count * static_cast<double>(shape.bytes()) / taken;
}

/// With the plan there already, as where a channel has many blocks.
double encode(const BlockShape& shape, double seconds) {
  const std::vector<std::uint8_t> content = spindle::test::content_of(1, shape.bytes());
  const RaptorQCode code;
  const auto encoder = code.make_encoder(shape);
  return bytes_per_second(shape, seconds, [&] { encoder->load(content.data()); });
}

/// Taking the symbols is part of it, finding out how they are solved, too.
double decode(const BlockShape& shape, double seconds) {
  const std::vector<std::uint8_t> content = spindle::test::content_of(1, shape.bytes());
  const RaptorQCode code;
  const auto encoder = code.make_encoder(shape);
  encoder->load(content.data());
  const std::uint32_t count = shape.source_symbols + 2, first = shape.source_symbols + 1000;
  std::vector<std::uint8_t> symbols(count * shape.symbol_bytes), decoded(shape.bytes());
  for (std::uint32_t i = 0; i < count; ++i) encoder->encode(first + i, symbols.data() + i * shape.symbol_bytes);
  const auto decoder = code.make_decoder(shape);
  const double rate = bytes_per_second(shape, seconds, [&] {
    decoder->clear();
    for (std::uint32_t i = 0; i < count; ++i) decoder->add(first + i, symbols.data() + i * shape.symbol_bytes);
    decoder->decode(decoded.data());
  });
  if (decoded != content) {
    fmt::print(stderr, "these symbols do not give the content\n");
    std::exit(1);
  }
  return rate;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: codes_speed encode|decode SYMBOLS SYMBOL_BYTES SECONDS\n");
    return 2;
  }
  const BlockShape shape{.source_symbols = static_cast<std::uint32_t>(std::stoul(argv[2])),
                         .symbol_bytes = std::stoul(argv[3])};
  const double seconds = std::stod(argv[4]);
  fmt::print("{:.0f}\n", std::string_view(argv[1]) == "encode" ? encode(shape, seconds) : decode(shape, seconds));
  return 0;
}
