#include "daemon/bulk/bulk_connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/gather_buffers.h"
#include "daemon/link/link_limits.h"
#include "libclient/common/framing.h"

namespace spindled {

namespace bulk = spindle::bulk;

BulkConnection::BulkConnection(Context& context, Driver& driver, ConnectionId connection, Phase phase, Time now)
    : context_(context),
      driver_(driver),
      connection_(connection),
      phase_(phase),
      since_(now),
      heard_at_(now),
      output_(context.slabs, OutputQueue::kLongBytes) {}

Result<std::optional<BulkConnection::Frame>> BulkConnection::next_frame() {
  wanted_ = 0;
  const std::optional<spindle::FrameHead> head = spindle::read_frame_head(input_.unread());
  if (!head) return std::nullopt;
  // Who dials is told the hello of a link first.
  const std::size_t limit = phase_ == Phase::open ? bulk::kBulkFrameBytesMax : kHandshakeFrameBytesMax;
  if (head->length > limit) {
    return fail(Errc::frame_too_large, fmt::format("a bulk frame of type {} has {} bytes", head->type, head->length));
  }
  const std::size_t size = spindle::kFrameHeadBytes + head->length;
  if (input_.unread().size() < size) {
    wanted_ = size;
    return std::nullopt;
  }
  input_.skip(spindle::kFrameHeadBytes);
  return Frame{static_cast<BulkFrame>(head->type), input_.take(head->length)};
}

const bulk::BulkChannelId* BulkConnection::channel_of(std::uint32_t number) const {
  const auto at = theirs_.find(number);
  return at == theirs_.end() ? nullptr : &at->second;
}

std::optional<std::uint32_t> BulkConnection::number_of(const BulkChannelId& id) const {
  const auto at = ours_.find(id);
  return at == ours_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<std::uint32_t> BulkConnection::open(const BulkChannelId& id) {
  if (free_numbers_.empty()) {
    if (numbers_ == bulk::kOpenChannelsMax) return std::nullopt;
    free_numbers_.insert(numbers_++);
  }
  const std::uint32_t number = free_numbers_.extract(free_numbers_.begin()).value();
  ours_.emplace(id, number);
  return number;
}

void BulkConnection::forget(const BulkChannelId& id) {
  const auto found = ours_.find(id);
  if (found == ours_.end()) return;
  free_numbers_.insert(found->second);
  ours_.erase(found);
}

void BulkConnection::send(std::uint32_t number, const RelayedSymbol& symbol) {
  const bulk::Symbol head{number,     symbol.generation, bulk::kLiveStream,  symbol.block,
                          symbol.esi, symbol.crc,        symbol.bytes.view()};
  std::uint8_t* const at = context_.arena.reserve(bulk::symbol_head_size(head));
  spindle::Writer writer(at);
  bulk::write_symbol_head(writer, head);
  output_.append(context_.arena.commit(writer.size()));
  output_.append(symbol.bytes);
}

std::size_t BulkConnection::write() {
  if (phase_ == Phase::dialling) return 0;  // it is not there yet
  std::size_t written = 0;
  GatherBuffers<64> room;
  const std::span<ByteView> buffers = room.all();
  while (!blocked_ && !output_.empty()) {
    const std::size_t count = output_.gather(buffers);
    std::size_t offered = 0;
    for (std::size_t i = 0; i < count; ++i) offered += buffers[i].size();
    const std::size_t taken = driver_.write(connection_, buffers.first(count));
    output_.consume(taken);
    written += taken;
    blocked_ = taken < offered;
  }
  if (blocked_) {
    ahead_ = kAheadBytes;
  } else if (written >= ahead_) {
    ahead_ = std::min(2 * ahead_, kAheadBytesMax);
  }
  return written;
}

}  // namespace spindled
