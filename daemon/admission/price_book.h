// All prices that this daemon knows of, and what a packet costs by them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/node_config.h"
#include "daemon/group/groups.h"
#include "daemon/overlay/shortest_paths.h"
#include "daemon/overlay/view.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// What a message to a set of destinations meets on its way.
struct Quote {
  double congestion = 0;      // dollars: the sum of equation (8) over links, and what the slowest client costs
  double told = 0;            // the same, where links of this daemon cost what the others were told of them
  std::size_t receivers = 0;  // other daemons
  bool remote = false;        // whether part of it is told by other daemons, and thus late
  // The dearest part of either kind; of nothing where it costs nothing.
  struct Link {
    MemberIndex from = 0, neighbour = 0;
    double dollars = 0;
  } link;
  struct Clients {
    std::string name;
    MemberIndex daemon = 0;
    double dollars = 0;
  } clients;
};

/// Prices of links and of clients that do not keep up, in one view. Only those that are not zero cost anything to keep.
///
/// A link costs a packet something where it is part of the packet's tree: the tree of this daemon to the destinations.
/// So each price comes with the set of members behind the link on the paths from here, and a quote is a few
/// intersections of sets, however many daemons there are.
class PriceBook {
 public:
  explicit PriceBook(const AdmissionConfig& config) : config_(config) {}

  /// All prices are void.
  void start_view(const View& view);
  /// What the indices of members mean here. A view that was installed in this very turn may not have got here yet.
  const View& view() const { return view_; }

  /// A price that another daemon tells. Whether it is news. What cannot be of this view is none.
  bool hear(Time now, const Price& price);
  /// What the link of this daemon to `neighbour` costs now.
  void set_own_link(MemberIndex neighbour, double dollars);
  /// What the others were told that it costs.
  void set_own_link_told(MemberIndex neighbour, double dollars);
  /// What the clients here that `name` reaches cost now, and who costs most.
  void set_own_clients(const std::string& name, double dollars, std::string_view slowest = {});
  /// Forgets prices that their daemons repeat no longer.
  void expire(Time now);
  /// When the first might expire.
  Time next_expiry() const { return next_expiry_; }

  /// Grows with every change of what anything costs.
  std::uint64_t version() const { return version_; }
  /// Grows when something comes to cost so much less that who could not pay for it had better look again. Prices of
  /// this daemon's own links change in nearly every turn, most of the time by next to nothing.
  std::uint64_t falls() const { return falls_; }

  /// Whether all of `to` are this daemon, so that no link and no fee is in question; its clients may have a price.
  bool is_local(const MemberSet& to) const { return to.empty() || to == self_; }
  Quote quote(const DestinationSet& to) const;
  /// The client that costs most of those that `clients` speaks of; empty where its daemon did not name it.
  std::string_view slowest(const Quote::Clients& clients) const;
  /// The longest round trip to any of `to`.
  Duration round_trip(const MemberSet& to) const;

  struct LinkPrice {
    MemberIndex from = 0, neighbour = 0;
    double dollars = 0;
  };
  /// Those that are not zero, by (from, neighbour).
  std::vector<LinkPrice> link_prices() const;
  struct ClientPrice {
    std::string name;
    MemberIndex daemon = 0;
    double dollars = 0;
    std::string slowest;
  };
  std::vector<ClientPrice> client_prices() const;

 private:
  struct LinkKey {
    MemberIndex from = 0, neighbour = 0;
    auto operator<=>(const LinkKey&) const = default;
  };
  struct ClientKey {
    std::string name;
    MemberIndex daemon = 0;
    auto operator<=>(const ClientKey&) const = default;
  };
  struct Known {
    double dollars = 0;
    double peak = 0;  // dollars, since it fell last
    Time expires_at = kNever;
    MemberSet behind;     // of a link: the members that this daemon reaches over it
    std::string slowest;  // of clients: the name of the one that costs most
  };

  /// What the others know of a link of this daemon.
  struct Told {
    double dollars = 0;
    MemberSet behind;  // as Known
  };

  /// What was heard last of the price of a name's clients.
  struct Heard {
    std::uint64_t sequence = 0;
    bool costs = false;  // something
    Time forget_at{};
  };

  bool hear_link(const Price& price, Time expires_at);
  bool hear_clients(const Price& price, Time expires_at);
  void set_clients(ClientKey key, double dollars, std::string_view slowest, Time expires_at);
  template <typename Map, typename Key>
  void set(Map& prices, Key key, double dollars, Time expires_at);
  /// The price is about to become `dollars`.
  void note_change(Known& known, double dollars);
  /// Forgets what was heard of clients for which `select(const Heard&)` holds.
  template <typename Select>
  void forget(Select&& select);
  bool has_link(MemberIndex from, MemberIndex neighbour) const;
  MemberSet behind(MemberIndex from, MemberIndex neighbour) const;

  const AdmissionConfig& config_;
  View view_;
  MemberSet self_;
  std::optional<ShortestPaths> paths_;
  std::map<LinkKey, Known> links_;
  std::map<ClientKey, Known> clients_;
  std::map<MemberIndex, Told> told_;  // of this daemon's links, by neighbour; only those that are not zero
  // What has been heard, of prices that are zero by now too: it stops the flood. There are no more links than the view
  // has; of clients' prices what is old is forgotten, and of each daemon, by its index, the last sequence number that
  // was: since a daemon counts all its prices in one go, what is older than that and not known is no news.
  std::map<LinkKey, std::uint64_t> link_sequences_;
  std::map<ClientKey, Heard> heard_clients_;
  std::size_t free_clients_ = 0;  // of these, those that cost nothing
  std::vector<std::uint64_t> forgotten_;
  std::uint64_t version_ = 1;
  std::uint64_t falls_ = 1;
  Time next_expiry_ = kNever;
};

/// Names with a price, over all other daemons; more are passed over.
inline constexpr std::size_t kClientPricesMax = 4096;

}  // namespace spindled
