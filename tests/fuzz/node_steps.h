// The opcodes of the node's fuzz inputs. Numbers are part of the corpus: new ones are appended.
//
// `connection` is a byte that counts, modulo their number, the connections that are open. A step is cheap: what takes
// many bytes or many frames to say has a step of its own, so that short inputs get far.
#pragma once

#include <cstdint>

namespace spindle_fuzz {

enum class NodeStep : std::uint8_t {
  accept = 0,     // u8 port: somebody opens a connection to this Port, and by what it is beyond 3, has proved something
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
  // Several of the above at once, and frames that bytes drawn at random hardly ever become.
  peer_view =
      17,     // connection, u8 peer: the peer shakes hands, proposes a view of itself and the node, and leads it there
  data = 18,  // connection, u8 peer, u8 kind, u16 length, content: the next message of the peer's stream in the view.
              // kind: the service, and 6 times the MessageClass
  stability = 19,  // connection, u8 peer, u8 which, u16 line: a report, stable or ready frame of the peer
  push = 20,       // connection, u8 peer, u8 kind, u16 length, content: as `data`, in recovery
  price = 21,      // connection, u8 peer, u16 level, u8 length, name: what the peer's link to the node or, where
                   // there is a name, its clients cost
  message = 22,    // connection, u8 handle, u8 service, u16 length: a client sends so many bytes
  rules = 23,      // u8: the node goes by other rules of access, one for each bit
  // Bulk content (node_bulk.h). `number` is that of a channel on a connection.
  attach = 24,        // connection, u8 session: it becomes the attachment of that session
  bulk_hello = 25,    // connection, u8 peer: it becomes a hop to the peer
  bulk_open = 26,     // connection, u8 number, u8 channel
  bulk_symbols = 27,  // connection, u8 number, u8 generation, u8 stream, u8 block, u8 ESI, u8 count: from there on
  bulk_index = 28,    // connection, u8 number, u8 first, u8 count
  bulk_need = 29,  // connection, u8 number, u8 stream, u8 flags (serves, lost, begun, awaits, knows the index, meshed),
                   // u8 complete blocks, u8 begun block, u8 mark that was seen
  bulk_grant = 30,    // connection, u8 number, u8 stream, u16 symbols
  bulk_mark = 31,     // connection, u8 number, u8 mark, u8 bound
  bulk_release = 32,  // connection, u8 number, u8 stream
  bulk_plan = 33,     // connection, u8 channel, u8 generation, u8 shape: a neighbour tells a tree of the view's members
  bulk_token = 34,    // connection: a neighbour invites the node to dial a hop
  offer = 35,         // connection, u8 size in KiB: a client offers a content to "news"
  // Datagrams. `host` is where one comes from, as far as the node can see.
  datagrams = 36,        // links that shake hands from now on have datagrams
  datagram = 37,         // u8 host, u16 length, bytes: just those
  datagram_frames = 38,  // u8 host, u8 skipped, u16 length, bytes: behind the head of the next datagram of the link
                         // that the node has last shaken hands on, where so many are lost before it
  datagram_answer = 39,  // u8 host: the last question of the node is answered from there
  feed_frame = 40,  // connection, u8 host, u8 type, u8 origin and, in its two highest bits, how far behind its view the
                    // node is, u8 feed, u16 sequence, u8 flags, u8 count, u8 members, u8 length, content: a neighbour
                    // sends a frame of a feed (node_feeds.h), over the connection where the host is 0
  bulk_mesh =
      41,  // connection, u8 number, u8 generation, u8 type, u8, u8: a member of the mesh of a channel says something
  bulk_address = 42,  // connection, u8 peer: a neighbour tells of its link to the peer, and where that can be dialled
                      // for bulk content
  bulk_invitation = 43,  // connection, u8 peer, u8 has token: and that the peer invites the node to dial it, or asks
                         // for an invitation where it has no token
};

}  // namespace spindle_fuzz
