// The mesh on a topology: the daemon's own code for it at each participant.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "daemon/bulk/mesh/mesh_member.h"
#include "libclient/codes/counting_code.h"
#include "tests/sim/underlay/sim_content.h"
#include "tests/sim/underlay/tree_stream.h"

namespace spindled::sim::underlay {

struct MeshSettings {
  mesh::MeshOptions member;
  std::uint64_t seed = 1;
  double symbols_per_s = 0;              // that the source gives at most
  std::uint32_t source_symbols = 1'024;  // of a block
  Duration noticed_after = 1s;           // until the peers of who fails notice
  bool measures_members = false;         // the processor time of members
};

class MeshDissemination : public Dissemination {
 public:
  MeshDissemination(OverlayNet& net, const Tree& tree, const MeshSettings& settings);
  ~MeshDissemination() override;

  void received(Time now, Participant at, Participant from, SymbolId symbol) override;
  void step(Time now) override;
  std::optional<SymbolId> next(Time now, Participant from, Participant to) override;

  /// It stops at once; the tree stays as it is.
  void kill(Time now, Participant participant);

  /// What the daemon's code has taken, all members together.
  std::chrono::nanoseconds processor_time() const { return processor_time_; }
  /// Ends all members, and nothing may be called after it.
  void end_members();

  const mesh::MeshMember& member(Participant participant) const;
  const SimContent& content(Participant participant) const;

 private:
  struct Node;
  struct FrameInFlight {
    Participant from, to;
    mesh::Frame frame;
  };
  struct Failure {
    Time noticed_at;
    Participant participant;
  };
  void originate();
  /// Calls the daemon's code.
  template <typename Call>
  decltype(auto) in_member(Call&& call);

  OverlayNet& net_;
  const Tree& tree_;
  const MeshSettings settings_;
  spindle::codes::CountingCode code_;
  Pace pace_;
  SymbolId next_symbol_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<FrameInFlight> frames_, arriving_;
  std::vector<std::pair<Participant, Participant>> dialled_;
  std::vector<Failure> failures_;
  std::chrono::nanoseconds processor_time_{};
};

}  // namespace spindled::sim::underlay
