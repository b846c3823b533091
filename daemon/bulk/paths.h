// The paths to neighbours, which links and hops share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/bulk/hop_rate.h"
#include "daemon/bulk/path_capacity.h"
#include "daemon/link/links.h"
#include "daemon/overlay/overlay.h"
#include "libclient/bulk/rate_meter.h"

namespace spindled {

/// Looks at each path that a hop goes over while content goes over it: how fast the hop may send (HopRate), and what
/// the path carries (PathCapacity), which the other daemons are told every kTold at most.
///
/// Order of calls: `expect`, `opened`; then `wrote` for what the hop has written, and `end_turn` at the end of each
/// turn; `closed`.
class Paths {
 public:
  Paths(Context& context, Driver& driver, const Links& links, Overlay& overlay)
      : context_(context), driver_(driver), links_(links), overlay_(overlay) {}

  /// A hop to that neighbour is wanted: messages that go there from now on are those that content begins beside.
  void expect(Time now, const std::string& daemon);
  void opened(Time now, const std::string& daemon, ConnectionId hop);
  void closed(std::string_view daemon, ConnectionId hop);
  /// The rate of the hop that is open to that neighbour.
  HopRate& rate(std::string_view daemon) { return paths_.find(daemon)->second.rate; }
  /// Whether more content may go over the hop that is open to that neighbour.
  bool may_send(Time now, std::string_view daemon);
  /// `is_full`: the connection has not taken all that there was.
  void wrote(Time now, std::string_view daemon, std::size_t bytes, bool is_full);
  void end_turn(Time now);

  void handle_time(Time now);
  Time next_deadline() const { return std::min(adjust_at_, forget_at_); }

  /// For the administrator.
  struct Info {
    double rate = 0;                // that the hop may have, in bytes a second; 0: it is not limited
    std::uint64_t capacity = 0;     // of the path; 0: not known
    std::uint64_t bytes_out = 0;    // of the hop
    std::uint64_t bytes_per_s = 0;  // lately
    bool is_held_back = false;      // by the rate
  };
  Info info(Time now, std::string_view daemon) const;
  /// When the hop has written something last.
  Time used_at(std::string_view daemon) const;

  static constexpr Duration kTold = 5s;

 private:
  /// What the link had been given of messages.
  struct Before {
    Time at{};
    std::uint64_t message_packets = 0;
  };
  struct Path {
    std::optional<ConnectionId> hop;
    std::optional<LinkId> link;    // as of the last look
    std::optional<Before> before;  // when the hop was wanted, or used last; until it is used
    HopRate rate;
    PathCapacity capacity;
    std::uint64_t written = 0;                    // bytes, on the hop,
    std::uint64_t carried = 0;                    // and acknowledged, as of the last look
    std::uint64_t hop_bytes = 0, link_bytes = 0;  // as of the last look
    Time used_at{};
    Time told_at{};
    bool is_watched = false;
    bool is_full = false;   // the hop takes no more at present,
    bool was_full = false;  // and has not since the last look
    spindle::bulk::RateMeter meter;
  };

  /// A path that nothing has gone over for this long is not looked at any more.
  static constexpr Duration kUnused = 1s;

  /// Whether something waits on the link that could be written.
  bool link_waits(const Path& path) const;
  HopRate::Path look_at(const std::string& daemon, Path& path);
  void adjust(Time now, const std::string& daemon, Path& path);
  void tell(Time now, const std::string& daemon, const Path& path);

  Context& context_;
  Driver& driver_;
  const Links& links_;
  Overlay& overlay_;
  std::map<std::string, Path, std::less<>> paths_;
  Time adjust_at_ = kNever;  // those that are watched
  Time forget_at_ = kNever;  // the capacity of another
};

}  // namespace spindled
