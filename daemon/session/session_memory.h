// What a client holds of its daemon's memory.
#pragma once

#include <cstddef>

namespace spindled {

/// In bytes.
struct SessionMemory {
  std::size_t unfinished = 0;   // that it has sent and that has not entered: parts of frames and of messages
  std::size_t definitions = 0;  // of its sets of destinations
  std::size_t held = 0;         // of messages that wait for its independent flows, and with what they take there
  std::size_t requests = 0;     // of joins and leaves that are not done
  std::size_t queued = 0;       // that it has yet to read
  std::size_t kept = 0;         // that it may have to get again on another connection

  std::size_t heap = 0;  // of all these, what is neither a definition nor in slabs

  std::size_t total() const { return unfinished + definitions + held + requests + queued + kept; }
  SessionMemory& operator+=(const SessionMemory& other) {
    unfinished += other.unfinished;
    definitions += other.definitions;
    held += other.held;
    requests += other.requests;
    queued += other.queued;
    kept += other.kept;
    heap += other.heap;
    return *this;
  }
};

}  // namespace spindled
