#include "daemon/bulk/relay/owned_places.h"

namespace spindled {

void OwnedPlaces::forget_before(std::uint64_t begin) {
  if (begin <= first_free_) return;
  first_free_ = begin;
  behind_.erase(behind_.begin(), behind_.lower_bound(begin));
  settle();
}

void OwnedPlaces::add(std::uint64_t place) {
  if (place < first_free_) return;
  behind_.insert(place);
  settle();
}

void OwnedPlaces::settle() {
  while (!behind_.empty() && *behind_.begin() == first_free_) {
    behind_.erase(behind_.begin());
    ++first_free_;
  }
}

}  // namespace spindled
