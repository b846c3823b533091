// Daemons of which only links and overlay exist, joined in memory; what is above the overlay is the test's.
#pragma once

#include "daemon/overlay/overlay.h"
#include "tests/unit/link_harness.h"

namespace spindled::test {

/// Takes what the overlay hands up, and does nothing with it; a test overrides what it is about.
struct OverlayDaemon : ViewFrames, PriceFrames {
  explicit OverlayDaemon(LinkDaemon& on) : daemon(on), overlay(on.context, on.links) {
    daemon.links.attach(overlay);
    overlay.attach(*this, *this);
    for (const LinkFrame type : {LinkFrame::data, LinkFrame::acknowledgement, LinkFrame::stable, LinkFrame::ready,
                                 LinkFrame::bulk_token, LinkFrame::bulk_plan, LinkFrame::bulk_invitation}) {
      streams().handle(type,
                       [this, type](Time, LinkId, Slice content) { return stream_frame(type, std::move(content)); });
    }
  }

  void topology_changed(Time) override {}
  void control_received(Time, LinkId, ControlMessage) override {}
  void push_received(Time, const Push&, Slice) override {}
  void link_changed(Time, LinkId, bool) override {}
  /// A frame of a view that reached this daemon. Whether it makes sense.
  virtual bool stream_frame(LinkFrame, Slice) { return true; }
  bool price_received(Time, const Price&) override { return false; }

  StreamTransport& streams() { return overlay.streams(); }
  std::uint64_t count(Counter counter) const { return daemon.context.counters.value(counter); }
  std::vector<std::string> reachable() const {
    std::vector<std::string> names;
    for (const DaemonId& member : overlay.reachable().members) names.push_back(member.name);
    return names;
  }
  const ImposedPartition& partition() const { return daemon.links.partition(); }

  LinkDaemon& daemon;
  Overlay overlay;
};

/// A net, and those that run on it.
class OverlayFixture : public ::testing::Test {
 protected:
  void bring_up(OverlayDaemon& daemon) {
    daemon.daemon.links.start(net.now);
    daemon.overlay.start(net.now);
    running.push_back(&daemon);
  }
  void advance(Duration duration) {
    const Time end = net.now + duration;
    settle();
    while (net.now < end) {
      net.advance(std::min<Duration>(end - net.now, 5ms));
      for (OverlayDaemon* each : running) {
        if (each->overlay.next_deadline() <= net.now) each->overlay.handle_time(net.now);
      }
      settle();
    }
  }
  void settle() {
    for (OverlayDaemon* each : running) each->daemon.links.flush(net.now);
    net.settle();
  }

  LinkNet net;
  std::vector<OverlayDaemon*> running;
};

}  // namespace spindled::test
