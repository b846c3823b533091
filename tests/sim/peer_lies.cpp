#include "tests/sim/peer_lies.h"

#include "daemon/bulk/mesh/mesh_codec.h"
#include "libclient/bulk/bulk_frames.h"
#include "libclient/common/bytes.h"
#include "libclient/common/framing.h"

namespace spindled::sim {

namespace {

using spindle::bulk::BulkFrame;

/// Of a body: whatever is looked at lies in these, but for what a daemon tells its parent of itself.
constexpr std::size_t kLookedAt = 32;

bool is(std::uint8_t type, BulkFrame frame) { return type == static_cast<std::uint8_t>(frame); }
bool is(std::uint8_t type, mesh::FrameType frame) { return type == static_cast<std::uint8_t>(frame); }

}  // namespace

std::vector<std::uint8_t> PeerLies::lies_of(const std::vector<std::uint8_t>& bytes) const {
  PeerLies copy = *this;
  std::vector<std::uint8_t> lies;
  lies.reserve(bytes.size());
  for (const std::uint8_t byte : bytes) lies.push_back(copy.pass(byte));
  return lies;
}

void PeerLies::written(const std::vector<std::uint8_t>& bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) pass(bytes[i]);
}

std::uint8_t PeerLies::pass(std::uint8_t byte) {
  if (head_.size() < spindle::kFrameHeadBytes) {
    head_.push_back(byte);
    if (head_.size() == spindle::kFrameHeadBytes) begin_body();
    return byte;
  }
  const std::uint8_t lie = changed(byte);
  if (body_.size() < kLookedAt || is(type_, mesh::FrameType::collect)) body_.push_back(byte);
  if (++at_ == length_) end_frame();
  return lie;
}

void PeerLies::begin_body() {
  const auto head = spindle::read_frame_head(ByteView(head_));
  type_ = head->type;
  length_ = head->length;
  at_ = 0;
  body_.clear();
  if (is(type_, BulkFrame::hello) || is(type_, BulkFrame::welcome)) is_hop_ = true;
  if (length_ == 0) end_frame();
}

std::uint8_t PeerLies::changed(std::uint8_t byte) const {
  if (!is_hop_) return byte;
  const bool is_last = at_ + 1 == length_;
  if (is(type_, mesh::FrameType::collect)) {
    const auto lie = static_cast<std::uint8_t>(byte ^ 1u);
    return is_last && is_well_formed(lie) ? lie : byte;
  }
  if (!is(type_, BulkFrame::symbol)) return byte;
  spindle::Reader reader{ByteView(body_)};
  const std::uint64_t number = reader.varint();
  if (!reader.ok() || !lied_to_.contains(number)) return byte;
  const bool is_lie = symbols_ % 2 == 0 ? is_last : at_ == number_at();
  return is_lie ? static_cast<std::uint8_t>(byte ^ 1u) : byte;
}

bool PeerLies::is_well_formed(std::uint8_t last) const {
  std::vector<std::uint8_t> body = body_;
  body.push_back(last);
  return mesh::read_frame(static_cast<mesh::FrameType>(type_), ByteView(body)).has_value();
}

std::optional<std::size_t> PeerLies::number_at() const {
  spindle::Reader reader{ByteView(body_)};
  reader.varint();  // the channel
  reader.u8();      // the plan
  reader.u8();      // the stream
  reader.varint();  // the block
  return reader.ok() ? std::optional(body_.size() - reader.remaining()) : std::nullopt;
}

void PeerLies::end_frame() {
  spindle::Reader reader{ByteView(body_)};
  const std::uint64_t number = reader.varint();
  if (is_hop_ && reader.ok()) {
    if (is(type_, mesh::FrameType::peer_answer)) {
      reader.u8();  // the plan
      if (reader.u8() != 0 && reader.ok()) lied_to_.insert(number);
    } else if (is(type_, mesh::FrameType::distribute) || is(type_, BulkFrame::mark) || is(type_, BulkFrame::index)) {
      lied_to_.erase(number);  // it is a child now, or this is the backup that it asks
    } else if (is(type_, BulkFrame::symbol) && lied_to_.contains(number)) {
      ++symbols_;
    }
  }
  head_.clear();
}

}  // namespace spindled::sim
