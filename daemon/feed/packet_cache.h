// The packets of all feeds that a daemon keeps for a while.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/base/time.h"
#include "libclient/common/bytes.h"

namespace spindled {

/// One ring of bytes for all feeds: what is oldest goes first, whatever feed it is of. Packets are copied in, so that
/// none of them keeps a slab alive. The ring is made of chunks, which take memory when they are first written to. Each
/// feed has an index, which needs no care when packets go.
class PacketCache {
 public:
  /// Of the packets of one feed. Belongs to one cache, which outlives it.
  class Index {
   public:
    Index() = default;
    ~Index() {
      if (all_bytes_ != nullptr) *all_bytes_ -= bytes();
    }
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;

   private:
    friend class PacketCache;
    std::size_t bytes() const { return places_.capacity() * sizeof(std::uint64_t); }

    std::uint64_t feed_ = 0;             // in the cache; 0: it has none yet
    std::vector<std::uint64_t> places_;  // by the lowest bits of the sequence; 0: none
    std::size_t* all_bytes_ = nullptr;   // of the cache, where this counts
  };

  /// What a feed's index has room for at most, which is what its gaps may span.
  static constexpr std::size_t kPlacesMax = 65'536;

  explicit PacketCache(std::size_t bytes_max) { resize(bytes_max); }

  struct Packet {
    std::uint16_t view = 0;  // that the set is of
    std::uint8_t flags = 0;
    spindle::ByteView to;  // encoded MemberSet
    spindle::ByteView payload;
    Time kept_at{};
  };

  /// A packet that is larger than the cache is not kept.
  void put(Index& index, std::uint64_t sequence, const Packet& packet);
  /// What it has is valid until the next packet is put in.
  std::optional<Packet> find(const Index& index, std::uint64_t sequence) const;
  /// Makes the index as small as what is still there of its feed allows, if that is less than a quarter of it. Goes
  /// through all of it.
  void fit(Index& index);
  /// Nothing is kept any more.
  void clear();
  /// So much may be kept from now on. Where that is something else nothing is kept of what was.
  void resize(std::size_t bytes_max);
  /// When the packet was put in that would go first.
  std::optional<Time> oldest_at() const;
  /// That it takes at present.
  std::size_t bytes() const { return chunks_in_use_ * chunk_bytes_; }
  /// That all indexes take.
  std::size_t index_bytes() const { return index_bytes_; }

 private:
  /// In front of the set and the payload of each packet, which follow each other.
  struct Record {
    std::uint64_t feed = 0;
    std::uint64_t sequence = 0;
    Time kept_at{};
    std::uint32_t bytes = 0;  // of the whole, a multiple of kAlignment
    std::uint32_t payload_bytes = 0;
    std::uint16_t to_bytes = 0;
    std::uint16_t view = 0;
    std::uint8_t flags = 0;
  };
  static constexpr std::size_t kAlignment = 8;
  /// Longer than any record.
  static constexpr std::size_t kChunkBytes = 1u << 20;

  std::uint8_t* at(std::uint64_t place) const {
    const std::uint64_t in_ring = place % bytes_max_;
    return chunks_[in_ring / chunk_bytes_].get() + in_ring % chunk_bytes_;
  }
  /// From the place to the end of its chunk, over which no record goes.
  std::size_t left_in_chunk(std::uint64_t place) const { return chunk_bytes_ - place % bytes_max_ % chunk_bytes_; }
  Record read(std::uint64_t place) const;
  /// Whether that record is still there, and is of this packet.
  bool is_at(std::uint64_t place, const Index& index, std::uint64_t sequence) const;
  /// What the record at the place takes there; 0: none is, and the rest of the chunk is empty.
  std::size_t taken_at(std::uint64_t place) const;
  void make_room(std::size_t bytes);
  void enter(Index& index, std::uint64_t sequence, std::uint64_t place);
  void resize(Index& index, std::size_t places);

  // Places count bytes from the beginning of time; the ring has those from `tail_` to `head_`.
  std::size_t chunk_bytes_ = 0;
  std::size_t bytes_max_ = 0;  // a multiple of these
  std::vector<std::unique_ptr<std::uint8_t[]>> chunks_;
  std::size_t chunks_in_use_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t feeds_ = 0;
  std::size_t index_bytes_ = 0;
};

}  // namespace spindled
