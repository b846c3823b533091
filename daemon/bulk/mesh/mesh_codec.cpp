#include "daemon/bulk/mesh/mesh_codec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "libclient/bulk/bulk_frames.h"
#include "libclient/bulk/content_layout.h"
#include "libclient/common/framing.h"
#include "libclient/common/growing_writer.h"

namespace spindled::mesh {

namespace {

using spindle::GrowingWriter;
using spindle::kFrameHeadBytes;
using spindle::Reader;
using spindle::Writer;
using spindle::bulk::kBlocksMax;
using spindle::bulk::kEsiMax;
using spindle::bulk::kOpenChannelsMax;

// --- Holdings ---

// Runs are told by the blocks between them, and by their lengths; begun blocks by the blocks between them.
void put(GrowingWriter& out, const Holding& holding) {
  out.varint(holding.complete.size());
  std::uint32_t end = 0;
  for (const BlockRun& run : holding.complete) {
    out.varint(run.first - end);
    out.varint(run.end - run.first);
    end = run.end;
  }
  out.varint(holding.begun.size());
  std::uint32_t next = 0;
  for (const BegunBlock& each : holding.begun) {
    out.varint(each.block - next);
    out.varint(each.held);
    next = each.block + 1;
  }
}

Holding get_holding(Reader& reader) {
  Holding holding;
  std::uint64_t end = 0;
  for (std::uint64_t runs = reader.varint_up_to(Holding::kRunsMax); runs > 0 && reader.ok(); --runs) {
    const std::uint64_t first = end + reader.varint_up_to(kBlocksMax - end);
    // Runs that touch are one.
    if (first == end && !holding.complete.empty()) reader.fail();
    end = first + reader.varint_up_to(kBlocksMax - first);
    if (end == first) reader.fail();
    holding.complete.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)});
  }
  std::uint64_t next = 0;
  for (std::uint64_t begun = reader.varint_up_to(Holding::kBegunMax); begun > 0 && reader.ok(); --begun) {
    if (next == kBlocksMax) reader.fail();
    const std::uint64_t block =
        next + reader.varint_up_to(kBlocksMax - 1 - std::min<std::uint64_t>(next, kBlocksMax - 1));
    holding.begun.push_back(
        {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(reader.varint_up_to(kEsiMax))});
    next = block + 1;
  }
  return holding;
}

// --- Samples ---

// The longest frame fits.
static_assert(Wants::kBlocksMax * (HadFilter::kBytesMax + 16) + 1024 <= spindle::bulk::kBulkFrameBytesMax);

constexpr std::uint8_t kTakesReceivers = 1, kHasTicket = 2;

void put(GrowingWriter& out, const MemberSummary& summary) {
  out.varint(summary.member);
  const bool has_ticket = !summary.ticket.is_empty();
  out.u8(static_cast<std::uint8_t>((summary.takes_receivers ? kTakesReceivers : 0) | (has_ticket ? kHasTicket : 0)));
  put(out, summary.holding);
  if (!has_ticket) return;
  for (const std::uint32_t minimum : summary.ticket.minima()) out.u32(minimum);
}

MemberIndex get_member(Reader& reader) { return static_cast<MemberIndex>(reader.varint_up_to(kMembersMax - 1)); }

MemberSummary get_summary(Reader& reader) {
  MemberSummary summary;
  summary.member = get_member(reader);
  const std::uint8_t flags = reader.u8();
  if (flags > (kTakesReceivers | kHasTicket)) reader.fail();
  summary.takes_receivers = (flags & kTakesReceivers) != 0;
  summary.holding = get_holding(reader);
  if ((flags & kHasTicket) == 0) return summary;
  std::array<std::uint32_t, SummaryTicket::kMinima> minima{};
  for (std::uint32_t& minimum : minima) minimum = reader.u32();
  summary.ticket = SummaryTicket::of(minima);
  if (summary.ticket.is_empty()) reader.fail();
  return summary;
}

void put(GrowingWriter& out, const Sample& sample) {
  out.varint(sample.population);
  out.varint(sample.entries.size());
  for (const MemberSummary& entry : sample.entries) put(out, entry);
}

Sample get_sample(Reader& reader) {
  Sample sample;
  sample.population = static_cast<std::uint32_t>(reader.varint_up_to(kMembersMax));
  const std::uint64_t count = reader.varint_up_to(std::min<std::uint64_t>(sample.population, Sample::kEntriesMax));
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) sample.entries.push_back(get_summary(reader));
  return sample;
}

// --- Wants ---

void put(GrowingWriter& out, const Wants& wants) {
  out.varint(wants.received);
  out.varint(wants.bytes_per_s);
  out.u64(wants.residues);
  out.varint(wants.blocks.size());
  for (const BlockWant& want : wants.blocks) {
    out.varint(want.block);
    out.varint(want.fresh);
    out.u16(want.had.salt());
    out.varint(want.had.bits().size());
    out.bytes(want.had.bits());
  }
  put(out, wants.holding);
}

BlockWant get_want(Reader& reader) {
  BlockWant want;
  want.block = static_cast<std::uint32_t>(reader.varint_up_to(kBlocksMax - 1));
  want.fresh = static_cast<std::uint32_t>(reader.varint_up_to(kEsiMax));
  const std::uint16_t salt = reader.u16();
  const ByteView bits = reader.bytes(reader.varint_up_to(HadFilter::kBytesMax));
  want.had = HadFilter({bits.begin(), bits.end()}, salt);
  return want;
}

Wants get_wants(Reader& reader) {
  Wants wants;
  wants.received = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  wants.bytes_per_s = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  wants.residues = reader.u64();
  const std::uint64_t count = reader.varint_up_to(Wants::kBlocksMax);
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) wants.blocks.push_back(get_want(reader));
  wants.holding = get_holding(reader);
  return wants;
}

// --- Frames ---

struct Put {
  GrowingWriter& out;

  void operator()(const Collect& frame) const { of_epoch(frame.epoch, frame.sample); }
  void operator()(const Distribute& frame) const { of_epoch(frame.epoch, frame.sample); }
  void operator()(const PeerRequest&) const {}
  void operator()(const PeerAnswer& frame) const {
    out.u8(frame.is_accepted ? 1 : 0);
    put(out, frame.holding);
    out.varint(frame.others.size());
    for (const MemberIndex other : frame.others) out.varint(other);
  }
  void operator()(const Wants& frame) const { put(out, frame); }
  void operator()(const HoldingReport& frame) const { put(out, frame.holding); }
  void operator()(const BlockDone& frame) const { out.varint(frame.block); }
  void operator()(const PeerLeave& frame) const { out.u8(frame.is_sender ? 1 : 0); }

 private:
  void of_epoch(std::uint32_t epoch, const Sample& sample) const {
    out.varint(epoch);
    put(out, sample);
  }
};

void put(GrowingWriter& out, FrameScope scope, const Frame& frame) {
  out.varint(scope.channel);
  out.u8(scope.generation);
  std::visit(Put{out}, frame);
}

std::uint32_t get_epoch(Reader& reader) { return static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX)); }

bool get_flag(Reader& reader) {
  const std::uint8_t flag = reader.u8();
  if (flag > 1) reader.fail();
  return flag == 1;
}

PeerAnswer get_answer(Reader& reader) {
  PeerAnswer answer;
  answer.is_accepted = get_flag(reader);
  answer.holding = get_holding(reader);
  const std::uint64_t count = reader.varint_up_to(PeerAnswer::kOthersMax);
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) answer.others.push_back(get_member(reader));
  return answer;
}

std::optional<Frame> get_frame(FrameType type, Reader& reader) {
  switch (type) {
    case FrameType::collect: {
      const std::uint32_t epoch = get_epoch(reader);
      return Collect{epoch, get_sample(reader)};
    }
    case FrameType::distribute: {
      const std::uint32_t epoch = get_epoch(reader);
      return Distribute{epoch, get_sample(reader)};
    }
    case FrameType::peer_request:
      return PeerRequest{};
    case FrameType::peer_answer:
      return get_answer(reader);
    case FrameType::wants:
      return get_wants(reader);
    case FrameType::holding_report:
      return HoldingReport{get_holding(reader)};
    case FrameType::block_done:
      return BlockDone{static_cast<std::uint32_t>(reader.varint_up_to(kBlocksMax - 1))};
    case FrameType::peer_leave:
      return PeerLeave{get_flag(reader)};
  }
  return std::nullopt;
}

}  // namespace

FrameType type_of(const Frame& frame) {
  struct Type {
    FrameType operator()(const Collect&) const { return FrameType::collect; }
    FrameType operator()(const Distribute&) const { return FrameType::distribute; }
    FrameType operator()(const PeerRequest&) const { return FrameType::peer_request; }
    FrameType operator()(const PeerAnswer&) const { return FrameType::peer_answer; }
    FrameType operator()(const Wants&) const { return FrameType::wants; }
    FrameType operator()(const HoldingReport&) const { return FrameType::holding_report; }
    FrameType operator()(const BlockDone&) const { return FrameType::block_done; }
    FrameType operator()(const PeerLeave&) const { return FrameType::peer_leave; }
  };
  return std::visit(Type{}, frame);
}

void write_frame(std::vector<std::uint8_t>& out, FrameScope scope, const Frame& frame) {
  GrowingWriter body;
  put(body, scope, frame);
  const std::size_t start = out.size();
  out.resize(start + kFrameHeadBytes);
  Writer head(out.data() + start);
  write_frame_head(head, static_cast<std::uint8_t>(type_of(frame)), body.size());
  out.insert(out.end(), body.view().begin(), body.view().end());
}

std::optional<ChannelFrame> read_frame(FrameType type, ByteView body) {
  Reader reader(body);
  ChannelFrame read;
  read.scope.channel = static_cast<std::uint32_t>(reader.varint_up_to(kOpenChannelsMax - 1));
  read.scope.generation = reader.u8();
  std::optional<Frame> frame = get_frame(type, reader);
  if (!frame || !reader.done()) return std::nullopt;
  read.frame = std::move(*frame);
  return read;
}

std::size_t encoded_bytes(const Frame& frame) {
  GrowingWriter body;
  put(body, {}, frame);
  return kFrameHeadBytes + body.size();
}

}  // namespace spindled::mesh
