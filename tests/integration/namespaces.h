// Networks of a test's own, as network namespaces joined by pairs of virtual interfaces.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/integration/process.h"

namespace spindle::test {

/// Runs a program of the administrator's (`ip`, `nft`) to its end, in a network namespace where one is named. Throws
/// with what it complains of.
void run_tool(const std::string& tool, const std::vector<std::string>& arguments,
              const std::string& network_namespace = {});

/// Hosts without files of their own: what listens on unix sockets is reached from everywhere.
class Namespaces {
 public:
  /// Why this machine has none to give; empty where it has.
  static std::string unavailable();

  /// One for each name, at most 26, with loopback up. Names of one letter suffice: those that the system sees are
  /// unique.
  explicit Namespaces(std::vector<std::string> hosts);
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;
  ~Namespaces();

  /// The name for ProcessOptions.
  std::string name(const std::string& host) const { return prefix_ + host; }
  /// Joins two hosts by a link of their own.
  void connect(const std::string& first, const std::string& second);
  /// The IP address of `host` on its link to `peer`.
  std::string address(const std::string& host, const std::string& peer) const;
  /// Takes the end of the link at `host` up or down: what is sent from either side is lost without a word.
  void set_up(const std::string& host, const std::string& peer, bool up);

  /// Runs `function` in a thread inside a host: the sockets that it makes stay there.
  void run_inside(const std::string& host, const std::function<void()>& function) const;

 private:
  std::size_t index_of(const std::string& host) const;

  std::vector<std::string> hosts_;
  std::string prefix_;
};

}  // namespace spindle::test
