#include "daemon/feed/packet_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace spindled {

namespace {
constexpr std::size_t kPlacesMin = 64;
}  // namespace

void PacketCache::resize(std::size_t bytes_max) {
  const std::size_t chunk_bytes = std::min(kChunkBytes, std::max(bytes_max / kAlignment, std::size_t{1}) * kAlignment);
  const std::size_t bytes = bytes_max / chunk_bytes * chunk_bytes;
  if (chunk_bytes == chunk_bytes_ && bytes == bytes_max_) return;
  chunk_bytes_ = chunk_bytes;
  bytes_max_ = bytes;
  chunks_.clear();
  chunks_.resize(bytes_max_ / chunk_bytes_);
  chunks_in_use_ = 0;
  // Behind all places that there were, at the beginning of a ring. Place 0 stands for none.
  if (bytes_max_ != 0) head_ = (head_ / bytes_max_ + 1) * bytes_max_;
  tail_ = head_;
}

void PacketCache::clear() {
  for (auto& chunk : chunks_) chunk.reset();
  chunks_in_use_ = 0;
  if (head_ % chunk_bytes_ != 0) head_ += left_in_chunk(head_);
  tail_ = head_;
}

PacketCache::Record PacketCache::read(std::uint64_t place) const {
  Record record;
  std::memcpy(&record, at(place), sizeof record);
  return record;
}

bool PacketCache::is_at(std::uint64_t place, const Index& index, std::uint64_t sequence) const {
  if (place == 0 || place < tail_) return false;
  const Record record = read(place);
  return record.feed == index.feed_ && record.sequence == sequence;
}

std::size_t PacketCache::taken_at(std::uint64_t place) const {
  return left_in_chunk(place) < sizeof(Record) ? 0 : read(place).bytes;
}

void PacketCache::make_room(std::size_t bytes) {
  while (head_ + bytes - tail_ > bytes_max_) {
    const std::size_t taken = taken_at(tail_);
    tail_ += taken == 0 ? left_in_chunk(tail_) : taken;
  }
}

std::optional<Time> PacketCache::oldest_at() const {
  std::uint64_t place = tail_;
  if (place != head_ && taken_at(place) == 0) place += left_in_chunk(place);
  if (place == head_) return std::nullopt;
  return read(place).kept_at;
}

void PacketCache::put(Index& index, std::uint64_t sequence, const Packet& packet) {
  std::size_t bytes = sizeof(Record) + packet.to.size() + packet.payload.size();
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (bytes > chunk_bytes_ || bytes > bytes_max_) return;
  if (index.feed_ == 0) index.feed_ = ++feeds_;
  // A record does not go over the end of a chunk.
  if (const std::size_t before_end = left_in_chunk(head_); before_end < bytes) {
    make_room(before_end);
    if (before_end >= sizeof(Record)) std::memset(at(head_), 0, sizeof(Record));
    head_ += before_end;
  }
  make_room(bytes);
  if (auto& chunk = chunks_[head_ % bytes_max_ / chunk_bytes_]; !chunk) {
    chunk = std::make_unique_for_overwrite<std::uint8_t[]>(chunk_bytes_);
    ++chunks_in_use_;
  }
  Record record;
  record.feed = index.feed_;
  record.sequence = sequence;
  record.kept_at = packet.kept_at;
  record.bytes = static_cast<std::uint32_t>(bytes);
  record.payload_bytes = static_cast<std::uint32_t>(packet.payload.size());
  record.to_bytes = static_cast<std::uint16_t>(packet.to.size());
  record.view = packet.view;
  record.flags = packet.flags;
  std::uint8_t* to = at(head_);
  std::memcpy(to, &record, sizeof record);
  spindle::Writer writer(to + sizeof record);
  writer.bytes(packet.to);
  writer.bytes(packet.payload);
  enter(index, sequence, head_);
  head_ += bytes;
}

void PacketCache::enter(Index& index, std::uint64_t sequence, std::uint64_t place) {
  std::vector<std::uint64_t>& places = index.places_;
  if (places.empty()) resize(index, kPlacesMin);
  // Grows as long as a packet that is still there would go out of the index.
  while (places.size() < kPlacesMax) {
    const std::uint64_t there = places[sequence % places.size()];
    if (there == 0 || there < tail_ || read(there).sequence == sequence) break;
    resize(index, 2 * places.size());
  }
  places[sequence % places.size()] = place;
}

/// What is not there any more goes; where two packets have one place the newer one has it.
void PacketCache::resize(Index& index, std::size_t places) {
  std::vector<std::uint64_t> other(places);
  for (const std::uint64_t each : index.places_) {
    if (each == 0 || each < tail_) continue;
    std::uint64_t& place = other[read(each).sequence % places];
    place = std::max(place, each);
  }
  index_bytes_ -= index.all_bytes_ == nullptr ? 0 : index.bytes();
  index.places_ = std::move(other);
  index.all_bytes_ = &index_bytes_;
  index_bytes_ += index.bytes();
}

void PacketCache::fit(Index& index) {
  const auto is_there = [&](std::uint64_t place) { return place != 0 && place >= tail_; };
  const auto there = static_cast<std::size_t>(std::count_if(index.places_.begin(), index.places_.end(), is_there));
  const std::size_t wanted = std::max(std::bit_ceil(2 * there), kPlacesMin);
  if (2 * wanted <= index.places_.size()) resize(index, wanted);
}

std::optional<PacketCache::Packet> PacketCache::find(const Index& index, std::uint64_t sequence) const {
  if (index.places_.empty()) return std::nullopt;
  const std::uint64_t place = index.places_[sequence % index.places_.size()];
  if (!is_at(place, index, sequence)) return std::nullopt;
  const Record record = read(place);
  const std::uint8_t* from = at(place) + sizeof record;
  return Packet{record.view,
                record.flags,
                {from, record.to_bytes},
                {from + record.to_bytes, record.payload_bytes},
                record.kept_at};
}

}  // namespace spindled
