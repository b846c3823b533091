// RaptorQ (RFC 6330) for one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libclient/codes/raptorq_block.h"
#include "libclient/codes/row_schedule.h"

namespace spindle::codes {

struct Solution;

/// How blocks of so many source symbols are encoded, whatever is in them: who encodes several makes it once. May be
/// used by several threads at once.
class EncodingPlan {
 public:
  /// `source_symbols`: 1 to kBlockSymbolsMax.
  explicit EncodingPlan(std::uint32_t source_symbols);

  const BlockCode& code() const { return code_; }
  const Solution& solution() const { return *solution_; }

 private:
  BlockCode code_;
  std::shared_ptr<const Solution> solution_;
};

/// Gives encoding symbols of a block: the source symbols, with ids (ESI) from 0 on, and behind them as many repair
/// symbols as anybody may want. Functions that are const may be called by several threads.
class BlockEncoder {
 public:
  /// Without a block.
  BlockEncoder(const EncodingPlan& plan, std::size_t symbol_bytes);
  BlockEncoder(const EncodingPlan& plan, const std::uint8_t* content, std::size_t symbol_bytes);

  /// Goes on with another block, in the same memory. `content`: the source symbols of the plan, of `symbol_bytes` each,
  /// the last one filled up; it need not stay.
  void load(const std::uint8_t* content);

  std::uint32_t source_symbols() const { return plan_.code().source_symbols; }
  /// Writes the encoding symbol with that id, `symbol_bytes` long.
  void encode(std::uint32_t esi, std::uint8_t* to) const;
  std::size_t memory_bytes() const;

 private:
  std::size_t stripes() const { return (symbol_bytes_ + stripe_ - 1) / stripe_; }

  EncodingPlan plan_;
  std::size_t symbol_bytes_, stripe_;
  RowMemory memory_;  // the slots of all stripes, with all intermediate symbols, and room for inputs
};

/// Takes encoding symbols of a block, in any order, until they suffice. That takes as many as there are source symbols
/// with a probability of 99 %, and two more with 99.9999 % (RFC 6330, section 5.8).
class BlockDecoder {
 public:
  /// `source_symbols`: 1 to kBlockSymbolsMax.
  BlockDecoder(std::uint32_t source_symbols, std::size_t symbol_bytes);

  /// Takes the encoding symbol with that id, `symbol_bytes` long. False where it is there already.
  bool add(std::uint32_t esi, const std::uint8_t* symbol);
  std::size_t symbols() const { return esis_.size(); }
  /// Forgets all symbols, and keeps their memory.
  void clear();
  /// What the symbols take.
  std::size_t memory_bytes() const;
  /// What `decode` takes besides while it runs, at most, with no more than some symbols beyond those of the block.
  static std::size_t decoding_bytes(std::uint32_t source_symbols);
  /// Writes the content, all source symbols one behind the other. False where what is there does not suffice yet.
  bool decode(std::uint8_t* content) const;

 private:
  /// Memory grows by so many symbols, which are never moved.
  static constexpr std::size_t kChunkSymbols = 32;

  std::uint8_t* at(std::size_t place) const {
    return chunks_[place / kChunkSymbols].get() + place % kChunkSymbols * symbol_bytes_;
  }

  bool note_id(std::uint32_t esi);
  bool decode_missing(std::uint8_t* content) const;

  BlockCode code_;
  std::size_t symbol_bytes_;
  std::vector<std::uint32_t> esis_;     // by place in `chunks_`
  std::vector<std::uint32_t> sources_;  // places of source symbols, by ESI
  std::vector<std::uint32_t> repairs_;  // ESIs of repair symbols, in order
  std::vector<std::unique_ptr<std::uint8_t[]>> chunks_;
};

}  // namespace spindle::codes
