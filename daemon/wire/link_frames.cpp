#include "daemon/wire/link_frames.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "daemon/base/check.h"
#include "libclient/common/names.h"

namespace spindled {

using spindle::varint_size;

namespace {

constexpr std::uint8_t kFirstBit = 0x08;
constexpr std::uint8_t kLastBit = 0x10;
constexpr std::uint8_t kAfterBit = 0x20;

/// What a body carries, and the bits 0-2 and 6-7 of its `kind` that say so. Of 32 values those that are not here are
/// free for classes to come.
struct BodyKind {
  unsigned bits;
  MessageClass message_class;
  Service service;
};
constexpr BodyKind kBodyKinds[] = {
    {0x00, MessageClass::client, Service::unreliable}, {0x01, MessageClass::client, Service::reliable},
    {0x02, MessageClass::client, Service::fifo},       {0x03, MessageClass::client, Service::causal},
    {0x04, MessageClass::client, Service::agreed},     {0x05, MessageClass::client, Service::safe},
    {0x44, MessageClass::group, Service::agreed},      {0x81, MessageClass::order, Service::reliable},
    {0xc1, MessageClass::part, Service::reliable},
};
static_assert(std::all_of(std::begin(kBodyKinds), std::end(kBodyKinds), [](const BodyKind& each) {
  return is_unreliable_kind(each.bits) == (each.service == Service::unreliable) &&
         is_client_kind(each.bits) ==
             (each.message_class == MessageClass::client || each.message_class == MessageClass::part);
}));
/// The five bits together.
constexpr std::size_t body_kind_index(unsigned bits) { return (bits >> 6 & 3) << 3 | (bits & 7); }

constexpr std::size_t kServices = 8;  // with room for two more

/// By body_kind_index: one more than the place in kBodyKinds; 0: no class has these bits.
constexpr auto kByBits = [] {
  std::array<std::uint8_t, 32> places{};
  std::uint8_t place = 0;
  for (const BodyKind& each : kBodyKinds) places[body_kind_index(each.bits)] = ++place;
  return places;
}();

/// By class and service: the bits; 0xff: the class does not go with the service.
constexpr auto kBits = [] {
  std::array<std::uint8_t, kMessageClasses * kServices> bits{};
  bits.fill(0xff);
  for (const BodyKind& each : kBodyKinds) {
    bits[static_cast<std::size_t>(each.message_class) * kServices + static_cast<std::size_t>(each.service)] =
        static_cast<std::uint8_t>(each.bits);
  }
  return bits;
}();

/// Nothing where no class has these bits.
const BodyKind* find_body_kind(unsigned bits) {
  const std::uint8_t place = kByBits[body_kind_index(bits)];
  return place == 0 ? nullptr : &kBodyKinds[place - 1];
}

unsigned body_kind_bits(MessageClass message_class, Service service) {
  const unsigned bits = kBits[static_cast<std::size_t>(message_class) * kServices + static_cast<std::size_t>(service)];
  SPINDLE_CHECK(bits != 0xff);
  return bits;
}

/// More of a reason than this helps nobody.
constexpr std::size_t kCloseTextBytesMax = 1024;

std::size_t view_id_size(const ViewId& id) { return varint_size(id.number) + 1 + id.coordinator.size() + 8; }

void put_view_id(Writer& writer, const ViewId& id) {
  writer.varint(id.number);
  writer.short_string(id.coordinator);
  writer.u64(id.incarnation);
}

ViewId take_view_id(Reader& reader) {
  ViewId id;
  id.number = reader.varint();
  const std::string_view coordinator = reader.short_string();
  id.incarnation = reader.u64();
  if (!spindle::is_daemon_name(coordinator)) reader.fail();
  if (reader.ok()) id.coordinator = coordinator;
  return id;
}

MemberIndex take_member(Reader& reader) { return static_cast<MemberIndex>(reader.varint_up_to(kMembersMax - 1)); }

/// The bytes of an encoded set, not empty and checked: most readers of a body never need it decoded.
ByteView take_encoded_set(Reader& reader) {
  const std::size_t before = reader.remaining();
  Reader ahead = reader;
  const MemberSet set = MemberSet::read(ahead);
  if (!ahead.ok() || set.empty()) {
    reader.fail();
    return {};
  }
  return reader.bytes(before - ahead.remaining());
}

std::size_t write_pair(std::uint8_t* out, MemberIndex from, std::uint64_t line) {
  Writer writer(out);
  writer.varint(from);
  writer.varint(line);
  return writer.size();
}

/// Whether `bytes` make sense.
bool fill(Body& body, ByteView bytes) {
  Reader reader(bytes);
  const std::uint8_t kind = reader.u8();
  body.head.origin = take_member(reader);
  body.head.number = reader.varint();
  body.destinations = take_encoded_set(reader);
  if ((kind & kAfterBit) != 0) {
    const std::uint64_t back = reader.varint();
    if (back == 0 || back >= body.head.number) return false;
    body.head.after = body.head.number - back;
  }
  const BodyKind* what = find_body_kind(kind);
  if (!reader.ok() || what == nullptr) return false;
  body.head.service = what->service;
  body.head.message_class = what->message_class;
  body.head.first = (kind & kFirstBit) != 0;
  body.head.last = (kind & kLastBit) != 0;
  if (what->message_class == MessageClass::part && !(body.head.first && body.head.last)) return false;
  if (has_seen(body.head)) body.head.seen = reader.varint();
  if (!reader.ok() || (body.head.number == 0) != (body.head.service == Service::unreliable)) return false;
  body.content_offset = bytes.size() - reader.remaining();
  return true;
}

}  // namespace

std::string to_string(const ViewId& id) { return std::to_string(id.number) + "@" + id.coordinator; }

std::size_t body_head_size(const BodyHead& head, const MemberSet& destinations) {
  return 1 + varint_size(head.origin) + varint_size(head.number) + destinations.encoded_size() +
         (head.after == 0 ? 0 : varint_size(head.number - head.after)) + (has_seen(head) ? varint_size(head.seen) : 0);
}

void write_body_head(Writer& writer, const BodyHead& head, const MemberSet& destinations) {
  SPINDLE_CHECK((head.number == 0) == (head.service == Service::unreliable));
  SPINDLE_CHECK(!destinations.empty());
  SPINDLE_CHECK(head.after == 0 || head.after < head.number);
  SPINDLE_CHECK(head.seen == 0 || has_seen(head));
  unsigned kind = body_kind_bits(head.message_class, head.service);
  if (head.first) kind |= kFirstBit;
  if (head.last) kind |= kLastBit;
  if (head.after != 0) kind |= kAfterBit;
  writer.u8(static_cast<std::uint8_t>(kind));
  writer.varint(head.origin);
  writer.varint(head.number);
  destinations.write(writer);
  if (head.after != 0) writer.varint(head.number - head.after);
  if (has_seen(head)) writer.varint(head.seen);
}

std::optional<Body> read_body(ByteView bytes) {
  // Filled in where it is returned: a copy right after small writes waits for each of them.
  std::optional<Body> body(std::in_place);
  if (!fill(*body, bytes)) body.reset();
  return body;
}

MemberSet read_destinations(const Body& body) {
  Reader reader(body.destinations);
  MemberSet set = MemberSet::read(reader);
  SPINDLE_CHECK(reader.done());
  return set;
}

std::size_t write_acknowledgement(std::uint8_t* out, const Acknowledgement& acknowledgement) {
  return write_pair(out, acknowledgement.from, acknowledgement.high);
}

std::size_t write_stable(std::uint8_t* out, const Stable& stable) { return write_pair(out, stable.from, stable.line); }

std::size_t write_ready(std::uint8_t* out, const Ready& ready) { return write_pair(out, ready.from, ready.line); }

std::size_t push_size(const Push& push) { return view_id_size(push.proposal) + view_id_size(push.old_view); }

void write_push(Writer& writer, const Push& push) {
  put_view_id(writer, push.proposal);
  put_view_id(writer, push.old_view);
}

std::optional<Acknowledgement> read_acknowledgement(ByteView bytes) {
  Reader reader(bytes);
  Acknowledgement acknowledgement;
  acknowledgement.from = take_member(reader);
  acknowledgement.high = reader.varint();
  if (!reader.done()) return std::nullopt;
  return acknowledgement;
}

std::optional<Stable> read_stable(ByteView bytes) {
  Reader reader(bytes);
  Stable stable;
  stable.from = take_member(reader);
  stable.line = reader.varint();
  if (!reader.done()) return std::nullopt;
  return stable;
}

std::optional<Ready> read_ready(ByteView bytes) {
  Reader reader(bytes);
  Ready ready;
  ready.from = take_member(reader);
  ready.line = reader.varint();
  if (!reader.done()) return std::nullopt;
  return ready;
}

std::optional<Push> read_push(ByteView bytes, ByteView& rest) {
  Reader reader(bytes);
  Push push;
  push.proposal = take_view_id(reader);
  push.old_view = take_view_id(reader);
  if (!reader.ok()) return std::nullopt;
  rest = reader.rest();
  return push;
}

std::vector<std::uint8_t> write_view_id(const ViewId& id) {
  std::vector<std::uint8_t> bytes(view_id_size(id));
  Writer writer(bytes.data());
  put_view_id(writer, id);
  return bytes;
}

std::optional<ViewId> read_view_id(ByteView bytes) {
  Reader reader(bytes);
  ViewId id = take_view_id(reader);
  if (!reader.done()) return std::nullopt;
  return id;
}

std::vector<std::uint8_t> write_price(const Price& price) {
  using spindle::kVarintBytesMax;
  const bool of_clients = !price.name.empty();
  std::vector<std::uint8_t> bytes(2 + 3 * kVarintBytesMax + 1 + price.name.size() + 4 + 1 + price.slowest.size());
  Writer writer(bytes.data());
  writer.u16(price.view);
  writer.varint(std::uint64_t{price.from} << 1 | (of_clients ? 1 : 0));
  if (of_clients) {
    writer.short_string(price.name);
  } else {
    writer.varint(price.neighbour);
  }
  writer.varint(price.sequence);
  writer.u16(price.level);
  writer.u16(price.delay);
  if (of_clients) writer.short_string(price.slowest);
  bytes.resize(writer.size());
  return bytes;
}

std::optional<Price> read_price(ByteView bytes) {
  Reader reader(bytes);
  Price price;
  price.view = reader.u16();
  const std::uint64_t from = reader.varint();
  if (from >> 1 >= kMembersMax) return std::nullopt;
  price.from = static_cast<MemberIndex>(from >> 1);
  if ((from & 1) != 0) {
    price.name = reader.short_string();
    if (!reader.ok() || !spindle::is_destination_name(price.name)) return std::nullopt;
  } else {
    price.neighbour = take_member(reader);
  }
  price.sequence = reader.varint();
  price.level = reader.u16();
  price.delay = reader.u16();
  if (!price.name.empty()) {
    price.slowest = reader.short_string();
    if (!price.slowest.empty() && !spindle::is_client_name(price.slowest)) return std::nullopt;
  }
  if (!reader.done() || price.sequence == 0 || price.delay == 0) return std::nullopt;
  return price;
}

namespace {
constexpr double kLevelsPerFold = 2048;
constexpr double kLevelOffset = 8;
constexpr double kLevelMax = 0xffff;
}  // namespace

std::uint16_t level_of(double dollars) {
  if (dollars <= 0) return 0;
  const double level = 1 + kLevelsPerFold * (std::log(dollars) + kLevelOffset);
  return static_cast<std::uint16_t>(std::lround(std::clamp(level, 1.0, kLevelMax)));
}

double dollars_of(std::uint16_t level) {
  return level == 0 ? 0 : std::exp((level - 1) / kLevelsPerFold - kLevelOffset);
}

std::uint16_t price_delay_of(Duration delay) {
  const auto units = (delay + kPriceDelayUnit - 1ns) / kPriceDelayUnit;
  return static_cast<std::uint16_t>(std::clamp<Duration::rep>(units, 1, 0xffff));
}

std::optional<Ping> read_ping(ByteView bytes) {
  Reader reader(bytes);
  Ping ping;
  ping.token = reader.u64();
  if (!reader.done()) return std::nullopt;
  return ping;
}

std::vector<std::uint8_t> write_link_close(const LinkClose& close) {
  const std::string_view text = std::string_view(close.text).substr(0, kCloseTextBytesMax);
  std::vector<std::uint8_t> bytes(2 + text.size());
  Writer writer(bytes.data());
  writer.u16(close.code);
  writer.bytes(spindle::as_bytes(text));
  return bytes;
}

std::optional<LinkClose> read_link_close(ByteView bytes) {
  Reader reader(bytes);
  LinkClose close;
  close.code = reader.u16();
  const std::string_view text = spindle::as_text(reader.rest());
  if (!reader.done() || text.size() > kCloseTextBytesMax) return std::nullopt;
  close.text = text;
  // The text goes into this side's log: a peer must not be able to begin a line there.
  std::replace_if(
      close.text.begin(), close.text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return close;
}

}  // namespace spindled
