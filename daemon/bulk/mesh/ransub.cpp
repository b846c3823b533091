#include "daemon/bulk/mesh/ransub.h"

#include <algorithm>
#include <utility>

namespace spindled::mesh {

Sample compact(Random& random, std::span<const Sample* const> samples, std::size_t size) {
  struct Source {
    const Sample* sample;
    std::uint64_t left;                 // of its population
    std::vector<std::uint32_t> unused;  // entries
  };
  std::vector<Source> sources;
  Sample result;
  for (const Sample* sample : samples) {
    if (sample->entries.empty()) continue;
    // What a peer says of its population may be too little.
    const auto population =
        std::max<std::uint64_t>(sample->population, static_cast<std::uint64_t>(sample->entries.size()));
    // Nor may it be too much: no sample is told that others could not read.
    result.population =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(result.population + population, kMembersMax));
    Source& source = sources.emplace_back(Source{sample, population, {}});
    for (std::uint32_t i = 0; i < sample->entries.size(); ++i) source.unused.push_back(i);
  }
  // Who is drawn next belongs to one of the populations with a chance that goes by what is left of each; which of its
  // members that is, is for its own sample to say.
  while (result.entries.size() < size) {
    std::uint64_t total = 0;
    for (const Source& source : sources) total += source.left;
    if (total == 0) break;
    std::uint64_t drawn = random.below(total);
    for (Source& source : sources) {
      if (drawn >= source.left) {
        drawn -= source.left;
        continue;
      }
      const std::size_t place = random.below(source.unused.size());
      result.entries.push_back(source.sample->entries[source.unused[place]]);
      source.unused[place] = source.unused.back();
      source.unused.pop_back();
      source.left = source.unused.empty() ? 0 : source.left - 1;
      break;
    }
  }
  return result;
}

void RanSub::set_place(Time now, std::optional<MemberIndex> parent, std::vector<MemberIndex> children) {
  std::vector<Child> next;
  for (const MemberIndex member : children) {
    Child* known = find(member);
    next.push_back(known ? std::move(*known) : Child{.member = member, .sample = {}});
  }
  children_ = std::move(next);
  parent_ = parent;
  if (!std::exchange(is_root_, !parent) && is_root_) {
    is_collecting_ = false;
    next_epoch_at_ = now;
  }
  if (!is_root_) next_epoch_at_ = kNever;
  try_finish(now);
}

RanSub::Child* RanSub::find(MemberIndex member) {
  const auto found =
      std::find_if(children_.begin(), children_.end(), [&](const Child& child) { return child.member == member; });
  return found == children_.end() ? nullptr : &*found;
}

std::uint32_t RanSub::descendants(MemberIndex child) const {
  const auto found =
      std::find_if(children_.begin(), children_.end(), [&](const Child& each) { return each.member == child; });
  return found == children_.end() ? 1 : std::max(found->sample.population, 1u);
}

void RanSub::begin(Time now, std::uint32_t epoch, Sample sample) {
  epoch_ = epoch;
  began_at_ = now;
  for (Child& child : children_) {
    if (child.epoch + kEpochsKept < epoch) child.sample = {};
  }
  output_.distributed(epoch, sample);
  const Sample own = of_this();
  const std::size_t all = output_.summaries_to_tell();
  for (std::size_t place = 0; place < children_.size(); ++place) {
    const Child& child = children_[place];
    std::vector<const Sample*> others{&sample, &own};
    for (const Child& sibling : children_) {
      if (&sibling != &child) others.push_back(&sibling.sample);
    }
    output_.send_distribute(child.member, {epoch, compact(random_, others, share_of(place, all))});
  }
  is_collecting_ = true;
  waits_until_ = options_.patience == Duration::max() ? kNever : now + options_.patience;
  try_finish(now);
}

/// Who gets one more, where it cannot be divided, is another child in each epoch.
std::size_t RanSub::share_of(std::size_t place, std::size_t all) const {
  const std::size_t turn = (place + epoch_) % children_.size();
  const std::size_t share = all * (turn + 1) / children_.size() - all * turn / children_.size();
  return std::min(options_.set_size, share);
}

void RanSub::distribute_received(Time now, MemberIndex from, Distribute distribute) {
  if (from != parent_ || distribute.epoch <= epoch_) return;
  begin(now, distribute.epoch, std::move(distribute.sample));
}

void RanSub::collect_received(Time now, MemberIndex from, Collect collect) {
  Child* child = find(from);
  if (child == nullptr || collect.epoch > epoch_ || collect.epoch < child->epoch) return;
  child->epoch = collect.epoch;
  child->sample = std::move(collect.sample);
  child->is_silent = false;
  try_finish(now);
}

void RanSub::try_finish(Time now) {
  if (!is_collecting_ || std::any_of(children_.begin(), children_.end(),
                                     [&](const Child& child) { return child.epoch != epoch_ && !child.is_silent; })) {
    return;
  }
  is_collecting_ = false;
  waits_until_ = kNever;
  if (is_root_) {
    next_epoch_at_ = std::max(now, began_at_ + options_.epoch);
    return;
  }
  const Sample own = of_this();
  std::vector<const Sample*> samples{&own};
  for (const Child& child : children_) samples.push_back(&child.sample);
  output_.send_collect(*parent_, {epoch_, compact(random_, samples, options_.set_size)});
}

Time RanSub::next_deadline() const { return std::min(waits_until_, next_epoch_at_); }

void RanSub::tick(Time now) {
  if (now >= waits_until_) {
    for (Child& child : children_) child.is_silent = child.is_silent || child.epoch != epoch_;
    try_finish(now);
  }
  if (now >= next_epoch_at_) {
    next_epoch_at_ = kNever;
    begin(now, epoch_ + 1, {});
  }
}

}  // namespace spindled::mesh
