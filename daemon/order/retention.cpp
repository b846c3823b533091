#include "daemon/order/retention.h"

#include <utility>

namespace spindled {

void Retention::restart(std::size_t count) {
  slab_ = nullptr;
  origins_ = MemberSet();
  first_.assign(count, 0);
}

void Retention::retain(std::vector<IncomingStream>& streams, MemberIndex origin, std::uint64_t number,
                       const Slice& body) {
  if (body.slab().get() != slab_) {
    std::exchange(origins_, MemberSet()).for_each([&](MemberIndex each) {
      streams[each].copy_retained(first_[each], little_, pool_);
    });
    slab_ = body.slab().get();
    little_ = slab_->capacity() / kPart;
  }
  if (!origins_.contains(origin)) {
    origins_.insert(origin);
    first_[origin] = number;
  }
  streams[origin].retain(number, body);
}

}  // namespace spindled
