#include "tests/fuzz/node_neighbour.h"

#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"

namespace spindle_fuzz {

using namespace spindled;

namespace {

constexpr std::uint8_t kServices = 6;

Bytes control_frame(const ControlMessage& message) {
  return make_frame(static_cast<std::uint8_t>(LinkFrame::control), encode_control(message));
}

/// A frame that is routed to the node alone.
Bytes routed(LinkFrame type, MemberIndex to, ByteView rest) {
  const MemberSet set = MemberSet::of(to);
  Bytes body(set.encoded_size());
  Writer writer(body.data());
  set.write(writer);
  body.insert(body.end(), rest.begin(), rest.end());
  return make_frame(static_cast<std::uint8_t>(type), body);
}

Bytes view_frame(const ViewId& view) {
  return make_frame(static_cast<std::uint8_t>(LinkFrame::view), write_view_id(view));
}

}  // namespace

Bytes make_frame(std::uint8_t type, ByteView body) {
  Bytes frame(kFrameHeadBytes);
  Writer writer(frame.data());
  spindle::write_frame_head(writer, type, body.size());
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

DaemonId NodeNeighbours::peer(std::uint8_t choice) {
  return choice % 2 == 0 ? DaemonId{"alpha", 11} : DaemonId{"zeta", 22};
}

std::vector<Bytes> NodeNeighbours::frames(NodeStep step, Input& input) {
  switch (step) {
    case NodeStep::hello: {
      const std::uint8_t choice = input.u8();
      if (!driver_.hello()) return {};
      return {hello(choice)};
    }
    case NodeStep::echo:
      if (!driver_.last_control()) return {};
      return {control_frame(*driver_.last_control())};
    case NodeStep::propose: {
      const std::uint8_t choice = input.u8();
      return {propose(choice, input.u8())};
    }
    case NodeStep::data:
      return data(input);
    case NodeStep::stability:
      return stability(input);
    case NodeStep::push:
      return push(input);
    case NodeStep::price:
      return price(input);
    default:
      return driver_.proposal() ? answer(step, input) : std::vector<Bytes>();
  }
}

Bytes NodeNeighbours::hello(std::uint8_t choice) const {
  LinkHello hello = driver_.hello().value_or(LinkHello());
  hello.daemon = peer(choice);
  return control_frame(hello);
}

std::vector<Bytes> NodeNeighbours::link_state(std::uint8_t choice) const {
  return {control_frame(LinkState{peer(choice), 1, {{self_.name, self_.incarnation, 1, 100, 0}}}),
          control_frame(LinkStateSummary{{}, true})};
}

Bytes NodeNeighbours::propose(std::uint8_t choice, std::uint8_t members) {
  const std::uint64_t highest = driver_.proposal() ? driver_.proposal()->proposal.number : node_.view().id.number;
  Propose proposal;
  proposal.proposal.number = highest + 1;
  proposal.proposal.coordinator = peer(choice).name;
  proposal.proposal.incarnation = peer(choice).incarnation;
  if ((members & 1) != 0) proposal.members.push_back(peer(0));
  if ((members & 2) != 0) proposal.members.push_back(self_);
  if ((members & 4) != 0) proposal.members.push_back(peer(1));
  driver_.set_proposal(proposal);
  return control_frame(proposal);
}

std::vector<Bytes> NodeNeighbours::answer(NodeStep step, Input& input) const {
  const Propose& proposal = *driver_.proposal();
  switch (step) {
    case NodeStep::state: {
      const DaemonId from = peer(input.u8());
      return {control_frame(MemberState{proposal.proposal, from, {1, from.name, from.incarnation}, {0}, 0})};
    }
    case NodeStep::commit:
      return {commit()};
    case NodeStep::done:
      return {control_frame(Done{proposal.proposal, peer(input.u8()), {}})};
    case NodeStep::install: {
      std::vector<Bytes> frames;
      if (input.u8() % 2 == 0) {
        const std::uint64_t pushed = input.u8() % 3u;
        const std::vector<std::uint64_t> counts(proposal.members.size(), pushed);
        frames.push_back(control_frame(Counts{proposal.proposal, counts}));
        frames.push_back(control_frame(Received{proposal.proposal, peer(input.u8())}));
      }
      frames.push_back(install());
      return frames;
    }
    default:
      return {};
  }
}

Bytes NodeNeighbours::install() const { return control_frame(Install{driver_.proposal()->proposal}); }

Bytes NodeNeighbours::commit() const {
  const Propose& proposal = *driver_.proposal();
  Commit commit;
  commit.proposal = proposal.proposal;
  commit.members = proposal.members;
  for (std::size_t i = 0; i < proposal.members.size(); ++i) {
    const auto index = static_cast<MemberIndex>(i);
    if (i != 0) commit.edges.push_back({static_cast<MemberIndex>(i - 1), index, 1, 100});
    const DaemonId& member = proposal.members[i];
    Transition from{{1, member.name, member.incarnation}, {{index, {0}}}, 0, 0};
    if (member == self_ && driver_.state()) {
      from = {driver_.state()->old_view,
              {{index, driver_.state()->high}},
              driver_.state()->safe_line,
              driver_.state()->processed};
    }
    commit.transitions.push_back(std::move(from));
  }
  return control_frame(commit);
}

std::optional<MemberIndex> NodeNeighbours::member(std::uint8_t choice) const {
  return node_.view().index_of(peer(choice).name);
}

/// The next message of the stream, or, where it is unreliable, one outside it.
Bytes NodeNeighbours::body(MemberIndex origin, std::uint8_t kind, ByteView content) {
  const View& view = node_.view();
  if (streams_of_ != view.id) {
    streams_of_ = view.id;
    sent_.assign(view.size(), 0);
  }
  BodyHead head;
  head.origin = origin;
  head.message_class = static_cast<MessageClass>(kind / kServices % kMessageClasses);
  head.service = only_service(head.message_class).value_or(static_cast<Service>(kind % kServices));
  if (head.service != Service::unreliable) head.number = ++sent_[origin];
  const MemberSet everybody = MemberSet::first(view.size());
  Bytes bytes(body_head_size(head, everybody));
  Writer writer(bytes.data());
  write_body_head(writer, head, everybody);
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

std::vector<Bytes> NodeNeighbours::data(Input& input) {
  const std::optional<MemberIndex> from = member(input.u8());
  const std::uint8_t kind = input.u8();
  const ByteView content = input.bytes(input.u16());
  if (!from) return {};
  const View& view = node_.view();
  return {view_frame(view.id), routed(LinkFrame::data, view.self, body(*from, kind, content))};
}

std::vector<Bytes> NodeNeighbours::stability(Input& input) const {
  const std::optional<MemberIndex> from = member(input.u8());
  const std::uint8_t which = input.u8() % 3;
  const std::uint64_t line = input.u16();
  if (!from) return {};
  Bytes rest(kShortFrameBytesMax);
  const std::size_t size = which == 0   ? write_acknowledgement(rest.data(), {*from, line})
                           : which == 1 ? write_stable(rest.data(), {*from, line})
                                        : write_ready(rest.data(), {*from, line});
  rest.resize(size);
  const LinkFrame types[] = {LinkFrame::acknowledgement, LinkFrame::stable, LinkFrame::ready};
  const View& view = node_.view();
  return {view_frame(view.id), routed(types[which], view.self, rest)};
}

std::vector<Bytes> NodeNeighbours::push(Input& input) {
  const std::optional<MemberIndex> from = member(input.u8());
  const std::uint8_t kind = input.u8();
  const ByteView content = input.bytes(input.u16());
  if (!from || !driver_.proposal()) return {};
  const Push push{driver_.proposal()->proposal, node_.view().id};
  Bytes rest(push_size(push));
  Writer writer(rest.data());
  write_push(writer, push);
  const Bytes pushed = body(*from, kind, content);
  rest.insert(rest.end(), pushed.begin(), pushed.end());
  return {routed(LinkFrame::push, node_.view().self, rest)};
}

std::vector<Bytes> NodeNeighbours::price(Input& input) const {
  const std::optional<MemberIndex> from = member(input.u8());
  Price price;
  price.level = input.u16();
  price.name = std::string(spindle::as_text(input.bytes(input.u8())));
  if (!from) return {};
  price.view = static_cast<std::uint16_t>(node_.view().id.number);
  price.from = *from;
  price.neighbour = node_.view().self;
  price.sequence = price.level;
  return {make_frame(static_cast<std::uint8_t>(LinkFrame::price), write_price(price))};
}

}  // namespace spindle_fuzz
