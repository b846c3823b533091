// Hosts on one switch that loses frames as it is told: the network of the fault tests.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/namespaces.h"

namespace spindle::test {

/// Each host is a network namespace with one interface; the switch is another, with a bridge. What the switch drops are
/// frames, so address resolution suffers like everything else. `heal` undoes all of it.
class Lan {
 public:
  /// Why this machine has none to give; empty where it has.
  static std::string unavailable();

  explicit Lan(const std::vector<std::string>& hosts);

  /// The name for ProcessOptions.
  std::string network_namespace(const std::string& host) const { return namespaces_.name(host); }
  std::string address(const std::string& host) const;

  /// What goes from one host to the other is lost, or no longer.
  void drop(const std::string& from, const std::string& to, bool on);
  /// Nothing passes between the hosts named and the others.
  void part(const std::vector<std::string>& hosts);
  void join(const std::vector<std::string>& hosts);
  /// Each frame on its way through the switch is lost with this probability.
  void set_loss(unsigned percent);
  /// Takes the interface of a host up or down.
  void set_interface(const std::string& host, bool up);
  void heal();

 private:
  void set_parted(const std::vector<std::string>& hosts, bool on);
  void apply();

  std::vector<std::string> hosts_;
  Namespaces namespaces_;
  TemporaryDirectory directory_;
  std::set<std::pair<std::string, std::string>> dropped_;
  std::set<std::string> down_;
  unsigned loss_percent_ = 0;
};

}  // namespace spindle::test
