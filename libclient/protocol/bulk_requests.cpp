#include "libclient/protocol/bulk_requests.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "libclient/common/names.h"
#include "libclient/common/utf8.h"
#include "libclient/protocol/append_frame.h"

namespace spindle::protocol {

namespace {

// Of a `bulk_offered`.
constexpr std::uint8_t kLate = 1;
constexpr std::uint8_t kComplete = 2;
constexpr std::uint8_t kSealed = 4;
// Of a `bulk_complete`.
constexpr std::uint8_t kMore = 1;

void append(std::vector<std::uint8_t>& out, ClientFrame type, const GrowingWriter& body) {
  append_frame(out, type, body.size()).bytes(body.view());
}

/// A number up to `last`.
template <typename Enum>
Enum read_enum(Reader& reader, Enum first, Enum last) {
  const std::uint8_t value = reader.u8();
  if (value < static_cast<std::uint8_t>(first) || value > static_cast<std::uint8_t>(last)) reader.fail();
  return reader.ok() ? static_cast<Enum>(value) : first;
}

std::string read_group(Reader& reader) {
  const std::string_view name = reader.short_string();
  if (!is_group_name(name)) reader.fail();
  return std::string(name);
}

std::string read_private_name(Reader& reader) {
  const std::string_view name = reader.short_string();
  if (!parse_private_name(name)) reader.fail();
  return std::string(name);
}

std::uint32_t read_number(Reader& reader) { return static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX)); }

GroupViewId read_place(Reader& reader) {
  GroupViewId place;
  place.view_number = reader.varint();
  place.coordinator = reader.short_string();
  place.incarnation = reader.u64();
  place.position = reader.varint();
  if (!is_daemon_name(place.coordinator)) reader.fail();
  return place;
}

// --- Requests ---

struct RequestBody {
  GrowingWriter& body;

  void operator()(const BulkOffer& offer) const {
    body.varint(offer.request);
    body.short_string(offer.group);
    write_terms(body, offer.terms);
  }
  void operator()(const BulkSeal& seal) const {
    body.varint(seal.request);
    write_channel(body, seal.channel);
    body.varint(seal.size);
    body.bytes(seal.root);
  }
  void operator()(const BulkOutcomeSaid& said) const {
    body.varint(said.request);
    write_channel(body, said.channel);
    write_outcome(body, said.outcome, said.code);
  }
  void operator()(const BulkCancel& cancel) const {
    body.varint(cancel.request);
    write_channel(body, cancel.channel);
  }
  void operator()(const BulkSetRate& rate) const {
    body.varint(rate.request);
    write_channel(body, rate.channel);
    body.varint(rate.bytes_per_second);
  }
  void operator()(const BulkTokenRequest& request) const { body.varint(request.request); }
};

BulkOffer read_offer(Reader& reader) {
  BulkOffer offer;
  offer.request = read_number(reader);
  offer.group = read_group(reader);
  offer.terms = read_terms(reader);
  return offer;
}

BulkSeal read_seal(Reader& reader) {
  BulkSeal seal;
  seal.request = read_number(reader);
  seal.channel = bulk::read_channel_id(reader);
  seal.size = reader.varint_up_to(bulk::kContentBytesMax);
  seal.root = read_root(reader);
  return seal;
}

BulkOutcomeSaid read_outcome_said(Reader& reader) {
  BulkOutcomeSaid said;
  said.request = read_number(reader);
  said.channel = bulk::read_channel_id(reader);
  said.outcome = read_outcome(reader, said.code);
  if (said.outcome == BulkOutcome::none) reader.fail();
  return said;
}

BulkCancel read_cancel(Reader& reader) {
  BulkCancel cancel;
  cancel.request = read_number(reader);
  cancel.channel = bulk::read_channel_id(reader);
  return cancel;
}

BulkSetRate read_set_rate(Reader& reader) {
  BulkSetRate rate;
  rate.request = read_number(reader);
  rate.channel = bulk::read_channel_id(reader);
  rate.bytes_per_second = reader.varint();
  return rate;
}

// --- News ---

void write_offered(std::vector<std::uint8_t>& out, const BulkOffered& offered) {
  GrowingWriter body;
  write_channel(body, offered.channel);
  body.varint(offered.request);
  body.u8(static_cast<std::uint8_t>((offered.is_late ? kLate : 0) | (offered.is_complete ? kComplete : 0) |
                                    (offered.root ? kSealed : 0)));
  body.short_string(offered.group);
  body.short_string(offered.source);
  write_terms(body, offered.terms);
  if (offered.root) body.bytes(*offered.root);
  append(out, ClientFrame::bulk_offered, body);
}

BulkOffered read_offered(Reader& reader) {
  BulkOffered offered;
  offered.channel = bulk::read_channel_id(reader);
  offered.request = read_number(reader);
  const std::uint8_t flags = reader.u8();
  if (flags > (kLate | kComplete | kSealed)) reader.fail();
  offered.is_late = (flags & kLate) != 0;
  offered.is_complete = (flags & kComplete) != 0;
  offered.group = read_group(reader);
  offered.source = read_private_name(reader);
  offered.terms = read_terms(reader);
  if ((flags & kSealed) != 0) offered.root = read_root(reader);
  // Only what is whole has a root, and only that is ever complete.
  if (offered.root ? !offered.terms.layout.has_size() : offered.is_complete) reader.fail();
  return offered;
}

void write_sealed(std::vector<std::uint8_t>& out, const BulkSealed& sealed) {
  GrowingWriter body;
  write_channel(body, sealed.channel);
  body.varint(sealed.size);
  body.bytes(sealed.root);
  append(out, ClientFrame::bulk_sealed, body);
}

BulkSealed read_sealed(Reader& reader) {
  BulkSealed sealed;
  sealed.channel = bulk::read_channel_id(reader);
  sealed.size = reader.varint_up_to(bulk::kContentBytesMax);
  sealed.root = read_root(reader);
  return sealed;
}

void write_gone(GrowingWriter& body, const BulkGone& gone) {
  for (const std::uint64_t count : {gone.done, gone.failed, gone.refused, gone.missing}) body.varint(count);
}

BulkGone read_gone(Reader& reader) {
  BulkGone gone;
  for (std::uint64_t* count : {&gone.done, &gone.failed, &gone.refused, &gone.missing}) *count = reader.varint();
  return gone;
}

/// The names of a `bulk_complete`, cut into frames: those that are done, those that have failed, those that have
/// refused, each behind the outcome.
class CompleteWriter {
 public:
  CompleteWriter(std::vector<std::uint8_t>& out, const BulkComplete& complete) : out_(out), complete_(complete) {}

  void write() {
    for (const std::string& name : complete_.done) add(name, BulkOutcome::done, 0);
    for (const BulkComplete::Failed& failed : complete_.failed) add(failed.name, BulkOutcome::failed, failed.code);
    for (const std::string& name : complete_.refused) add(name, BulkOutcome::refused, 0);
    end_frame(false);
  }

 private:
  void add(std::string_view name, BulkOutcome outcome, std::uint16_t code) {
    if (names_.size() > kBulkCompleteBytesMax) end_frame(true);
    write_outcome(names_, outcome, code);
    names_.short_string(name);
    ++count_;
  }
  void end_frame(bool more) {
    GrowingWriter body;
    write_channel(body, complete_.channel);
    body.u8(more ? kMore : 0);
    body.varint(complete_.place.view_number);
    body.short_string(complete_.place.coordinator);
    body.u64(complete_.place.incarnation);
    body.varint(complete_.place.position);
    write_gone(body, complete_.gone);
    body.varint(count_);
    body.bytes(names_.view());
    append(out_, ClientFrame::bulk_complete, body);
    names_ = {};
    count_ = 0;
  }

  std::vector<std::uint8_t>& out_;
  const BulkComplete& complete_;
  GrowingWriter names_;
  std::uint64_t count_ = 0;
};

BulkComplete read_complete(Reader& reader, bool& more) {
  BulkComplete complete;
  complete.channel = bulk::read_channel_id(reader);
  const std::uint8_t flags = reader.u8();
  if (flags > kMore) reader.fail();
  more = (flags & kMore) != 0;
  complete.place = read_place(reader);
  complete.gone = read_gone(reader);
  const std::uint64_t count = reader.varint();
  BulkOutcome last = BulkOutcome::done;
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    std::uint16_t code = 0;
    const BulkOutcome outcome = read_outcome(reader, code);
    std::string name = read_private_name(reader);
    if (outcome < last || outcome > BulkOutcome::refused) reader.fail();
    last = outcome;
    if (outcome == BulkOutcome::done) {
      complete.done.push_back(std::move(name));
    } else if (outcome == BulkOutcome::failed) {
      complete.failed.push_back({std::move(name), code});
    } else {
      complete.refused.push_back(std::move(name));
    }
  }
  return complete;
}

BulkEnded read_ended(Reader& reader) {
  BulkEnded ended;
  ended.channel = bulk::read_channel_id(reader);
  ended.why = read_enum(reader, BulkEnd::cancelled, kBulkEndLast);
  return ended;
}

BulkReturned read_returned(Reader& reader) {
  BulkReturned returned;
  returned.channel = bulk::read_channel_id(reader);
  returned.gone = read_gone(reader);
  returned.present = reader.varint_up_to(returned.gone.missing);
  return returned;
}

BulkToken read_token(Reader& reader) {
  BulkToken token;
  token.request = read_number(reader);
  token.session = reader.u64();
  const ByteView bytes = reader.bytes(BulkToken::kBytes);
  std::copy(bytes.begin(), bytes.end(), token.token.begin());
  return token;
}

struct NewsWriter {
  std::vector<std::uint8_t>& out;

  void operator()(const BulkOffered& offered) const { write_offered(out, offered); }
  void operator()(const BulkSealed& sealed) const { write_sealed(out, sealed); }
  void operator()(const BulkComplete& complete) const { CompleteWriter(out, complete).write(); }
  void operator()(const BulkEnded& ended) const {
    GrowingWriter body;
    write_channel(body, ended.channel);
    body.u8(static_cast<std::uint8_t>(ended.why));
    append(out, ClientFrame::bulk_ended, body);
  }
  void operator()(const BulkToken& token) const {
    GrowingWriter body;
    body.varint(token.request);
    body.u64(token.session);
    body.bytes(token.token);
    append(out, ClientFrame::bulk_token, body);
  }
  void operator()(const BulkReturned& returned) const {
    GrowingWriter body;
    write_channel(body, returned.channel);
    write_gone(body, returned.gone);
    body.varint(returned.present);
    append(out, ClientFrame::bulk_returned, body);
  }
};

}  // namespace

// --- Parts of frames ---

void write_channel(GrowingWriter& writer, const BulkChannelId& channel) {
  Writer room = writer.room(bulk::channel_id_size(channel));
  bulk::write_channel_id(room, channel);
}

void write_terms(GrowingWriter& writer, const ContentTerms& terms) {
  writer.short_string(terms.name);
  Writer room = writer.room(bulk::layout_size(terms.layout));
  bulk::write_layout(room, terms.layout);
  writer.u8(static_cast<std::uint8_t>(terms.kind));
  writer.varint(terms.bytes_per_second);
  writer.u8(terms.weight);
  writer.varint(terms.linger_s);
}

ContentTerms read_terms(Reader& reader) {
  ContentTerms terms;
  terms.name = reader.short_string();
  terms.layout = bulk::read_layout(reader);
  terms.kind = read_enum(reader, ContentKind::bytes, kContentKindLast);
  terms.bytes_per_second = reader.varint();
  terms.weight = reader.u8();
  terms.linger_s = read_number(reader);
  if (!is_utf8(terms.name) || terms.weight == 0 || terms.weight > kChannelWeightMax) reader.fail();
  return terms;
}

ContentRoot read_root(Reader& reader) {
  ContentRoot root{};
  const ByteView bytes = reader.bytes(root.size());
  std::copy(bytes.begin(), bytes.end(), root.begin());
  return root;
}

void write_outcome(GrowingWriter& writer, BulkOutcome outcome, std::uint16_t code) {
  writer.u8(static_cast<std::uint8_t>(outcome));
  if (outcome == BulkOutcome::failed) writer.u16(code);
}

BulkOutcome read_outcome(Reader& reader, std::uint16_t& code) {
  const BulkOutcome outcome = read_enum(reader, BulkOutcome::none, kBulkOutcomeLast);
  code = outcome == BulkOutcome::failed ? reader.u16() : std::uint16_t{0};
  return outcome;
}

// --- Frames ---

void BulkComplete::append(BulkComplete&& more) {
  std::move(more.done.begin(), more.done.end(), std::back_inserter(done));
  std::move(more.failed.begin(), more.failed.end(), std::back_inserter(failed));
  std::move(more.refused.begin(), more.refused.end(), std::back_inserter(refused));
}

ClientFrame type_of(const BulkRequest& request) {
  return static_cast<ClientFrame>(static_cast<std::size_t>(ClientFrame::bulk_offer) + request.index());
}

std::uint32_t number_of(const BulkRequest& request) {
  return std::visit([](const auto& known) { return known.request; }, request);
}

void set_number(BulkRequest& request, std::uint32_t number) {
  std::visit([number](auto& known) { known.request = number; }, request);
}

void write_bulk_request(std::vector<std::uint8_t>& out, const BulkRequest& request) {
  GrowingWriter body;
  std::visit(RequestBody{body}, request);
  append(out, type_of(request), body);
}

void write_bulk_news(std::vector<std::uint8_t>& out, const BulkNews& news) { std::visit(NewsWriter{out}, news); }

std::optional<BulkRequest> read_bulk_request(ClientFrame type, ByteView body) {
  Reader reader(body);
  std::optional<BulkRequest> request;
  switch (type) {
    case ClientFrame::bulk_offer:
      request = read_offer(reader);
      break;
    case ClientFrame::bulk_seal:
      request = read_seal(reader);
      break;
    case ClientFrame::bulk_outcome:
      request = read_outcome_said(reader);
      break;
    case ClientFrame::bulk_cancel:
      request = read_cancel(reader);
      break;
    case ClientFrame::bulk_set_rate:
      request = read_set_rate(reader);
      break;
    case ClientFrame::bulk_token_request:
      request = BulkTokenRequest{read_number(reader)};
      break;
    default:
      return std::nullopt;
  }
  return reader.done() ? std::move(request) : std::nullopt;
}

std::optional<BulkNews> read_bulk_news(ClientFrame type, ByteView body, bool& more) {
  Reader reader(body);
  more = false;
  std::optional<BulkNews> news;
  switch (type) {
    case ClientFrame::bulk_offered:
      news = read_offered(reader);
      break;
    case ClientFrame::bulk_sealed:
      news = read_sealed(reader);
      break;
    case ClientFrame::bulk_complete:
      news = read_complete(reader, more);
      break;
    case ClientFrame::bulk_ended:
      news = read_ended(reader);
      break;
    case ClientFrame::bulk_token:
      news = read_token(reader);
      break;
    case ClientFrame::bulk_returned:
      news = read_returned(reader);
      break;
    default:
      return std::nullopt;
  }
  return reader.done() ? std::move(news) : std::nullopt;
}

}  // namespace spindle::protocol
