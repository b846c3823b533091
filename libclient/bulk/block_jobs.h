// What a receiver has others do: whatever takes long, or touches a file. A job owns all that it needs, so that it can
// run on any thread; whoever runs it hands it, or its result, back to the receiver.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "libclient/bulk/block_index.h"
#include "libclient/bulk/block_memory.h"
#include "libclient/bulk/content_layout.h"
#include "libclient/codes/erasure_code.h"

namespace spindle::bulk {

/// Bytes whose number their owner knows.
using OwnedBytes = std::unique_ptr<std::uint8_t[]>;

struct HeldSymbol {
  std::uint32_t esi = 0;
  OwnedBytes bytes;  // T of them
};

/// Where a block is, and how it is coded.
struct BlockPlace {
  std::uint32_t block = 0;
  std::uint32_t bytes = 0;  // of content
  std::uint64_t start = 0;  // in the content
  codes::BlockShape shape;

  static BlockPlace of(const ContentLayout& layout, std::uint32_t block);
  /// Where a source symbol begins in the content.
  std::uint64_t start_of(std::uint32_t esi) const { return start + std::uint64_t{esi} * shape.symbol_bytes; }
  /// Content that is in so many source symbols from `esi` on: the last symbol of a content is filled up.
  std::size_t bytes_of(std::uint32_t esi, std::uint32_t symbols) const;
};

/// Source symbols that go to their places in the content, which need not be there for good: `DecodeJob::stored` asks
/// for them.
struct StoreJob {
  std::uint64_t order = 0;  // of the block, which may begin anew meanwhile
  BlockPlace place;
  std::vector<HeldSymbol> symbols;
  BlockBytes content;                 // has others at their places in the block:
  std::vector<BlockSet::Run> placed;  // these

  /// What is content of placed ones.
  ByteView bytes_of(const BlockSet::Run& run) const {
    return {content.get() + run.first * place.shape.symbol_bytes, place.bytes_of(run.first, run.end - run.first)};
  }
};

/// Puts a block together.
struct DecodeJob {
  std::uint64_t number = 0;  // which job of the receiver it is
  BlockPlace place;
  std::vector<HeldSymbol> held;
  std::vector<BlockSet::Run> stored;  // source symbols that are at their places in the content
  BlockBytes content;                 // has room for the block,
  std::vector<BlockSet::Run> placed;  // and source symbols at their places there
};

struct DecodedBlock {
  enum class Outcome : std::uint8_t {
    decoded,     // `content` and `hash` are there; whether they are right is for the receiver to see
    not_enough,  // it takes more symbols
    unreadable,  // what was stored cannot be read
  };
  DecodeJob job;  // with its symbols, and its own content, unless it is decoded
  Outcome outcome = Outcome::not_enough;
  BlockBytes content;  // all source symbols, the last one filled up
  BlockHash hash{};    // of what is content of it
};

/// A block that is right goes to its place.
struct WriteJob {
  std::uint64_t number = 0;
  BlockPlace place;
  BlockBytes content;  // `place.bytes` of it are content
};

using ReceiverJob = std::variant<StoreJob, DecodeJob, WriteJob>;

/// Fills the span with what lies there in the content, and says whether it could.
using ReadContent = std::function<bool(std::uint64_t start, std::span<std::uint8_t> to)>;

/// Does the job, on any thread.
DecodedBlock run(DecodeJob job, const ReadContent& read, const codes::ErasureCode& code, const Hasher& hasher);

}  // namespace spindle::bulk
