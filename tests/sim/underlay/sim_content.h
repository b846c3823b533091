// What a participant of the mesh has of a content of which symbols are counted only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "daemon/bulk/mesh/mesh_output.h"
#include "libclient/codes/erasure_code.h"

namespace spindled::sim::underlay {

/// Of blocks that all have as many symbols.
class SimContent : public mesh::MeshContent {
 public:
  SimContent(const spindle::codes::ErasureCode& code, std::uint32_t blocks, std::uint32_t source_symbols,
             MemberIndex self)
      : code_(code), blocks_(blocks), source_symbols_(source_symbols), self_(self) {}

  enum class Taken : std::uint8_t { useless, useful, completes };
  Taken take(Time now, mesh::SymbolId symbol);

  std::uint32_t blocks() const override { return blocks_; }
  std::uint32_t first_incomplete() const override { return first_incomplete_; }
  bool is_complete(std::uint32_t block) const override;
  std::uint32_t source_symbols(std::uint32_t) const override { return source_symbols_; }
  std::uint32_t lacking(std::uint32_t block) const override;
  std::span<const mesh::HeldSymbol> held(std::uint32_t block) const override;
  std::uint32_t fresh_symbol(std::uint32_t block) override;
  mesh::Holding holding() const override;
  mesh::SummaryTicket ticket() const override;

 private:
  struct Begun {
    std::unique_ptr<spindle::codes::ErasureDecoder> decoder;
    std::vector<mesh::HeldSymbol> held;
    mesh::SummaryTicket ticket;
  };

  const spindle::codes::ErasureCode& code_;
  const std::uint32_t blocks_;
  const std::uint32_t source_symbols_;
  const MemberIndex self_;
  std::uint32_t first_incomplete_ = 0;
  std::map<std::uint32_t, Begun> begun_;
  std::map<std::uint32_t, bool> complete_beyond_;  // above the first one that is not
  std::map<std::uint32_t, std::uint32_t> fresh_given_;
};

}  // namespace spindled::sim::underlay
