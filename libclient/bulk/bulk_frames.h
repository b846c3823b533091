// The frames of bulk connections: hops, between neighbouring daemons, and attachments, between a client and its daemon.
//
// They are framed as everything is (libclient/common/framing.h). The first one on a connection is `bulk_hello` on a hop
// and `bulk_attach` on an attachment, and the answer to both is `bulk_welcome`; their types are unlike those that begin
// other connections to the same port. After that each side names the channels that it speaks of by numbers of its own,
// one for each direction: `open` comes before anything else of a number, and `shut` lets it be opened anew.
//
// What `read_...` functions are given is what follows the head of a frame. They give nothing where that is malformed;
// what they give refers to those bytes. `write_...` functions append a whole frame to `out`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libclient/bulk/channel_id.h"
#include "libclient/bulk/content_layout.h"
#include "libclient/bulk/need.h"
#include "libclient/common/bytes.h"
#include "libclient/common/framing.h"

namespace spindle::bulk {

/// What a frame has behind its head at most.
inline constexpr std::size_t kBulkFrameBytesMax = 128u << 10;
/// The one version of this protocol that there is so far.
inline constexpr std::uint16_t kBulkVersion = 1;
/// Channels that may be open at a time in one direction of a connection: their numbers are below this.
inline constexpr std::uint32_t kOpenChannelsMax = 1'024;
inline constexpr std::uint32_t kEsiMax = (1u << 24) - 1;
/// SHA-256.
inline constexpr std::size_t kBlockHashBytes = 32;
/// Hashes that one `index` has at most when it is written.
inline constexpr std::size_t kHashesPerIndexMax = 2'048;
/// Symbols of one `grant`.
inline constexpr std::uint64_t kGrantMax = UINT32_MAX;
/// The stream of all content in order; on a hop there is no other.
inline constexpr std::uint8_t kLiveStream = 0;

enum class BulkFrame : std::uint8_t {
  open = 1,
  shut = 2,
  symbol = 3,
  index = 4,
  need = 5,
  grant = 6,
  release = 7,  // attachment only
  mark = 8,
  ask_index = 9,
  hello = 64,   // bulk_hello
  attach = 65,  // bulk_attach
  welcome = 66,
  close = 67,
};

/// Told over a connection that has been authenticated, and shown on the bulk connection.
using BulkToken = std::array<std::uint8_t, 16>;

/// The first frame on a hop, from who dials.
struct BulkHello {
  std::uint16_t version_min = kBulkVersion;
  std::uint16_t version_max = kBulkVersion;
  std::string_view cluster;  // at most 255 bytes
  std::string_view daemon;   // who dials
  std::uint64_t incarnation = 0;
  BulkToken token{};
};

/// The first frame on an attachment.
struct BulkAttach {
  std::uint16_t version_min = kBulkVersion;
  std::uint16_t version_max = kBulkVersion;
  std::uint64_t session = 0;
  BulkToken token{};
};

/// The last frame.
struct BulkClose {
  std::uint16_t code = 0;  // an Errc
  std::string_view text;   // what is longer than kBulkFrameBytesMax - 2 is cut
};

/// `number` names this channel from now on in this direction.
struct Open {
  std::uint32_t number = 0;  // below kOpenChannelsMax, here and in all other frames
  BulkChannelId channel;
  ContentLayout layout;
};

struct Symbol {
  std::uint32_t number = 0;
  std::uint8_t generation = 0;  // of the tree by whose plan it travels
  std::uint8_t stream = kLiveStream;
  std::uint32_t block = 0;  // below kBlocksMax
  std::uint32_t esi = 0;    // at most kEsiMax
  std::uint32_t crc = 0;    // CRC-32C of `bytes`
  ByteView bytes;           // a power of two of them, kSymbolBytesMin to kSymbolBytesMax
};

/// Hashes of neighbouring blocks.
struct IndexPart {
  std::uint32_t number = 0;
  std::uint32_t first = 0;  // block
  ByteView hashes;          // kBlockHashBytes each, one at least; none is of a block beyond kBlocksMax

  std::uint32_t count() const { return static_cast<std::uint32_t>(hashes.size() / kBlockHashBytes); }
  ByteView hash(std::uint32_t i) const { return hashes.subspan(i * kBlockHashBytes, kBlockHashBytes); }
};

struct NeedFrame {
  std::uint32_t number = 0;
  std::uint8_t stream = kLiveStream;  // whose need it is
  Need need;
};

/// So many more symbols of the stream may be sent to who says so.
struct Grant {
  std::uint32_t number = 0;
  std::uint8_t stream = kLiveStream;
  std::uint64_t symbols = 0;  // 1 to kGrantMax
};

/// From a daemon: the stream is over. From a holder: it has no more of it at present.
struct Release {
  std::uint32_t number = 0;
  std::uint8_t stream = kLiveStream;
};

/// Stands between symbols: whoever has got it has got all that was sent before it, and says so in the next need
/// (Need::seen), at once.
struct Mark {
  std::uint32_t number = 0;
  std::uint64_t mark = 0;  // from 1, rising on a connection and channel
  /// Of blocks below this one nothing is under way but what is asked for again.
  std::uint32_t bound = 0;
};

/// Who gets this is to give the index, from the first block on.
struct AskIndex {
  std::uint32_t number = 0;
};

using BulkBytes = std::vector<std::uint8_t>;

void write_hello(BulkBytes& out, const BulkHello& hello);
void write_attach(BulkBytes& out, const BulkAttach& attach);
void write_welcome(BulkBytes& out, std::uint16_t version);
void write_close(BulkBytes& out, const BulkClose& close);
void write_open(BulkBytes& out, const Open& open);
void write_shut(BulkBytes& out, std::uint32_t number);
/// As many frames as it takes.
void write_index(BulkBytes& out, const IndexPart& index);
void write_need(BulkBytes& out, const NeedFrame& need);
void write_grant(BulkBytes& out, const Grant& grant);
void write_release(BulkBytes& out, const Release& release);
void write_mark(BulkBytes& out, const Mark& mark);
void write_ask_index(BulkBytes& out, const AskIndex& ask);
/// A symbol is written in two steps, so that its bytes are not copied: the head of the frame and all before the bytes,
/// and then the bytes, by whoever sends.
std::size_t symbol_head_size(const Symbol& symbol);
void write_symbol_head(Writer& writer, const Symbol& symbol);
/// What a symbol's frame takes in all.
inline std::size_t symbol_frame_size(const Symbol& symbol) { return symbol_head_size(symbol) + symbol.bytes.size(); }

std::optional<BulkHello> read_hello(ByteView body);
std::optional<BulkAttach> read_attach(ByteView body);
std::optional<std::uint16_t> read_welcome(ByteView body);
std::optional<BulkClose> read_close(ByteView body);
std::optional<Open> read_open(ByteView body);
std::optional<std::uint32_t> read_shut(ByteView body);
std::optional<Symbol> read_symbol(ByteView body);
std::optional<IndexPart> read_index(ByteView body);
std::optional<NeedFrame> read_need(ByteView body);
std::optional<Grant> read_grant(ByteView body);
std::optional<Release> read_release(ByteView body);
std::optional<Mark> read_mark(ByteView body);
std::optional<AskIndex> read_ask_index(ByteView body);

}  // namespace spindle::bulk
