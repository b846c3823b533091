#include "daemon/group/operations.h"

#include "libclient/common/limits.h"
#include "libclient/common/names.h"

namespace spindled {

using spindle::Reader;
using spindle::varint_size;
using spindle::Writer;

namespace {

constexpr std::uint8_t kSelfDiscard = 1;
constexpr std::uint8_t kBundle = 2;
constexpr std::uint8_t kAhead = 4;
constexpr std::uint8_t kFifo = 8;
constexpr std::uint8_t kViews = 16;
constexpr std::uint8_t kHeaders = 32;

// Of a group that is announced.
constexpr std::uint8_t kSynchronous = 1;
constexpr std::uint8_t kPending = 2;

enum class Code : std::uint8_t {
  subscribe = 1,
  unsubscribe = 2,
  join = 3,
  leave = 4,
  disconnect = 5,
  announce = 6,
  table_state = 7,
  flushed = 8
};

/// Grows as it is written to: operations are rare and their sizes many.
class Builder {
 public:
  explicit Builder(Code code) { out_.push_back(static_cast<std::uint8_t>(code)); }
  Builder& varint(std::uint64_t value) {
    std::uint8_t bytes[spindle::kVarintBytesMax];
    Writer writer(bytes);
    writer.varint(value);
    out_.insert(out_.end(), bytes, bytes + writer.size());
    return *this;
  }
  Builder& u8(std::uint8_t value) {
    out_.push_back(value);
    return *this;
  }
  Builder& string(std::string_view text) {
    out_.push_back(static_cast<std::uint8_t>(text.size()));
    out_.insert(out_.end(), text.begin(), text.end());
    return *this;
  }
  std::vector<std::uint8_t> take() { return std::move(out_); }

 private:
  std::vector<std::uint8_t> out_;
};

struct OperationWriter {
  std::vector<std::uint8_t> operator()(const Subscribe& op) { return Builder(Code::subscribe).string(op.group).take(); }
  std::vector<std::uint8_t> operator()(const Unsubscribe& op) {
    return Builder(Code::unsubscribe).string(op.group).take();
  }
  std::vector<std::uint8_t> operator()(const JoinGroup& op) {
    Builder builder(Code::join);
    builder.string(op.group).varint(op.session).string(op.client).u8(op.synchronous ? 1 : 0);
    return builder.take();
  }
  std::vector<std::uint8_t> operator()(const LeaveGroup& op) {
    return Builder(Code::leave).string(op.group).varint(op.session).take();
  }
  std::vector<std::uint8_t> operator()(const Disconnect& op) {
    return Builder(Code::disconnect).varint(op.session).take();
  }
  std::vector<std::uint8_t> operator()(const Flushed& op) {
    return Builder(Code::flushed).string(op.group).varint(op.round).take();
  }
  std::vector<std::uint8_t> operator()(const TableState& op) {
    Builder builder(Code::table_state);
    builder.varint(op.groups).varint(op.next_id).varint(op.digest);
    builder.varint(op.signalled.size() << 1U | (op.more ? 1U : 0U));
    for (const std::string& group : op.signalled) builder.string(group);
    return builder.take();
  }
  std::vector<std::uint8_t> operator()(const Announce& op) {
    Builder builder(Code::announce);
    builder.varint(op.groups.size() << 1U | (op.more ? 1U : 0U));
    for (const Announce::Group& group : op.groups) {
      builder.string(group.name).varint(group.id);
      builder.u8(static_cast<std::uint8_t>((group.synchronous ? kSynchronous : 0) | (group.is_pending ? kPending : 0)));
      builder.varint(group.members.size());
      for (const Announce::Member& member : group.members) {
        builder.varint(member.session).string(member.client);
        if (group.is_pending) builder.u8(member.is_newcomer ? 1 : 0);
      }
    }
    return builder.take();
  }
};

bool read_flag(Reader& reader) {
  const std::uint8_t value = reader.u8();
  if (value > 1) reader.fail();
  return value == 1;
}

TableState read_table_state(Reader& reader) {
  TableState state;
  state.groups = reader.varint();
  state.next_id = reader.varint();
  state.digest = reader.varint();
  const std::uint64_t head = reader.varint();
  state.more = (head & 1U) != 0;
  for (std::uint64_t i = 0; i < head >> 1U && reader.ok(); ++i) {
    std::string group = read_group_name(reader);
    if (!state.signalled.empty() && group <= state.signalled.back()) reader.fail();
    state.signalled.push_back(std::move(group));
  }
  return state;
}

Announce read_announce(Reader& reader) {
  Announce announce;
  const std::uint64_t head = reader.varint();
  const std::uint64_t groups = head >> 1U;
  announce.more = (head & 1U) != 0;
  for (std::uint64_t i = 0; i < groups && reader.ok(); ++i) {
    Announce::Group group;
    group.name = read_group_name(reader);
    if (!announce.groups.empty() && group.name <= announce.groups.back().name) reader.fail();
    group.id = reader.varint();
    const std::uint8_t mode = reader.u8();
    if (mode > (kSynchronous | kPending) || mode == kPending) reader.fail();
    group.synchronous = (mode & kSynchronous) != 0;
    group.is_pending = (mode & kPending) != 0;
    const std::uint64_t members = reader.varint();
    if (members == 0) reader.fail();
    for (std::uint64_t j = 0; j < members && reader.ok(); ++j) {
      Announce::Member& member = group.members.emplace_back();
      member.session = reader.varint();
      member.client = read_client_name(reader);
      member.is_newcomer = group.is_pending && read_flag(reader);
    }
    announce.groups.push_back(std::move(group));
  }
  return announce;
}

}  // namespace

std::vector<std::uint8_t> write_targets(const std::vector<Envelope::Target>& targets, bool has_views) {
  std::size_t size = varint_size(targets.size());
  for (const Envelope::Target& target : targets) {
    size += varint_size(target.group) + (target.group == 0 ? 1 + target.name.size() : 0);
    if (has_views) size += varint_size(target.view);
  }
  std::vector<std::uint8_t> out(size);
  Writer writer(out.data());
  writer.varint(targets.size());
  for (const Envelope::Target& target : targets) {
    writer.varint(target.group);
    if (target.group == 0) writer.short_string(target.name);
  }
  if (!has_views) return out;
  for (const Envelope::Target& target : targets) writer.varint(target.view);
  return out;
}

void write_envelope(std::vector<std::uint8_t>& out, const Envelope& envelope, ByteView targets) {
  const bool has_parts = envelope.parts != 0;
  out.resize(varint_size(envelope.session) + 1 + envelope.sender.size() + 3 + varint_size(envelope.total) +
             (has_parts ? varint_size(envelope.parts) + varint_size(envelope.ahead) : 0) + targets.size());
  Writer writer(out.data());
  writer.varint(envelope.session);
  writer.short_string(envelope.sender);
  writer.u16(envelope.type);
  writer.u8(static_cast<std::uint8_t>((envelope.self_discard ? kSelfDiscard : 0) | (envelope.bundle ? kBundle : 0) |
                                      (has_parts ? kAhead : 0) | (envelope.is_fifo ? kFifo : 0) |
                                      (envelope.has_views ? kViews : 0) | (envelope.has_headers ? kHeaders : 0)));
  writer.varint(envelope.total);
  if (has_parts) {
    writer.varint(envelope.parts);
    writer.varint(envelope.ahead);
  }
  writer.bytes(targets);
}

std::size_t read_envelope(ByteView content, Envelope& envelope) {
  Reader reader(content);
  envelope.session = reader.varint();
  envelope.sender = reader.short_string();
  envelope.type = reader.u16();
  const std::uint8_t flags = reader.u8();
  envelope.self_discard = (flags & kSelfDiscard) != 0;
  envelope.bundle = (flags & kBundle) != 0;
  envelope.is_fifo = (flags & kFifo) != 0;
  envelope.has_views = (flags & kViews) != 0;
  envelope.has_headers = (flags & kHeaders) != 0;
  envelope.total = static_cast<std::uint32_t>(reader.varint_up_to(spindle::kMessageBytesMax));
  const bool has_parts = (flags & kAhead) != 0;
  envelope.parts = has_parts ? reader.varint() : 0;
  envelope.ahead = has_parts ? static_cast<std::uint32_t>(reader.varint_up_to(envelope.total)) : 0;
  const std::uint64_t count = reader.varint_up_to(spindle::kGroupsPerMessageMax);
  envelope.targets.clear();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    Envelope::Target target;
    target.group = reader.varint();
    if (target.group == 0) target.name = reader.short_string();
    envelope.targets.push_back(target);
  }
  for (std::size_t i = 0; envelope.has_views && i < envelope.targets.size(); ++i) {
    envelope.targets[i].view = reader.varint();
  }
  const bool is_consistent = (!envelope.bundle || (envelope.type == 0 && envelope.total == 0 && !has_parts)) &&
                             has_parts == (envelope.parts != 0);
  const bool valid = reader.ok() && (flags & ~(kSelfDiscard | kBundle | kAhead | kFifo | kViews | kHeaders)) == 0 &&
                     is_consistent && spindle::is_client_name(envelope.sender);
  return valid ? content.size() - reader.remaining() : 0;
}

std::vector<std::uint8_t> write_part_head(std::uint64_t number, std::uint32_t total) {
  std::vector<std::uint8_t> out(varint_size(number) + varint_size(total));
  Writer writer(out.data());
  writer.varint(number);
  writer.varint(total);
  return out;
}

std::optional<Part> read_part(ByteView content) {
  Reader reader(content);
  Part part;
  part.number = reader.varint();
  part.total = static_cast<std::uint32_t>(reader.varint_up_to(spindle::kMessageBytesMax));
  if (!reader.ok() || part.number == 0) return std::nullopt;
  part.payload = content.subspan(content.size() - reader.remaining());
  const bool ends = part.total == 0;
  if (ends != part.payload.empty() || (!ends && part.payload.size() >= part.total)) return std::nullopt;
  return part;
}

std::string read_group_name(Reader& reader) {
  const std::string_view name = reader.short_string();
  if (!spindle::is_group_name(name)) reader.fail();
  return std::string(name);
}

std::string read_client_name(Reader& reader) {
  const std::string_view name = reader.short_string();
  if (!spindle::is_client_name(name)) reader.fail();
  return std::string(name);
}

std::vector<std::uint8_t> write_operation(const GroupOperation& operation) {
  return std::visit(OperationWriter{}, operation);
}

std::optional<GroupOperation> read_operation(ByteView content) {
  Reader reader(content);
  std::optional<GroupOperation> operation;
  switch (static_cast<Code>(reader.u8())) {
    case Code::subscribe:
      operation = Subscribe{read_group_name(reader)};
      break;
    case Code::unsubscribe:
      operation = Unsubscribe{read_group_name(reader)};
      break;
    case Code::join: {
      JoinGroup join;
      join.group = read_group_name(reader);
      join.session = reader.varint();
      join.client = read_client_name(reader);
      join.synchronous = read_flag(reader);
      operation = std::move(join);
      break;
    }
    case Code::leave: {
      LeaveGroup leave;
      leave.group = read_group_name(reader);
      leave.session = reader.varint();
      operation = std::move(leave);
      break;
    }
    case Code::disconnect:
      operation = Disconnect{reader.varint()};
      break;
    case Code::flushed: {
      Flushed flushed;
      flushed.group = read_group_name(reader);
      flushed.round = reader.varint();
      operation = std::move(flushed);
      break;
    }
    case Code::table_state:
      operation = read_table_state(reader);
      break;
    case Code::announce:
      operation = read_announce(reader);
      break;
  }
  if (!operation || !reader.done()) return std::nullopt;
  return operation;
}

}  // namespace spindled
