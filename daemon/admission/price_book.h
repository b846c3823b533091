// All prices that this daemon knows of, and what a packet costs by them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/admission/client_prices.h"
#include "daemon/base/node_config.h"
#include "daemon/group/groups.h"
#include "daemon/overlay/shortest_paths.h"
#include "daemon/overlay/view.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// What a message to a set of destinations meets on its way.
struct Quote {
  double congestion = 0;      // dollars: the sum of equation (8) over links, and what the slowest client costs
  double cubes = 0;           // the sum of their cubes
  std::size_t receivers = 0;  // other daemons
  Duration delay{};           // the longest in which who pays a part of it answers
  std::uint64_t parts = 0;    // says which links, and whether clients, cost something; 0: nothing does
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

  void add(double dollars) {
    congestion += dollars;
    cubes += dollars * dollars * dollars;
  }
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
  /// What the others are told of the link of this daemon to `neighbour`.
  void set_own_link(Time now, MemberIndex neighbour, double dollars, Duration delay);
  /// What the clients here that `name` reaches cost now, and who costs most.
  void set_own_clients(Time now, const std::string& name, double dollars, Duration delay,
                       std::string_view slowest = {});
  /// Forgets prices that their daemons repeat no longer.
  void expire(Time now);
  /// When the first might expire.
  Time next_expiry() const { return next_expiry_; }

  /// Grows with every change of what anything costs.
  std::uint64_t version() const { return version_; }
  /// When it did last.
  Time changed_at() const { return changed_at_; }
  /// Grows when something comes to cost so much less that who could not pay for it had better look again.
  std::uint64_t falls() const { return falls_; }

  /// Whether nothing costs anything, anywhere.
  bool is_idle() const { return links_.empty() && clients_.empty(); }
  /// Whether all of `to` are this daemon, so that no link and no fee is in question; its clients may have a price.
  bool is_local(const MemberSet& to) const { return to.empty() || to == self_; }
  Quote quote(const DestinationSet& to) const;
  /// The client that costs most of those that `clients` speaks of; empty where its daemon did not name it.
  std::string_view slowest(const Quote::Clients& clients) const;
  /// The longest round trip to any of `to`.
  Duration round_trip(const MemberSet& to) const;
  /// The longest round trip to any daemon from which packets may come over the link of this one to `neighbour`.
  Duration round_trip_before(MemberIndex neighbour) const;

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
  /// Finds the first of a name without a copy of it.
  struct ClientKeyLess {
    using is_transparent = void;
    bool operator()(const ClientKey& a, const ClientKey& b) const { return a < b; }
    bool operator()(const ClientKey& key, std::string_view name) const { return key.name < name; }
    bool operator()(std::string_view name, const ClientKey& key) const { return name < key.name; }
  };
  struct Known {
    double dollars = 0;
    Duration delay{};
    double peak = 0;  // dollars, since it fell last
    Time expires_at = kNever;
    MemberSet behind;     // of a link: the members that this daemon reaches over it
    std::string slowest;  // of clients: the name of the one that costs most
  };

  /// What was heard last of the price of a name's clients.
  struct Heard {
    std::uint64_t sequence = 0;
    bool costs = false;  // something
    Time forget_at{};
  };

  /// What something comes to cost.
  struct Change {
    Time now{};
    double dollars = 0;
    Duration delay{};
    Time expires_at = kNever;
  };

  bool hear_link(const Price& price, const Change& change);
  bool hear_clients(const Price& price, const Change& change);
  void set_clients(const ClientKey& key, const Change& change, std::string_view slowest);
  template <typename Map, typename Key>
  void set(Map& prices, Key key, const Change& change);
  void note_version(Time now);
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
  std::map<ClientKey, Known, ClientKeyLess> clients_;
  // What has been heard, of prices that are zero by now too: it stops the flood. There are no more links than the view
  // has; of clients' prices what is old is forgotten, and of each daemon, by its index, the last sequence number that
  // was: since a daemon counts all its prices in one go, what is older than that and not known is no news.
  std::map<LinkKey, std::uint64_t> link_sequences_;
  std::map<ClientKey, Heard> heard_clients_;
  std::size_t free_clients_ = 0;  // of these, those that cost nothing
  std::vector<std::uint64_t> forgotten_;
  std::uint64_t version_ = 1;
  Time changed_at_{};
  std::uint64_t falls_ = 1;
  Time next_expiry_ = kNever;
};

}  // namespace spindled
