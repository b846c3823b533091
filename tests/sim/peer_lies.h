// What a daemon that lies to its peers in a mesh puts on a connection.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "daemon/base/slab.h"

namespace spindled::sim {

/// Changes what a daemon writes to one connection, where that is a hop (daemon/bulk/hops.h): of the symbols that it
/// gives as a peer the bytes of one, which its checksum then denies, and the number of the next, which it does not. And
/// the last byte of what it tells its parent of itself, where the frame is well formed all the same: a false ticket.
/// Who sends what is malformed loses the hop, and with it what it gets from its parent. Children in the tree are told
/// no lies, as a parent is trusted; whether the other side is a peer or a child in some channel the frames say.
///
/// `lies_of` what is to be written, then `written` with what was taken of it.
class PeerLies {
 public:
  /// What is written in place of these bytes.
  std::vector<std::uint8_t> lies_of(const std::vector<std::uint8_t>& bytes) const;
  /// So many of the bytes, which are true, were taken.
  void written(const std::vector<std::uint8_t>& bytes, std::size_t count);

 private:
  /// The next byte of the stream, and what is written in its place.
  std::uint8_t pass(std::uint8_t byte);
  std::uint8_t changed(std::uint8_t byte) const;
  /// Whether the frame would be, with this byte behind all others.
  bool is_well_formed(std::uint8_t last) const;
  void begin_body();
  void end_frame();
  /// Where the number of a symbol begins in its body, once that is known.
  std::optional<std::size_t> number_at() const;

  std::vector<std::uint8_t> head_;
  std::vector<std::uint8_t> body_;  // its first bytes
  std::size_t length_ = 0;          // of the body
  std::size_t at_ = 0;              // in it
  std::uint8_t type_ = 0;
  bool is_hop_ = false;
  std::set<std::uint64_t> lied_to_;  // numbers of channels, on this connection
  std::uint64_t symbols_ = 0;        // that were given as a peer
};

}  // namespace spindled::sim
