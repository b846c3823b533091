#include "libclient/bulk/resume_state.h"

#include <algorithm>

#include "libclient/bulk/crc32c.h"

namespace spindle::bulk {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kCrcBytes = 4;

BlockHash read_hash(Reader& reader) {
  BlockHash hash{};
  const ByteView bytes = reader.bytes(hash.size());
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

void read_hashes(Reader& reader, const BlockSet& known, BlockIndex& index) {
  if (reader.remaining() != known.count() * kBlockHashBytes) return reader.fail();
  for (const BlockSet::Run& run : known.runs()) {
    for (std::uint32_t block = run.first; block < run.end; ++block) index.set(block, read_hash(reader));
  }
}

}  // namespace

std::vector<std::uint8_t> ResumeState::encode() const {
  const BlockSet& known = index.known();
  std::vector<std::uint8_t> bytes(1 + layout_size(layout) + 1 + (root ? root->size() : 0) + block_set_size(written) +
                                  block_set_size(known) + known.count() * kBlockHashBytes + kCrcBytes);
  Writer writer(bytes.data());
  writer.u8(kVersion);
  write_layout(writer, layout);
  writer.u8(root ? 1 : 0);
  if (root) writer.bytes(*root);
  write_block_set(writer, written);
  write_block_set(writer, known);
  for (const BlockSet::Run& run : known.runs()) writer.bytes(index.hashes_from(run.first, run.end - run.first));
  writer.u32(crc32c(ByteView(bytes).first(writer.size())));
  return bytes;
}

std::optional<ResumeState> ResumeState::decode(ByteView bytes) {
  if (bytes.size() < kCrcBytes) return std::nullopt;
  const ByteView checked = bytes.first(bytes.size() - kCrcBytes);
  Reader crc(bytes.last(kCrcBytes));
  if (crc.u32() != crc32c(checked)) return std::nullopt;
  Reader reader(checked);
  ResumeState state;
  if (reader.u8() != kVersion) return std::nullopt;
  state.layout = read_layout(reader);
  const std::uint8_t has_root = reader.u8();
  if (has_root > 1) return std::nullopt;
  if (has_root == 1) state.root = read_hash(reader);
  state.written = read_block_set(reader);
  const BlockSet known = read_block_set(reader);
  if (!reader.ok() || intersection(state.written, known) != state.written) return std::nullopt;
  if (!known.empty() && known.runs().back().end > state.layout.blocks()) return std::nullopt;
  read_hashes(reader, known, state.index);
  if (!reader.done()) return std::nullopt;
  return state;
}

}  // namespace spindle::bulk
