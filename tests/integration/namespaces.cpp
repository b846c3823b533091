#include "tests/integration/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

namespace spindle::test {

namespace {

std::string find_tool(const std::string& tool) {
  for (const char* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"}) {
    if (::access((folder + tool).c_str(), X_OK) == 0) return folder + tool;
  }
  throw std::runtime_error("there is no program " + tool);
}

void ip(const std::vector<std::string>& arguments) { run_tool("ip", arguments); }

/// Where nothing can be done about a failure.
void try_ip(const std::vector<std::string>& arguments) {
  try {
    ip(arguments);
  } catch (const std::exception&) {
    // A namespace that stays behind is no reason to end the tests.
  }
}

}  // namespace

void run_tool(const std::string& tool, const std::vector<std::string>& arguments,
              const std::string& network_namespace) {
  ProcessOptions options;
  options.arguments = arguments;
  options.network_namespace = network_namespace;
  const Finished finished = run(find_tool(tool), options);
  if (finished.code == 0) return;
  std::string command = tool;
  for (const std::string& argument : arguments) command += " " + argument;
  throw std::runtime_error(command + ": " + finished.error + " (" + std::to_string(finished.code) + ")");
}

std::string Namespaces::unavailable() {
  if (::geteuid() != 0) return "network namespaces take root";
  try {
    Namespaces trial({"x", "y"});
    trial.connect("x", "y");
    return {};
  } catch (const std::exception& error) {
    return std::string("no network namespaces here: ") + error.what();
  }
}

Namespaces::Namespaces(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {
  static int made = 0;
  prefix_ = "spindle-" + std::to_string(::getpid()) + "-" + std::to_string(++made) + "-";
  try {
    for (const std::string& host : hosts_) {
      ip({"netns", "add", name(host)});
      ip({"-n", name(host), "link", "set", "lo", "up"});
    }
  } catch (...) {
    for (const std::string& host : hosts_) try_ip({"netns", "del", name(host)});
    throw;
  }
}

Namespaces::~Namespaces() {
  for (const std::string& host : hosts_) try_ip({"netns", "del", name(host)});  // its interfaces go with it
}

std::size_t Namespaces::index_of(const std::string& host) const {
  const auto found = std::find(hosts_.begin(), hosts_.end(), host);
  if (found == hosts_.end()) throw std::runtime_error("no host " + host);
  return static_cast<std::size_t>(found - hosts_.begin());
}

std::string Namespaces::address(const std::string& host, const std::string& peer) const {
  const std::size_t own = index_of(host), other = index_of(peer);
  const std::size_t network = std::min(own, other) * hosts_.size() + std::max(own, other);
  return "10.99." + std::to_string(network % 256) + (own < other ? ".1" : ".2");
}

// An interface is named after the host at the other end.
void Namespaces::connect(const std::string& first, const std::string& second) {
  ip({"-n", name(first), "link", "add", "to-" + second, "type", "veth", "peer", "name", "to-" + first, "netns",
      name(second)});
  const std::pair<std::string, std::string> ends[] = {{first, second}, {second, first}};
  for (const auto& [host, peer] : ends) {
    ip({"-n", name(host), "addr", "add", address(host, peer) + "/24", "dev", "to-" + peer});
    set_up(host, peer, true);
  }
}

void Namespaces::set_up(const std::string& host, const std::string& peer, bool up) {
  ip({"-n", name(host), "link", "set", "to-" + peer, up ? "up" : "down"});
}

void Namespaces::run_inside(const std::string& host, const std::function<void()>& function) const {
  std::exception_ptr failure;
  std::thread inside([&] {
    try {
      const Descriptor network(::open(("/run/netns/" + name(host)).c_str(), O_RDONLY | O_CLOEXEC));
      if (::setns(network.get(), CLONE_NEWNET) != 0) {
        throw std::system_error(errno, std::generic_category(), "entering " + name(host));
      }
      function();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  inside.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace spindle::test
