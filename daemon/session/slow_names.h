// The names under which clients that do not keep up get messages, and what each of these costs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/admission/client_prices.h"
#include "daemon/group/operations.h"

namespace spindled {

/// Knows under which names a client here gets messages: those of its groups, and its private name.
class ClientNames {
 public:
  virtual ~ClientNames() = default;
  virtual bool is_reached_by(SessionId session, std::string_view name) const = 0;
  virtual std::string_view client_name_of(SessionId session) const = 0;
};

/// Of the slow clients that a name reaches the slowest counts. What has changed is told once a turn, however many
/// clients it changed for. No more than kClientPricesMax names are told: a name that would be one more takes the place
/// of the cheapest where it is more than twice as dear, and is passed over otherwise, until it is looked at again.
class SlowNames {
 public:
  SlowNames(ClientPrices& prices, const ClientNames& names) : prices_(prices), names_(names) {}

  /// `session`, which has cost `before` those who send to `name`, costs them `dollars`; 0: nothing.
  void change(const std::string& name, SessionId session, double before, double dollars);
  /// What has changed.
  void tell();

  /// Those that something reaches which costs something, and of these those that were told.
  std::size_t size() const { return clients_.size(); }
  std::size_t told() const { return told_.size(); }

 private:
  struct Cost {
    double dollars = 0;
    SessionId session = 0;
    bool operator==(const Cost&) const = default;
  };
  struct DearestFirst {
    bool operator()(const Cost& a, const Cost& b) const {
      return a.dollars != b.dollars ? a.dollars > b.dollars : a.session < b.session;
    }
  };
  struct Name {
    std::set<Cost, DearestFirst> clients;  // all that cost something
    Cost told;                             // of the slowest, as it was told; 0 dollars: nothing was
    bool has_changed = false;
  };
  using Names = std::map<std::string, Name, std::less<>>;

  /// Whether the name, which was not told, may be for so much.
  bool make_room(double dollars);
  void tell(const std::string& text, Name& name, const Cost& cost);

  ClientPrices& prices_;
  const ClientNames& names_;
  Names clients_;
  std::vector<Names::iterator> changed_;
  std::set<std::pair<double, std::string_view>> told_;  // by what was told; the names are those of `clients_`
};

}  // namespace spindled
