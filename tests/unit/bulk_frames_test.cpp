// The frames of bulk connections, byte by byte, and malformed ones.
#include "libclient/bulk/bulk_frames.h"

#include <gtest/gtest.h>

#include <numeric>

namespace spindle::bulk {
namespace {

using Bytes = std::vector<std::uint8_t>;

const BulkToken kToken{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
Bytes token_bytes() { return {kToken.begin(), kToken.end()}; }

template <typename Value>
Bytes frame_of(void (*write)(Bytes&, Value), std::type_identity_t<Value> value) {
  Bytes frame;
  write(frame, value);
  return frame;
}

Bytes frame_of(const Symbol& symbol) {
  Bytes frame(symbol_head_size(symbol));
  Writer writer(frame.data());
  write_symbol_head(writer, symbol);
  EXPECT_EQ(writer.size(), frame.size());
  frame.insert(frame.end(), symbol.bytes.begin(), symbol.bytes.end());
  EXPECT_EQ(frame.size(), symbol_frame_size(symbol));
  return frame;
}

/// Checks the head, and that bodies that are cut short or go on do not parse unless what is there is `open_ended`.
template <typename Read>
Bytes checked_body(const Bytes& frame, BulkFrame type, Read read, bool open_ended = false) {
  const auto head = read_frame_head(frame);
  EXPECT_TRUE(head);
  EXPECT_EQ(head->type, static_cast<std::uint8_t>(type));
  EXPECT_EQ(head->length + kFrameHeadBytes, frame.size());
  Bytes body(frame.begin() + kFrameHeadBytes, frame.end());
  EXPECT_TRUE(read(body));
  if (open_ended) return body;
  for (std::size_t size = 0; size < body.size(); ++size) {
    const Bytes cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));  // on the heap, for the sanitizer
    EXPECT_FALSE(read(cut)) << "cut to " << size << " of " << body.size();
  }
  EXPECT_FALSE(read(body + Bytes{0}));
  return body;
}

constexpr auto kReadNeed = [](ByteView body) { return read_need(body); };

TEST(BulkFrames, HelloHasWorkedBytes) {
  const Bytes frame = frame_of(write_hello, {1, 2, "c", "alpha", 0x0102, kToken});
  EXPECT_EQ(frame, (Bytes{36, 0, 0, 64, 1, 0, 2, 0, 1, 'c', 5, 'a', 'l', 'p', 'h', 'a', 2, 1, 0, 0, 0, 0, 0, 0}) +
                       token_bytes());
  const Bytes body = checked_body(frame, BulkFrame::hello, read_hello);
  const auto hello = read_hello(body);
  EXPECT_EQ(hello->version_min, 1u);
  EXPECT_EQ(hello->version_max, 2u);
  EXPECT_EQ(hello->cluster, "c");
  EXPECT_EQ(hello->daemon, "alpha");
  EXPECT_EQ(hello->incarnation, 0x0102u);
  EXPECT_EQ(hello->token, kToken);
  Bytes wrong = frame_of(write_hello, {2, 1, "c", "alpha", 1, kToken});
  EXPECT_FALSE(read_hello(ByteView(wrong).subspan(kFrameHeadBytes))) << "no version";
  wrong = frame_of(write_hello, {1, 1, "c", "", 1, kToken});
  EXPECT_FALSE(read_hello(ByteView(wrong).subspan(kFrameHeadBytes))) << "no name";
}

TEST(BulkFrames, AttachAndWelcomeHaveWorkedBytes) {
  const Bytes frame = frame_of(write_attach, {1, 1, 0x0a0b, kToken});
  EXPECT_EQ(frame, (Bytes{28, 0, 0, 65, 1, 0, 1, 0, 0x0b, 0x0a, 0, 0, 0, 0, 0, 0}) + token_bytes());
  const Bytes body = checked_body(frame, BulkFrame::attach, read_attach);
  EXPECT_EQ(read_attach(body)->session, 0x0a0bu);
  EXPECT_EQ(read_attach(body)->token, kToken);
  EXPECT_FALSE(read_attach(Bytes{2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0} + token_bytes()));

  const Bytes welcome = frame_of(write_welcome, 0x0201);
  EXPECT_EQ(welcome, (Bytes{2, 0, 0, 66, 1, 2}));
  EXPECT_EQ(read_welcome(checked_body(welcome, BulkFrame::welcome, read_welcome)), 0x0201);
}

TEST(BulkFrames, CloseHasWorkedBytes) {
  const Bytes frame = frame_of(write_close, {14, "why"});
  EXPECT_EQ(frame, (Bytes{5, 0, 0, 67, 14, 0, 'w', 'h', 'y'}));
  const Bytes body = checked_body(frame, BulkFrame::close, read_close, true);
  EXPECT_EQ(read_close(body)->code, 14u);
  EXPECT_EQ(read_close(body)->text, "why");
  EXPECT_FALSE(read_close(Bytes{14}));
  const std::string text(kBulkFrameBytesMax, 'x');
  EXPECT_EQ(frame_of(write_close, {1, text}).size(), kFrameHeadBytes + kBulkFrameBytesMax);
}

TEST(BulkFrames, OpenAndShutHaveWorkedBytes) {
  const Open open{300, {"alpha", 1, 2}, {8u << 20, 8u << 10, 9u << 20}};
  const Bytes frame = frame_of<const Open&>(write_open, open);
  EXPECT_EQ(frame, (Bytes{27, 0, 0, 1, 0xac, 2, 5, 'a',  'l', 'p', 'h',  'a',  1,    0,    0, 0,
                          0,  0, 0, 0, 2,    0, 0, 0x80, 0,   0,   0x20, 0x80, 0x80, 0xc0, 4}));
  const Bytes body = checked_body(frame, BulkFrame::open, read_open);
  EXPECT_EQ(read_open(body)->number, 300u);
  EXPECT_EQ(read_open(body)->channel, open.channel);
  EXPECT_EQ(read_open(body)->layout, open.layout);
  for (const Open& wrong : {Open{1024, open.channel, open.layout}, Open{1, {"alpha", 1, 0}, open.layout},
                            Open{1, open.channel, {1000, 1000, 1}}}) {
    EXPECT_FALSE(read_open(ByteView(frame_of<const Open&>(write_open, wrong)).subspan(kFrameHeadBytes)));
  }

  const Bytes shut = frame_of(write_shut, 300);
  EXPECT_EQ(shut, (Bytes{2, 0, 0, 2, 0xac, 2}));
  EXPECT_EQ(read_shut(checked_body(shut, BulkFrame::shut, read_shut)), 300u);
  EXPECT_FALSE(read_shut(Bytes{0x80, 8}));
}

TEST(BulkFrames, SymbolsHaveWorkedBytes) {
  const Bytes bytes(1024, 7);
  const Symbol symbol{3, 4, 5, 0x81, 0x010203, 0x0a0b0c0d, bytes};
  const Bytes frame = frame_of(symbol);
  EXPECT_EQ(frame, (Bytes{12, 4, 0, 3, 3, 4, 5, 0x81, 1, 3, 2, 1, 0x0d, 0x0c, 0x0b, 0x0a}) + bytes);
  const Bytes body = checked_body(frame, BulkFrame::symbol, read_symbol);
  const auto again = read_symbol(body);
  EXPECT_EQ(again->number, 3u);
  EXPECT_EQ(again->generation, 4u);
  EXPECT_EQ(again->stream, 5u);
  EXPECT_EQ(again->block, 0x81u);
  EXPECT_EQ(again->esi, 0x010203u);
  EXPECT_EQ(again->crc, 0x0a0b0c0du);
  EXPECT_EQ(Bytes(again->bytes.begin(), again->bytes.end()), bytes);
  for (const std::size_t size : {0u, 512u, 1000u, 65'536u}) {
    const Bytes wrong(size, 7);
    EXPECT_FALSE(read_symbol(ByteView(frame_of(Symbol{3, 4, 5, 6, 7, 8, wrong})).subspan(kFrameHeadBytes))) << size;
  }
  EXPECT_FALSE(read_symbol(ByteView(frame_of(Symbol{3, 4, 5, kBlocksMax, 7, 8, bytes})).subspan(kFrameHeadBytes)));
  EXPECT_FALSE(read_symbol(ByteView(frame_of(Symbol{1024, 4, 5, 1, 7, 8, bytes})).subspan(kFrameHeadBytes)));
}

TEST(BulkFrames, IndexHasWorkedBytes) {
  Bytes hashes(64);
  std::iota(hashes.begin(), hashes.end(), std::uint8_t{0});
  const Bytes frame = frame_of<const IndexPart&>(write_index, {3, 200, hashes});
  EXPECT_EQ(frame, (Bytes{67, 0, 0, 4, 3, 0xc8, 1}) + hashes);
  const Bytes body = checked_body(frame, BulkFrame::index, read_index, true);
  const auto index = read_index(body);
  EXPECT_EQ(index->number, 3u);
  EXPECT_EQ(index->first, 200u);
  ASSERT_EQ(index->count(), 2u);
  EXPECT_EQ(index->hash(1).front(), 32u);
  EXPECT_FALSE(read_index(Bytes{3, 1})) << "none";
  EXPECT_FALSE(read_index(Bytes{3, 1} + Bytes(33))) << "part of one";
  EXPECT_TRUE(read_index(Bytes{3, 0xff, 0xff, 3} + Bytes(32)));
  EXPECT_FALSE(read_index(Bytes{3, 0xff, 0xff, 3} + Bytes(64))) << "of the block 65,536";
}

TEST(BulkFrames, LargeIndexesTakeSeveralFrames) {
  const Bytes hashes((2 * kHashesPerIndexMax + 1) * kBlockHashBytes, 9);
  Bytes out;
  write_index(out, {1, 100, hashes});
  std::uint32_t block = 100;
  for (ByteView rest(out); !rest.empty();) {
    const auto head = read_frame_head(rest);
    ASSERT_LE(head->length, kBulkFrameBytesMax);
    const auto part = read_index(rest.subspan(kFrameHeadBytes, head->length));
    ASSERT_TRUE(part);
    EXPECT_EQ(part->first, block);
    block += part->count();
    rest = rest.subspan(kFrameHeadBytes + head->length);
  }
  EXPECT_EQ(block, 100 + 2 * kHashesPerIndexMax + 1);
}

TEST(BulkFrames, NeedHasWorkedBytes) {
  NeedFrame need{3, 7, {}};
  need.need.complete.add_run(1, 3);
  need.need.begun = {{0, 4}};
  need.need.serves = true;
  need.need.lost = true;
  need.need.knows_index = true;
  need.need.seen = 300;
  const Bytes frame = frame_of<const NeedFrame&>(write_need, need);
  EXPECT_EQ(frame, (Bytes{11, 0, 0, 5, 3, 7, 7, 0xac, 2, 1, 1, 2, 1, 0, 4}));
  const Bytes body = checked_body(frame, BulkFrame::need, kReadNeed);
  EXPECT_EQ(read_need(ByteView(body))->stream, 7u);
  EXPECT_EQ(read_need(ByteView(body))->need, need.need);
  // The longest one.
  need.need.complete.clear();
  for (std::uint32_t i = 0; i < kBlocksMax; i += 2) need.need.complete.add(i);
  need.need.begun.clear();
  for (std::uint32_t i = 1; i < kBlocksMax; i += 2) need.need.begun.push_back({i, kHeldSymbolsMax});
  const Bytes longest = frame_of<const NeedFrame&>(write_need, need);
  EXPECT_LE(longest.size(), kFrameHeadBytes + kBulkFrameBytesMax);
  EXPECT_TRUE(read_need(ByteView(longest).subspan(kFrameHeadBytes)));
}

/// docs/wire-format.md, Bulk connections.
TEST(BulkFrames, AreAsThePageShows) {
  EXPECT_EQ(frame_of<const Open&>(write_open, {0, {"alpha", 7, 3}, {8u << 20, 8u << 10, 9u << 20}}),
            (Bytes{0x1a, 0, 0, 1, 0, 5, 'a', 'l',  'p', 'h', 'a',  7,    0,    0,    0,
                   0,    0, 0, 0, 3, 0, 0,   0x80, 0,   0,   0x20, 0x80, 0x80, 0xc0, 4}));
  EXPECT_EQ(frame_of<const Grant&>(write_grant, {0, 0, 128}), (Bytes{4, 0, 0, 6, 0, 0, 0x80, 1}));
  EXPECT_EQ(frame_of<const Mark&>(write_mark, {0, 2, 17}), (Bytes{3, 0, 0, 8, 0, 2, 17}));
}

TEST(BulkFrames, MarkHasWorkedBytes) {
  const Bytes frame = frame_of<const Mark&>(write_mark, {3, 300, 17});
  EXPECT_EQ(frame, (Bytes{4, 0, 0, 8, 3, 0xac, 2, 17}));
  const Bytes body = checked_body(frame, BulkFrame::mark, read_mark);
  EXPECT_EQ(read_mark(body)->mark, 300u);
  EXPECT_EQ(read_mark(body)->bound, 17u);
  EXPECT_FALSE(read_mark(Bytes{3, 0, 17})) << "marks count from 1";
  EXPECT_FALSE(read_mark(Bytes{3, 1, 0x81, 0x80, 0x04})) << "beyond the blocks that there can be";
}

TEST(BulkFrames, AskIndexHasWorkedBytes) {
  const Bytes frame = frame_of<const AskIndex&>(write_ask_index, {300});
  EXPECT_EQ(frame, (Bytes{2, 0, 0, 9, 0xac, 2}));
  EXPECT_EQ(read_ask_index(checked_body(frame, BulkFrame::ask_index, read_ask_index))->number, 300u);
  EXPECT_FALSE(read_ask_index(Bytes{0x80, 8})) << "beyond the channels that may be open";
}

TEST(BulkFrames, GrantAndReleaseHaveWorkedBytes) {
  const Bytes grant = frame_of<const Grant&>(write_grant, {3, 7, 300});
  EXPECT_EQ(grant, (Bytes{4, 0, 0, 6, 3, 7, 0xac, 2}));
  const auto again = read_grant(checked_body(grant, BulkFrame::grant, read_grant));
  EXPECT_EQ(again->number, 3u);
  EXPECT_EQ(again->stream, 7u);
  EXPECT_EQ(again->symbols, 300u);
  EXPECT_FALSE(read_grant(Bytes{3, 7, 0}));
  EXPECT_TRUE(read_grant(Bytes{3, 7, 0xff, 0xff, 0xff, 0xff, 0x0f}));
  EXPECT_FALSE(read_grant(Bytes{3, 7, 0x80, 0x80, 0x80, 0x80, 0x10})) << "more than 2^32 - 1";

  const Bytes release = frame_of<const Release&>(write_release, {3, 7});
  EXPECT_EQ(release, (Bytes{2, 0, 0, 7, 3, 7}));
  EXPECT_EQ(read_release(checked_body(release, BulkFrame::release, read_release))->stream, 7u);
}

}  // namespace
}  // namespace spindle::bulk
