// Which symbols of a ring belong to somebody.
#pragma once

#include <cstdint>
#include <set>

namespace spindled {

/// Of meshed children each is given first what belongs to nobody yet: a place of the ring belongs to the first that
/// was given it.
class OwnedPlaces {
 public:
  /// What lies before is in the ring no more.
  void forget_before(std::uint64_t begin);
  void add(std::uint64_t place);
  bool contains(std::uint64_t place) const { return place < first_free_ || behind_.contains(place); }
  /// The first place that belongs to nobody.
  std::uint64_t first_free() const { return first_free_; }

 private:
  void settle();

  std::uint64_t first_free_ = 0;
  std::set<std::uint64_t> behind_;  // that belong to somebody
};

}  // namespace spindled
