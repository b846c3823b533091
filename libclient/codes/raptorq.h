// RaptorQ (RFC 6330) for one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "libclient/codes/raptorq_block.h"

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
  /// `content`: the source symbols of the plan, of `symbol_bytes` each, the last one filled up; it need not stay.
  BlockEncoder(const EncodingPlan& plan, const std::uint8_t* content, std::size_t symbol_bytes);

  /// Goes on with another block, in the same memory.
  void load(const std::uint8_t* content);

  std::uint32_t source_symbols() const { return plan_.code().source_symbols; }
  /// Writes the encoding symbol with that id, `symbol_bytes` long.
  void encode(std::uint32_t esi, std::uint8_t* to) const;

 private:
  EncodingPlan plan_;
  std::size_t symbol_bytes_;
  std::unique_ptr<std::uint8_t[]> intermediate_;  // all intermediate symbols
};

/// Takes encoding symbols of a block, in any order, until they suffice. That takes as many as there are source symbols
/// with a probability of 99 %, and two more with 99.9999 % (RFC 6330, section 5.8).
class BlockDecoder {
 public:
  /// `source_symbols`: 1 to kBlockSymbolsMax.
  BlockDecoder(std::uint32_t source_symbols, std::size_t symbol_bytes);

  /// Takes the encoding symbol with that id, `symbol_bytes` long. False where it is there already.
  bool add(std::uint32_t esi, const std::uint8_t* symbol);
  std::size_t symbols() const { return places_.size(); }
  /// Writes the content, all source symbols one behind the other. False where what is there does not suffice yet.
  bool decode(std::uint8_t* content) const;

 private:
  const std::uint8_t* at(std::size_t place) const { return bytes_.data() + place * symbol_bytes_; }

  BlockCode code_;
  std::size_t symbol_bytes_;
  std::map<std::uint32_t, std::size_t> places_;  // by ESI, in `bytes_`
  std::vector<std::uint8_t> bytes_;
};

}  // namespace spindle::codes
