#include "tests/fuzz/fuzz_driver.h"

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/base/random.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "libclient/bulk/bulk_frames.h"

namespace spindle_fuzz {

using namespace spindled;

ConnectionId FuzzDriver::dial(std::string_view) {
  const ConnectionId id{next_id_++};
  connections_[id].open = false;
  return id;
}

ConnectionId FuzzDriver::accept(Port port) {
  const ConnectionId id{next_id_++};
  connections_[id] = {.port = port, .open = true, .partial = {}};
  return id;
}

Result<std::string> FuzzDriver::identify(ConnectionId id, std::string_view token) {
  Connection* connection = find(id);
  SPINDLE_CHECK(connection != nullptr && connection->port == Port::client && !token.empty());
  if (token.size() != 1) return fail(Errc::token_unknown);
  connection->identified = true;
  return "token:" + std::string(token);
}

std::vector<ConnectionId> FuzzDriver::revoke() {
  std::vector<ConnectionId> revoked;
  for (auto& [id, connection] : connections_) {
    if (std::exchange(connection.identified, false)) revoked.push_back(id);
  }
  return revoked;
}

FuzzDriver::Connection* FuzzDriver::find(ConnectionId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : &found->second;
}

std::optional<ConnectionId> FuzzDriver::choose(std::uint8_t choice) const {
  if (connections_.empty()) return std::nullopt;
  return std::next(connections_.begin(), static_cast<std::ptrdiff_t>(choice % connections_.size()))->first;
}

std::size_t FuzzDriver::write(ConnectionId id, std::span<const ByteView> buffers) {
  Connection* connection = find(id);
  SPINDLE_CHECK(connection != nullptr && connection->open);
  std::size_t taken = 0;
  for (const ByteView buffer : buffers) {
    const ByteView part = buffer.first(std::min(buffer.size(), connection->room));
    connection->partial.insert(connection->partial.end(), part.begin(), part.end());
    if (connection->room != SIZE_MAX) connection->room -= part.size();
    taken += part.size();
    if (part.size() == buffer.size()) continue;
    connection->full = true;
    break;
  }
  take_frames(id, *connection);
  return taken;
}

std::optional<Driver::Secret> FuzzDriver::draw_secret() {
  Secret secret{};
  if (!has_datagrams_) return secret;
  Random random(++secrets_);
  Writer writer(secret.data());
  writer.u64(random.next());
  return secret;
}

std::optional<DatagramAddress> FuzzDriver::datagram_address(ConnectionId id, std::uint16_t port) {
  DatagramAddress address = host(static_cast<std::uint8_t>(id));
  address.port = port;
  peers_[address] = true;
  return address;
}

/// Where nobody has answered from, no more goes than came from there.
std::size_t FuzzDriver::send_datagrams(std::span<const OutgoingDatagram> datagrams) {
  for (const OutgoingDatagram& each : datagrams) {
    if (!peers_.contains(each.to)) SPINDLE_CHECK((went_[each.to] += each.bytes.size()) <= came_[each.to]);
    ByteView frames = each.bytes.subspan(kDatagramHeadBytes);
    const std::optional<DatagramFrameView> frame = next_datagram_frame(frames);
    SPINDLE_CHECK(frame.has_value());
    const std::optional<Probe> probe = frame->type == kProbeFrame ? read_probe(frame->body) : std::nullopt;
    if (probe && probe->kind == Probe::Kind::question) question_.emplace(each.to, *probe);
  }
  return datagrams.size();
}

std::optional<Probe> FuzzDriver::answer_question(const DatagramAddress& from) {
  if (!question_) return std::nullopt;
  if (question_->first == from) peers_[from] = true;
  return Probe{.kind = Probe::Kind::answer, .mark = question_->second.mark};
}

void FuzzDriver::close(ConnectionId id) { SPINDLE_CHECK(connections_.erase(id) == 1); }

void FuzzDriver::set_reading(ConnectionId id, bool on) {
  Connection* connection = find(id);
  SPINDLE_CHECK(connection != nullptr);
  connection->reading = on;
}

void FuzzDriver::take_frames(ConnectionId id, Connection& connection) {
  // Administration has its own framing; nobody here needs its answers.
  if (connection.port == Port::admin) return connection.partial.clear();
  ByteView bytes(connection.partial);
  while (const std::optional<FrameHead> head = spindle::read_frame_head(bytes)) {
    if (bytes.size() < kFrameHeadBytes + head->length) break;
    const ByteView body = bytes.subspan(kFrameHeadBytes, head->length);
    if (head->type >= static_cast<std::uint8_t>(spindle::bulk::BulkFrame::hello) && connection.port == Port::link) {
      connection.is_bulk = true;
    }
    if (connection.port == Port::client) {
      sent_[{id, head->type}] = true;
    } else if (!connection.is_bulk && head->type == static_cast<std::uint8_t>(LinkFrame::control)) {
      note_control(body);
    }
    bytes = bytes.subspan(kFrameHeadBytes + head->length);
  }
  connection.partial.erase(connection.partial.begin(),
                           connection.partial.end() - static_cast<std::ptrdiff_t>(bytes.size()));
}

void FuzzDriver::note_control(ByteView body) {
  Result<ControlMessage> message = decode_control(body);
  SPINDLE_CHECK(message.has_value());  // the node sends nothing that a neighbour would refuse
  if (const auto* hello = std::get_if<LinkHello>(&*message)) hello_ = *hello;
  if (const auto* proposal = std::get_if<Propose>(&*message)) proposal_ = *proposal;
  if (const auto* state = std::get_if<MemberState>(&*message)) state_ = *state;
  last_control_ = std::move(*message);
}

}  // namespace spindle_fuzz
