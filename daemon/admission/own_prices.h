// What the links of this daemon cost, and who is told when.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/admission/link_price.h"
#include "daemon/admission/price_book.h"
#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/overlay.h"

namespace spindled {

/// Looks at the queues of the links at the end of every turn. What a link costs (LinkPrice) is told whenever it is set
/// anew and has changed, and every T_max (section V-B of the paper); a link that costs nothing is not spoken of. This
/// daemon's own clients pay what was told, like all others. What clients that do not keep up cost is told at once when
/// it begins, then every T_min while it changes; but no more than kNamesToldMax names in a T_min, as all of this goes
/// ahead of messages. Others wait, those that are due for longest the least.
///
/// Order of calls: `start_view`; then `observe` once a turn, after the links have written.
class OwnPrices {
 public:
  OwnPrices(Context& context, const Links& links, Overlay& overlay, PriceBook& book);

  void start_view(Time now);
  /// What local clients that `name` reaches cost from now on, and who costs most.
  void set_clients(Time now, const std::string& name, double dollars, std::string_view slowest = {});
  /// Whether something was told, and waits to be written.
  bool observe(Time now);
  Time next_deadline() const { return next_; }
  /// Names that cost something, or did a moment ago.
  std::size_t names() const { return clients_.size(); }
  static constexpr std::size_t kNamesToldMax = 512;

  /// Whether the link costs something, as was told.
  bool costs(LinkId link) const {
    return std::any_of(watched_.begin(), watched_.end(),
                       [&](const Watched& each) { return each.link == link && each.told.level != 0; });
  }

  /// For the administrator.
  struct LinkView {
    MemberIndex neighbour = 0;
    LinkId link{};
    double packets = 0;  // waiting
    double aim = 0;      // packets, where it is congested
    double rate = 0;     // packets per second that the link takes while some wait, or has carried; 0: unknown
    double dollars = 0;  // as told
  };
  std::vector<LinkView> links() const;

 private:
  /// What has been told of one price.
  struct Told {
    std::uint16_t level = 0;
    std::optional<Time> at;
    std::optional<Time> at_before;  // when the one before was
  };
  struct Watched {
    LinkId link{};
    MemberIndex neighbour = 0;
    LinkPrice price;
    Told told;
    bool is_due = false;  // it was set anew, and not told yet
  };
  struct Clients {
    double dollars = 0;
    std::string slowest;
    Told told;
    Time look_at = kNever;
  };

  LinkPrice::Queue queue_of(LinkId link) const;
  /// When a client's `level` is due to be told, from now on or since some time; kNever: nothing is to be told.
  Time due_at(const Told& told, std::uint16_t level) const;
  /// When it may be told because it is so much less than what was; kNever: it is not.
  Time relief_at(const Told& told, std::uint16_t level) const;
  /// When there is something to do about a name: to tell its price, or to forget it.
  Time look_at(const Clients& clients) const;
  /// Of `clients_`.
  void schedule(const std::string& name, Clients& clients);
  // Each: whether something was told.
  bool observe(Time now, Watched& watched);
  bool observe_clients(Time now);
  bool tell(Time now, Told& told, std::uint16_t level, Duration delay, Price price);
  Duration clients_delay() const { return round_trip_ + 2 * context_.config.admission.update_min; }

  Context& context_;
  const Links& links_;
  Overlay& overlay_;
  PriceBook& book_;
  std::vector<Watched> watched_;
  std::map<std::string, Clients, std::less<>> clients_;
  std::set<std::pair<Time, std::string_view>> due_;  // what there is to do about these, by `look_at`
  Time names_told_since_{};
  std::size_t names_told_ = 0;  // since then
  Duration round_trip_{};       // to the farthest daemon
  std::uint64_t sequence_ = 0;  // of what was told last in this view
  Time next_ = kNever;
};

}  // namespace spindled
