#include "libclient/bulk/block_set.h"

#include <algorithm>

namespace spindle::bulk {

namespace {

using Run = BlockSet::Run;

/// The first run that ends behind `block`: the one that it is in, or would be before.
template <typename Runs>
auto run_at(Runs& runs, std::uint32_t block) {
  return std::partition_point(runs.begin(), runs.end(), [&](const Run& run) { return run.end <= block; });
}

}  // namespace

BlockSet BlockSet::of_first(std::uint32_t count) {
  BlockSet set;
  set.add_run(0, count);
  return set;
}

bool BlockSet::add(std::uint32_t block) {
  if (contains(block)) return false;
  add_run(block, block + 1);
  return true;
}

void BlockSet::add_run(std::uint32_t first, std::uint32_t end) {
  end = std::min(end, kBlocksMax);
  if (first >= end) return;
  if (runs_.empty() || runs_.back().end < first) {  // as where sets are read, or put together
    runs_.push_back({first, end});
    count_ += end - first;
    return;
  }
  // All runs that the new one overlaps or touches become one with it.
  const auto from = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& run) { return run.end < first; });
  auto to = from;
  Run whole{first, end};
  for (; to != runs_.end() && to->first <= end; ++to) {
    whole.first = std::min(whole.first, to->first);
    whole.end = std::max(whole.end, to->end);
    count_ -= to->end - to->first;
  }
  count_ += whole.end - whole.first;
  if (from == to) {
    runs_.insert(from, whole);
  } else {
    *from = whole;
    runs_.erase(from + 1, to);
  }
}

void BlockSet::remove(std::uint32_t block) {
  const auto run = run_at(runs_, block);
  if (run == runs_.end() || block < run->first) return;
  --count_;
  const Run behind{block + 1, run->end};
  run->end = block;
  const bool is_before_empty = run->first == run->end, is_behind_empty = behind.first == behind.end;
  if (is_before_empty && is_behind_empty) {
    runs_.erase(run);
  } else if (is_before_empty) {
    *run = behind;
  } else if (!is_behind_empty) {
    runs_.insert(run + 1, behind);
  }
}

void BlockSet::cut(std::uint32_t end) {
  while (!runs_.empty() && runs_.back().end > end) {
    Run& last = runs_.back();
    const std::uint32_t first = std::max(last.first, end);
    count_ -= last.end - first;
    last.end = first;
    if (last.first >= last.end) runs_.pop_back();
  }
}

void BlockSet::clear() {
  runs_.clear();
  count_ = 0;
}

bool BlockSet::contains(std::uint32_t block) const { return first_missing(block) != block; }

std::uint32_t BlockSet::first_missing(std::uint32_t from) const {
  const auto run = run_at(runs_, from);
  return run == runs_.end() || from < run->first ? from : run->end;
}

std::uint32_t BlockSet::first_present(std::uint32_t from) const {
  const auto run = run_at(runs_, from);
  return run == runs_.end() ? kBlocksMax : std::max(from, run->first);
}

BlockSet intersection(const BlockSet& a, const BlockSet& b) {
  BlockSet both;
  auto left = a.runs().begin(), right = b.runs().begin();
  while (left != a.runs().end() && right != b.runs().end()) {
    both.add_run(std::max(left->first, right->first), std::min(left->end, right->end));
    left->end < right->end ? ++left : ++right;
  }
  return both;
}

BlockSet united(const BlockSet& a, const BlockSet& b) {
  BlockSet all;
  auto left = a.runs().begin(), right = b.runs().begin();
  // In ascending order each run is put at the end.
  while (left != a.runs().end() || right != b.runs().end()) {
    const bool is_left = right == b.runs().end() || (left != a.runs().end() && left->first < right->first);
    const Run& run = is_left ? *left++ : *right++;
    all.add_run(run.first, run.end);
  }
  return all;
}

BlockSet difference(const BlockSet& a, const BlockSet& b) {
  BlockSet rest;
  auto cut = b.runs().begin();
  for (const Run& run : a.runs()) {
    std::uint32_t at = run.first;
    while (at < run.end) {
      while (cut != b.runs().end() && cut->end <= at) ++cut;
      const bool is_cut = cut != b.runs().end() && cut->first < run.end;
      rest.add_run(at, is_cut ? cut->first : run.end);
      at = is_cut ? cut->end : run.end;
    }
  }
  return rest;
}

bool has_more(const BlockSet& a, const BlockSet& b, std::uint32_t below, std::uint32_t from) {
  return std::any_of(a.runs().begin(), a.runs().end(), [&](const Run& run) {
    return b.first_missing(std::max(run.first, from)) < std::min(run.end, below);
  });
}

std::size_t block_set_size(const BlockSet& set) {
  std::size_t size = varint_size(set.runs().size());
  std::uint32_t at = 0;
  for (const Run& run : set.runs()) {
    size += varint_size(run.first - at) + varint_size(run.end - run.first);
    at = run.end;
  }
  return size;
}

void write_block_set(Writer& writer, const BlockSet& set) {
  writer.varint(set.runs().size());
  std::uint32_t at = 0;
  for (const Run& run : set.runs()) {
    writer.varint(run.first - at);
    writer.varint(run.end - run.first);
    at = run.end;
  }
}

BlockSet read_block_set(Reader& reader) {
  BlockSet set;
  std::uint64_t at = 0;
  const std::uint64_t runs = reader.varint_up_to(kBlocksMax / 2);
  for (std::uint64_t i = 0; i < runs && reader.ok(); ++i) {
    const std::uint64_t first = at + reader.varint_up_to(kBlocksMax);
    const std::uint64_t end = first + reader.varint_up_to(kBlocksMax);
    if (reader.ok() && ((i > 0 && first == at) || end == first || end > kBlocksMax)) reader.fail();
    if (!reader.ok()) break;
    set.add_run(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end));
    at = end;
  }
  return set;
}

}  // namespace spindle::bulk
