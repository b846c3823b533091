#include "tools/spmonitor/rates.h"

#include <algorithm>

namespace spmonitor {

namespace proto = spindle::admin;

namespace {

/// Of a link that was dialled anew peer and address are the same, but nothing of the former one counts.
bool is_same_link(const proto::Link& before, const proto::Link& now) {
  return before.peer() == now.peer() && before.address() == now.address() && before.up_seconds() <= now.up_seconds() &&
         before.bytes_in() <= now.bytes_in() && before.bytes_out() <= now.bytes_out() &&
         before.frames_in() <= now.frames_in() && before.frames_out() <= now.frames_out();
}

}  // namespace

void add_rates(const proto::LinksReply& before, double seconds, proto::LinksReply& now) {
  for (proto::Link& link : *now.mutable_links()) {
    const auto old = std::find_if(before.links().begin(), before.links().end(),
                                  [&](const proto::Link& other) { return is_same_link(other, link); });
    if (old == before.links().end()) continue;
    const auto rate = [&](std::uint64_t from, std::uint64_t to) { return static_cast<double>(to - from) / seconds; };
    link.set_bytes_in_per_second(rate(old->bytes_in(), link.bytes_in()));
    link.set_bytes_out_per_second(rate(old->bytes_out(), link.bytes_out()));
    link.set_frames_in_per_second(rate(old->frames_in(), link.frames_in()));
    link.set_frames_out_per_second(rate(old->frames_out(), link.frames_out()));
  }
}

}  // namespace spmonitor
