// The way of feeds' frames out to links, and in from them.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/admission/own_prices.h"
#include "daemon/base/context.h"
#include "daemon/feed/early_frames.h"
#include "daemon/feed/feed_listeners.h"
#include "daemon/feed/feed_repair.h"
#include "daemon/feed/feed_sources.h"
#include "daemon/feed/link_share.h"
#include "daemon/link/feed_frames.h"
#include "daemon/link/links.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// Brings what comes on links to FeedRepair, and what that sends to links; what it has for this daemon goes to
/// FeedListeners and FeedSources. Frames of a view that is not installed here yet wait for it (EarlyFrames). What
/// ordered messages wait for is left to them (LinkShare). Repairs of this daemon's own feeds wait while these are
/// silent.
///
/// The routes of a view are found when a feed or a frame needs them first: a daemon that has nothing to do with feeds
/// spends nothing on them.
class FeedTransport final : public FeedFrames, public RepairOutput {
 public:
  FeedTransport(Context& context, Links& links, const OwnPrices& prices)
      : context_(context), links_(links), prices_(prices), share_(context.config.feed.datagram_bytes) {}
  /// Before anything else.
  void attach(FeedRepair& repair, FeedListeners& listeners, FeedSources& sources);

  /// What is sent from here on is sent at that time. In front of all calls of FeedRepair.
  void begin(Time now) { now_ = now; }
  /// The next view, which stays as it is until there is another one.
  void begin_view(Time now, const View& view);
  /// Whatever comes next needs the routes of the view. Before anything of feeds.
  void need_routes();
  /// Of the view that is installed; of an earlier one, or none, where nothing has needed them.
  const FeedRoutes& routes() const { return routes_; }
  /// How often they were found.
  std::uint64_t routes_found() const { return routes_found_; }
  void handle_time(Time now);
  Time next_at() const;
  std::size_t memory_bytes() const { return early_.bytes() + held_bytes_; }

  // FeedFrames
  bool feed_frame_received(Time now, LinkId link, std::uint8_t type, ByteView body) override;
  void feed_link_down(Time now, LinkId link) override;

  // RepairOutput
  void send(LinkId link, const FeedPacket& packet) override;
  void send(LinkId link, const FeedNak& nak) override;
  void send(LinkId link, const FeedGone& gone) override;
  void send(LinkId link, const FeedBeat& beat) override;
  void deliver(const FeedKey& feed, std::uint64_t sequence, const FeedPacket& packet) override;
  void lost(const FeedKey& feed, std::uint64_t first, std::uint64_t count) override;
  bool has_listeners(const FeedKey& feed) const override { return listeners_->has_listeners(feed); }
  void loss_reported(std::uint32_t feed, std::uint64_t first, const FeedNak& nak) override;

 private:
  /// What is left of a view to read frames by.
  struct Named {
    std::uint16_t tag = 0;
    MemberIndex self = 0;
    std::vector<DaemonId> members;  // none: there is no view
  };
  /// A repair of a feed of this daemon's.
  struct Held {
    LinkId link{};
    std::uint32_t feed = 0;
    std::vector<std::uint8_t> head, payload;
  };
  static constexpr std::size_t kHeldMax = 256;
  /// How often round trips of links are looked at, while there are feeds.
  static constexpr Duration kLookInterval = 250ms;

  enum class Taken : std::uint8_t { yes, malformed, unknown_view };
  Taken take(Time now, LinkId link, std::uint8_t type, ByteView body);
  template <typename Frame>
  Taken hand_on(Time now, LinkId link, std::optional<Frame> frame);
  bool is_early(ByteView body) const;
  const Named* find(std::uint16_t tag) const;
  /// The feed is one of this daemon's.
  bool is_own(const FeedRef& ref) const;
  template <typename Frame, typename Write>
  void send_short(LinkId link, DatagramFrame type, std::size_t bytes_max, const Frame& frame, Write&& write);
  void send_packet(LinkId link, std::optional<std::uint32_t> own_feed, ByteView head, ByteView payload);
  void look_at_links();
  void install(const View& view);

  Context& context_;
  Links& links_;
  const OwnPrices& prices_;
  FeedRepair* repair_ = nullptr;
  FeedListeners* listeners_ = nullptr;
  FeedSources* sources_ = nullptr;
  Time now_{};
  const View* view_ = nullptr;  // whose routes are not found yet; null: there is none
  Time view_began_{};
  FeedRoutes routes_;
  std::uint64_t routes_found_ = 0;
  Named installed_, former_;
  EarlyFrames early_;
  LinkShare share_;
  std::deque<Held> held_;
  std::size_t held_bytes_ = 0;
  Time look_at_ = kNever;
  std::vector<std::uint8_t> head_;  // only while a packet is sent
};

}  // namespace spindled
