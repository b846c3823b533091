#include "libclient/bulk/block_cache.h"

#include <algorithm>
#include <utility>

#include "libclient/bulk/crc32c.h"

namespace spindle::bulk {

namespace {

/// Symbols that a block gives before it makes room for others although it is wanted.
constexpr std::uint32_t kUsesMin = 64;

}  // namespace

LoadedBlock run(LoadJob job, const ReadContent& read, const codes::ErasureCode& code, const Hasher& hasher) {
  LoadedBlock block;
  const BlockPlace& place = job.place;
  block.good = true;
  if (!job.content) {
    std::shared_ptr<std::uint8_t[]> content = take_block(job.memory, place.shape.bytes());
    block.good = read(place.start, {content.get(), place.bytes});
    if (block.good && job.right) block.good = hasher.hash({content.get(), place.bytes}) == *job.right;
    std::fill(content.get() + place.bytes, content.get() + place.shape.bytes(), std::uint8_t{0});
    for (std::uint32_t esi = 0; block.good && esi < place.shape.source_symbols; ++esi) {
      block.crcs.push_back(crc32c({content.get() + esi * place.shape.symbol_bytes, place.shape.symbol_bytes}));
    }
    job.content = std::move(content);
  }
  if (block.good && job.wants_hash) block.hash = hasher.hash({job.content.get(), place.bytes});
  if (block.good && job.wants_encoder) {
    block.encoder = code.make_encoder(place.shape);
    block.encoder->load(job.content.get());
  }
  block.job = std::move(job);
  return block;
}

const BlockCache::Entry* BlockCache::get(const BlockPlace& place, bool encoder, const IsWanted& is_wanted) {
  return get(place, encoder, is_wanted, kUsesMin);
}

void BlockCache::prefetch(const BlockPlace& place, bool encoder, const IsWanted& is_wanted) {
  get(place, encoder, is_wanted, UINT32_MAX);
}

const BlockCache::Entry* BlockCache::get(const BlockPlace& place, bool encoder, const IsWanted& is_wanted,
                                         std::uint32_t uses_min) {
  auto found = entries_.find(place.block);
  if (found == entries_.end()) {
    if (entries_.size() >= limit_ && !make_room(is_wanted, uses_min)) return nullptr;
    found = entries_.try_emplace(place.block).first;
    found->second.place = place;
    found->second.last_use = uses_;
  }
  Entry& entry = found->second;
  entry.wants_encoder |= encoder;
  if (entry.content && (!encoder || entry.encoder)) return &entry;
  if (entry.job == 0) {
    entry.job = next_job_++;
    entry.is_job_taken = false;
  }
  return nullptr;
}

/// A block that is wanted makes room once it has given so many symbols.
bool BlockCache::make_room(const IsWanted& is_wanted, std::uint32_t uses_min) {
  auto oldest = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    const Entry& entry = at->second;
    if (entry.is_job_taken || (entry.uses < uses_min && is_wanted(at->first))) continue;
    if (oldest == entries_.end() || entry.last_use < oldest->second.last_use) oldest = at;
  }
  if (oldest == entries_.end()) return false;
  entries_.erase(oldest);
  return true;
}

void BlockCache::note_used(std::uint32_t block) {
  Entry& entry = entries_.at(block);
  if (entry.uses != UINT32_MAX - 1) ++entry.uses;
  entry.last_use = ++uses_;
}

std::optional<LoadJob> BlockCache::take_job() {
  for (auto& [block, entry] : entries_) {
    if (entry.job == 0 || entry.is_job_taken) continue;
    entry.is_job_taken = true;
    return LoadJob{entry.job, entry.place, entry.content, false, entry.wants_encoder && !entry.encoder, memory_, {}};
  }
  return std::nullopt;
}

void BlockCache::handle_loaded(LoadedBlock& block) {
  const auto found = entries_.find(block.job.place.block);
  if (found == entries_.end() || found->second.job != block.job.number) return;
  Entry& entry = found->second;
  entry.job = 0;
  entry.is_job_taken = false;
  if (!block.good) {
    entries_.erase(found);
    return;
  }
  entry.content = block.job.content;
  if (!block.crcs.empty()) entry.crcs = std::move(block.crcs);
  if (block.encoder) entry.encoder = std::move(block.encoder);
}

}  // namespace spindle::bulk
