// What the neighbours of a fuzzed node send: the right thing at the wrong time as a rule, made from what the node
// itself has said.
#pragma once

#include <vector>

#include "daemon/node/node.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_driver.h"
#include "tests/fuzz/node_steps.h"

namespace spindle_fuzz {

using Bytes = std::vector<std::uint8_t>;

/// A frame with its head.
Bytes make_frame(std::uint8_t type, ByteView body);

/// Two neighbours, of which one sorts before the node and one after it, so that each can coordinate.
class NodeNeighbours {
 public:
  NodeNeighbours(FuzzDriver& driver, const spindled::Node& node, spindled::DaemonId self)
      : driver_(driver), node_(node), self_(std::move(self)) {}

  /// The frames that the step has a neighbour send, which takes the rest of its arguments from `input`; none where it
  /// makes no sense at the moment.
  std::vector<Bytes> frames(NodeStep step, Input& input);

  // Parts of a view that a neighbour coordinates, in this order.
  Bytes hello(std::uint8_t choice) const;
  /// The peer has a link to the node and no other.
  /// Its links, and that it has told all it knows.
  std::vector<Bytes> link_state(std::uint8_t choice) const;
  Bytes propose(std::uint8_t choice, std::uint8_t members);
  Bytes commit() const;
  Bytes install() const;

 private:
  static spindled::DaemonId peer(std::uint8_t choice);
  std::vector<Bytes> answer(NodeStep step, Input& input) const;
  std::vector<Bytes> data(Input& input);
  std::vector<Bytes> stability(Input& input) const;
  std::vector<Bytes> push(Input& input);
  std::vector<Bytes> price(Input& input) const;
  /// The peer's place in the node's view.
  std::optional<spindled::MemberIndex> member(std::uint8_t choice) const;
  Bytes body(spindled::MemberIndex origin, std::uint8_t kind, ByteView content);

  FuzzDriver& driver_;
  const spindled::Node& node_;
  spindled::DaemonId self_;
  spindled::ViewId streams_of_;      // the view that `sent_` counts in
  std::vector<std::uint64_t> sent_;  // by member: the last number of its stream
};

}  // namespace spindle_fuzz
