#include "tests/sim/underlay/mesh_dissemination.h"

#include <utility>

#include "daemon/bulk/mesh/mesh_codec.h"

namespace spindled::sim::underlay {

namespace {

constexpr std::uint32_t kBlocks = 65'536;

}  // namespace

struct MeshDissemination::Node : mesh::MeshOutput {
  Node(MeshDissemination& mesh_, Participant self_, Random random)
      : mesh(mesh_),
        self(self_),
        content(mesh_.code_, kBlocks, mesh_.settings_.source_symbols, self_),
        member(std::make_unique<mesh::MeshMember>(self_, *this, content, random, mesh_.settings_.member)) {}

  bool may_ask(MemberIndex) const override { return true; }
  void dial(MemberIndex peer) override { mesh.dialled_.emplace_back(self, peer); }
  void close(MemberIndex peer) override {
    mesh.net_.close(self, peer);
    mesh.net_.close(peer, self);
  }
  void send(MemberIndex to, const mesh::Frame& frame) override {
    mesh.net_.count_control(self, to, static_cast<double>(mesh::encoded_bytes(frame)));
    mesh.frames_.push_back({self, to, frame});
  }
  bool send_symbol(MemberIndex to, SymbolId symbol) override { return mesh.net_.send(self, to, symbol); }

  MeshDissemination& mesh;
  const Participant self;
  SimContent content;
  std::unique_ptr<mesh::MeshMember> member;
};

namespace {

/// Adds the time until its end.
class Watch {
 public:
  explicit Watch(std::chrono::nanoseconds* sum) : sum_(sum) {
    if (sum_ != nullptr) start_ = std::chrono::steady_clock::now();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    if (sum_ != nullptr) *sum_ += std::chrono::steady_clock::now() - start_;
  }

 private:
  std::chrono::nanoseconds* const sum_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

template <typename Call>
decltype(auto) MeshDissemination::in_member(Call&& call) {
  const Watch watch(settings_.measures_members ? &processor_time_ : nullptr);
  return call();
}

MeshDissemination::MeshDissemination(OverlayNet& net, const Tree& tree, const MeshSettings& settings)
    : net_(net), tree_(tree), settings_(settings), code_(settings.seed), pace_(settings.symbols_per_s) {
  Random random(settings.seed);
  for (std::size_t i = 0; i < tree.parents.size(); ++i) {
    nodes_.push_back(std::make_unique<Node>(*this, static_cast<Participant>(i), random.split()));
  }
  for (const auto& node : nodes_) {
    for (const Participant child : tree.children[node->self]) net.open(node->self, child);
    node->member->set_place(net.now(), tree.parents[node->self], tree.children[node->self]);
  }
}

MeshDissemination::~MeshDissemination() = default;

const mesh::MeshMember& MeshDissemination::member(Participant participant) const {
  return *nodes_[participant]->member;
}
const SimContent& MeshDissemination::content(Participant participant) const { return nodes_[participant]->content; }

void MeshDissemination::received(Time now, Participant at, Participant from, SymbolId symbol) {
  Node& node = *nodes_[at];
  const auto taken = at == tree_.root ? SimContent::Taken::useless : node.content.take(now, symbol);
  const bool is_useful = taken != SimContent::Taken::useless;
  net_.meter().count(now, at, is_useful, tree_.parents[at] == from);
  in_member([&] {
    node.member->symbol_received(now, from, symbol, is_useful);
    if (taken == SimContent::Taken::completes) node.member->block_completed(now, symbol.block);
  });
}

void MeshDissemination::originate() {
  Node& root = *nodes_[tree_.root];
  for (std::uint32_t due = pace_.due(OverlayNet::kStep); due > 0; --due) {
    // Without disjoint send it is a stream: what no child takes is gone, but for who asks the root for it.
    const bool is_taken = in_member([&] { return root.member->originate(net_.now(), next_symbol_); });
    if (!is_taken && settings_.member.is_disjoint) return;
    pace_.taken();
    root.content.take(net_.now(), next_symbol_);
    if (++next_symbol_.esi < settings_.source_symbols) continue;
    ++next_symbol_.block;
    next_symbol_.esi = 0;
  }
}

void MeshDissemination::step(Time now) {
  arriving_.swap(frames_);
  frames_.clear();
  for (FrameInFlight& each : arriving_) {
    if (net_.is_dead(each.from) || net_.is_dead(each.to)) continue;
    in_member([&] { nodes_[each.to]->member->frame_received(now, each.from, std::move(each.frame)); });
  }
  for (const auto& [from, to] : std::exchange(dialled_, {})) {
    if (net_.is_dead(from)) continue;
    if (net_.is_dead(to)) {
      nodes_[from]->member->lost(now, to);
      continue;
    }
    net_.open(to, from);
    in_member([&, from = from, to = to] { nodes_[from]->member->connected(now, to); });
  }
  for (const Failure& failure : failures_) {
    if (failure.noticed_at > now) continue;
    for (const auto& node : nodes_) {
      if (!net_.is_dead(node->self)) node->member->lost(now, failure.participant);
    }
  }
  std::erase_if(failures_, [&](const Failure& failure) { return failure.noticed_at <= now; });
  originate();
  for (const auto& node : nodes_) {
    if (!net_.is_dead(node->self)) in_member([&] { node->member->tick(now); });
  }
}

std::optional<SymbolId> MeshDissemination::next(Time, Participant from, Participant to) {
  return in_member([&] { return nodes_[from]->member->next(to); });
}

void MeshDissemination::kill(Time now, Participant participant) {
  net_.kill(participant);
  failures_.push_back({now + settings_.noticed_after, participant});
}

void MeshDissemination::end_members() {
  for (const auto& node : nodes_) node->member.reset();
}

}  // namespace spindled::sim::underlay
