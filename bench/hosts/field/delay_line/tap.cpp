#include "bench/hosts/field/delay_line/tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace spindle::bench {

namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (number_ < 0) throw_errno("cannot open " + path);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Puts this thread into another network namespace for as long as it lives.
class Visit {
 public:
  explicit Visit(const std::string& network) : home_("/proc/self/ns/net", O_RDONLY) {
    const Descriptor there("/run/netns/" + network, O_RDONLY);
    if (::setns(there.get(), CLONE_NEWNET) != 0) throw_errno("cannot enter the network namespace " + network);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { static_cast<void>(::setns(home_.get(), CLONE_NEWNET)); }

 private:
  Descriptor home_;
};

int open_tap(const std::string& network, const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) {
    throw std::system_error(ENAMETOOLONG, std::generic_category(), "no name of a device: '" + name + "'");
  }
  const Visit visit(network);
  Descriptor tap("/dev/net/tun", O_RDWR | O_NONBLOCK);
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(tap.get(), TUNSETIFF, &request) != 0) throw_errno("cannot make the device " + name + " in " + network);
  return tap.release();
}

}  // namespace

Tap::Tap(const std::string& network, const std::string& name) : descriptor_(open_tap(network, name)) {}

Tap::~Tap() { ::close(descriptor_); }

std::optional<std::span<const std::uint8_t>> Tap::read(std::span<std::uint8_t> space) {
  const ssize_t bytes = ::read(descriptor_, space.data(), space.size());
  if (bytes <= 0) return std::nullopt;
  return space.first(static_cast<std::size_t>(bytes));
}

bool Tap::write(std::span<const std::uint8_t> frame) {
  return ::write(descriptor_, frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
}

}  // namespace spindle::bench
