// What a client holds of its daemon's memory.
#pragma once

#include <cstddef>

namespace spindled {

/// In bytes.
struct SessionMemory {
  std::size_t unfinished = 0;   // that it has sent and that has not entered: parts of frames and of messages
  std::size_t definitions = 0;  // of its sets of destinations
  std::size_t held = 0;         // of messages that wait for its independent flows
  std::size_t queued = 0;       // that it has yet to read
  std::size_t kept = 0;         // that it may have to get again on another connection

  std::size_t total() const { return unfinished + definitions + held + queued + kept; }
  SessionMemory& operator+=(const SessionMemory& other) {
    unfinished += other.unfinished;
    definitions += other.definitions;
    held += other.held;
    queued += other.queued;
    kept += other.kept;
    return *this;
  }
};

}  // namespace spindled
