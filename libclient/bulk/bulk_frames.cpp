#include "libclient/bulk/bulk_frames.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace spindle::bulk {

namespace {

// The longest frames fit: a symbol, an index, and a need with a gap of one block behind each complete one.
constexpr std::size_t kHeadsMax = 64;
static_assert(kSymbolBytesMax + kHeadsMax <= kBulkFrameBytesMax);
static_assert(kHashesPerIndexMax * kBlockHashBytes + kHeadsMax <= kBulkFrameBytesMax);
static_assert(kBlocksMax + kBegunBlocksMax * 7 + kHeadsMax <= kBulkFrameBytesMax);

/// Appends the head of a frame, makes room for its body, and gives the writer of that.
Writer append_frame(BulkBytes& out, BulkFrame type, std::size_t length) {
  const std::size_t start = out.size();
  out.resize(start + kFrameHeadBytes + length);
  Writer writer(out.data() + start);
  write_frame_head(writer, static_cast<std::uint8_t>(type), length);
  return writer;
}

std::uint32_t read_number(Reader& reader) {
  return static_cast<std::uint32_t>(reader.varint_up_to(kOpenChannelsMax - 1));
}

BulkToken read_token(Reader& reader) {
  BulkToken token{};
  const ByteView bytes = reader.bytes(token.size());
  std::copy(bytes.begin(), bytes.end(), token.begin());
  return token;
}

/// The value, where everything was read and nothing failed.
template <typename Value>
std::optional<Value> if_done(const Reader& reader, Value value) {
  if (!reader.done()) return std::nullopt;
  return value;
}

std::size_t symbol_body_size(const Symbol& symbol) {
  return varint_size(symbol.number) + 1 + 1 + varint_size(symbol.block) + 3 + 4;
}

void append_index(BulkBytes& out, std::uint32_t number, std::uint32_t first, ByteView hashes) {
  Writer writer = append_frame(out, BulkFrame::index, varint_size(number) + varint_size(first) + hashes.size());
  writer.varint(number);
  writer.varint(first);
  writer.bytes(hashes);
}

}  // namespace

void write_hello(BulkBytes& out, const BulkHello& hello) {
  const std::size_t length = 2 + 2 + 1 + hello.cluster.size() + 1 + hello.daemon.size() + 8 + hello.token.size();
  Writer writer = append_frame(out, BulkFrame::hello, length);
  writer.u16(hello.version_min);
  writer.u16(hello.version_max);
  writer.short_string(hello.cluster);
  writer.short_string(hello.daemon);
  writer.u64(hello.incarnation);
  writer.bytes(hello.token);
}

void write_attach(BulkBytes& out, const BulkAttach& attach) {
  Writer writer = append_frame(out, BulkFrame::attach, 2 + 2 + 8 + attach.token.size());
  writer.u16(attach.version_min);
  writer.u16(attach.version_max);
  writer.u64(attach.session);
  writer.bytes(attach.token);
}

void write_welcome(BulkBytes& out, std::uint16_t version) { append_frame(out, BulkFrame::welcome, 2).u16(version); }

void write_close(BulkBytes& out, const BulkClose& close) {
  const std::string_view text = close.text.substr(0, kBulkFrameBytesMax - 2);
  Writer writer = append_frame(out, BulkFrame::close, 2 + text.size());
  writer.u16(close.code);
  writer.bytes(as_bytes(text));
}

void write_open(BulkBytes& out, const Open& open) {
  const std::size_t length = varint_size(open.number) + channel_id_size(open.channel) + layout_size(open.layout);
  Writer writer = append_frame(out, BulkFrame::open, length);
  writer.varint(open.number);
  write_channel_id(writer, open.channel);
  write_layout(writer, open.layout);
}

void write_shut(BulkBytes& out, std::uint32_t number) {
  append_frame(out, BulkFrame::shut, varint_size(number)).varint(number);
}

void write_index(BulkBytes& out, const IndexPart& index) {
  std::uint32_t first = index.first;
  for (ByteView rest = index.hashes; !rest.empty();) {
    const ByteView part = rest.first(std::min(rest.size(), kHashesPerIndexMax * kBlockHashBytes));
    append_index(out, index.number, first, part);
    first += static_cast<std::uint32_t>(part.size() / kBlockHashBytes);
    rest = rest.subspan(part.size());
  }
}

void write_need(BulkBytes& out, const NeedFrame& need) {
  Writer writer = append_frame(out, BulkFrame::need, varint_size(need.number) + 1 + need_size(need.need));
  writer.varint(need.number);
  writer.u8(need.stream);
  write_need(writer, need.need);
}

void write_grant(BulkBytes& out, const Grant& grant) {
  Writer writer = append_frame(out, BulkFrame::grant, varint_size(grant.number) + 1 + varint_size(grant.symbols));
  writer.varint(grant.number);
  writer.u8(grant.stream);
  writer.varint(grant.symbols);
}

void write_release(BulkBytes& out, const Release& release) {
  Writer writer = append_frame(out, BulkFrame::release, varint_size(release.number) + 1);
  writer.varint(release.number);
  writer.u8(release.stream);
}

void write_ask_index(BulkBytes& out, const AskIndex& ask) {
  append_frame(out, BulkFrame::ask_index, varint_size(ask.number)).varint(ask.number);
}

void write_mark(BulkBytes& out, const Mark& mark) {
  Writer writer =
      append_frame(out, BulkFrame::mark, varint_size(mark.number) + varint_size(mark.mark) + varint_size(mark.bound));
  writer.varint(mark.number);
  writer.varint(mark.mark);
  writer.varint(mark.bound);
}

std::size_t symbol_head_size(const Symbol& symbol) { return kFrameHeadBytes + symbol_body_size(symbol); }

void write_symbol_head(Writer& writer, const Symbol& symbol) {
  write_frame_head(writer, static_cast<std::uint8_t>(BulkFrame::symbol),
                   symbol_body_size(symbol) + symbol.bytes.size());
  writer.varint(symbol.number);
  writer.u8(symbol.generation);
  writer.u8(symbol.stream);
  writer.varint(symbol.block);
  writer.u24(symbol.esi);
  writer.u32(symbol.crc);
}

std::optional<BulkHello> read_hello(ByteView body) {
  Reader reader(body);
  BulkHello hello;
  hello.version_min = reader.u16();
  hello.version_max = reader.u16();
  hello.cluster = reader.short_string();
  hello.daemon = reader.short_string();
  hello.incarnation = reader.u64();
  hello.token = read_token(reader);
  if (hello.version_min > hello.version_max || !is_daemon_name(hello.daemon)) return std::nullopt;
  return if_done(reader, hello);
}

std::optional<BulkAttach> read_attach(ByteView body) {
  Reader reader(body);
  BulkAttach attach;
  attach.version_min = reader.u16();
  attach.version_max = reader.u16();
  attach.session = reader.u64();
  attach.token = read_token(reader);
  if (attach.version_min > attach.version_max) return std::nullopt;
  return if_done(reader, attach);
}

std::optional<std::uint16_t> read_welcome(ByteView body) {
  Reader reader(body);
  const std::uint16_t version = reader.u16();
  return if_done(reader, version);
}

std::optional<BulkClose> read_close(ByteView body) {
  Reader reader(body);
  BulkClose close;
  close.code = reader.u16();
  close.text = as_text(reader.rest());
  return if_done(reader, close);
}

std::optional<Open> read_open(ByteView body) {
  Reader reader(body);
  Open open;
  open.number = read_number(reader);
  open.channel = read_channel_id(reader);
  open.layout = read_layout(reader);
  return if_done(reader, std::move(open));
}

std::optional<std::uint32_t> read_shut(ByteView body) {
  Reader reader(body);
  const std::uint32_t number = read_number(reader);
  return if_done(reader, number);
}

std::optional<Symbol> read_symbol(ByteView body) {
  Reader reader(body);
  Symbol symbol;
  symbol.number = read_number(reader);
  symbol.generation = reader.u8();
  symbol.stream = reader.u8();
  symbol.block = static_cast<std::uint32_t>(reader.varint_up_to(kBlocksMax - 1));
  symbol.esi = reader.u24();
  symbol.crc = reader.u32();
  symbol.bytes = reader.rest();
  const std::size_t size = symbol.bytes.size();
  if (!std::has_single_bit(size) || size < kSymbolBytesMin || size > kSymbolBytesMax) return std::nullopt;
  return if_done(reader, symbol);
}

std::optional<IndexPart> read_index(ByteView body) {
  Reader reader(body);
  IndexPart index;
  index.number = read_number(reader);
  index.first = static_cast<std::uint32_t>(reader.varint_up_to(kBlocksMax - 1));
  index.hashes = reader.rest();
  if (index.hashes.empty() || index.hashes.size() % kBlockHashBytes != 0) return std::nullopt;
  if (index.hashes.size() / kBlockHashBytes > kBlocksMax - index.first) return std::nullopt;
  return if_done(reader, index);
}

std::optional<NeedFrame> read_need(ByteView body) {
  Reader reader(body);
  NeedFrame need;
  need.number = read_number(reader);
  need.stream = reader.u8();
  need.need = read_need(reader);
  return if_done(reader, std::move(need));
}

std::optional<Grant> read_grant(ByteView body) {
  Reader reader(body);
  Grant grant;
  grant.number = read_number(reader);
  grant.stream = reader.u8();
  grant.symbols = reader.varint_up_to(kGrantMax);
  if (grant.symbols == 0) return std::nullopt;
  return if_done(reader, grant);
}

std::optional<Release> read_release(ByteView body) {
  Reader reader(body);
  Release release;
  release.number = read_number(reader);
  release.stream = reader.u8();
  return if_done(reader, release);
}

std::optional<AskIndex> read_ask_index(ByteView body) {
  Reader reader(body);
  return if_done(reader, AskIndex{read_number(reader)});
}

std::optional<Mark> read_mark(ByteView body) {
  Reader reader(body);
  Mark mark;
  mark.number = read_number(reader);
  mark.mark = reader.varint();
  mark.bound = static_cast<std::uint32_t>(reader.varint_up_to(kBlocksMax));
  if (mark.mark == 0) return std::nullopt;
  return if_done(reader, mark);
}

}  // namespace spindle::bulk
