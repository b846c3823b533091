// The life of a connection between daemons.
#pragma once

#include <cstdint>
#include <string_view>

namespace spindled {

///   dialling ──> handshake ──> established ──> closing
///                     └──> waiting ──┘
///
/// and from each to `closing`. An accepted connection starts in `handshake`.
enum class LinkPhase : std::uint8_t {
  dialling,     // this side waits for the connection to open
  handshake,    // both sides have said who they are, or are about to
  waiting,      // a second connection to a neighbour that decides which one stays: used once the neighbour uses it
  established,  // the link of this pair of daemons
  closing,      // nothing is read any more; the close frame is on its way out
};

constexpr bool may_follow(LinkPhase from, LinkPhase to) {
  switch (to) {
    case LinkPhase::dialling:
      return false;
    case LinkPhase::handshake:
      return from == LinkPhase::dialling;
    case LinkPhase::waiting:
      return from == LinkPhase::handshake;
    case LinkPhase::established:
      return from == LinkPhase::handshake || from == LinkPhase::waiting;
    case LinkPhase::closing:
      return from != LinkPhase::closing;
  }
  return false;
}

constexpr std::string_view to_string(LinkPhase phase) {
  switch (phase) {
    case LinkPhase::dialling:
      return "dialling";
    case LinkPhase::handshake:
      return "handshake";
    case LinkPhase::waiting:
      return "waiting";
    case LinkPhase::established:
      return "established";
    case LinkPhase::closing:
      return "closing";
  }
  return "unknown";
}

}  // namespace spindled
