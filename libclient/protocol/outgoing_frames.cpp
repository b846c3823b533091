#include "libclient/protocol/outgoing_frames.h"

#include <algorithm>
#include <utility>

namespace spindle::protocol {

namespace {

/// A small buffer is added to the one that was kept before it, where that is not large yet: small messages that are
/// written one by one take no memory each.
constexpr std::size_t kMergedBytes = 2u << 10, kMergedBytesMax = 16u << 10;
/// Memory of more than this is not kept for what comes.
constexpr std::size_t kSpareBytesMax = 4u << 20;
/// Buffers that the daemon has are written to again, each of no more than this, of so many bytes in all.
constexpr std::size_t kSpareOfKeptBytesMax = 1u << 20, kSparesBytesMax = 4u << 20;

std::size_t frame_size(ByteView bytes) { return kFrameHeadBytes + read_frame_head(bytes)->length; }
ClientFrame frame_type(ByteView bytes) { return static_cast<ClientFrame>(read_frame_head(bytes)->type); }

/// Calls `visit(Unit, end)` for each unit of `bytes`, which are whole frames; `end`: where it ends.
template <typename Visit>
void for_each_unit(ByteView bytes, Visit&& visit) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ByteView rest = bytes.subspan(at);
    const std::size_t first = frame_size(rest);
    std::size_t size = first;
    while (size < rest.size() && frame_type(rest.subspan(size)) == ClientFrame::send_more) {
      size += frame_size(rest.subspan(size));
    }
    at += size;
    const ByteView body = rest.first(first).subspan(kFrameHeadBytes);
    visit(OutgoingFrames::Unit{frame_type(rest), body, rest.first(size)}, at);
  }
}

}  // namespace

void OutgoingFrames::begin(std::vector<std::uint8_t> handshake) {
  handshake_ = std::move(handshake);
  handshake_written_ = 0;
  is_open_ = false;
}

void OutgoingFrames::append(ByteView frames) {
  tail_.bytes.insert(tail_.bytes.end(), frames.begin(), frames.end());
  for (; !frames.empty(); frames = frames.subspan(frame_size(frames))) note_frame(frame_type(frames));
}

void OutgoingFrames::append_ahead(ByteView frame) {
  if (!is_holding_) return append(frame);
  Buffer buffer;
  buffer.bytes.assign(frame.begin(), frame.end());
  buffer.frames = 1;
  again_bytes_ += frame.size();
  again_.push_back(std::move(buffer));
}

void OutgoingFrames::hold() {
  is_holding_ = true;
  if (tail_.bytes.empty()) return;
  again_bytes_ += tail_.bytes.size();
  again_.push_back(std::exchange(tail_, Buffer()));
}

std::size_t OutgoingFrames::size() const {
  return handshake_.size() - handshake_written_ + in_flight_.bytes.size() - written_ + again_bytes_ +
         tail_.bytes.size();
}

std::size_t OutgoingFrames::writable_size() const {
  if (!is_open_) return handshake_.size() - handshake_written_;
  return is_holding_ ? size() - tail_.bytes.size() : size();
}

ByteView OutgoingFrames::next() {
  if (handshake_written_ < handshake_.size()) return ByteView(handshake_).subspan(handshake_written_);
  if (!is_open_) return {};
  if (in_flight_.bytes.empty()) {
    if (!again_.empty()) {
      take(again_.front());
      again_.pop_front();
      again_bytes_ -= in_flight_.bytes.size() - written_;
    } else if (!is_holding_ && !tail_.bytes.empty()) {
      take(tail_);
    }
  }
  return ByteView(in_flight_.bytes).subspan(written_);
}

/// Leaves an empty buffer that has the memory of the one before, if that is worth keeping.
void OutgoingFrames::take(Buffer& buffer) {
  std::swap(in_flight_, buffer);
  std::vector<std::uint8_t> spare = std::move(buffer.bytes);
  spare.clear();
  buffer = Buffer();
  if (spare.capacity() <= kSpareBytesMax) buffer.bytes = std::move(spare);
  written_ = in_flight_.done_bytes;
}

void OutgoingFrames::consume(std::size_t bytes) {
  if (handshake_written_ < handshake_.size()) {
    handshake_written_ += bytes;
    return;
  }
  written_ += bytes;
  if (written_ < in_flight_.bytes.size()) return;
  finish(in_flight_);
  written_ = 0;
}

/// All of it is written. Its memory stays where it is not kept.
void OutgoingFrames::finish(Buffer& buffer) {
  buffer.done_bytes = buffer.done_frames = 0;
  if (keeps_ && kept_bytes_ + buffer.bytes.size() > kKeptBytesMax) set_keeping(false);
  if (keeps_) kept_bytes_ += buffer.bytes.size();
  if (!keeps_) {
    forget(buffer);
  } else if (!kept_.empty() && buffer.bytes.size() <= kMergedBytes && kept_.back().bytes.size() < kMergedBytesMax) {
    Buffer& last = kept_.back();
    last.bytes.insert(last.bytes.end(), buffer.bytes.begin(), buffer.bytes.end());
    last.frames += buffer.frames;
    last.has_definitions = last.has_definitions || buffer.has_definitions;
  } else {
    kept_.push_back(std::exchange(buffer, Buffer()));
    buffer.bytes = take_spare();
  }
  std::vector<std::uint8_t> spare = std::move(buffer.bytes);
  spare.clear();
  buffer = Buffer();
  buffer.bytes = std::move(spare);
  if (keeps_) acknowledge(acknowledged_);
}

/// Without one, memory for as much as was written last: it does not grow piece by piece.
std::vector<std::uint8_t> OutgoingFrames::take_spare() {
  std::vector<std::uint8_t> bytes;
  if (spares_.empty()) {
    bytes.reserve(std::min(kept_.back().bytes.size(), kSpareOfKeptBytesMax));
  } else {
    bytes = std::move(spares_.back());
    spares_.pop_back();
    spares_bytes_ -= bytes.capacity();
  }
  return bytes;
}

void OutgoingFrames::give_back(std::vector<std::uint8_t>&& bytes) {
  if (bytes.capacity() > kSpareOfKeptBytesMax || spares_bytes_ + bytes.capacity() > kSparesBytesMax) return;
  spares_bytes_ += bytes.capacity();
  spares_.push_back(std::move(bytes));
}

void OutgoingFrames::forget(const Buffer& buffer) {
  first_ += buffer.frames;
  if (!remembers_ || !buffer.has_definitions) return;
  for_each_unit(buffer.bytes, [this](const Unit& unit, std::size_t) {
    if (unit.type != ClientFrame::define) return;
    Reader reader(unit.body);
    definitions_[static_cast<std::uint32_t>(reader.varint())].assign(unit.bytes.begin(), unit.bytes.end());
  });
}

void OutgoingFrames::drop() {
  handshake_.clear();
  handshake_written_ = 0;
  in_flight_ = tail_ = Buffer();
  written_ = again_bytes_ = 0;
  again_.clear();
}

void OutgoingFrames::set_keeping(bool on) {
  keeps_ = on;
  for (const Buffer& buffer : std::exchange(kept_, {})) forget(buffer);
  kept_bytes_ = 0;
}

void OutgoingFrames::acknowledge(std::uint64_t frames) {
  acknowledged_ = std::max(acknowledged_, frames);
  while (!kept_.empty() && first_ + kept_.front().frames <= acknowledged_) {
    forget(kept_.front());
    kept_bytes_ -= kept_.front().bytes.size();
    give_back(std::move(kept_.front().bytes));
    kept_.pop_front();
  }
}

void OutgoingFrames::cut() {
  handshake_.clear();
  handshake_written_ = 0;
  is_open_ = false;
  if (in_flight_.bytes.empty()) return;
  std::size_t end = in_flight_.done_bytes;
  while (end < in_flight_.bytes.size()) {
    const std::size_t size = frame_size(ByteView(in_flight_.bytes).subspan(end));
    if (end + size > written_) break;
    end += size;
    ++in_flight_.done_frames;
  }
  in_flight_.done_bytes = end;
  again_bytes_ += in_flight_.bytes.size() - end;
  again_.push_front(std::exchange(in_flight_, Buffer()));
  written_ = 0;
}

bool OutgoingFrames::resume(std::uint64_t frames) {
  std::uint64_t written = first_ + (again_.empty() ? 0 : again_.front().done_frames);
  for (const Buffer& buffer : kept_) written += buffer.frames;
  if (frames < acknowledged_ || frames < first_ || frames > written) return false;
  acknowledge(frames);
  // What is written once more: what is kept, and the front of what is to be written.
  if (!again_.empty()) {
    again_bytes_ += again_.front().done_bytes;
    again_.front().done_bytes = again_.front().done_frames = 0;
  }
  while (!kept_.empty()) {
    again_bytes_ += kept_.back().bytes.size();
    again_.push_front(std::move(kept_.back()));
    kept_.pop_back();
  }
  kept_bytes_ = 0;
  if (again_.empty()) return true;
  Buffer& front = again_.front();
  while (first_ + front.done_frames < frames) {
    front.done_bytes += frame_size(ByteView(front.bytes).subspan(front.done_bytes));
    ++front.done_frames;
  }
  again_bytes_ -= front.done_bytes;
  return true;
}

void OutgoingFrames::start_anew(const Visit& written, const Visit& unsent) {
  const auto definitions = std::exchange(definitions_, {});
  for (const auto& [handle, frame] : definitions) {
    written({ClientFrame::define, ByteView(frame).subspan(kFrameHeadBytes), frame});
  }
  const std::deque<Buffer> kept = std::exchange(kept_, {});
  const std::deque<Buffer> again = std::exchange(again_, {});
  const Buffer tail = std::exchange(tail_, Buffer());
  first_ = acknowledged_ = again_bytes_ = kept_bytes_ = 0;
  is_holding_ = false;
  const auto visit = [&](const Buffer& buffer, std::size_t written_bytes) {
    for_each_unit(buffer.bytes,
                  [&](const Unit& unit, std::size_t end) { end <= written_bytes ? written(unit) : unsent(unit); });
  };
  for (const Buffer& buffer : kept) visit(buffer, buffer.bytes.size());
  for (const Buffer& buffer : again) visit(buffer, buffer.done_bytes);
  visit(tail, 0);
}

}  // namespace spindle::protocol
