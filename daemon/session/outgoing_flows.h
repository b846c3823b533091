// The messages that wait in the daemon for the flows of one client that asked for independent ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/admission/admission.h"
#include "daemon/base/context.h"
#include "daemon/base/result.h"
#include "daemon/base/ring.h"
#include "daemon/group/client_send.h"

namespace spindled {

/// What a client's flows enter the network through.
class FlowGate {
 public:
  virtual ~FlowGate() = default;
  /// Whether the next message to the destinations of the handle enters: where it does, `enter` follows at once. Where
  /// not, parts of it may have: the next one that is asked about is the same.
  virtual Verdict try_admit(Time now, std::uint32_t handle, const ClientSend& message) = 0;
  virtual void enter(Time now, std::uint32_t handle, const ClientSend& message) = 0;
  /// So many bytes, by flow_bytes(), have entered since the client was told last.
  virtual void tell_admitted(std::uint32_t handle, std::size_t bytes) = 0;
};

/// One line for each flow: first in, first out, whichever of its handles a message came under. What may be held of a
/// handle is bounded by its window, which the client keeps count of, too; what is held in all is for the owner to
/// bound, by sending nothing on while `bytes` are too many. A flow that holds nothing costs no more than its entry in a
/// table, and so does a handle.
///
/// Bytes are those of flow_bytes().
class OutgoingFlows {
 public:
  OutgoingFlows(Context& context, FlowGate& gate) : context_(context), gate_(gate) {}
  OutgoingFlows(const OutgoingFlows&) = delete;
  OutgoingFlows& operator=(const OutgoingFlows&) = delete;

  /// Lets the message enter or holds it, with what it refers to. An error where the client has ignored its window.
  /// `flow` is the number of the handle's, which stays the same while something is held of the handle.
  std::optional<Error> send(Time now, std::uint32_t handle, std::uint32_t flow, const ClientSend& message);
  /// Tries the flows that hold something, all or those for which it is time, first the one that has had nothing for
  /// longest.
  void release(Time now, bool all);
  /// When that is for the first of them.
  Time retry_at() const { return retry_at_; }

  std::size_t bytes() const { return bytes_; }
  /// What the messages held take outside slabs, and what the tables do.
  std::size_t heap_bytes() const { return heap_bytes_; }
  std::size_t table_bytes() const { return lines_.capacity() * sizeof(Line) + windows_.capacity() * sizeof(Window); }
  /// How many were ever held, and whether all of the first `count` of these have entered.
  std::uint64_t held_so_far() const { return held_so_far_; }
  bool has_entered(std::uint64_t count) const;
  bool holds(std::uint32_t handle) const { return handle < windows_.size() && windows_[handle].held_bytes != 0; }

 private:
  /// Chunks from this size on are held where they were read, so that what is held takes at most eight times its bytes;
  /// smaller ones, which is the last of a message or the only one, are copied.
  static constexpr std::size_t kReferencedBytesMin = SlabPool::kLargeBytes / 8;

  struct HeldMessage {
    std::uint32_t handle = 0;
    std::uint64_t number = 0;  // of those ever held
    ClientSend message;        // but for what it refers to
    std::vector<Slice> chunks;
    std::vector<std::uint8_t> end;  // the last chunk where it was copied, or the bundle
  };
  struct Line {
    Ring<HeldMessage> messages;
    Time retry_at = kNever;  // of the first
  };
  struct Window {
    std::size_t held_bytes = 0;
    std::size_t untold_bytes = 0;  // that have entered and the client does not know of
  };

  static std::size_t heap_bytes_of(const HeldMessage& held) {
    return sizeof(HeldMessage) + held.chunks.capacity() * sizeof(Slice) + held.end.capacity();
  }
  /// Whether the message, the first of its line or one that none is before, enters.
  bool try_admit(Time now, Line& line, std::uint32_t handle, const ClientSend& message);
  void hold(Ring<HeldMessage>& messages, std::uint32_t handle, const ClientSend& message);
  /// Lets messages enter until one may not or none is left. Whether any has.
  bool release(Time now, Line& line);
  /// Likewise those in front that came under one handle.
  bool release_run(Time now, Line& line);
  void let_in(Time now, HeldMessage held);
  void tell(std::uint32_t handle);

  Context& context_;
  FlowGate& gate_;
  std::vector<Line> lines_;             // by the flow's number
  std::vector<Window> windows_;         // by handle
  std::vector<std::uint32_t> blocked_;  // numbers of the lines that hold something, in the order of their waiting
  std::size_t bytes_ = 0;               // held, of all lines
  std::size_t heap_bytes_ = 0;          // likewise: heap_bytes_of() each
  std::uint64_t held_so_far_ = 0;
  Time retry_at_ = kNever;
};

}  // namespace spindled
