// A relay of feeds, between an origin and two members.
#pragma once

#include <vector>

#include "bench/micro/instructions/meter.h"
#include "daemon/feed/feed_repair.h"

namespace spindled::bench {

/// Keeps no packets, as the routers of the paper on Light-Weight Multicast Services (section V): what is counted is to
/// read a frame, to decide where it goes, and to write what goes out.
class FeedRelay final : public RepairOutput {
 public:
  FeedRelay(Meter& meter, std::size_t members, std::size_t bytes);

  /// A packet on its way to all members.
  void forward_packet();
  /// A request of one member, turned to the other one.
  void turn_nak();

  // RepairOutput.
  void send(LinkId link, const FeedPacket& packet) override;
  void send(LinkId link, const FeedNak& nak) override;
  void send(LinkId, const FeedGone&) override {}
  void send(LinkId, const FeedBeat&) override {}
  void deliver(const FeedKey&, std::uint64_t, const FeedPacket&) override {}
  void lost(const FeedKey&, std::uint64_t, std::uint64_t) override {}
  bool has_listeners(const FeedKey&) const override { return false; }
  void loss_reported(std::uint32_t, std::uint64_t, const FeedNak&) override {}

 private:
  static constexpr std::uint32_t kFeed = 7;

  FeedRef ref() const { return {routes_.tag(), 0, kFeed}; }

  Meter& meter_;
  const std::size_t members_;
  const std::vector<std::uint8_t> payload_;
  FeedRoutes routes_;
  FeedRepair repair_;
  Time now_{Duration(1'000'000'000)};
  std::uint32_t next_ = 0;  // sequence
  std::vector<std::uint8_t> in_, out_;
  std::size_t sent_ = 0;
};

}  // namespace spindled::bench
