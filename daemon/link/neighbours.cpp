#include "daemon/link/neighbours.h"

#include <algorithm>

namespace spindled {

Neighbours::Neighbours(const LinkConfig& config, Random random)
    : back_off_min_(config.redial_min),
      back_off_max_(std::max(config.redial_max, config.redial_min)),
      back_off_lost_max_(std::clamp(config.redial_lost_max, back_off_min_, back_off_max_)),
      random_(random) {
  for (const NeighbourConfig& neighbour : config.neighbours) {
    Neighbour& added = all_.emplace_back();
    added.config = neighbour;
    added.back_off = back_off_min_;
  }
}

void Neighbours::start(Time now) {
  for (Index i = 0; i < all_.size(); ++i) schedule(i, now);
}

std::optional<Neighbours::Index> Neighbours::take_due(Time now) {
  if (due_.empty() || due_.begin()->first > now) return std::nullopt;
  const Index index = due_.begin()->second;
  due_.erase(due_.begin());
  all_[index].next_dial = kNever;
  return index;
}

void Neighbours::retry(Time now, Index index) {
  Duration& back_off = all_[index].back_off;
  back_off = std::min(back_off, longest_back_off(all_[index]));
  // Half of it is certain, half is drawn, so that daemons that lost each other at once do not meet again at once.
  const Duration half = back_off / 2;
  const Duration drawn(static_cast<Duration::rep>(random_.between(0, static_cast<std::uint64_t>(half.count()))));
  schedule(index, now + half + drawn);
  back_off = std::min(2 * back_off, back_off_max_);
}

void Neighbours::retry_within(Time now, Index index, Duration longest) {
  all_[index].back_off = std::min(longest, back_off_max_);
  retry(now, index);
  all_[index].back_off = back_off_min_;
}

void Neighbours::retry_now(Time now, Errc failure) {
  for (Index i = 0; i < all_.size(); ++i) {
    if (all_[i].next_dial == kNever || all_[i].warned != failure) continue;
    due_.erase({all_[i].next_dial, i});
    all_[i].back_off = back_off_min_;
    schedule(i, now);
  }
}

/// Who was there is likely to come back, and groups wait for it; who never was may be a mistake in the configuration.
Duration Neighbours::longest_back_off(const Neighbour& neighbour) const {
  return neighbour.known_peer.empty() ? back_off_max_ : back_off_lost_max_;
}

void Neighbours::unpark(Time now, std::string_view peer) {
  for (Index i = 0; i < all_.size(); ++i) {
    if (!all_[i].parked || all_[i].known_peer != peer) continue;
    all_[i].back_off = back_off_min_;
    retry(now, i);
  }
}

bool Neighbours::learn(Index index, std::string_view peer) {
  if (all_[index].known_peer == peer) return false;
  all_[index].known_peer = peer;
  return true;
}

void Neighbours::succeed(std::string_view peer) {
  for (Neighbour& neighbour : all_) {
    if (neighbour.known_peer != peer) continue;
    neighbour.back_off = back_off_min_;
    neighbour.warned.reset();
    neighbour.told.clear();
    neighbour.last_error.clear();
  }
}

bool Neighbours::note_failure(Index index, const Error& error) {
  Neighbour& neighbour = all_[index];
  neighbour.last_error = error.message();
  std::vector<std::string>& told = neighbour.told;
  const bool is_told = std::find(told.begin(), told.end(), neighbour.last_error) != told.end();
  const bool is_news = neighbour.warned != error.code || (!is_told && told.size() < kToldMax);
  neighbour.warned = error.code;
  if (!is_told && told.size() < kToldMax) told.push_back(neighbour.last_error);
  return is_news;
}

std::uint32_t Neighbours::weight_of(std::string_view peer) const {
  for (const Neighbour& neighbour : all_) {
    if (neighbour.known_peer == peer && neighbour.config.weight != 0) return neighbour.config.weight;
  }
  return 0;
}

void Neighbours::schedule(Index index, Time at) {
  all_[index].parked = false;
  all_[index].next_dial = at;
  due_.insert({at, index});
}

}  // namespace spindled
