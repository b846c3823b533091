#include "daemon/feed/gaps.h"

#include <algorithm>
#include <utility>

namespace spindled {

void RepairTime::add(Duration sample) {
  if (!is_known_) {
    smoothed_ = sample;
    deviation_ = sample / 2;
    is_known_ = true;
    return;
  }
  deviation_ += ((sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample) - deviation_) / 4;
  smoothed_ += (sample - smoothed_) / 8;
}

Gaps::Gaps(std::uint64_t first, Time quiet_until, std::size_t& open_all)
    : window_(first - 1), quiet_until_(quiet_until), uncounted_(first), open_all_(open_all) {}

std::uint64_t Gaps::expand(std::uint32_t sequence) const {
  const auto ahead = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(highest()));
  return highest() + static_cast<std::uint64_t>(std::int64_t{ahead});
}

void Gaps::set_asking(bool asks) {
  asks_ = asks;
  if (asks) return;
  open_all_ -= open_.size();
  open_.clear();
  next_at_ = kNever;
}

// --- What comes ---

Gaps::Arrival Gaps::packet(Time now, std::uint64_t sequence, bool is_repair) {
  if (sequence > highest()) {
    see(now, sequence - 1);
    window_.advance(sequence, open_.empty() ? sequence : open_.begin()->first);
    window_.insert(sequence);
    if (!open_.empty()) count_gaps(now);
    return Arrival::fresh;
  }
  if (window_.is_before(sequence)) return Arrival::late;
  if (window_.contains(sequence)) return Arrival::duplicate;
  window_.insert(sequence);
  const auto gap = open_.find(sequence);
  if (gap == open_.end()) return Arrival::late;
  if (is_repair) {
    if (gap->second.tries == 1) (gap->second.is_far ? far_ : near_).add(now - gap->second.asked_at);
  } else if (gap->second.tries != 0) {
    const std::uint64_t behind = highest() - sequence + 1;
    settings_.later_packets = static_cast<unsigned>(std::clamp<std::uint64_t>(
        behind, settings_.later_packets, std::max(settings_.later_packets, kLaterPacketsMax)));
  }
  open_.erase(gap);
  --open_all_;
  // A beat may have told of it before: it is the next one that comes all the same.
  if (sequence == highest()) begins_with_next_ = false;
  return Arrival::filled;
}

void Gaps::beat(Time now, std::uint64_t highest) {
  if (highest <= this->highest()) return;
  see(now, highest);
  window_.advance(highest, open_.empty() ? highest : open_.begin()->first);
  count_gaps(now);
}

/// Opens gaps behind the highest sequence so far, up to `last`.
void Gaps::see(Time now, std::uint64_t last) {
  const bool begins = std::exchange(begins_with_next_, false);
  std::uint64_t first = highest() + 1;
  if (begins || !asks_ || last < first) return;
  if (last - first >= kOpenMax) {
    lose(first, last - first + 1 - kOpenMax, GivenUp::too_many);
    first = last + 1 - kOpenMax;
  }
  const Time due_at = std::max(now + disorder(settings_.hop_round_trip), quiet_until_);
  for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
    if (open_.size() == kOpenMax || open_all_ >= kOpenOfAllFeedsMax) {
      if (open_.empty()) {
        lose(sequence, 1, GivenUp::too_many);
        continue;
      }
      lose(open_.begin()->first, 1, GivenUp::too_many);
      open_.erase(open_.begin());
      --open_all_;
    }
    open_.emplace_hint(open_.end(), sequence, Gap{now, {}, due_at});
    ++open_all_;
  }
  next_at_ = std::min(next_at_, due_at);
}

void Gaps::lack_too(Time now, std::uint64_t end, unsigned count) {
  const Time due_at = now + far_.patience();
  for (auto gap = open_.lower_bound(end - std::min<std::uint64_t>(count, end)); gap != open_.end() && gap->first < end;
       ++gap) {
    if (gap->second.tries != 0) continue;
    gap->second = {gap->second.seen_at, now, due_at, 1, true, gap->second.is_gone};
    next_at_ = std::min(next_at_, due_at);
  }
}

void Gaps::give_up(Time now, std::uint64_t first, std::uint64_t last, GivenUp why) {
  auto gap = open_.lower_bound(first);
  while (gap != open_.end() && gap->first <= last) {
    Gap& each = gap->second;
    if (why == GivenUp::gone && (each.tries == 0 || (each.tries == 1 && each.is_far))) {
      each.is_gone = true;
      each.due_at = std::min(each.due_at, std::max(now + disorder(settings_.hop_round_trip), quiet_until_));
      next_at_ = std::min(next_at_, each.due_at);
      ++gap;
      continue;
    }
    lose(gap->first, 1, why);
    gap = open_.erase(gap);
    --open_all_;
  }
}

void Gaps::lose(std::uint64_t first, std::uint64_t count, GivenUp why) {
  if (!lost_.empty() && lost_.back().first + lost_.back().count == first && lost_.back().why == why) {
    lost_.back().count += count;
  } else {
    lost_.push_back({first, count, why});
  }
}

// --- What is to be done ---

/// For a quarter of it, and for longer where they have.
Duration Gaps::disorder(Duration round_trip) const { return round_trip / 4 * settings_.later_packets / kLaterPackets; }

void Gaps::count_gaps(Time now) {
  for (auto gap = open_.lower_bound(uncounted_); gap != open_.end(); ++gap) {
    if (highest() - gap->first < settings_.later_packets) break;
    uncounted_ = gap->first + 1;
    if (gap->second.tries == 0) gap->second.due_at = std::min(gap->second.due_at, std::max(now, quiet_until_));
    next_at_ = std::min(next_at_, gap->second.due_at);
  }
}

Gaps::Due Gaps::collect(Time now) {
  Due due;
  for (auto each = open_.begin(); each != open_.end() && next_at_ <= now;) {
    const std::uint64_t sequence = each->first;
    Gap& gap = each->second;
    if (gap.due_at > now) {
      ++each;
      continue;
    }
    const bool is_signal = settings_.repair_for == Duration::zero() && gap.tries == 0;
    const Time repaired_until = gap.seen_at + settings_.repair_for;
    const Time over_at =
        std::max(repaired_until, gap.seen_at + disorder(std::max(settings_.way_round_trip, settings_.hop_round_trip)));
    if (!is_signal && !gap.is_gone && now >= repaired_until && now < over_at) {
      gap.due_at = over_at;  // others have only overtaken it, perhaps
      ++each;
      continue;
    }
    if (!is_signal && (gap.is_gone || now >= over_at || gap.tries == kTriesMax)) {
      lose(sequence, 1, gap.is_gone ? GivenUp::gone : now >= over_at ? GivenUp::too_late : GivenUp::unanswered);
      each = open_.erase(each);
      --open_all_;
      continue;
    }
    if (++gap.tries == 1) gap.asked_at = now;
    uncounted_ = std::max(uncounted_, sequence + 1);
    // Twice as long each time from the third on, and no longer than it is of use.
    const int times = 1 << std::max(0, gap.tries - 2);
    gap.due_at = std::min(now + (gap.is_far ? far_ : near_).patience() * times, std::max(over_at, now));
    const auto ask = std::find_if(due.asks.begin(), due.asks.end(), [&](const Ask& other) {
      return other.attempt == gap.tries && sequence - other.first < SequenceBits::kMax;
    });
    if (ask != due.asks.end()) {
      ask->bits.insert(sequence - ask->first);
    } else {
      due.asks.push_back({sequence, {}, gap.tries, now - gap.seen_at});
      due.asks.back().bits.insert(0);
    }
    if (is_signal) {
      lose(sequence, 1, GivenUp::too_late);
      each = open_.erase(each);
      --open_all_;
    } else {
      ++each;
    }
  }
  find_next();
  due.lost = std::exchange(lost_, {});
  return due;
}

void Gaps::find_next() {
  next_at_ = kNever;
  for (const auto& [sequence, gap] : open_) next_at_ = std::min(next_at_, gap.due_at);
}

std::uint8_t Gaps::open_before(std::uint64_t end) const {
  if (open_.empty()) return 0;
  std::uint8_t count = 0;
  auto gap = open_.lower_bound(end);
  while (count < 255 && gap != open_.begin()) {
    --gap;
    if (gap->first + count + 1 != end) break;
    ++count;
  }
  return count;
}

}  // namespace spindled
