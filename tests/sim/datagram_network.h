// Datagrams between the hosts of a simulation: they may be lost, come twice, overtake each other and be too long.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "daemon/base/datagram.h"
#include "daemon/base/random.h"
#include "tests/sim/event_queue.h"

namespace spindled::sim {

using HostIndex = std::uint32_t;

/// One direction between two hosts. Datagrams take nothing of the capacity of streams.
struct DatagramPath {
  Duration delay = 100us;
  Duration jitter = 20us;  // drawn from [0, jitter] and added to the delay, so that datagrams overtake each other
  double loss = 0;         // probability for each datagram
  double repeated = 0;     // probability that it comes once more
  double late = 0;         // probability that it takes `late_by` longer
  Duration late_by = 1ms;
  std::size_t bytes_max = 65'507;  // longer ones are lost
  bool blocked = false;            // as by a firewall
};

class DatagramReceiver {
 public:
  virtual ~DatagramReceiver() = default;
  virtual void datagram_arrived(const DatagramAddress& from, std::vector<std::uint8_t> bytes) = 0;
};

/// What happens to a datagram is drawn when it is sent, from a source of its own. Nothing is drawn and nothing happens
/// as long as it is off, as it is to begin with: daemons then learn that there are no datagrams.
class DatagramNetwork {
 public:
  using IsBlocked = std::function<bool(HostIndex from, HostIndex to)>;

  /// `is_blocked`: hosts that do not reach each other at all.
  DatagramNetwork(EventQueue& events, std::uint64_t seed, IsBlocked is_blocked);

  void turn_on() { is_on_ = true; }
  bool is_on() const { return is_on_; }
  /// From the next link on the ends protect their datagrams.
  void protect() { is_protecting_ = true; }
  bool is_protecting() const { return is_protecting_; }

  void set_default_path(const DatagramPath& path) { default_path_ = path; }
  /// Both directions.
  void set_path(HostIndex a, HostIndex b, const DatagramPath& path);
  DatagramPath& path(HostIndex from, HostIndex to);

  void add_host(HostIndex host, DatagramReceiver& receiver);
  /// The host is known by another port from now on, as behind a router that has forgotten it. What is sent to the port
  /// that it had is lost.
  void move(HostIndex host);
  /// Where others see the host at present.
  DatagramAddress address_of(HostIndex host) const;
  /// Whatever its present port.
  static DatagramAddress make_address(HostIndex host, std::uint16_t port);

  void send(HostIndex from, const DatagramAddress& to, ByteView bytes);
  /// From an address that nobody has, or that is another's.
  void forge(const DatagramAddress& from, HostIndex to, std::vector<std::uint8_t> bytes);
  /// Called with each that a host sends.
  using Tap = std::function<void(HostIndex from, const DatagramAddress& to, ByteView bytes)>;
  void set_tap(Tap tap) { tap_ = std::move(tap); }

 private:
  struct Host {
    DatagramReceiver* receiver = nullptr;
    std::uint16_t port = 4803;
  };

  void carry(HostIndex to, const DatagramPath& path, const DatagramAddress& from, std::uint16_t port, ByteView bytes);

  EventQueue* events_;
  Random random_;
  IsBlocked is_blocked_;
  bool is_on_ = false;
  bool is_protecting_ = false;
  DatagramPath default_path_;
  std::map<HostIndex, Host> hosts_;
  std::map<std::pair<HostIndex, HostIndex>, DatagramPath> paths_;
  Tap tap_;
};

}  // namespace spindled::sim
