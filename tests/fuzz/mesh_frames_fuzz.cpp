// The mesh's frames, and a member that gets them from a parent, a child and strangers, in any order.
//
// Of the input, for each step: who it comes from, what it is, how long, and so many bytes. A frame has to read as what
// it is written as.
#include <algorithm>
#include <array>
#include <vector>

#include "daemon/bulk/mesh/mesh_codec.h"
#include "daemon/bulk/mesh/mesh_member.h"
#include "libclient/common/framing.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace std::chrono_literals;
using spindle::ByteView;
using spindle::kFrameHeadBytes;
using namespace spindled;
using namespace spindled::mesh;

constexpr MemberIndex kSelf = 1, kParent = 0, kMembers = 12;
constexpr std::uint32_t kBlocks = 6, kSymbols = 8;
// What is not a frame. 255 is time that passes.
constexpr std::uint8_t kConnect = 1, kLose = 2, kSymbol = 3, kTake = 4;

/// The first two blocks, and half of the third one.
class Content final : public MeshContent {
 public:
  Content() {
    for (std::uint32_t esi = 0; esi < kSymbols / 2; ++esi) held_[2].push_back({esi, Time{}});
    for (std::uint32_t block = 0; block < 2; ++block) {
      for (std::uint32_t esi = 0; esi < kSymbols; ++esi) held_[block].push_back({esi, Time{}});
    }
  }
  std::uint32_t blocks() const override { return kBlocks; }
  std::uint32_t first_incomplete() const override {
    std::uint32_t block = 0;
    while (block < kBlocks && is_complete(block)) ++block;
    return block;
  }
  bool is_complete(std::uint32_t block) const override { return held_.at(block).size() >= kSymbols; }
  std::uint32_t source_symbols(std::uint32_t) const override { return kSymbols; }
  std::uint32_t lacking(std::uint32_t block) const override {
    return kSymbols - static_cast<std::uint32_t>(held_.at(block).size());
  }
  std::span<const HeldSymbol> held(std::uint32_t block) const override { return held_.at(block); }
  std::uint32_t fresh_symbol(std::uint32_t) override { return kSymbols + fresh_++; }
  Holding holding() const override {
    Holding holding;
    if (first_incomplete() > 0) holding.complete.push_back({0, first_incomplete()});
    for (std::uint32_t block = first_incomplete(); block < kBlocks; ++block) {
      if (const std::size_t held = held_.at(block).size(); held > 0 && held < kSymbols) {
        holding.begun.push_back({block, static_cast<std::uint32_t>(held)});
      }
    }
    return holding;
  }
  SummaryTicket ticket() const override {
    SummaryTicket ticket;
    for (const HeldSymbol& each : held_[2]) ticket.insert({2, each.esi});
    return ticket;
  }
  bool take(Time now, SymbolId symbol) {
    auto& held = held_.at(symbol.block);
    if (held.size() >= kSymbols) return false;
    if (std::any_of(held.begin(), held.end(), [&](const HeldSymbol& each) { return each.esi == symbol.esi; }))
      return false;
    held.push_back({symbol.esi, now});
    return true;
  }

 private:
  std::array<std::vector<HeldSymbol>, kBlocks> held_;
  std::uint32_t fresh_ = 0;
};

ByteView body_of(const std::vector<std::uint8_t>& frame) { return ByteView(frame).subspan(kFrameHeadBytes); }

class Output final : public MeshOutput {
 public:
  bool may_ask(MemberIndex peer) const override { return peer % 4 != 3; }
  void dial(MemberIndex peer) override { SPINDLE_CHECK(peer != kSelf); }
  void close(MemberIndex) override {}
  void send(MemberIndex to, const Frame& frame) override {
    SPINDLE_CHECK(to != kSelf);
    std::vector<std::uint8_t> written;
    write_frame(written, {}, frame);
    SPINDLE_CHECK(written.size() == encoded_bytes(frame));
    SPINDLE_CHECK(read_frame(type_of(frame), body_of(written)).has_value());
  }
  bool send_symbol(MemberIndex, SymbolId symbol) override {
    SPINDLE_CHECK(symbol.block < kBlocks);
    return (++asked_ & 1) != 0;
  }

 private:
  unsigned asked_ = 0;
};

class Run {
 public:
  Run() { member_.set_place(now_, kParent, {2, 3}); }

  void step(MemberIndex from, std::uint8_t what, ByteView bytes) {
    switch (what) {
      case kConnect:
        return member_.connected(now_, from);
      case kLose:
        return member_.lost(now_, from);
      case kSymbol: {
        const SymbolId symbol{bytes.empty() ? 3u : bytes[0] % kBlocks, bytes.size() < 2 ? 0u : bytes[1]};
        const bool was_complete = content_.is_complete(symbol.block);
        const bool is_useful = content_.take(now_, symbol);
        member_.symbol_received(now_, from, symbol, is_useful);
        if (!was_complete && content_.is_complete(symbol.block)) member_.block_completed(now_, symbol.block);
        return;
      }
      case kTake:
        if (const auto symbol = member_.next(from)) SPINDLE_CHECK(symbol->block < kBlocks);
        return;
      case 255:
        now_ += 100ms * (bytes.size() + 1);
        return member_.tick(now_);
      default:
        return frame(from, FrameType{what}, bytes);
    }
  }

 private:
  void frame(MemberIndex from, FrameType type, ByteView body) {
    std::optional<ChannelFrame> read = read_frame(type, body);
    if (!read) return;
    SPINDLE_CHECK(type_of(read->frame) == type);
    const auto write = [](const ChannelFrame& value) {
      std::vector<std::uint8_t> frame;
      write_frame(frame, value.scope, value.frame);
      frame.erase(frame.begin(), frame.begin() + kFrameHeadBytes);
      return frame;
    };
    spindle_fuzz::check_round_trip(
        body, [&](ByteView bytes) { return read_frame(type, bytes); }, write);
    member_.frame_received(now_, from, std::move(read->frame));
  }

  Content content_;
  Output output_;
  Time now_{1h};
  MeshMember member_{kSelf, output_, content_, Random(1), MeshOptions{}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Input input(data, size);
  Run run;
  while (!input.empty()) {
    const std::uint8_t who = input.u8(), what = input.u8();
    const ByteView bytes = input.bytes(input.u16());
    const auto from = static_cast<MemberIndex>(who % kMembers);
    if (from != kSelf) run.step(from, what, bytes);
  }
  return 0;
}
