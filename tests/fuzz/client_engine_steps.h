// The opcodes of the client engine's fuzz inputs. Numbers are part of the corpus: new ones are appended.
#pragma once

#include <cstdint>

namespace spindle_fuzz {

enum class EngineStep : std::uint8_t {
  frame = 0,      // u8 type, u16 length, body: a frame from the daemon
  raw = 1,        // u16 length, bytes: the daemon sends just that
  join = 2,       // u8 length, group
  leave = 3,      // u8 length, group
  multicast = 4,  // u8 service, u8 size of the payload in 64 bytes, u8 length, group
  ping = 5,       // u16 token
  bye = 6,
  end = 7,           // the stream of bytes ends
  request_view = 8,  // u8 length, group
  request_flow = 9,  // u8 length, group
  confirm = 10,
  join_synchronous = 11,  // u8 length, group
  flush_ok = 12,          // u8 number, u8 length, group
  ask = 13,               // u8 answers, 0 of all members, with 128 not to itself, u8 length, group
  answer = 14,            // the request that came last
  listen = 15,            // u8 ordered or not, u8 length, group
  stop_listening = 16,    // u8 length, group
  open_feed = 17,         // u8 whether it drops the oldest, u8 length, group
  send_feed = 18,         // u8 feed, u8 size of the message in 64 bytes
  close_feed = 19,        // u8 feed
  time = 20,              // u16 milliseconds
};

}  // namespace spindle_fuzz
