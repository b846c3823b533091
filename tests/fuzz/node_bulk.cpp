#include "tests/fuzz/node_bulk.h"

#include <algorithm>

#include "daemon/bulk/hop_invitation.h"
#include "daemon/bulk/mesh/mesh_codec.h"
#include "daemon/bulk/tree_plan.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "libclient/bulk/bulk_frames.h"
#include "libclient/bulk/crc32c.h"
#include "libclient/protocol/bulk_requests.h"

namespace spindle_fuzz {

using namespace spindled;
namespace bulk = spindle::bulk;

namespace {

constexpr std::uint32_t kBlockSymbols = 4;
constexpr std::uint32_t kSymbolsAtOnceMax = 16;

bulk::BulkChannelId channel_of(std::uint8_t choice) {
  constexpr std::uint8_t kOfNode = 2;
  return choice % 3 < kOfNode ? bulk::BulkChannelId{"node", 7, choice % 3 + 1U} : bulk::BulkChannelId{"alpha", 11, 1};
}

bulk::ContentLayout layout_of(std::uint8_t kibibytes) {
  return {kBlockSymbols * bulk::kSymbolBytesMin, bulk::kSymbolBytesMin, std::uint64_t{kibibytes} << 10};
}

Bytes symbol_frame(const bulk::Symbol& symbol) {
  Bytes frame(bulk::symbol_head_size(symbol));
  Writer writer(frame.data());
  bulk::write_symbol_head(writer, symbol);
  frame.insert(frame.end(), symbol.bytes.begin(), symbol.bytes.end());
  return frame;
}

std::vector<Bytes> symbols(Input& input) {
  static const Bytes kZeros(bulk::kSymbolBytesMin);
  static const std::uint32_t kCrc = bulk::crc32c(kZeros);
  bulk::Symbol symbol;
  symbol.number = input.u8();
  symbol.generation = input.u8();
  symbol.stream = input.u8();
  symbol.block = input.u8();
  symbol.esi = input.u8();
  symbol.crc = kCrc;
  symbol.bytes = kZeros;
  std::vector<Bytes> frames;
  for (std::uint32_t left = 1 + input.u8() % kSymbolsAtOnceMax; left > 0; --left) {
    frames.push_back(symbol_frame(symbol));
    if (++symbol.esi % kBlockSymbols == 0) symbol.esi = 0, ++symbol.block;
  }
  return frames;
}

Bytes need(Input& input) {
  bulk::NeedFrame need;
  need.number = input.u8();
  need.stream = input.u8();
  const std::uint8_t flags = input.u8();
  need.need.serves = (flags & 1) != 0;
  need.need.lost = (flags & 2) != 0;
  need.need.awaits = (flags & 8) != 0;
  need.need.knows_index = (flags & 16) != 0;
  need.need.meshed = (flags & 32) != 0;
  need.need.complete = bulk::BlockSet::of_first(input.u8());
  const std::uint32_t begun = input.u8();
  need.need.seen = input.u8();
  if ((flags & 4) != 0 && !need.need.complete.contains(begun)) need.need.begun.push_back({begun, 1});
  Bytes frame;
  bulk::write_need(frame, need);
  return frame;
}

mesh::Holding holding_of(std::uint8_t blocks) {
  if (blocks == 0) return {};
  return {{{0, blocks}}, {{blocks + 1u, 2}}};
}

Bytes mesh_frame(Input& input) {
  const std::uint8_t number = input.u8(), generation = input.u8(), type = input.u8(), a = input.u8(), b = input.u8();
  mesh::Sample sample;
  sample.population = b;
  for (std::uint8_t i = 0; i < std::min<std::uint8_t>(b, 3); ++i) {
    mesh::MemberSummary summary;
    summary.member = static_cast<MemberIndex>(i + b / 16);
    summary.takes_receivers = (b & 4) != 0;
    summary.holding = holding_of(b);
    if ((b & 8) != 0) summary.ticket.insert({i, b});
    sample.entries.push_back(summary);
  }
  mesh::Wants wants;
  wants.residues = ~std::uint64_t{0};
  wants.blocks = {{a, b, {}}};
  const mesh::Frame frames[] = {mesh::Collect{a, sample},
                                mesh::Distribute{a, sample},
                                mesh::PeerRequest{},
                                mesh::PeerAnswer{(a & 1) != 0, holding_of(b), {static_cast<MemberIndex>(b)}},
                                wants,
                                mesh::HoldingReport{holding_of(b)},
                                mesh::BlockDone{b},
                                mesh::PeerLeave{(a & 1) != 0}};
  Bytes frame;
  mesh::write_frame(frame, {number, generation}, frames[type % std::size(frames)]);
  return frame;
}

/// What is for the node alone.
std::vector<Bytes> of_view(const View& view, LinkFrame type, const Bytes& content) {
  const MemberSet to = MemberSet::of(view.self);
  Bytes body(to.encoded_size());
  Writer writer(body.data());
  to.write(writer);
  body.insert(body.end(), content.begin(), content.end());
  return {make_frame(static_cast<std::uint8_t>(LinkFrame::view), write_view_id(view.id)),
          make_frame(static_cast<std::uint8_t>(type), body)};
}

/// A chain or a star of the view's members.
std::vector<Bytes> plan(const Node& node, Input& input) {
  const bulk::BulkChannelId channel = channel_of(input.u8());
  TreePlan plan;
  plan.generation = input.u8();
  const std::uint8_t shape = input.u8();
  const View& view = node.view();
  if (view.size() < 2) return {};
  const auto root = static_cast<MemberIndex>(shape % view.size());
  const bool is_chain = shape / 16 % 2 == 1, has_backups = shape / 32 % 2 == 1;
  plan.places.push_back({root, root, std::nullopt});
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto member = static_cast<MemberIndex>(i);
    if (member == root) continue;
    const TreePlace last = plan.places.back();
    const bool has_backup = has_backups && last.member != root;
    plan.places.push_back({member, is_chain ? last.member : root,
                           has_backup ? std::optional(is_chain ? root : last.member) : std::nullopt});
  }
  return of_view(view, LinkFrame::bulk_plan, write_tree_plan(channel, plan));
}

DaemonId peer(std::uint8_t choice) { return choice % 2 == 0 ? DaemonId{"alpha", 11} : DaemonId{"zeta", 22}; }

Bytes control_frame(const ControlMessage& message) {
  return make_frame(static_cast<std::uint8_t>(LinkFrame::control), encode_control(message));
}

/// The stranger has a link to the neighbour, and none to the node.
std::vector<Bytes> address(std::uint8_t choice) {
  const DaemonId stranger = peer(choice), neighbour = peer(static_cast<std::uint8_t>(choice + 1));
  const auto link_to = [](const DaemonId& daemon) {
    return AdvertisedLink{daemon.name, daemon.incarnation, 1, 100, 0};
  };
  LinkState of_neighbour{neighbour, 2, {link_to({"node", 7}), link_to(stranger)}};
  std::sort(of_neighbour.links.begin(), of_neighbour.links.end(),
            [](const AdvertisedLink& a, const AdvertisedLink& b) { return key_of(a) < key_of(b); });
  LinkState of_stranger{stranger, 2, {link_to(neighbour)}};
  of_stranger.settings.bulk_address = "192.0.2.3:4804";
  return {control_frame(of_neighbour), control_frame(of_stranger), control_frame(LinkStateSummary{{}, true})};
}

std::vector<Bytes> invitation(const Node& node, Input& input) {
  const std::optional<MemberIndex> from = node.view().index_of(peer(input.u8()).name);
  const bool has_token = input.u8() % 2 == 1;
  if (!from) return {};
  HopInvitation invitation{*from};
  if (has_token) invitation.token.emplace();
  return of_view(node.view(), LinkFrame::bulk_invitation, write_hop_invitation(invitation));
}

Bytes offer(std::uint8_t kibibytes) {
  spindle::protocol::BulkOffer offer;
  offer.request = 1;
  offer.group = "news";
  offer.terms.layout = layout_of(kibibytes);
  Bytes frame;
  spindle::protocol::write_bulk_request(frame, offer);
  return frame;
}

}  // namespace

std::vector<Bytes> bulk_frames(const Node& node, NodeStep step, Input& input) {
  Bytes frame;
  switch (step) {
    case NodeStep::attach:
      bulk::write_attach(frame, {bulk::kBulkVersion, bulk::kBulkVersion, 1 + input.u8() % 4U, {}});
      break;
    case NodeStep::bulk_hello: {
      const DaemonId from = peer(input.u8());
      bulk::write_hello(frame, {bulk::kBulkVersion, bulk::kBulkVersion, "spindle", from.name, from.incarnation, {}});
      break;
    }
    case NodeStep::bulk_open: {
      const std::uint32_t number = input.u8();
      bulk::write_open(frame, {number, channel_of(input.u8()), layout_of(40)});
      break;
    }
    case NodeStep::bulk_symbols:
      return symbols(input);
    case NodeStep::bulk_index: {
      const std::uint32_t number = input.u8(), first = input.u8();
      const Bytes hashes(bulk::kBlockHashBytes * (1U + input.u8() % 16U));
      bulk::write_index(frame, {number, first, hashes});
      break;
    }
    case NodeStep::bulk_need:
      return {need(input)};
    case NodeStep::bulk_grant: {
      const std::uint32_t number = input.u8();
      const std::uint8_t stream = input.u8();
      bulk::write_grant(frame, {number, stream, 1U + input.u16()});
      break;
    }
    case NodeStep::bulk_mark: {
      const std::uint32_t number = input.u8();
      const std::uint64_t mark = 1U + input.u8();
      bulk::write_mark(frame, {number, mark, input.u8()});
      break;
    }
    case NodeStep::bulk_release: {
      const std::uint32_t number = input.u8();
      bulk::write_release(frame, {number, input.u8()});
      break;
    }
    case NodeStep::bulk_plan:
      return plan(node, input);
    case NodeStep::bulk_token:
      return {make_frame(static_cast<std::uint8_t>(LinkFrame::bulk_token), Bytes(kBulkTokenFrameBytes))};
    case NodeStep::offer:
      return {offer(input.u8())};
    case NodeStep::bulk_mesh:
      return {mesh_frame(input)};
    case NodeStep::bulk_address:
      return address(input.u8());
    case NodeStep::bulk_invitation:
      return invitation(node, input);
    default:
      return {};
  }
  return {frame};
}

}  // namespace spindle_fuzz
