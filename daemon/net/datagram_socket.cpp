#include "daemon/net/datagram_socket.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "daemon/base/check.h"

namespace spindled {

namespace {

/// What the kernel cuts one message into at most.
constexpr std::size_t kSegmentsMax = 64;
/// The longest message: an IP packet has 65,535 bytes.
constexpr std::size_t kMessageBytesMax = 65'000;
/// Messages of one system call.
constexpr std::size_t kMessagesMax = 64;
/// The kernel may give less. What comes while a turn goes on waits here, and what a turn sends.
constexpr int kBufferBytes = 4 << 20;

bool set_option(int socket, int level, int name, int value) {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

/// Beyond the limit of the system where this process may.
void set_buffer(int socket, int name, int name_of_root) {
  if (!set_option(socket, SOL_SOCKET, name_of_root, kBufferBytes)) set_option(socket, SOL_SOCKET, name, kBufferBytes);
}

/// Packets are not to be fragmented, whatever messages of ICMP say of the path.
void forbid_fragments(int socket, int family) {
  if (family == AF_INET6) {
    set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
    set_option(socket, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
  } else {
    set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
  }
}

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// As `family` has it; false where that has no such address.
bool to_socket_address(const DatagramAddress& from, int family, sockaddr_storage& storage, socklen_t& size) {
  const bool is_v4 = std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), from.host.begin());
  if (is_v4 != (family == AF_INET)) return false;
  if (is_v4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(from.port);
    std::memcpy(&v4.sin_addr, from.host.data() + kMappedPrefix.size(), sizeof v4.sin_addr);
    std::memcpy(&storage, &v4, size = sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(from.port);
    v6.sin6_scope_id = from.scope;
    std::memcpy(&v6.sin6_addr, from.host.data(), sizeof v6.sin6_addr);
    std::memcpy(&storage, &v6, size = sizeof v6);
  }
  return true;
}

}  // namespace

DatagramAddress to_datagram_address(const SocketAddress& from, std::uint16_t socket) {
  DatagramAddress to{.socket = socket};
  if (from.family() == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &from.storage, sizeof v4);
    std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), to.host.begin());
    std::memcpy(to.host.data() + kMappedPrefix.size(), &v4.sin_addr, sizeof v4.sin_addr);
    to.port = ntohs(v4.sin_port);
  } else if (from.family() == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &from.storage, sizeof v6);
    std::memcpy(to.host.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    to.port = ntohs(v6.sin6_port);
    to.scope = v6.sin6_scope_id;
  }
  return to;
}

// Sending.

struct DatagramSocket::Batch {
  struct Control {
    alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(std::uint16_t))> bytes;
  };
  std::array<mmsghdr, kMessagesMax> messages;
  std::array<sockaddr_storage, kMessagesMax> addresses;
  std::array<Control, kMessagesMax> controls;
  std::array<std::size_t, kMessagesMax> datagrams;  // in each message
  std::array<iovec, kMessagesMax * kSegmentsMax> buffers;
  std::size_t count = 0;
};

DatagramSocket::DatagramSocket(FileDescriptor socket, std::uint16_t number)
    : socket_(std::move(socket)), bound_(local_address(socket_.get())), number_(number), batch_(new Batch) {
  forbid_fragments(descriptor(), bound_.family());
  set_buffer(descriptor(), SO_SNDBUF, SO_SNDBUFFORCE);
  set_buffer(descriptor(), SO_RCVBUF, SO_RCVBUFFORCE);
  is_segmenting_ = set_option(descriptor(), IPPROTO_UDP, UDP_SEGMENT, 0);
  set_option(descriptor(), IPPROTO_UDP, UDP_GRO, 1);
}

DatagramSocket::DatagramSocket(DatagramSocket&& other) noexcept = default;
DatagramSocket::~DatagramSocket() = default;

Result<DatagramSocket> DatagramSocket::bind(const Address& address, std::uint16_t number) {
  const SocketAddress where = make_tcp_address(address);
  FileDescriptor socket(::socket(where.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return fail(Errc::bad_address, describe_errno(errno));
  // As for connections: "[::]" means IPv6 and nothing else.
  if (where.family() == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (::bind(socket.get(), where.get(), where.size) != 0) return fail(Errc::bad_address, describe_errno(errno));
  return DatagramSocket(std::move(socket), number);
}

std::uint16_t DatagramSocket::port() const { return to_datagram_address(bound_, number_).port; }

const DatagramCounts& DatagramSocket::counts() const {
  counts_.is_segmenting = is_segmenting_;
  return counts_;
}

std::size_t DatagramSocket::segments(std::span<const OutgoingDatagram> datagrams) const {
  const OutgoingDatagram& first = datagrams.front();
  const std::size_t size = first.bytes.size();
  if (!is_segmenting_ || size == 0) return 1;
  std::size_t count = 1;
  std::size_t total = size;
  while (count < std::min(datagrams.size(), kSegmentsMax)) {
    const OutgoingDatagram& next = datagrams[count];
    total += next.bytes.size();
    if (next.to != first.to || next.bytes.empty() || next.bytes.size() > size || total > kMessageBytesMax) break;
    ++count;
    if (next.bytes.size() < size) break;  // only the last one may be shorter
  }
  return count;
}

/// Returns how many datagrams are in it; those in front that cannot be addressed by this socket are in none.
std::size_t DatagramSocket::fill(Batch& batch, std::span<const OutgoingDatagram> datagrams) const {
  std::size_t done = 0;
  std::size_t buffers = 0;
  batch.count = 0;
  while (done < datagrams.size() && batch.count < kMessagesMax) {
    const std::span<const OutgoingDatagram> rest = datagrams.subspan(done);
    const std::size_t count = segments(rest);
    const std::size_t at = batch.count;
    msghdr& message = batch.messages[at].msg_hdr;
    message = {};
    if (!to_socket_address(rest.front().to, bound_.family(), batch.addresses[at], message.msg_namelen)) break;
    message.msg_name = &batch.addresses[at];
    message.msg_iov = &batch.buffers[buffers];
    for (const OutgoingDatagram& each : rest.first(count)) {
      batch.buffers[buffers++] = {const_cast<std::uint8_t*>(each.bytes.data()), each.bytes.size()};
    }
    message.msg_iovlen = count;
    if (count > 1) {
      message.msg_control = batch.controls[at].bytes.data();
      message.msg_controllen = batch.controls[at].bytes.size();
      cmsghdr* const control = CMSG_FIRSTHDR(&message);
      control->cmsg_level = IPPROTO_UDP;
      control->cmsg_type = UDP_SEGMENT;
      control->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
      const auto size = static_cast<std::uint16_t>(rest.front().bytes.size());
      std::memcpy(CMSG_DATA(control), &size, sizeof size);
    }
    batch.datagrams[at] = count;
    ++batch.count;
    done += count;
  }
  return done;
}

std::size_t DatagramSocket::send(std::span<const OutgoingDatagram> datagrams) {
  Batch& batch = *batch_;
  std::size_t done = 0;
  while (done < datagrams.size()) {
    if (fill(batch, datagrams.subspan(done)) == 0) {
      ++counts_.failed;
      ++done;
      continue;
    }
    const int sent = ::sendmmsg(descriptor(), batch.messages.data(), static_cast<unsigned>(batch.count), 0);
    for (int i = 0; i < sent; ++i) done += batch.datagrams[static_cast<std::size_t>(i)];
    if (sent > 0 || errno == EINTR) continue;
    // The first message is the one that failed.
    const std::size_t first = batch.datagrams[0];
    if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) return done;
    if (errno == EIO && first > 1) {  // the device cannot
      is_segmenting_ = false;
      continue;
    }
    (errno == EMSGSIZE || errno == EINVAL ? counts_.too_long : counts_.failed) += first;
    done += first;
  }
  return done;
}

// Reading.

struct DatagramReader::Messages {
  static constexpr std::size_t kBytes = 64u << 10;
  struct Control {
    alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(int))> bytes;
  };
  std::array<mmsghdr, kMessages> heads;
  std::array<sockaddr_storage, kMessages> addresses;
  std::array<Control, kMessages> controls;
  std::array<iovec, kMessages> buffers;
  std::unique_ptr<std::uint8_t[]> bytes{new std::uint8_t[kMessages * kBytes]};  // not touched before they are needed
};

DatagramReader::DatagramReader() : messages_(std::make_unique<Messages>()) {}
DatagramReader::~DatagramReader() = default;

DatagramReader::Batch DatagramReader::read(int socket, std::uint16_t number) {
  Messages& messages = *messages_;
  datagrams_.clear();
  for (std::size_t i = 0; i < kMessages; ++i) {
    messages.buffers[i] = {messages.bytes.get() + i * Messages::kBytes, Messages::kBytes};
    msghdr& head = messages.heads[i].msg_hdr;
    head = {};
    head.msg_name = &messages.addresses[i];
    head.msg_namelen = sizeof messages.addresses[i];
    head.msg_iov = &messages.buffers[i];
    head.msg_iovlen = 1;
    head.msg_control = messages.controls[i].bytes.data();
    head.msg_controllen = messages.controls[i].bytes.size();
  }
  const int came = ::recvmmsg(socket, messages.heads.data(), kMessages, MSG_DONTWAIT, nullptr);
  for (int i = 0; i < came; ++i) {
    const auto at = static_cast<std::size_t>(i);
    msghdr& head = messages.heads[at].msg_hdr;
    if ((head.msg_flags & MSG_TRUNC) != 0) continue;
    const std::size_t bytes = messages.heads[at].msg_len;
    int segment = 0;
    for (cmsghdr* each = CMSG_FIRSTHDR(&head); each != nullptr; each = CMSG_NXTHDR(&head, each)) {
      if (each->cmsg_level == IPPROTO_UDP && each->cmsg_type == UDP_GRO) {
        std::memcpy(&segment, CMSG_DATA(each), sizeof segment);
      }
    }
    SocketAddress from;
    from.storage = messages.addresses[at];
    from.size = head.msg_namelen;
    const DatagramAddress address = to_datagram_address(from, number);
    const std::size_t step = segment > 0 ? static_cast<std::size_t>(segment) : std::max<std::size_t>(bytes, 1);
    std::uint8_t* const begin = messages.bytes.get() + at * Messages::kBytes;
    for (std::size_t from_byte = 0; from_byte < bytes; from_byte += step) {
      datagrams_.push_back({address, {begin + from_byte, std::min(step, bytes - from_byte)}});
    }
  }
  return {datagrams_, static_cast<std::size_t>(std::max(came, 0))};
}

}  // namespace spindled
