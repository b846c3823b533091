#include "daemon/bulk/tree_plan.h"

#include <algorithm>
#include <limits>

#include "daemon/base/check.h"

namespace spindled {

namespace {

using Rate = double;  // bytes a second

/// An edge, as seen from one of its ends.
struct Way {
  MemberIndex to = 0;
  Rate capacity = 0;
};

/// The ways out of each member.
std::vector<std::vector<Way>> ways_of(const TreeInput& input) {
  std::vector<std::uint64_t> known;
  for (const std::uint64_t capacity : input.capacities) {
    if (capacity != 0) known.push_back(capacity);
  }
  Rate median = 1;  // of what nothing is known of: all edges are alike then
  if (!known.empty()) {
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
    std::nth_element(known.begin(), middle, known.end());
    median = static_cast<Rate>(*middle);
  }
  std::vector<std::vector<Way>> ways(input.view.size());
  for (std::size_t i = 0; i < input.view.edges.size(); ++i) {
    const Edge& edge = input.view.edges[i];
    const bool is_known = i < input.capacities.size() && input.capacities[i] != 0;
    const Rate capacity = is_known ? static_cast<Rate>(input.capacities[i]) : median;
    ways[edge.a].push_back({edge.b, capacity});
    ways[edge.b].push_back({edge.a, capacity});
  }
  return ways;
}

/// The tree as it grows.
class Growth {
 public:
  explicit Growth(const TreeInput& input) : input_(input), ways_(ways_of(input)), nodes_(input.view.size()) {
    Node& root = nodes_[input.root];
    root.is_in = true;
    root.parent = input.root;
    root.rate = std::numeric_limits<Rate>::infinity();
    order_.push_back(input.root);
    offer_ways_of(input.root);
  }

  void grow() {
    attach_all();
    // What is left can be reached over deeper members only.
    depth_max_ = nodes_.size();
    const std::vector<MemberIndex> attached = order_;
    for (const MemberIndex member : attached) {
      if (nodes_[member].depth == kTreeDepthMax) offer_ways_of(member);
    }
    attach_all();
  }

  /// Without what leads to no receiver; members that are less deep first.
  std::vector<TreePlace> places() {
    MemberSet wanted = MemberSet::of(input_.root);
    for (auto member = order_.rbegin(); member != order_.rend(); ++member) {
      if (input_.receivers.contains(*member)) wanted.insert(*member);
      if (wanted.contains(*member)) wanted.insert(nodes_[*member].parent);
    }
    std::erase_if(order_, [&](MemberIndex member) { return !wanted.contains(member); });
    std::sort(order_.begin(), order_.end(), [&](MemberIndex a, MemberIndex b) { return is_before(a, b); });
    std::vector<TreePlace> places;
    places.reserve(order_.size());
    for (const MemberIndex member : order_)
      places.push_back({member, nodes_[member].parent, backup_of(member, wanted)});
    return places;
  }

 private:
  /// How a member could be attached.
  struct Candidate {
    MemberIndex parent = 0;
    std::size_t depth = 0;
    Rate rate = 0;
  };
  struct Node {
    bool is_in = false;
    std::size_t depth = 0;
    MemberIndex parent = 0;
    std::size_t children = 0;
    Rate rate = 0;                                 // at which it gets the content
    std::optional<Candidate> best = std::nullopt;  // while it is not in the tree,
    Rate widest = 0;                               // and the largest rate that any candidate has had
  };

  void attach_all() {
    while (const std::optional<MemberIndex> next = choose()) {
      const Candidate from = *nodes_[*next].best;
      attach(*next, from);
    }
  }

  void attach(MemberIndex member, const Candidate& from) {
    Node& node = nodes_[member];
    node = {.is_in = true, .depth = from.depth, .parent = from.parent, .rate = from.rate};
    order_.push_back(member);
    ++nodes_[from.parent].children;
    if (has_egress(from.parent)) {  // there is less for the others now
      for (const Way& way : ways_[from.parent]) reconsider(way.to);
    }
    offer_ways_of(member);
  }

  void offer_ways_of(MemberIndex parent) {
    for (const Way& way : ways_[parent]) offer(way.to, parent, way.capacity);
  }

  void offer(MemberIndex member, MemberIndex parent, Rate capacity) {
    Node& node = nodes_[member];
    if (node.is_in || nodes_[parent].depth == depth_max_) return;
    const Candidate candidate{parent, nodes_[parent].depth + 1, rate_below(parent, capacity)};
    node.widest = std::max(node.widest, candidate.rate);
    if (candidate.rate < kAlike * node.widest) return;
    if (!node.best || node.best->rate < kAlike * node.widest || is_better(candidate, *node.best)) node.best = candidate;
  }

  void reconsider(MemberIndex member) {
    nodes_[member].best.reset();
    nodes_[member].widest = 0;
    for (const Way& way : ways_[member]) {
      if (nodes_[way.to].is_in) offer(member, way.to, way.capacity);
    }
  }

  std::optional<MemberIndex> choose() const {
    Rate widest = 0;
    for (const Node& node : nodes_) {
      if (!node.is_in && node.best) widest = std::max(widest, node.best->rate);
    }
    std::optional<MemberIndex> chosen;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.is_in || !node.best || node.best->rate < kAlike * widest) continue;
      if (!chosen || is_better(*node.best, *nodes_[*chosen].best)) chosen = static_cast<MemberIndex>(i);
    }
    return chosen;
  }

  static bool is_better(const Candidate& a, const Candidate& b) {
    if (a.depth != b.depth) return a.depth < b.depth;
    if (a.rate != b.rate) return a.rate > b.rate;
    return a.parent < b.parent;
  }

  bool has_egress(MemberIndex member) const { return member < input_.egress.size() && input_.egress[member] != 0; }

  /// What one more child of `parent` would get over an edge.
  Rate rate_below(MemberIndex parent, Rate capacity) const {
    const Node& node = nodes_[parent];
    Rate rate = std::min(node.rate, capacity);
    if (has_egress(parent)) {
      rate = std::min(rate, static_cast<Rate>(input_.egress[parent]) / static_cast<Rate>(node.children + 1));
    }
    return rate;
  }

  /// A total order of members in which all content flows one way.
  bool is_before(MemberIndex a, MemberIndex b) const {
    return std::pair(nodes_[a].depth, a) < std::pair(nodes_[b].depth, b);
  }

  std::optional<MemberIndex> backup_of(MemberIndex member, const MemberSet& wanted) const {
    std::optional<MemberIndex> best;
    Rate widest = 0;
    for (const Way& way : ways_[member]) {
      const bool may_be = wanted.contains(way.to) && way.to != nodes_[member].parent && is_before(way.to, member);
      const Rate rate = may_be ? std::min(nodes_[way.to].rate, way.capacity) : 0;
      if (rate <= widest) continue;
      widest = rate;
      best = way.to;
    }
    return best;
  }

  /// Rates from this share on of the largest count as alike.
  static constexpr Rate kAlike = 0.9;

  const TreeInput& input_;
  std::vector<std::vector<Way>> ways_;
  std::vector<Node> nodes_;
  std::vector<MemberIndex> order_;  // as they came in
  std::size_t depth_max_ = kTreeDepthMax;
};

}  // namespace

const TreePlace* TreePlan::find(MemberIndex member) const {
  const auto found =
      std::find_if(places.begin(), places.end(), [&](const TreePlace& each) { return each.member == member; });
  return found == places.end() ? nullptr : &*found;
}

TreePlan plan_tree(const TreeInput& input) {
  SPINDLE_CHECK(input.root < input.view.size());
  Growth growth(input);
  growth.grow();
  return {0, growth.places()};
}

double largest_gain(const TreePlan& plan, const TreePlan& other, const TreeInput& input) {
  const std::vector<std::vector<Way>> ways = ways_of(input);
  const auto rates_of = [&](const TreePlan& of) {
    std::vector<Rate> rates(input.view.size(), 0);
    for (const TreePlace& place : of.places) {
      if (place.parent == place.member) {
        rates[place.member] = std::numeric_limits<Rate>::infinity();
        continue;
      }
      for (const Way& way : ways[place.parent]) {
        if (way.to == place.member) rates[place.member] = std::min(rates[place.parent], way.capacity);
      }
    }
    return rates;
  };
  const std::vector<Rate> rates = rates_of(plan), others = rates_of(other);
  double gain = 1;
  for (const TreePlace& place : plan.places) {
    if (place.parent != place.member && rates[place.member] > 0) {
      gain = std::max(gain, others[place.member] / rates[place.member]);
    }
  }
  return gain;
}

std::vector<std::uint8_t> write_tree_plan(const spindle::bulk::BulkChannelId& channel, const TreePlan& plan) {
  const auto backup_value = [](const TreePlace& place) { return place.backup ? *place.backup + 1U : 0U; };
  std::size_t size = spindle::bulk::channel_id_size(channel) + 1 + spindle::varint_size(plan.places.size());
  for (const TreePlace& place : plan.places) {
    size += spindle::varint_size(place.member) + spindle::varint_size(place.parent) +
            spindle::varint_size(backup_value(place));
  }
  std::vector<std::uint8_t> bytes(size);
  spindle::Writer writer(bytes.data());
  spindle::bulk::write_channel_id(writer, channel);
  writer.u8(plan.generation);
  writer.varint(plan.places.size());
  for (const TreePlace& place : plan.places) {
    writer.varint(place.member);
    writer.varint(place.parent);
    writer.varint(backup_value(place));
  }
  return bytes;
}

std::optional<ToldTreePlan> read_tree_plan(ByteView content, std::size_t members) {
  spindle::Reader reader(content);
  ToldTreePlan told;
  told.channel = spindle::bulk::read_channel_id(reader);
  told.plan.generation = reader.u8();
  const std::uint64_t count = reader.varint_up_to(members);
  if (!reader.ok() || count == 0) return std::nullopt;
  MemberSet placed;
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    TreePlace place;
    place.member = static_cast<MemberIndex>(reader.varint_up_to(members - 1));
    place.parent = static_cast<MemberIndex>(reader.varint_up_to(members - 1));
    const std::uint64_t backup = reader.varint_up_to(members);
    if (backup != 0) place.backup = static_cast<MemberIndex>(backup - 1);
    const bool is_root = i == 0 && place.parent == place.member && !place.backup;
    const bool is_below = i != 0 && placed.contains(place.parent) && (!place.backup || placed.contains(*place.backup));
    if (placed.contains(place.member) || !(is_root || is_below)) return std::nullopt;
    placed.insert(place.member);
    told.plan.places.push_back(place);
  }
  if (!reader.done()) return std::nullopt;
  return told;
}

}  // namespace spindled
