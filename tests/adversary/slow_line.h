// A line between two daemons that carries so much and no more, without the rights that a shaped interface needs.
#pragma once

#include <string>
#include <thread>

#include "libclient/src/socket.h"

namespace spindle::test {

/// Takes one connection at a time on loopback and passes its bytes on to `to`, at `rate` bytes/s; what comes back is
/// not held up.
class SlowLine {
 public:
  SlowLine(std::string to, std::size_t rate);
  SlowLine(const SlowLine&) = delete;
  SlowLine& operator=(const SlowLine&) = delete;
  ~SlowLine();

  /// Where to connect to.
  const std::string& address() const { return address_; }

 private:
  void serve(const std::stop_token& stop);
  void pass_on(const std::stop_token& stop, const Descriptor& from, const Descriptor& to);

  std::string to_;
  std::size_t rate_;
  Descriptor listener_;
  std::string address_;
  std::jthread thread_;
};

}  // namespace spindle::test
