#include "daemon/channel/channel_operations.h"

#include "libclient/common/growing_writer.h"
#include "libclient/common/names.h"

namespace spindled {

namespace protocol = spindle::protocol;
using spindle::GrowingWriter;
using spindle::Reader;

namespace {

// Of a channel that is known.
constexpr std::uint8_t kSourceGone = 1;
constexpr std::uint8_t kSealed = 2;
constexpr std::uint8_t kComplete = 4;

// --- Writing ---

void write_receivers(GrowingWriter& out, const ChannelReceivers& receivers) {
  out.varint(receivers.size());
  for (const ChannelReceiver& each : receivers) {
    out.varint(each.daemon);
    out.varint(each.session);
    protocol::write_outcome(out, each.outcome, each.code);
  }
}

void write_counts(GrowingWriter& out, const OutcomeCounts& counts) {
  out.varint(counts.done);
  out.varint(counts.failed);
  out.varint(counts.refused);
}

void write_gone(GrowingWriter& out, const ChannelGone& gone) {
  write_counts(out, gone.said);
  write_counts(out, gone.said_since);
  out.varint(gone.missing.size());
  for (const MissingReceiver& each : gone.missing) {
    out.short_string(each.daemon.name);
    out.u64(each.daemon.incarnation);
    out.varint(each.session);
  }
}

void write_known(GrowingWriter& out, const Channel& channel) {
  protocol::write_channel(out, channel.id);
  out.short_string(channel.group);
  out.varint(channel.source);
  out.short_string(channel.client);
  protocol::write_terms(out, channel.terms);
  out.u8(static_cast<std::uint8_t>((channel.source_is_gone ? kSourceGone : 0) | (channel.root ? kSealed : 0) |
                                   (channel.is_complete ? kComplete : 0)));
  if (channel.root) out.bytes(*channel.root);
  write_receivers(out, channel.audience);
  write_receivers(out, channel.others);
  write_gone(out, channel.gone);
}

struct OperationWriter {
  GrowingWriter& out;

  void operator()(const ChannelOffered& op) const {
    protocol::write_channel(out, op.id);
    out.short_string(op.group);
    out.varint(op.session);
    out.short_string(op.client);
    protocol::write_terms(out, op.terms);
  }
  void operator()(const ChannelSealed& op) const {
    protocol::write_channel(out, op.id);
    out.varint(op.size);
    out.bytes(op.root);
  }
  void operator()(const ChannelProgress& op) const {
    out.varint(op.channels.size());
    for (const ChannelProgress::OfChannel& channel : op.channels) {
      protocol::write_channel(out, channel.id);
      out.varint(channel.said.size());
      for (const ChannelProgress::Said& said : channel.said) {
        out.varint(said.session);
        protocol::write_outcome(out, said.outcome, said.code);
      }
    }
  }
  void operator()(const ChannelCancelled& op) const { protocol::write_channel(out, op.id); }
  void operator()(const ChannelEnded& op) const {
    protocol::write_channel(out, op.id);
    out.u8(static_cast<std::uint8_t>(op.why));
  }
  void operator()(const ChannelRateSet& op) const {
    protocol::write_channel(out, op.id);
    out.varint(op.bytes_per_second);
  }
  void operator()(const ChannelSourceGone& op) const { out.varint(op.session); }
  void operator()(const ChannelsKnown& op) const {
    spindle::Writer side = out.room(op.side.encoded_size());
    op.side.write(side);
    out.varint(op.channels.size() << 1U | (op.more ? 1U : 0U));
    for (const Channel& channel : op.channels) write_known(out, channel);
  }
};

// --- Reading ---

ChannelOffered read_offered(Reader& reader) {
  ChannelOffered offered;
  offered.id = spindle::bulk::read_channel_id(reader);
  offered.group = read_group_name(reader);
  offered.session = reader.varint();
  offered.client = read_client_name(reader);
  offered.terms = protocol::read_terms(reader);
  return offered;
}

ChannelSealed read_sealed(Reader& reader) {
  ChannelSealed sealed;
  sealed.id = spindle::bulk::read_channel_id(reader);
  sealed.size = reader.varint_up_to(spindle::bulk::kContentBytesMax);
  sealed.root = protocol::read_root(reader);
  return sealed;
}

ChannelProgress read_progress(Reader& reader) {
  ChannelProgress progress;
  const std::uint64_t channels = reader.varint();
  if (channels == 0) reader.fail();
  for (std::uint64_t i = 0; i < channels && reader.ok(); ++i) {
    ChannelProgress::OfChannel channel;
    channel.id = spindle::bulk::read_channel_id(reader);
    if (!progress.channels.empty() && channel.id <= progress.channels.back().id) reader.fail();
    const std::uint64_t count = reader.varint();
    if (count == 0) reader.fail();
    for (std::uint64_t j = 0; j < count && reader.ok(); ++j) {
      ChannelProgress::Said said;
      said.session = reader.varint();
      said.outcome = protocol::read_outcome(reader, said.code);
      if (said.outcome == BulkOutcome::none) reader.fail();
      if (!channel.said.empty() && said.session <= channel.said.back().session) reader.fail();
      channel.said.push_back(said);
    }
    progress.channels.push_back(std::move(channel));
  }
  return progress;
}

ChannelEnded read_ended(Reader& reader) {
  ChannelEnded ended;
  ended.id = spindle::bulk::read_channel_id(reader);
  const std::uint8_t why = reader.u8();
  if (why != static_cast<std::uint8_t>(BulkEnd::over) && why != static_cast<std::uint8_t>(BulkEnd::abandoned)) {
    reader.fail();
  }
  ended.why = static_cast<BulkEnd>(why);
  return ended;
}

ChannelReceivers read_receivers(Reader& reader) {
  ChannelReceivers receivers;
  const std::uint64_t count = reader.varint();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    ChannelReceiver each;
    each.daemon = static_cast<MemberIndex>(reader.varint_up_to(kMembersMax - 1));
    each.session = reader.varint();
    each.outcome = protocol::read_outcome(reader, each.code);
    const bool is_behind = receivers.empty() || std::pair(receivers.back().daemon, receivers.back().session) <
                                                    std::pair(each.daemon, each.session);
    if (!is_behind) reader.fail();
    receivers.push_back(each);
  }
  return receivers;
}

OutcomeCounts read_counts(Reader& reader) {
  OutcomeCounts counts;
  for (std::uint64_t* each : {&counts.done, &counts.failed, &counts.refused}) *each = reader.varint_up_to(UINT32_MAX);
  return counts;
}

ChannelGone read_gone(Reader& reader) {
  ChannelGone gone;
  gone.said = read_counts(reader);
  gone.said_since = read_counts(reader);
  const std::uint64_t count = reader.varint();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    MissingReceiver each;
    each.daemon.name = reader.short_string();
    each.daemon.incarnation = reader.u64();
    each.session = reader.varint();
    if (!spindle::is_daemon_name(each.daemon.name)) reader.fail();
    if (!gone.missing.empty() && each <= gone.missing.back()) reader.fail();
    gone.missing.push_back(std::move(each));
  }
  return gone;
}

Channel read_known(Reader& reader) {
  Channel channel;
  channel.id = spindle::bulk::read_channel_id(reader);
  channel.group = read_group_name(reader);
  channel.source = reader.varint();
  channel.client = read_client_name(reader);
  channel.terms = protocol::read_terms(reader);
  const std::uint8_t flags = reader.u8();
  if (flags > (kSourceGone | kSealed | kComplete)) reader.fail();
  channel.source_is_gone = (flags & kSourceGone) != 0;
  channel.is_complete = (flags & kComplete) != 0;
  if ((flags & kSealed) != 0) channel.root = protocol::read_root(reader);
  if (channel.root ? !channel.terms.layout.has_size() : channel.is_complete) reader.fail();
  channel.audience = read_receivers(reader);
  channel.others = read_receivers(reader);
  channel.gone = read_gone(reader);
  return channel;
}

ChannelsKnown read_channels_known(Reader& reader) {
  ChannelsKnown known;
  known.side = MemberSet::read(reader);
  if (known.side.empty()) reader.fail();
  const std::uint64_t head = reader.varint();
  known.more = (head & 1U) != 0;
  for (std::uint64_t i = 0; i < head >> 1U && reader.ok(); ++i) {
    Channel channel = read_known(reader);
    if (!known.channels.empty() && channel.id <= known.channels.back().id) reader.fail();
    known.channels.push_back(std::move(channel));
  }
  return known;
}

template <std::size_t index>
using OperationAt = std::variant_alternative_t<index, ChannelOperation>;

static_assert(std::is_same_v<OperationAt<7>, ChannelsKnown>, "the numbers below are those of the variant");

}  // namespace

std::vector<std::uint8_t> write_channel_operation(const ChannelOperation& operation) {
  GrowingWriter out;
  std::visit(OperationWriter{out}, operation);
  return out.take();
}

std::optional<ChannelOperation> read_channel_operation(std::uint8_t number, ByteView content) {
  Reader reader(content);
  std::optional<ChannelOperation> operation;
  switch (number - kChannelOperationMin) {
    case 0:
      operation = read_offered(reader);
      break;
    case 1:
      operation = read_sealed(reader);
      break;
    case 2:
      operation = read_progress(reader);
      break;
    case 3:
      operation = ChannelCancelled{spindle::bulk::read_channel_id(reader)};
      break;
    case 4:
      operation = read_ended(reader);
      break;
    case 5: {
      ChannelRateSet rate;
      rate.id = spindle::bulk::read_channel_id(reader);
      rate.bytes_per_second = reader.varint();
      operation = rate;
      break;
    }
    case 6:
      operation = ChannelSourceGone{reader.varint()};
      break;
    case 7:
      operation = read_channels_known(reader);
      break;
    default:
      return std::nullopt;
  }
  return reader.done() ? std::move(operation) : std::nullopt;
}

}  // namespace spindled
