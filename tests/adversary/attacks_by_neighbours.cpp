// Daemons that are not what they should be, and strangers at the link port.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <stdexcept>

#include "tests/adversary/attack.h"

namespace spindle::test {

namespace {

Attack earlier_clock() {
  Attack attack;
  attack.name = "earlier_clock";
  attack.what = "a fourth daemon restarts, and its clock is a year behind";
  attack.views_allowed = 4;
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    {
      const std::unique_ptr<Daemon> delta = scene.make_daemon("delta");
      scene.wait_for_view(4);
    }
    ProcessOptions earlier;
    earlier.environment = {std::string("LD_PRELOAD=") + EARLIER_CLOCK_PATH};
    const std::unique_ptr<Daemon> delta = scene.make_daemon("delta", earlier);
    scene.wait_for_view(4);
    wait_for_stop(stop);
  };
  return attack;
}

Attack second_gamma() {
  Attack attack;
  attack.name = "second_gamma";
  attack.what = "another daemon named gamma dials beta";
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    const std::unique_ptr<Daemon> second = scene.make_daemon("gamma");
    wait_for_stop(stop);
  };
  return attack;
}

Attack comes_and_goes() {
  Attack attack;
  attack.name = "comes_and_goes";
  attack.what = "a fourth daemon is killed and started again, without end";
  attack.views_allowed = 12;
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    const std::unique_ptr<Daemon> delta = scene.make_daemon("delta");
    while (!stop.stop_requested()) {
      delta->kill();
      delta->start();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  };
  return attack;
}

Attack garbage_on_links() {
  Attack attack;
  attack.name = "garbage_on_links";
  attack.what = "a stranger sends random bytes to beta's link port, again and again";
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    for (std::uint32_t seed = 1; !stop.stop_requested(); ++seed) {
      HostileClient stranger(scene.beta().link_address());
      stranger.write(random_bytes(1000, seed), stop);
    }
  };
  return attack;
}

Attack garbage_by_datagram() {
  Attack attack;
  attack.name = "garbage_by_datagram";
  attack.what = "a stranger sends random datagrams to beta's link port, some 50,000 a second";
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    const std::string& address = scene.beta().link_address();
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const Bytes bytes = random_bytes(1400, 1);
    while (!stop.stop_requested()) {
      for (std::size_t i = 0; i < 50; ++i) {
        // Each with a token of its own; what the kernel has no room for is gone.
        ::sendto(socket.get(), bytes.data() + i, bytes.size() - i, 0, reinterpret_cast<const sockaddr*>(&to),
                 sizeof to);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (counter(scene.beta(), "datagrams_unknown") == 0) throw std::runtime_error("no datagram has come");
  };
  return attack;
}

}  // namespace

std::vector<Attack> attacks_by_neighbours() {
  return {earlier_clock(), second_gamma(), comes_and_goes(), garbage_on_links(), garbage_by_datagram()};
}

std::vector<Attack> all_attacks() {
  std::vector<Attack> all;
  for (const auto& some : {attacks_on_membership(), attacks_on_memory(), attacks_on_the_limit(), attacks_by_many(),
                           attacks_by_neighbours(), attacks_by_frames()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace spindle::test
