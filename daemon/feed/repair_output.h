// What the repair of feeds wants of the world, and tells of it.
#pragma once

#include <cstdint>

#include "daemon/link/link_id.h"
#include "daemon/wire/daemon_id.h"
#include "daemon/wire/datagrams.h"

namespace spindled {

/// Names a feed in all views.
struct FeedKey {
  DaemonId origin;
  std::uint32_t number = 0;

  auto operator<=>(const FeedKey&) const = default;
};

/// Implemented by whoever has the links and the clients. No call may call back into the repair. What frames refer to is
/// valid during the call.
class RepairOutput {
 public:
  virtual ~RepairOutput() = default;

  virtual void send(LinkId link, const FeedPacket& packet) = 0;
  virtual void send(LinkId link, const FeedNak& nak) = 0;
  virtual void send(LinkId link, const FeedGone& gone) = 0;
  virtual void send(LinkId link, const FeedBeat& beat) = 0;

  /// To the listeners here, in the order in which packets come; each sequence at most once.
  virtual void deliver(const FeedKey& feed, std::uint64_t sequence, const FeedPacket& packet) = 0;
  /// None of these will be delivered.
  virtual void lost(const FeedKey& feed, std::uint64_t first, std::uint64_t count) = 0;
  /// Whether somebody listens here. A daemon may have listeners before the origin knows of them again, as where it has
  /// come by another way through the views than the origin has: what passes is for them, and what is missing, too.
  virtual bool has_listeners(const FeedKey& feed) const = 0;
  /// At the origin: somebody lacks, or has lacked, packets of this daemon's feed from `first` on.
  virtual void loss_reported(std::uint32_t feed, std::uint64_t first, const FeedNak& nak) = 0;
};

}  // namespace spindled
