// What the links of this daemon cost, and who is told when.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/admission/price_book.h"
#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/overlay.h"

namespace spindled {

/// Looks at the queues of the links at the end of every turn. This daemon's own clients pay for the queue as it is;
/// the others are told its mean since they were told last, at once when it begins to cost something, then every T_min
/// while it does, and of a price that stays as it is every T_max (section V-B of the paper). A link that costs nothing
/// is not spoken of, nor a short first queue before it is known how soon the link takes it.
///
/// Order of calls: `start_view`; then `observe` once a turn, after the links have written.
class OwnPrices {
 public:
  OwnPrices(Context& context, const Links& links, Overlay& overlay, PriceBook& book);

  void start_view(Time now);
  /// What local clients that `name` reaches cost from now on, and who costs most.
  void set_clients(const std::string& name, double dollars, std::string_view slowest = {});
  /// Whether something was told, and waits to be written.
  bool observe(Time now);
  Time next_deadline() const { return next_; }
  /// Names that cost something, or did a moment ago.
  std::size_t names() const { return clients_.size(); }

  /// For the administrator.
  struct LinkView {
    MemberIndex neighbour = 0;
    LinkId link{};
    double packets = 0;     // waiting
    double soft_limit = 0;  // M
    double rate = 0;        // packets per second that the link takes while some wait, or has carried; 0: unknown
    double dollars = 0;
  };
  std::vector<LinkView> links() const;

 private:
  /// What has been told of one price.
  struct Told {
    std::uint32_t sixteenths = 0;
    std::optional<Time> at;
    std::optional<Time> at_before;  // when the one before was
  };
  struct Watched {
    LinkId link{};
    MemberIndex neighbour = 0;
    std::size_t packets = 0;  // as seen last
    double dollars = 0;       // as the book has it
    Time seen_at{};
    double waited = 0;  // packets x seconds since the price was told
    Time since{};
    Time cost_at{};              // when it had a price last
    std::uint64_t departed = 0;  // packets, as seen last
    // Since the rate was measured, while packets were waiting.
    Duration busy{};
    std::uint64_t busy_departed = 0;
    // Since `carried_since`, in any case.
    std::uint64_t carried = 0;
    Time carried_since{};
    double rate = 0;
    bool is_timed = false;  // the rate is from times when packets waited
    Told told;
  };
  struct Clients {
    double dollars = 0;
    std::string slowest;
    Told told;
  };

  double soft_limit(const Watched& watched) const;
  /// Whether its first queue is not worth a word yet.
  bool says_little(const Watched& watched) const;
  Duration rate_span() const;
  void measure_rate(Time now, Watched& watched, std::uint64_t departed);
  void measure_carried(Time now, Watched& watched, std::uint64_t departed_since);
  /// When `sixteenths` are due to be told, from now on or since some time; kNever: nothing is to be told.
  Time due_at(const Told& told, std::uint32_t sixteenths) const;
  /// When `sixteenths` may be told because they are so much less than what was; kNever: they are not.
  Time relief_at(const Told& told, std::uint32_t sixteenths) const;
  // Each: whether something was told.
  bool observe(Time now, Watched& watched);
  bool observe(Time now, const std::string& name, Clients& clients);
  bool tell(Time now, Told& told, std::uint32_t sixteenths, Price price);

  Context& context_;
  const Links& links_;
  Overlay& overlay_;
  PriceBook& book_;
  std::vector<Watched> watched_;
  std::map<std::string, Clients> clients_;
  std::uint64_t sequence_ = 0;  // of what was told last in this view
  Time next_ = kNever;
};

}  // namespace spindled
