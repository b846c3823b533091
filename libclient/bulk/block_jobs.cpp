#include "libclient/bulk/block_jobs.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace spindle::bulk {

namespace {

/// Reads what was stored to its places in `content`.
bool read_stored(const DecodeJob& job, const ReadContent& read, std::uint8_t* content) {
  const std::size_t symbol_bytes = job.place.shape.symbol_bytes;
  return std::all_of(job.stored.begin(), job.stored.end(), [&](const BlockSet::Run& run) {
    const std::size_t whole = (run.end - run.first) * symbol_bytes;
    const std::size_t bytes = job.place.bytes_of(run.first, run.end - run.first);
    std::uint8_t* to = content + run.first * symbol_bytes;
    std::memset(to + bytes, 0, whole - bytes);
    return read(job.place.start_of(run.first), {to, bytes});
  });
}

std::size_t count(const std::vector<BlockSet::Run>& runs) {
  return std::accumulate(runs.begin(), runs.end(), std::size_t{0},
                         [](std::size_t sum, const BlockSet::Run& run) { return sum + run.end - run.first; });
}

/// Whether all source symbols are there; then those that are held are put to their places.
bool put_together(const DecodeJob& job, std::uint8_t* content) {
  const codes::BlockShape& shape = job.place.shape;
  std::size_t source = count(job.stored) + count(job.placed);
  for (const HeldSymbol& symbol : job.held) source += symbol.esi < shape.source_symbols ? 1 : 0;
  if (source < shape.source_symbols) return false;
  for (const HeldSymbol& symbol : job.held) {
    if (symbol.esi >= shape.source_symbols) continue;
    std::copy_n(symbol.bytes.get(), shape.symbol_bytes, content + symbol.esi * shape.symbol_bytes);
  }
  return true;
}

bool decode(const DecodeJob& job, const codes::ErasureCode& code, std::uint8_t* content) {
  const auto decoder = code.make_decoder(job.place.shape);
  for (const std::vector<BlockSet::Run>* runs : {&job.stored, &job.placed}) {
    for (const BlockSet::Run& run : *runs) {
      for (std::uint32_t esi = run.first; esi < run.end; ++esi) {
        decoder->add(esi, content + esi * job.place.shape.symbol_bytes);
      }
    }
  }
  for (const HeldSymbol& symbol : job.held) decoder->add(symbol.esi, symbol.bytes.get());
  return decoder->decode(content);
}

}  // namespace

BlockPlace BlockPlace::of(const ContentLayout& layout, std::uint32_t block) {
  return {block, layout.bytes_of(block), layout.start_of(block), {layout.symbols_of(block), layout.symbol_bytes}};
}

std::size_t BlockPlace::bytes_of(std::uint32_t esi, std::uint32_t symbols) const {
  const std::size_t from = std::min<std::size_t>(bytes, esi * shape.symbol_bytes);
  return std::min(bytes - from, symbols * shape.symbol_bytes);
}

DecodedBlock run(DecodeJob job, const ReadContent& read, const codes::ErasureCode& code, const Hasher& hasher) {
  DecodedBlock block;
  std::uint8_t* const content = job.content.get();
  if (!read_stored(job, read, content)) {
    block.outcome = DecodedBlock::Outcome::unreadable;
  } else if (put_together(job, content) || decode(job, code, content)) {
    block.outcome = DecodedBlock::Outcome::decoded;
    block.hash = hasher.hash({content, job.place.bytes});
    block.content = std::move(job.content);
    job.held.clear();
  }
  block.job = std::move(job);
  return block;
}

}  // namespace spindle::bulk
