#include "daemon/net/dialler.h"

#include <algorithm>
#include <asio/post.hpp>
#include <cerrno>
#include <cstring>

namespace spindled {

namespace {

/// For all addresses of a name together. A host that drops packets would otherwise hold an attempt for two minutes.
constexpr auto kDialTimeout = std::chrono::seconds(5);

constexpr auto kProbeInterval = std::chrono::milliseconds(250);
/// Probes beside the patient ones: each lives as many intervals.
constexpr std::ptrdiff_t kQuickProbesMax = 3;
/// Of the addresses of a name, the first ones.
constexpr std::size_t kAddressesMax = 8;

bool is_same(const SocketAddress& a, const SocketAddress& b) {
  return a.size == b.size && std::memcmp(a.get(), b.get(), a.size) == 0;
}

/// A connection to a port of this host in the range for outgoing connections can meet itself.
bool is_self_connected(int socket) {
  SocketAddress peer;
  peer.size = sizeof peer.storage;
  if (::getpeername(socket, peer.get(), &peer.size) != 0) return false;
  return to_string(peer) == to_string(local_address(socket));
}

}  // namespace

void Dialler::dial(ConnectionId id, std::string_view text) {
  attempts_.emplace(id, std::make_unique<Attempt>(io_));
  const std::optional<Address> address = parse_address(text);
  if (!address) {
    asio::post(io_, [this, id] { finish(id, fail(Errc::bad_address)); });
    return;
  }
  Attempt& attempt = *find(id);
  attempt.timeout.expires_after(kDialTimeout);
  attempt.timeout.async_wait([this, id](const std::error_code& cancelled) {
    if (!cancelled) finish(id, fail(Errc::timed_out));
  });
  if (is_ip_address(address->host)) {
    asio::post(io_, [this, id, target = make_tcp_address(*address)] { begin(id, {target}); });
  } else {
    resolve(id, *address);
  }
}

void Dialler::resolve(ConnectionId id, const Address& address) {
  const std::string port = std::to_string(address.port);
  const std::string name = address.host + ":" + port;
  const auto [waiting, is_new] = waiting_.try_emplace(name);
  waiting->second.push_back(id);
  if (!is_new) return;
  const auto flags = asio::ip::tcp::resolver::numeric_service;
  resolver_.async_resolve(
      address.host, port, flags,
      [this, name](const std::error_code& error, const asio::ip::tcp::resolver::results_type& found) {
        std::vector<SocketAddress> addresses;
        for (const auto& entry : found) {
          if (addresses.size() == kAddressesMax) break;
          const asio::ip::tcp::endpoint endpoint = entry.endpoint();
          SocketAddress& each = addresses.emplace_back();
          each.size = static_cast<socklen_t>(endpoint.size());
          std::memcpy(&each.storage, endpoint.data(), endpoint.size());
        }
        const auto told = waiting_.extract(name);
        for (const ConnectionId each : told.mapped()) {
          if (error) {
            finish(each, fail(Errc::connect_failed, error.message()));
          } else {
            begin(each, addresses);
          }
        }
      });
}

void Dialler::begin(ConnectionId id, std::vector<SocketAddress> addresses) {
  Attempt* attempt = find(id);
  if (attempt == nullptr) return;
  attempt->patient_left = addresses.size();
  attempt->addresses = std::move(addresses);
  probe(id);
}

void Dialler::probe(ConnectionId id) {
  Attempt* attempt = find(id);
  if (attempt == nullptr) return;
  while (!attempt->addresses.empty()) {
    const SocketAddress address = attempt->addresses[attempt->started++ % attempt->addresses.size()];
    const int error = start_probe(id, *attempt, address);
    // Without a descriptor for one more, those that wait go on.
    if (error == 0 || (is_out_of_descriptors(error) && !attempt->probes.empty())) {
      attempt->repeat.expires_after(kProbeInterval);
      attempt->repeat.async_wait([this, id](const std::error_code& cancelled) {
        if (!cancelled) probe(id);
      });
      return;
    }
    attempt->failure = describe_errno(error);
    give_up_address(*attempt, address);
  }
  finish(id, fail(Errc::connect_failed, attempt->failure));
}

int Dialler::start_probe(ConnectionId id, Attempt& attempt, const SocketAddress& address) {
  std::vector<Probe>& probes = attempt.probes;
  const auto is_quick = [](const Probe& probe) { return !probe.patient; };
  if (std::count_if(probes.begin(), probes.end(), is_quick) >= kQuickProbesMax) {
    probes.erase(std::find_if(probes.begin(), probes.end(), is_quick));
  }
  FileDescriptor socket = open_socket(address.family());
  if (!socket.is_open()) return errno;
  if (::connect(socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) return errno;
  const std::uint64_t number = ++last_probe_;
  const bool patient = attempt.patient_left > 0;
  if (patient) --attempt.patient_left;
  const auto now = std::chrono::steady_clock::now();
  probes.push_back({number, address, patient, now, asio::posix::stream_descriptor(io_, socket.release())});
  probes.back().socket.async_wait(asio::posix::stream_descriptor::wait_write,
                                  [this, id, number](const std::error_code& cancelled) {
                                    if (!cancelled) check_connected(id, number);
                                  });
  return 0;
}

void Dialler::check_connected(ConnectionId id, std::uint64_t number) {
  Attempt* attempt = find(id);
  if (attempt == nullptr) return;
  const auto probe_at = std::find_if(attempt->probes.begin(), attempt->probes.end(),
                                     [&](const Probe& each) { return each.number == number; });
  if (probe_at == attempt->probes.end()) return;
  int error = 0;
  socklen_t size = sizeof error;
  const int socket = probe_at->socket.native_handle();
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error == 0 && is_self_connected(socket)) error = ECONNREFUSED;
  if (error != 0) {
    attempt->failure = describe_errno(error);
    const SocketAddress address = probe_at->address;
    if (error == EHOSTUNREACH && probe_at->started + kProbeInterval < std::chrono::steady_clock::now()) {
      // Nobody has answered for the hardware address, for seconds: whoever asks again at once, asks without a gap.
      drop_probes(*attempt, address);
    } else {
      give_up_address(*attempt, address);
    }
    return probe(id);
  }
  FileDescriptor connected(probe_at->socket.release());
  tune_connection(connected.get(), Port::link);
  finish(id, std::move(connected));
}

void Dialler::give_up_address(Attempt& attempt, const SocketAddress& address) {
  std::erase_if(attempt.addresses, [&](const SocketAddress& each) { return is_same(each, address); });
  drop_probes(attempt, address);
}

void Dialler::drop_probes(Attempt& attempt, const SocketAddress& address) {
  std::erase_if(attempt.probes, [&](const Probe& each) { return is_same(each.address, address); });
}

void Dialler::finish(ConnectionId id, Result<FileDescriptor> outcome) {
  if (cancel(id)) done_(id, std::move(outcome));
}

Dialler::Attempt* Dialler::find(ConnectionId id) {
  const auto found = attempts_.find(id);
  return found == attempts_.end() ? nullptr : found->second.get();
}

}  // namespace spindled
