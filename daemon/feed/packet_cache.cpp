#include "daemon/feed/packet_cache.h"

#include <bit>
#include <cstring>

namespace spindled {

namespace {
constexpr std::size_t kPlacesMin = 64;
}  // namespace

// Place 0 stands for none.
PacketCache::PacketCache(std::size_t bytes_max)
    : bytes_max_(bytes_max / kAlignment * kAlignment), head_(bytes_max_), tail_(bytes_max_) {}

PacketCache::Record PacketCache::read(std::uint64_t place) const {
  Record record;
  std::memcpy(&record, ring_.get() + place % bytes_max_, sizeof record);
  return record;
}

bool PacketCache::is_at(std::uint64_t place, const Index& index, std::uint64_t sequence) const {
  if (place == 0 || place < tail_) return false;
  const Record record = read(place);
  return record.feed == index.feed_ && record.sequence == sequence;
}

void PacketCache::make_room(std::size_t bytes) {
  while (head_ + bytes - tail_ > bytes_max_) {
    // What is left before the end of the ring has no record where none fits.
    const std::size_t before_end = bytes_max_ - tail_ % bytes_max_;
    const std::uint32_t taken = before_end < sizeof(Record) ? 0 : read(tail_).bytes;
    tail_ += taken == 0 ? before_end : taken;
  }
}

void PacketCache::put(Index& index, std::uint64_t sequence, const Packet& packet) {
  std::size_t bytes = sizeof(Record) + packet.to.size() + packet.payload.size();
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (bytes > bytes_max_) return;
  if (!ring_) ring_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes_max_);
  if (index.feed_ == 0) index.feed_ = ++feeds_;
  // A record does not go over the end of the ring.
  if (const std::size_t before_end = bytes_max_ - head_ % bytes_max_; before_end < bytes) {
    make_room(before_end);
    if (before_end >= sizeof(Record)) std::memset(ring_.get() + head_ % bytes_max_, 0, sizeof(Record));
    head_ += before_end;
  }
  make_room(bytes);
  Record record;
  record.feed = index.feed_;
  record.sequence = sequence;
  record.bytes = static_cast<std::uint32_t>(bytes);
  record.payload_bytes = static_cast<std::uint32_t>(packet.payload.size());
  record.to_bytes = static_cast<std::uint16_t>(packet.to.size());
  record.view = packet.view;
  record.flags = packet.flags;
  std::uint8_t* at = ring_.get() + head_ % bytes_max_;
  std::memcpy(at, &record, sizeof record);
  spindle::Writer writer(at + sizeof record);
  writer.bytes(packet.to);
  writer.bytes(packet.payload);
  enter(index, sequence, head_);
  head_ += bytes;
}

void PacketCache::enter(Index& index, std::uint64_t sequence, std::uint64_t place) {
  std::vector<std::uint64_t>& places = index.places_;
  if (places.empty()) places.resize(kPlacesMin);
  // Grows as long as a packet that is still there would go out of the index.
  while (places.size() < kPlacesMax) {
    const std::uint64_t there = places[sequence % places.size()];
    if (there == 0 || there < tail_ || read(there).sequence == sequence) break;
    std::vector<std::uint64_t> larger(2 * places.size());
    for (const std::uint64_t each : places) {
      if (each != 0 && each >= tail_) larger[read(each).sequence % larger.size()] = each;
    }
    places = std::move(larger);
  }
  places[sequence % places.size()] = place;
}

std::optional<PacketCache::Packet> PacketCache::find(const Index& index, std::uint64_t sequence) const {
  if (index.places_.empty()) return std::nullopt;
  const std::uint64_t place = index.places_[sequence % index.places_.size()];
  if (!is_at(place, index, sequence)) return std::nullopt;
  const Record record = read(place);
  const std::uint8_t* at = ring_.get() + place % bytes_max_ + sizeof record;
  return Packet{record.view, record.flags, {at, record.to_bytes}, {at + record.to_bytes, record.payload_bytes}};
}

}  // namespace spindled
