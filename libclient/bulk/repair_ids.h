// Which repair symbols a sender makes.
#pragma once

#include <cstdint>
#include <map>

#include "libclient/bulk/bulk_frames.h"

namespace spindle::bulk {

/// The ids of repair symbols of one sender: K + 2,048 n + s, with s from the sender's place and n from a random start
/// on, so that two senders make the same symbol only by accident. Where 24 bits have no more n it goes on from 0, and
/// where all n were there with the next s: no id comes twice before nearly all were there.
class RepairIds {
 public:
  static constexpr std::uint32_t kPlaces = 2'048;
  static constexpr std::uint32_t kStartsMax = 4'096;

  /// `place`: s, below kPlaces. `start`: the first n, drawn at random below kStartsMax.
  RepairIds(std::uint32_t place, std::uint32_t start) : place_(place % kPlaces), start_(start % kStartsMax) {}

  /// Of a block of so many source symbols: the id of the next symbol, whoever it is for.
  std::uint32_t next(std::uint32_t block, std::uint32_t source_symbols) {
    const std::uint32_t made = made_[block]++;
    const std::uint32_t rounds = (kEsiMax + 1 - source_symbols) / kPlaces;
    const std::uint32_t n = (start_ + made) % rounds;
    const std::uint32_t s = (place_ + made / rounds) % kPlaces;
    return source_symbols + kPlaces * n + s;
  }

 private:
  std::uint32_t place_, start_;
  std::map<std::uint32_t, std::uint32_t> made_;  // by block
};

}  // namespace spindle::bulk
