// Clients' histories, written down by hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/checkers/checkers.h"

namespace spindled::checkers {

using Names = std::vector<std::string>;

/// Clients are "#a#d", "#b#d", ...; the group is "g". What is written is of the client spoken of last. `Derived` adds
/// what its tests speak of.
template <typename Derived>
class HistoryWriter {
 public:
  Derived& at(char client) {
    const std::string name = name_of(client);
    for (current_ = 0; current_ < history_.clients.size(); ++current_) {
      if (current().name == name) return derived();
    }
    return another(client);
  }
  /// Another client of that name.
  Derived& another(char client) {
    history_.clients.push_back({name_of(client), {}});
    current_ = history_.clients.size() - 1;
    return derived();
  }
  Derived& leaves() { return add(LeaveRequested{"g"}); }
  Derived& has_to_leave() { return add(LeaveRequested{"g", true}); }
  Derived& closes() { return add(Closed{5, ""}); }
  Derived& add(decltype(Event::what) what) {
    current().events.push_back({Time{}, std::move(what)});
    return derived();
  }
  const History& history() const { return history_; }
  History& history() { return history_; }

 protected:
  static std::string name_of(char client) { return std::string("#") + client + "#d"; }
  static Names names(const std::string& letters) {
    Names result;
    for (const char letter : letters) result.push_back(name_of(letter));
    return result;
  }
  ClientHistory& current() { return history_.clients.at(current_); }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  History history_;
  std::size_t current_ = 0;
};

}  // namespace spindled::checkers
