// What a member of the mesh wants of the world.
#pragma once

#include <cstdint>
#include <span>

#include "daemon/base/time.h"
#include "daemon/bulk/mesh/holding.h"
#include "daemon/bulk/mesh/mesh_frames.h"
#include "daemon/bulk/mesh/symbol_id.h"

namespace spindled::mesh {

/// Connections to other members. Those to the parent and the children in the tree are there; peers have to be dialled.
class MeshOutput {
 public:
  virtual ~MeshOutput() = default;
  /// Whether that member may be asked to send, whether or not there is a connection to it.
  virtual bool may_ask(MemberIndex peer) const = 0;
  /// `MeshMember::connected` or `lost` is the answer; either may come at once.
  virtual void dial(MemberIndex peer) = 0;
  /// Not needed any more, by this member.
  virtual void close(MemberIndex peer) = 0;
  virtual void send(MemberIndex to, const Frame& frame) = 0;
  /// Whether the connection took it; it does not where it has no room.
  virtual bool send_symbol(MemberIndex to, SymbolId symbol) = 0;
};

struct HeldSymbol {
  std::uint32_t esi = 0;
  Time since{};
};

/// What is here of the content.
class MeshContent {
 public:
  virtual ~MeshContent() = default;
  /// How many there are. Nothing is asked of blocks that are not below.
  virtual std::uint32_t blocks() const = 0;
  /// Blocks below are complete.
  virtual std::uint32_t first_incomplete() const = 0;
  virtual bool is_complete(std::uint32_t block) const = 0;
  virtual std::uint32_t source_symbols(std::uint32_t block) const = 0;
  /// How many symbols a block that is not complete lacks, as far as that is known; at least 1.
  virtual std::uint32_t lacking(std::uint32_t block) const = 0;
  /// Of a block that is not complete, in the order in which they came.
  virtual std::span<const HeldSymbol> held(std::uint32_t block) const = 0;
  /// A repair symbol of a complete block that nobody has been given.
  virtual std::uint32_t fresh_symbol(std::uint32_t block) = 0;
  /// As others are told.
  virtual Holding holding() const = 0;
  virtual SummaryTicket ticket() const = 0;
};

}  // namespace spindled::mesh
