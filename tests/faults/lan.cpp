#include "tests/faults/lan.h"

#include <algorithm>
#include <exception>

namespace spindle::test {

namespace {

constexpr const char* kSwitch = "switch";

std::vector<std::string> with_switch(std::vector<std::string> hosts) {
  hosts.emplace_back(kSwitch);
  return hosts;
}

}  // namespace

std::string Lan::unavailable() {
  if (std::string why = Namespaces::unavailable(); !why.empty()) return why;
  try {
    Lan trial({"x", "y"});
    trial.drop("x", "y", true);
    trial.set_loss(1);
    return {};
  } catch (const std::exception& error) {
    return std::string("no bridge with nftables here: ") + error.what();
  }
}

Lan::Lan(const std::vector<std::string>& hosts) : hosts_(hosts), namespaces_(with_switch(hosts)) {
  const std::string bridge = namespaces_.name(kSwitch);
  run_tool("ip", {"-n", bridge, "link", "add", "bridge", "type", "bridge"});
  run_tool("ip", {"-n", bridge, "link", "set", "bridge", "up"});
  for (const std::string& host : hosts_) {
    const std::string own = namespaces_.name(host), port = "to-" + host;
    run_tool("ip", {"-n", own, "link", "add", "lan", "type", "veth", "peer", "name", port, "netns", bridge});
    run_tool("ip", {"-n", bridge, "link", "set", port, "master", "bridge", "up"});
    run_tool("ip", {"-n", own, "addr", "add", address(host) + "/24", "dev", "lan"});
    run_tool("ip", {"-n", own, "link", "set", "lan", "up"});
  }
}

std::string Lan::address(const std::string& host) const {
  const auto found = std::find(hosts_.begin(), hosts_.end(), host);
  return "10.98.0." + std::to_string(found - hosts_.begin() + 1);
}

void Lan::drop(const std::string& from, const std::string& to, bool on) {
  if (on) {
    dropped_.insert({from, to});
  } else {
    dropped_.erase({from, to});
  }
  apply();
}

void Lan::part(const std::vector<std::string>& hosts) { set_parted(hosts, true); }
void Lan::join(const std::vector<std::string>& hosts) { set_parted(hosts, false); }

void Lan::set_parted(const std::vector<std::string>& hosts, bool on) {
  for (const std::string& one : hosts) {
    for (const std::string& other : hosts_) {
      if (std::find(hosts.begin(), hosts.end(), other) != hosts.end()) continue;
      for (const auto& direction : {std::pair(one, other), std::pair(other, one)}) {
        if (on) {
          dropped_.insert(direction);
        } else {
          dropped_.erase(direction);
        }
      }
    }
  }
  apply();
}

void Lan::set_loss(unsigned percent) {
  loss_percent_ = percent;
  apply();
}

void Lan::set_interface(const std::string& host, bool up) {
  run_tool("ip", {"-n", namespaces_.name(host), "link", "set", "lan", up ? "up" : "down"});
  if (up) {
    down_.erase(host);
  } else {
    down_.insert(host);
  }
}

void Lan::heal() {
  dropped_.clear();
  loss_percent_ = 0;
  apply();
  for (const std::string& host : std::set<std::string>(down_)) set_interface(host, true);
}

/// One transaction: at no point do frames pass that neither the old nor the new rules let through.
void Lan::apply() {
  std::string rules =
      "flush ruleset\ntable bridge faults {\nchain forward {\ntype filter hook forward priority 0; policy accept;\n";
  for (const auto& [from, to] : dropped_) rules += "iifname \"to-" + from + "\" oifname \"to-" + to + "\" drop\n";
  if (loss_percent_ != 0) rules += "numgen random mod 100 < " + std::to_string(loss_percent_) + " drop\n";
  write_file(directory_.path("rules"), rules + "}\n}\n");
  run_tool("nft", {"-f", directory_.path("rules")}, namespaces_.name(kSwitch));
}

}  // namespace spindle::test
