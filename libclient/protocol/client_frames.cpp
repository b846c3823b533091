#include "libclient/protocol/client_frames.h"

#include <algorithm>

#include "libclient/protocol/append_frame.h"
#include "libclient/protocol/header_block.h"
#include "libclient/protocol/send_head.h"

namespace spindle::protocol {

namespace {

constexpr std::uint8_t kServiceMask = 0x07;
constexpr std::uint8_t kServiceMax = 5;
/// In the form of a view.
constexpr std::uint8_t kSynchronousFormBit = 0x80;

using Names = std::vector<std::string_view>;

std::size_t short_size(std::string_view text) { return 1 + text.size(); }

std::size_t names_size(std::span<const std::string_view> names) {
  std::size_t size = varint_size(names.size());
  for (const std::string_view name : names) size += short_size(name);
  return size;
}

void write_names(Writer& writer, const Names& names) {
  writer.varint(names.size());
  for (const std::string_view name : names) writer.short_string(name);
}

// Reads `count` names that all pass `valid`. Every name takes a byte at least, so a count that the bytes at hand cannot
// hold is refused before anything is allocated for it.
template <typename Valid>
Names read_counted_names(Reader& reader, std::uint64_t count, Valid valid) {
  Names names;
  if (count > reader.remaining()) {
    reader.fail();
    return names;
  }
  names.reserve(count);
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::string_view name = reader.short_string();
    if (reader.ok() && !valid(name)) reader.fail();
    names.push_back(name);
  }
  return names;
}

Names read_counted_clients(Reader& reader, std::uint64_t count) {
  return read_counted_names(reader, count, [](std::string_view name) { return parse_private_name(name).has_value(); });
}

Names read_clients(Reader& reader) { return read_counted_clients(reader, reader.varint()); }

/// Whether a view has only what goes with its form and cause.
bool is_consistent(const GroupViewFrame& view) {
  if (view.cause != ViewCause::network && !view.apart.empty()) return false;
  switch (view.form) {
    case ViewForm::full:
    case ViewForm::change:
      return true;
    case ViewForm::answer:
      return view.joined.empty() && view.left.empty() && view.apart.empty();
    case ViewForm::farewell:
      return view.cause == ViewCause::leave && view.joined.empty() && view.left.size() == 1 && view.member_count == 0 &&
             view.digest == 0;
  }
  return false;
}

std::size_t view_id_size(const GroupViewId& id) {
  return varint_size(id.view_number) + short_size(id.coordinator) + 8 + varint_size(id.position);
}

void write_view_id(Writer& writer, const GroupViewId& id) {
  writer.varint(id.view_number);
  writer.short_string(id.coordinator);
  writer.u64(id.incarnation);
  writer.varint(id.position);
}

GroupViewId read_view_id(Reader& reader) {
  GroupViewId id;
  id.view_number = reader.varint();
  id.coordinator = reader.short_string();
  id.incarnation = reader.u64();
  id.position = reader.varint();
  return id;
}

void write_view_content(Writer& writer, const GroupViewFrame& view) {
  writer.short_string(view.group);
  write_view_id(writer, view.id);
  writer.u8(static_cast<std::uint8_t>(view.cause));
  writer.u8(static_cast<std::uint8_t>(view.form) | (view.synchronous ? kSynchronousFormBit : 0));
  writer.u64(view.digest);
  write_names(writer, view.joined);
  write_names(writer, view.left);
  write_names(writer, view.apart);
  if (has_members(view.form)) {
    write_names(writer, view.members);
  } else {
    writer.varint(view.member_count);
  }
}

/// Without the chunk.
std::size_t message_body_size(std::uint32_t total, std::size_t packed_names_bytes, std::size_t place_bytes) {
  return 1 + 2 + varint_size(total) + place_bytes + packed_names_bytes;
}

std::size_t send_body_size(const Send& send) { return varint_size(send.handle) + 1 + 2 + varint_size(send.total); }

/// A signed number as an unsigned one that is small where the number is, whatever its sign: 0, -1, 1, -2 as 0, 1, 2, 3.
std::uint64_t fold_sign(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unfold_sign(std::uint64_t folded) { return static_cast<std::int64_t>(folded >> 1 ^ -(folded & 1)); }

bool starts_with(ByteView bytes, ByteView start) {
  return bytes.size() >= start.size() && std::equal(start.begin(), start.end(), bytes.begin());
}

/// Whether `body` makes sense.
bool fill(PackedMessage& message, ByteView body, std::vector<std::uint8_t>* good_names) {
  Reader reader(body);
  const std::uint8_t flags = reader.u8();
  message.service = flags & static_cast<std::uint8_t>(~(kPlaceBit | kHeadersBit));
  message.has_headers = (flags & kHeadersBit) != 0;
  message.type = reader.u16();
  message.total = static_cast<std::uint32_t>(reader.varint_up_to(kMessageBytesMax));
  const std::size_t before_place = reader.remaining();
  if ((flags & kPlaceBit) != 0) {
    message.place.order = reader.varint();
    message.place.index = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
    if (!message.place.is_there()) return false;
  }
  const ByteView names = body.last(reader.remaining());
  const bool are_good = good_names != nullptr && !good_names->empty() && starts_with(names, *good_names);
  message.group_count = static_cast<std::uint16_t>(reader.varint_up_to(kGroupsPerMessageMax));
  message.sender = reader.short_string();
  const std::size_t before_groups = names.size() - reader.remaining();
  if (message.place.is_there()) {
    message.place_bytes = static_cast<std::uint8_t>(before_place - reader.remaining() - message.sender.size());
  }
  if (are_good) {
    message.groups = reader.bytes(good_names->size() - before_groups);
  } else {
    for (std::size_t i = 0; i < message.group_count && reader.ok(); ++i) {
      if (!is_destination_name(reader.short_string())) reader.fail();
    }
    if (!reader.ok() || message.group_count == 0 || !parse_private_name(message.sender)) return false;
    const ByteView checked = names.first(names.size() - reader.remaining());
    message.groups = checked.subspan(before_groups);
    if (good_names != nullptr) good_names->assign(checked.begin(), checked.end());
  }
  message.chunk = reader.rest();
  const bool chunk_fits = message.chunk.size() <= std::min<std::size_t>(message.total, kChunkBytesMax);
  const bool is_complete = !message.chunk.empty() || message.total == 0;
  if (message.has_headers && header_block_size(message.chunk) == 0) return false;
  return reader.ok() && message.service <= kServiceMax && chunk_fits && is_complete;
}

}  // namespace

void write_define(std::vector<std::uint8_t>& out, const Define& define) {
  Writer writer = append_frame(out, ClientFrame::define, varint_size(define.handle) + names_size(define.groups));
  writer.varint(define.handle);
  write_names(writer, define.groups);
}

void write_group_request(std::vector<std::uint8_t>& out, ClientFrame type, const GroupRequest& request) {
  const bool has_flags = type == ClientFrame::join;
  const std::size_t length = varint_size(request.request) + short_size(request.group) + (has_flags ? 1 : 0);
  Writer writer = append_frame(out, type, length);
  writer.varint(request.request);
  writer.short_string(request.group);
  if (has_flags) writer.u8(request.flags);
}

void write_bye(std::vector<std::uint8_t>& out) { append_frame(out, ClientFrame::bye, 0); }

void write_ping(std::vector<std::uint8_t>& out, ClientFrame type, std::uint64_t token) {
  append_frame(out, type, 8).u64(token);
}

void write_close(std::vector<std::uint8_t>& out, const Close& close) {
  const std::string_view text = close.text.substr(0, UINT16_MAX);
  Writer writer = append_frame(out, ClientFrame::close, 2 + 2 + text.size() + varint_size(close.taken));
  writer.u16(close.code);
  writer.u16(static_cast<std::uint16_t>(text.size()));
  writer.bytes(as_bytes(text));
  writer.varint(close.taken);
}

std::size_t view_bytes(const GroupViewFrame& view) {
  const std::size_t members_size = has_members(view.form) ? names_size(view.members) : varint_size(view.member_count);
  return short_size(view.group) + view_id_size(view.id) + 1 + 1 + 8 + names_size(view.joined) + names_size(view.left) +
         names_size(view.apart) + members_size;
}

void write_view(std::vector<std::uint8_t>& out, const GroupViewFrame& view) {
  const std::size_t length = view_bytes(view);
  if (length <= kViewPartBytesMax) {
    Writer writer = append_frame(out, ClientFrame::view, length);
    return write_view_content(writer, view);
  }
  std::vector<std::uint8_t> content(length);
  Writer writer(content.data());
  write_view_content(writer, view);
  out.reserve(out.size() + length + (length / kViewPartBytesMax + 1) * kFrameHeadBytes);
  ByteView rest(content);
  for (; rest.size() > kViewPartBytesMax; rest = rest.subspan(kViewPartBytesMax)) {
    append_frame(out, ClientFrame::view_part, kViewPartBytesMax).bytes(rest.first(kViewPartBytesMax));
  }
  append_frame(out, ClientFrame::view, rest.size()).bytes(rest);
}

void write_taken(std::vector<std::uint8_t>& out, std::uint64_t messages) {
  append_frame(out, ClientFrame::taken, varint_size(messages)).varint(messages);
}

void write_received(std::vector<std::uint8_t>& out, ClientFrame type, std::uint64_t frames) {
  append_frame(out, type, varint_size(frames)).varint(frames);
}

bool has_place(std::uint8_t first) { return (first & kPlaceBit) != 0; }

void write_order_view(std::vector<std::uint8_t>& out, const GroupViewId& change) {
  Writer writer = append_frame(out, ClientFrame::order_view, view_id_size(change));
  write_view_id(writer, change);
}

void write_transitional(std::vector<std::uint8_t>& out, std::string_view group) {
  append_frame(out, ClientFrame::transitional, short_size(group)).short_string(group);
}

void write_going(std::vector<std::uint8_t>& out, std::uint32_t milliseconds) {
  append_frame(out, ClientFrame::going, varint_size(milliseconds)).varint(milliseconds);
}

void write_flush(std::vector<std::uint8_t>& out, ClientFrame type, const Flush& flush) {
  Writer writer = append_frame(out, type, varint_size(flush.request) + short_size(flush.group));
  writer.varint(flush.request);
  writer.short_string(flush.group);
}

void write_reply(std::vector<std::uint8_t>& out, const Reply& reply) {
  Writer writer = append_frame(out, ClientFrame::reply, varint_size(reply.request) + 2);
  writer.varint(reply.request);
  writer.u16(reply.code);
}

void write_flow_request(std::vector<std::uint8_t>& out, const FlowRequest& request) {
  Writer writer =
      append_frame(out, ClientFrame::flow_request, varint_size(request.request) + varint_size(request.handle));
  writer.varint(request.request);
  writer.varint(request.handle);
}

void write_confirm(std::vector<std::uint8_t>& out, std::uint32_t request) {
  append_frame(out, ClientFrame::confirm, varint_size(request)).varint(request);
}

void write_confirmed(std::vector<std::uint8_t>& out, const Confirmed& confirmed) {
  Writer writer =
      append_frame(out, ClientFrame::confirmed, varint_size(confirmed.request) + varint_size(confirmed.taken));
  writer.varint(confirmed.request);
  writer.varint(confirmed.taken);
}

void write_admitted(std::vector<std::uint8_t>& out, const Admitted& admitted) {
  Writer writer = append_frame(out, ClientFrame::admitted, varint_size(admitted.handle) + varint_size(admitted.bytes));
  writer.varint(admitted.handle);
  writer.varint(admitted.bytes);
}

void write_flow_report(std::vector<std::uint8_t>& out, const FlowReport& report) {
  const std::string_view limit = report.limit.substr(0, kLimitBytesMax);
  const std::size_t length = varint_size(report.request) + varint_size(report.price) +
                             varint_size(fold_sign(report.budget)) + varint_size(report.period) +
                             varint_size(report.rate) + 2 + 2 + limit.size();
  Writer writer = append_frame(out, ClientFrame::flow, length);
  writer.varint(report.request);
  writer.varint(report.price);
  writer.varint(fold_sign(report.budget));
  writer.varint(report.period);
  writer.varint(report.rate);
  writer.u16(report.blocked);
  writer.u16(static_cast<std::uint16_t>(limit.size()));
  writer.bytes(as_bytes(limit));
}

void write_gap(std::vector<std::uint8_t>& out, const Gap& gap) {
  std::size_t names_size = varint_size(gap.names.size());
  for (const Gap::Name& each : gap.names) names_size += short_size(each.name) + varint_size(each.messages);
  Writer writer =
      append_frame(out, ClientFrame::gap,
                   varint_size(gap.messages) + varint_size(gap.bytes) + names_size + varint_size(gap.unlisted));
  writer.varint(gap.messages);
  writer.varint(gap.bytes);
  writer.varint(gap.names.size());
  for (const Gap::Name& each : gap.names) {
    writer.short_string(each.name);
    writer.varint(each.messages);
  }
  writer.varint(gap.unlisted);
}

void write_refused(std::vector<std::uint8_t>& out, const Refused& refused) {
  Writer writer = append_frame(out, ClientFrame::refused, 3 + varint_size(refused.messages) + short_size(refused.name));
  writer.u8(static_cast<std::uint8_t>(refused.what));
  writer.u16(refused.code);
  writer.varint(refused.messages);
  writer.short_string(refused.name);
}

void write_warning(std::vector<std::uint8_t>& out, const Warning& warning) {
  Writer writer =
      append_frame(out, ClientFrame::warning, 1 + varint_size(warning.bytes) + varint_size(warning.limit_bytes));
  writer.u8(warning.percent);
  writer.varint(warning.bytes);
  writer.varint(warning.limit_bytes);
}

std::size_t send_head_size(const Send& send) { return kFrameHeadBytes + send_body_size(send); }

void write_send_head(Writer& writer, const Send& send) { write_send_head_before(writer, send, send.chunk.size()); }

void write_send_head_before(Writer& writer, const Send& send, std::size_t chunk_bytes) {
  put_send_head(writer, send, chunk_bytes);
}

std::size_t packed_names_size(std::string_view sender, std::span<const std::string_view> groups) {
  return short_size(sender) + names_size(groups);
}

std::size_t message_frame_size(std::size_t payload, std::size_t packed_names_bytes, std::size_t place_bytes) {
  return kFrameHeadBytes + message_body_size(static_cast<std::uint32_t>(payload), packed_names_bytes, place_bytes) +
         payload;
}

std::size_t message_head_size(const MessageHead& message) {
  return kFrameHeadBytes +
         message_body_size(message.total, packed_names_size(message.sender, message.groups), place_size(message.place));
}

void write_message_head(Writer& writer, const MessageHead& message) {
  std::vector<std::uint8_t> names;
  pack_names(names, message.sender, message.groups);
  write_packed_head(writer, {message.service, message.type, message.total, names, message.chunk.size(), message.place,
                             place_size(message.place), message.has_headers});
}

// The number of groups stands before the sender, so that sender, groups and payload follow each other without a gap:
// the client refers to all three with one pointer.
void pack_names(std::vector<std::uint8_t>& out, std::string_view sender, std::span<const std::string_view> groups) {
  out.resize(packed_names_size(sender, groups));
  Writer writer(out.data());
  writer.varint(groups.size());
  writer.short_string(sender);
  for (const std::string_view group : groups) writer.short_string(group);
}

std::size_t packed_head_size(const PackedHead& message) {
  return kFrameHeadBytes + message_body_size(message.total, message.names.size(), message.place_bytes);
}

void write_packed_head(Writer& writer, const PackedHead& message) {
  Writer body = writer;
  body.u32(0);
  body.u8(static_cast<std::uint8_t>(message.service | (message.place.is_there() ? kPlaceBit : 0) |
                                    (message.has_headers ? kHeadersBit : 0)));
  body.u16(message.type);
  body.varint(message.total);
  if (message.place.is_there()) {
    body.varint(message.place.order);
    body.varint(message.place.index);
  }
  body.bytes(message.names);
  end_head(writer, ClientFrame::message, body, message.chunk_bytes);
}

std::optional<Define> read_define(ByteView body) {
  Reader reader(body);
  Define define;
  define.handle = static_cast<std::uint32_t>(reader.varint_up_to(kHandlesMax - 1));
  const std::uint64_t count = reader.varint_up_to(kGroupsPerMessageMax);
  define.groups = read_counted_names(reader, count, is_destination_name);
  if (!reader.done()) return std::nullopt;
  return define;
}

std::optional<Send> read_send(ByteView body) {
  Reader reader(body);
  std::optional<Send> result(std::in_place);
  Send& send = *result;
  send.handle = static_cast<std::uint32_t>(reader.varint_up_to(kHandlesMax - 1));
  const std::uint8_t flags = reader.u8();
  send.service = flags & kServiceMask;
  send.self_discard = (flags & kSelfDiscardBit) != 0;
  send.has_headers = (flags & kHeadersBit) != 0;
  send.type = reader.u16();
  send.total = static_cast<std::uint32_t>(reader.varint_up_to(kMessageBytesMax));
  send.chunk = reader.rest();
  const bool is_known = (flags & ~(kServiceMask | kSelfDiscardBit | kHeadersBit)) == 0 && send.service <= kServiceMax;
  if (!reader.ok() || !is_known || send.chunk.size() != std::min<std::size_t>(send.total, kChunkBytesMax) ||
      (send.has_headers && header_block_size(send.chunk) == 0)) {
    result.reset();
  }
  return result;
}

std::optional<GroupRequest> read_group_request(ClientFrame type, ByteView body) {
  Reader reader(body);
  GroupRequest request;
  request.request = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  request.group = reader.short_string();
  if (type == ClientFrame::join) request.flags = reader.u8();
  if (!reader.done() || (request.flags & ~kSynchronousBit) != 0) return std::nullopt;
  return request;
}

std::optional<std::uint64_t> read_ping(ByteView body) {
  Reader reader(body);
  const std::uint64_t token = reader.u64();
  if (!reader.done()) return std::nullopt;
  return token;
}

std::optional<Close> read_close(ByteView body) {
  Reader reader(body);
  Close close;
  close.code = reader.u16();
  close.text = as_text(reader.bytes(reader.u16()));
  close.taken = reader.varint();
  if (!reader.done()) return std::nullopt;
  return close;
}

std::optional<std::uint64_t> read_taken(ByteView body) {
  Reader reader(body);
  const std::uint64_t messages = reader.varint();
  if (!reader.done()) return std::nullopt;
  return messages;
}

std::optional<std::uint64_t> read_received(ByteView body) { return read_taken(body); }

std::optional<PackedMessage> read_packed_message(ByteView body, std::vector<std::uint8_t>* good_names) {
  // Filled in where it is returned: a copy right after small writes waits for each of them.
  std::optional<PackedMessage> message(std::in_place);
  if (!fill(*message, body, good_names)) message.reset();
  return message;
}

std::optional<MessageHead> read_message(ByteView body) {
  const std::optional<PackedMessage> packed = read_packed_message(body);
  if (!packed) return std::nullopt;
  MessageHead message;
  message.service = packed->service;
  message.type = packed->type;
  message.sender = packed->sender;
  message.total = packed->total;
  message.chunk = packed->chunk;
  message.place = packed->place;
  message.has_headers = packed->has_headers;
  Reader reader(packed->groups);
  message.groups = read_counted_names(reader, packed->group_count, [](std::string_view) { return true; });
  return message;
}

std::optional<GroupViewFrame> read_view(ByteView body) {
  Reader reader(body);
  GroupViewFrame view;
  view.group = reader.short_string();
  view.id = read_view_id(reader);
  const std::uint8_t cause = reader.u8();
  view.cause = static_cast<ViewCause>(cause);
  std::uint8_t form = reader.u8();
  view.synchronous = (form & kSynchronousFormBit) != 0;
  form &= static_cast<std::uint8_t>(~kSynchronousFormBit);
  view.form = static_cast<ViewForm>(form);
  view.digest = reader.u64();
  view.joined = read_clients(reader);
  view.left = read_clients(reader);
  view.apart = read_clients(reader);
  view.member_count = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  if (has_members(view.form)) view.members = read_counted_clients(reader, view.member_count);
  const bool known_cause =
      cause >= static_cast<std::uint8_t>(ViewCause::join) && cause <= static_cast<std::uint8_t>(ViewCause::network);
  const bool known_form = form <= static_cast<std::uint8_t>(ViewForm::farewell);
  if (!reader.done() || !known_cause || !known_form || !is_consistent(view)) return std::nullopt;
  if (!is_group_name(view.group) || !is_daemon_name(view.id.coordinator)) return std::nullopt;
  return view;
}

std::optional<GroupViewId> read_order_view(ByteView body) {
  Reader reader(body);
  GroupViewId change = read_view_id(reader);
  if (!reader.done() || !is_daemon_name(change.coordinator)) return std::nullopt;
  return change;
}

std::optional<std::string_view> read_transitional(ByteView body) {
  Reader reader(body);
  const std::string_view group = reader.short_string();
  if (!reader.done() || !is_group_name(group)) return std::nullopt;
  return group;
}

std::optional<std::uint32_t> read_going(ByteView body) { return read_confirm(body); }

std::optional<Flush> read_flush(ByteView body) {
  Reader reader(body);
  Flush flush;
  flush.request = reader.varint();
  flush.group = reader.short_string();
  if (!reader.done() || flush.request == 0 || !is_group_name(flush.group)) return std::nullopt;
  return flush;
}

std::optional<Reply> read_reply(ByteView body) {
  Reader reader(body);
  Reply reply;
  reply.request = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  reply.code = reader.u16();
  if (!reader.done()) return std::nullopt;
  return reply;
}

std::optional<FlowRequest> read_flow_request(ByteView body) {
  Reader reader(body);
  FlowRequest request;
  request.request = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  request.handle = static_cast<std::uint32_t>(reader.varint_up_to(kHandlesMax - 1));
  if (!reader.done()) return std::nullopt;
  return request;
}

std::optional<std::uint32_t> read_confirm(ByteView body) {
  Reader reader(body);
  const auto request = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  if (!reader.done()) return std::nullopt;
  return request;
}

std::optional<Confirmed> read_confirmed(ByteView body) {
  Reader reader(body);
  Confirmed confirmed;
  confirmed.request = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  confirmed.taken = reader.varint();
  if (!reader.done()) return std::nullopt;
  return confirmed;
}

std::optional<Admitted> read_admitted(ByteView body) {
  Reader reader(body);
  Admitted admitted;
  admitted.handle = static_cast<std::uint32_t>(reader.varint_up_to(kHandlesMax - 1));
  admitted.bytes = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  if (!reader.done() || admitted.bytes == 0) return std::nullopt;
  return admitted;
}

std::optional<FlowReport> read_flow_report(ByteView body) {
  Reader reader(body);
  FlowReport report;
  report.request = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  report.price = reader.varint();
  report.budget = unfold_sign(reader.varint());
  report.period = reader.varint_up_to(INT64_MAX / 1000);
  report.rate = reader.varint();
  report.blocked = reader.u16();
  report.limit = as_text(reader.bytes(reader.u16()));
  if (!reader.done() || report.blocked > kBlockedMax || report.limit.size() > kLimitBytesMax) return std::nullopt;
  return report;
}

std::optional<Gap> read_gap(ByteView body) {
  Reader reader(body);
  Gap gap;
  gap.messages = reader.varint();
  gap.bytes = reader.varint();
  const std::uint64_t count = reader.varint_up_to(kGapNamesMax);
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::string_view name = reader.short_string();
    const std::uint64_t messages = reader.varint_up_to(gap.messages);
    if (!is_destination_name(name) || messages == 0) reader.fail();
    gap.names.push_back({name, messages});
  }
  gap.unlisted = reader.varint_up_to(gap.messages);
  if (!reader.done() || gap.messages == 0) return std::nullopt;
  return gap;
}

std::optional<Refused> read_refused(ByteView body) {
  Reader reader(body);
  Refused refused;
  const std::uint8_t what = reader.u8();
  refused.what = static_cast<Refused::What>(what);
  refused.code = reader.u16();
  refused.messages = reader.varint();
  refused.name = reader.short_string();
  const bool is_of_messages = refused.what == Refused::What::messages;
  if (!reader.done() || what > static_cast<std::uint8_t>(Refused::What::join) || refused.code == 0 ||
      is_of_messages != (refused.messages != 0)) {
    return std::nullopt;
  }
  if (!(is_of_messages ? is_destination_name(refused.name) : is_group_name(refused.name))) return std::nullopt;
  return refused;
}

std::optional<Warning> read_warning(ByteView body) {
  Reader reader(body);
  Warning warning;
  warning.percent = reader.u8();
  warning.bytes = reader.varint();
  warning.limit_bytes = reader.varint();
  if (!reader.done() || warning.percent == 0 || warning.percent > 100) return std::nullopt;
  return warning;
}

}  // namespace spindle::protocol
