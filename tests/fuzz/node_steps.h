// The opcodes of the node's fuzz inputs. Numbers are part of the corpus: new ones are appended.
//
// `connection` is a byte that counts, modulo their number, the connections that are open.
#pragma once

#include <cstdint>

namespace spindle_fuzz {

enum class NodeStep : std::uint8_t {
  accept = 0,     // u8 port: somebody opens a connection to this Port
  frame = 1,      // connection, u8 type, u16 length, body: a frame arrives
  raw = 2,        // connection, u16 length, bytes: just those arrive
  time = 3,       // u16: so many milliseconds pass
  close = 4,      // connection: it breaks
  connected = 5,  // connection: a dial succeeds
  writable = 6,   // connection: it takes bytes again
  throttle = 7,   // connection, u16: it takes so many bytes more before it is full
  end_turn = 8,
  hello = 9,     // connection, u8 peer: the peer answers the node's own hello
  propose = 10,  // connection, u8 peer, u8 members: the peer proposes a view of these members
  state = 11,    // connection, u8 peer: the peer answers the last proposal
  commit = 12,   // connection: the coordinator of the last proposal commits it, with the newest state of the node
  done = 13,     // connection, u8 peer: the peer has pushed nothing for the last proposal
  install = 14,  // connection: the coordinator of the last proposal has the counts, all zero
  echo = 15,     // connection: the last control message of the node comes back to it
  stop = 16,
};

}  // namespace spindle_fuzz
