#include "daemon/overlay/control_channel.h"

namespace spindled {

namespace {

/// Under which counter the bytes of a control message fall.
Counter kind_of(const ControlMessage& message) {
  struct Kind {
    Counter operator()(const LinkHello&) const { return Counter::bytes_link_state; }
    Counter operator()(const LinkState&) const { return Counter::bytes_link_state; }
    Counter operator()(const LinkStateSummary&) const { return Counter::bytes_link_state; }
    Counter operator()(const PartitionOrder&) const { return Counter::bytes_link_state; }
    Counter operator()(const Propose&) const { return Counter::bytes_propose; }
    Counter operator()(const MemberState&) const { return Counter::bytes_member_state; }
    Counter operator()(const Refuse&) const { return Counter::bytes_propose; }
    Counter operator()(const Commit&) const { return Counter::bytes_commit; }
    Counter operator()(const Done&) const { return Counter::bytes_done; }
    Counter operator()(const Counts&) const { return Counter::bytes_done; }
    Counter operator()(const Received&) const { return Counter::bytes_done; }
    Counter operator()(const Install&) const { return Counter::bytes_install; }
  };
  return std::visit(Kind(), message);
}

}  // namespace

void ControlChannel::link_up(LinkId link) {
  const std::size_t index = static_cast<std::size_t>(link);
  if (neighbours_.size() <= index) neighbours_.resize(index + 1);
  neighbours_[index] = {.up = true, .parts = {}};
}

void ControlChannel::link_down(LinkId link) { neighbours_[static_cast<std::size_t>(link)] = {}; }

Slice ControlChannel::encode(const ControlMessage& message) {
  const std::vector<std::uint8_t> bytes = encode_control(message);
  if (bytes.size() > kControlMessageBytesMax) {  // only of what a peer has made up
    log_.error("a control message of {} bytes is not passed on: the limit is {}", bytes.size(),
               kControlMessageBytesMax);
    return {};
  }
  return context_.arena.copy(bytes);
}

void ControlChannel::send_encoded(LinkId link, const Slice& encoded, Counter kind) {
  if (encoded.empty()) return;
  links_.send_control(link, encoded);
  context_.counters.add(kind, kFrameHeadBytes + encoded.size());
}

void ControlChannel::send(LinkId link, const ControlMessage& message) {
  if (neighbours_[static_cast<std::size_t>(link)].up) send_encoded(link, encode(message), kind_of(message));
}

void ControlChannel::flood(const ControlMessage& message, std::optional<LinkId> except) {
  pass_on(encode(message), kind_of(message), except);
}

void ControlChannel::pass_on(const Slice& encoded, Counter kind, std::optional<LinkId> except) {
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    const LinkId link = static_cast<LinkId>(i);
    if (neighbours_[i].up && link != except) send_encoded(link, encoded, kind);
  }
}

Result<std::optional<Slice>> ControlChannel::add_part(LinkId link, const Slice& part) {
  const ByteView bytes = part.view();
  if (bytes.empty() || bytes[0] > 1) {
    return fail(Errc::malformed_frame, "a part of a control message could not be parsed");
  }
  std::vector<std::uint8_t>& parts = neighbours_[static_cast<std::size_t>(link)].parts;
  if (parts.size() + bytes.size() - 1 > kControlMessageBytesMax) {
    return fail(Errc::frame_too_large, "the parts of a control message are too large together");
  }
  parts.insert(parts.end(), bytes.begin() + 1, bytes.end());
  if (bytes[0] != 1) return std::nullopt;
  return context_.arena.copy(std::exchange(parts, {}));
}

}  // namespace spindled
