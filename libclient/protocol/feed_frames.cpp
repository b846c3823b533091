#include "libclient/protocol/feed_frames.h"

#include <algorithm>

#include "libclient/common/feed_bundle.h"
#include "libclient/common/growing_writer.h"
#include "libclient/common/names.h"
#include "libclient/protocol/append_frame.h"

namespace spindle::protocol {

namespace {

void append(std::vector<std::uint8_t>& out, ClientFrame type, const GrowingWriter& body) {
  append_frame(out, type, body.size()).bytes(body.view());
}

FeedNumber read_number(Reader& reader) {
  const auto number = static_cast<FeedNumber>(reader.varint_up_to(UINT32_MAX));
  if (number == 0) reader.fail();
  return number;
}

template <typename Enum>
Enum read_enum(Reader& reader, Enum last) {
  const std::uint8_t value = reader.u8();
  if (value > static_cast<std::uint8_t>(last)) reader.fail();
  return reader.ok() ? static_cast<Enum>(value) : Enum{};
}

struct NewsWriter {
  std::vector<std::uint8_t>& out;

  void operator()(const FeedReady& ready) const {
    GrowingWriter body;
    body.u32(ready.request);
    body.varint(ready.feed);
    body.varint(ready.room);
    append(out, ClientFrame::feed_ready, body);
  }
  void operator()(const FeedRoom& room) const {
    GrowingWriter body;
    body.varint(room.feed);
    body.varint(room.bytes);
    append(out, ClientFrame::feed_room, body);
  }
  void operator()(const FeedFlow& flow) const {
    GrowingWriter body;
    body.varint(flow.feed);
    body.varint(flow.bytes_per_second);
    body.varint(flow.round_trip_us);
    body.u16(flow.loss);
    body.u8(static_cast<std::uint8_t>(flow.limited_by));
    append(out, ClientFrame::feed_flow, body);
  }
  void operator()(const FeedOpened& opened) const {
    GrowingWriter body;
    body.varint(opened.feed);
    body.varint(opened.repair_for_us);
    body.short_string(opened.group);
    body.short_string(opened.source);
    body.u8(opened.is_new ? 1 : 0);
    append(out, ClientFrame::feed_opened, body);
  }
  void operator()(const FeedPacket& packet) const {
    const std::size_t length = varint_size(packet.feed) + varint_size(packet.sequence) + 1 + packet.payload.size();
    Writer writer = append_frame(out, ClientFrame::feed_packet, length);
    writer.varint(packet.feed);
    writer.varint(packet.sequence);
    writer.u8(packet.flags);
    writer.bytes(packet.payload);
  }
  void operator()(const FeedGap& gap) const {
    GrowingWriter body;
    body.varint(gap.feed);
    body.varint(gap.first);
    body.varint(gap.count);
    body.u8(static_cast<std::uint8_t>(gap.cause));
    append(out, ClientFrame::feed_gap, body);
  }
  void operator()(const FeedEnded& ended) const {
    GrowingWriter body;
    body.varint(ended.feed);
    body.u8(static_cast<std::uint8_t>(ended.why));
    append(out, ClientFrame::feed_end, body);
  }
};

FeedReady read_ready(Reader& reader) {
  FeedReady ready;
  ready.request = reader.u32();
  ready.feed = read_number(reader);
  ready.room = reader.varint();
  return ready;
}

FeedRoom read_room(Reader& reader) {
  FeedRoom room;
  room.feed = read_number(reader);
  room.bytes = reader.varint();
  return room;
}

FeedFlow read_flow(Reader& reader) {
  FeedFlow flow;
  flow.feed = read_number(reader);
  flow.bytes_per_second = reader.varint();
  flow.round_trip_us = reader.varint();
  flow.loss = reader.u16();
  flow.limited_by = read_enum(reader, kFeedLimitLast);
  return flow;
}

FeedOpened read_opened(Reader& reader) {
  FeedOpened opened;
  opened.feed = read_number(reader);
  opened.repair_for_us = reader.varint_up_to(kRepairForMaxUs);
  opened.group = reader.short_string();
  opened.source = reader.short_string();
  const std::uint8_t is_new = reader.u8();
  if (is_new > 1) reader.fail();
  opened.is_new = is_new == 1;
  if (!is_group_name(opened.group) || !parse_private_name(opened.source)) reader.fail();
  return opened;
}

FeedPacket read_packet(Reader& reader) {
  FeedPacket packet;
  packet.feed = read_number(reader);
  packet.sequence = reader.varint_up_to(kFeedSequenceMax);
  packet.flags = reader.u8();
  packet.payload = reader.rest();
  constexpr std::uint8_t kWhole = FeedPacket::kFirst | FeedPacket::kLast;
  constexpr std::uint8_t kBundle = kWhole | FeedPacket::kBundle;
  if ((packet.flags > kWhole && packet.flags != kBundle) || packet.payload.empty()) reader.fail();
  if (packet.flags == kBundle && !is_bundle(packet.payload)) reader.fail();
  if (packet.payload.size() > kFeedPacketBytesMax) reader.fail();
  return packet;
}

FeedGap read_gap_of_feed(Reader& reader) {
  FeedGap gap;
  gap.feed = read_number(reader);
  gap.first = reader.varint_up_to(kFeedSequenceMax);
  gap.count = reader.varint_up_to(kFeedSequenceMax);
  gap.cause = read_enum(reader, kFeedGapCauseLast);
  if (gap.count == 0) reader.fail();
  return gap;
}

FeedEnded read_end(Reader& reader) {
  FeedEnded ended;
  ended.feed = read_number(reader);
  ended.why = read_enum(reader, kFeedEndLast);
  return ended;
}

}  // namespace

// --- From the client ---

void write_feed_open(std::vector<std::uint8_t>& out, const FeedOpen& open) {
  GrowingWriter body;
  body.u32(open.request);
  body.short_string(open.group);
  body.varint(open.repair_for_us);
  body.varint(open.bytes_per_second_max);
  append(out, ClientFrame::feed_open, body);
}

void write_feed_send(std::vector<std::uint8_t>& out, const FeedSend& send) {
  write_feed_send_head(out, send.feed, send.payload.size());
  out.insert(out.end(), send.payload.begin(), send.payload.end());
}

void write_feed_send_head(std::vector<std::uint8_t>& out, FeedNumber feed, std::size_t payload_bytes) {
  const std::size_t size = kFrameHeadBytes + varint_size(feed);
  out.resize(out.size() + size);
  Writer writer(out.data() + out.size() - size);
  write_frame_head(writer, static_cast<std::uint8_t>(ClientFrame::feed_send), varint_size(feed) + payload_bytes);
  writer.varint(feed);
}

void write_feed_close(std::vector<std::uint8_t>& out, const FeedClose& close) {
  append_frame(out, ClientFrame::feed_close, varint_size(close.feed)).varint(close.feed);
}

void write_listen(std::vector<std::uint8_t>& out, ClientFrame type, const GroupRequest& request) {
  GrowingWriter body;
  body.u32(request.request);
  body.short_string(request.group);
  append(out, type, body);
}

std::optional<FeedOpen> read_feed_open(ByteView body) {
  Reader reader(body);
  FeedOpen open;
  open.request = reader.u32();
  open.group = reader.short_string();
  open.repair_for_us = reader.varint_up_to(kRepairForMaxUs);
  open.bytes_per_second_max = reader.varint();
  return reader.done() ? std::optional(open) : std::nullopt;
}

std::optional<FeedSend> read_feed_send(ByteView body) {
  Reader reader(body);
  FeedSend send;
  send.feed = read_number(reader);
  send.payload = reader.rest();
  const bool fits = !send.payload.empty() && send.payload.size() <= kFeedMessageBytesMax;
  return reader.done() && fits ? std::optional(send) : std::nullopt;
}

std::optional<FeedClose> read_feed_close(ByteView body) {
  Reader reader(body);
  const FeedClose close{read_number(reader)};
  return reader.done() ? std::optional(close) : std::nullopt;
}

std::optional<GroupRequest> read_listen(ByteView body) {
  Reader reader(body);
  GroupRequest request;
  request.request = reader.u32();
  request.group = reader.short_string();
  return reader.done() ? std::optional(request) : std::nullopt;
}

// --- From the daemon ---

void write_feed_news(std::vector<std::uint8_t>& out, const FeedNews& news) { std::visit(NewsWriter{out}, news); }

std::optional<FeedNews> read_feed_news(ClientFrame type, ByteView body) {
  Reader reader(body);
  const auto whole = [&reader](const auto& news) {
    return reader.done() ? std::optional<FeedNews>(news) : std::nullopt;
  };
  switch (type) {
    case ClientFrame::feed_ready:
      return whole(read_ready(reader));
    case ClientFrame::feed_room:
      return whole(read_room(reader));
    case ClientFrame::feed_flow:
      return whole(read_flow(reader));
    case ClientFrame::feed_opened:
      return whole(read_opened(reader));
    case ClientFrame::feed_packet:
      return whole(read_packet(reader));
    case ClientFrame::feed_gap:
      return whole(read_gap_of_feed(reader));
    case ClientFrame::feed_end:
      return whole(read_end(reader));
    default:
      return std::nullopt;
  }
}

}  // namespace spindle::protocol
