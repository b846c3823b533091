// The opcodes of the inputs for TLS. Numbers are part of the corpus: new ones are appended.
#pragma once

#include <cstdint>

namespace spindle_fuzz {

/// Below 16 the step is of who dials, with 16 added of who accepts.
enum class TlsStep : std::uint8_t {
  move = 0,    // u16 count: so many bytes of ciphertext go to the other end
  write = 1,   // u16 size: so many bytes of plaintext, in two buffers
  read = 2,    // u16 size of the space
  inject = 3,  // u8 length, bytes: they come as if from the other end
  alter = 4,   // u16 place, u8 mask: bits of what is unsent are turned
  drop = 5,    // u16 count: so many bytes of what is unsent are lost
  finish = 6,
  end = 7,   // the stream from the other end breaks off
  open = 8,  // all that is unsent goes to and fro, until there is none
};
inline constexpr std::uint8_t kTlsStepOfAccepting = 16;

}  // namespace spindle_fuzz
