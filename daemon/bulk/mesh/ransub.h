// RanSub: changing, uniformly random subsets of all members, for each member, over a tree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/random.h"
#include "daemon/base/time.h"
#include "daemon/bulk/mesh/mesh_frames.h"

namespace spindled::mesh {

/// Of samples of populations that have no member in common, a sample of all of them, `size` members at most, in which
/// each is as likely as any other (RanSub's Compact). A population that nobody of is known does not count.
Sample compact(Random& random, std::span<const Sample* const> samples, std::size_t size);

/// What RanSub wants of the world.
class RanSubOutput {
 public:
  virtual ~RanSubOutput() = default;
  virtual void send_collect(MemberIndex parent, Collect collect) = 0;
  virtual void send_distribute(MemberIndex child, Distribute distribute) = 0;
  virtual MemberSummary own_summary() = 0;
  /// Members that all children together may be told of in one epoch.
  virtual std::size_t summaries_to_tell() = 0;
  /// The subset of this epoch: of all members but this one and those below it.
  virtual void distributed(std::uint32_t epoch, const Sample& sample) = 0;
};

/// Epochs are the root's: it distributes, members collect from the leaves up, and the next epoch begins when all is
/// collected, an epoch's time after the last one at the earliest (RanSub-nondescendants; Bullet, section 2.2).
///
/// A child that does not answer is waited for once. From then on the others go on without it, until it is heard of
/// again; what it has collected before counts for two more epochs.
class RanSub {
 public:
  struct Options {
    std::size_t set_size = Sample::kEntriesMax;  // that at most, and less at the children of a member with many
    Duration epoch = 5s;
    Duration patience = 5s;
  };

  RanSub(RanSubOutput& output, Random random, Options options) : output_(output), random_(random), options_(options) {}

  /// Nobody above: this is the root. Children that stay are remembered.
  void set_place(Time now, std::optional<MemberIndex> parent, std::vector<MemberIndex> children);
  void collect_received(Time now, MemberIndex from, Collect collect);
  void distribute_received(Time now, MemberIndex from, Distribute distribute);

  Time next_deadline() const;
  void tick(Time now);

  std::uint32_t epoch() const { return epoch_; }
  /// Those below a child, and itself, as far as it is known; at least 1.
  std::uint32_t descendants(MemberIndex child) const;

 private:
  struct Child {
    MemberIndex member = 0;
    std::uint32_t epoch = 0;  // of the last collect; 0: none
    bool is_silent = false;   // it has not answered in time
    Sample sample;
  };
  static constexpr std::uint32_t kEpochsKept = 2;

  Child* find(MemberIndex member);
  Sample of_this() { return {1, {output_.own_summary()}}; }
  void begin(Time now, std::uint32_t epoch, Sample sample);
  /// So many members the child at this place is told of in this epoch, of all that children may be.
  std::size_t share_of(std::size_t place, std::size_t all) const;
  /// Where nobody is waited for any more.
  void try_finish(Time now);

  RanSubOutput& output_;
  Random random_;
  const Options options_;
  bool is_root_ = false;
  std::optional<MemberIndex> parent_;
  std::vector<Child> children_;
  std::uint32_t epoch_ = 0;
  bool is_collecting_ = false;
  Time waits_until_ = kNever;
  Time next_epoch_at_ = kNever;  // of the root, once all is collected
  Time began_at_{};
};

}  // namespace spindled::mesh
