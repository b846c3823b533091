// Messages as the order layer takes them from above and hands them up.
#pragma once

#include <span>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/overlay/view.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// What the order layer remembers of one sender so that its fifo messages keep their place behind its ordered ones.
/// Zero-initialised by its owner and otherwise left alone.
struct SenderOrder {
  std::uint64_t epoch = 0;         // the view that `last_ordered` belongs to, by the order layer's own count
  std::uint64_t last_ordered = 0;  // stream number
};

/// A message on its way out.
struct OutgoingMessage {
  MessageClass message_class = MessageClass::client;
  Service service = Service::agreed;
  const MemberSet* destinations = nullptr;  // may contain this daemon
  SenderOrder* sender = nullptr;            // for clients' messages
  ByteView envelope;                        // the first bytes of the content, copied
  std::span<const Slice> chunks;            // the rest of the content; each at most kChunkBytesMax, one fragment each
};

/// A message that has reached its place.
struct Delivery {
  MemberIndex origin = 0;
  Service service = Service::reliable;
  MessageClass message_class = MessageClass::client;
  std::uint64_t number = 0;    // in the origin's stream; of a message in several fragments, the last one's
  std::uint64_t position = 0;  // in the order of the view; 0: not ordered
  bool is_placed = false;      // the position is its own: it was not left open when the view ended
  Slice first;                 // the content, or its beginning: all of the envelope is in here
  std::vector<Slice> rest;     // the rest of the content

  /// The content in one piece: in place where it is, else copied into `storage`.
  ByteView contiguous(std::vector<std::uint8_t>& storage) const;
  std::size_t content_size() const {
    std::size_t size = first.size();
    for (const Slice& slice : rest) size += slice.size();
    return size;
  }
};

/// Takes messages that have reached their place.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;

  virtual void deliver(Time now, const Delivery& message) = 0;
};

/// What the order layer hands up (implemented by the group layer); of messages, those of classes that nobody else
/// handles (`Order::handle`). Calls come in the one order that all members of a view agree on, for ordered messages; of
/// one sender in the order sent, for fifo ones.
class OrderedMessages : public MessageHandler {
 public:
  /// Every message that is ordered from now on was sent by an origin that had processed the order up to `position`.
  virtual void horizon_advanced(Time now, std::uint64_t position) = 0;

  /// The old view ends. What is delivered from here to `view_installed` may not have reached members of the old view
  /// outside `transitional`, the members (by old index) that move on together with this daemon. Not called where all
  /// members move on together. A safe message behind it was not known to be safe.
  virtual void transitional(Time now, const MemberSet& transitional) = 0;
  /// Behind that signal: some of those who move on together may have delivered what came so far before theirs; nobody
  /// has delivered any of what follows.
  virtual void furthest_reached(Time now) = 0;

  /// The new view is open for messages. `came_along` are the members, by new index, that come from the same old view as
  /// this daemon.
  virtual void view_installed(Time now, const View& view, const MemberSet& came_along) = 0;

  /// Whether something that was handed up is not done, or the turn has done enough: what is ordered next has to wait.
  virtual bool is_busy() const { return false; }
  /// Whether so much waits above that nothing is to be reported as received: senders are to run into their windows.
  virtual bool is_behind() const { return is_busy(); }
  /// In another turn: goes on with it.
  virtual void go_on(Time /*now*/) {}
};

}  // namespace spindled
