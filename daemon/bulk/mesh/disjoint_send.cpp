#include "daemon/bulk/mesh/disjoint_send.h"

#include <algorithm>

namespace spindled::mesh {

namespace {

// Of what is offered to a child besides its own, less would never be tried again.
constexpr double kLimitingFactorMin = 0.01;
constexpr std::uint64_t kSymbolsMin = 50;
constexpr double kWithoutOwner = 0.7;

}  // namespace

void DisjointSend::set_children(const std::vector<MemberIndex>& children) {
  std::vector<Child> next;
  for (const MemberIndex member : children) {
    const auto known =
        std::find_if(children_.begin(), children_.end(), [&](const Child& child) { return child.member == member; });
    next.push_back(known != children_.end() ? *known : Child{.member = member});
  }
  children_ = std::move(next);
  weigh([](MemberIndex) { return 1; });
}

void DisjointSend::weigh(const std::function<std::uint32_t(MemberIndex)>& descendants) {
  double all = 0;
  for (const Child& child : children_) all += descendants(child.member);
  for (Child& child : children_) child.sending_factor = descendants(child.member) / std::max(all, 1.0);
}

void DisjointSend::begin_epoch(const std::function<std::uint32_t(MemberIndex)>& descendants) {
  weigh(descendants);
  for (Child& child : children_) child.sent = 0;
  symbols_before_ = sent_;
  sent_ = 0;
}

bool DisjointSend::send(const TrySend& try_send) {
  // Those that are farthest below their part come first.
  std::vector<Child*> order;
  for (Child& child : children_) order.push_back(&child);
  const auto lag = [&](const Child& child) {
    return child.sending_factor * static_cast<double>(sent_ + 1) - static_cast<double>(child.sent);
  };
  std::stable_sort(order.begin(), order.end(), [&](const Child* a, const Child* b) { return lag(*a) > lag(*b); });
  std::size_t owner = 0;
  while (owner < order.size() && !try_send(order[owner]->member)) ++owner;
  if (owner == order.size()) {
    // What has no owner is worth more than what somebody has twice.
    for (Child& child : children_) {
      child.limiting_factor = std::max(kLimitingFactorMin, child.limiting_factor * kWithoutOwner);
    }
    return false;
  }
  ++order[owner]->sent;
  ++sent_;
  // Such that a child is given one more symbol in an epoch, or one less.
  const double change = 1.0 / static_cast<double>(std::max(symbols_before_, kSymbolsMin));
  // Those before the owner have just had no room.
  for (std::size_t i = owner + 1; i < order.size(); ++i) {
    Child& child = *order[i];
    child.due += child.limiting_factor;
    if (child.due < 1) continue;
    child.due -= 1;
    child.limiting_factor += try_send(child.member) ? change : -change;
    child.limiting_factor = std::clamp(child.limiting_factor, kLimitingFactorMin, 1.0);
  }
  return true;
}

bool DisjointSend::send_to_all(const TrySend& try_send) const {
  bool is_taken = false;
  for (const Child& child : children_) is_taken = try_send(child.member) || is_taken;
  return is_taken;
}

double DisjointSend::limiting_factor(MemberIndex child) const {
  const auto found =
      std::find_if(children_.begin(), children_.end(), [&](const Child& each) { return each.member == child; });
  return found == children_.end() ? 0 : found->limiting_factor;
}

}  // namespace spindled::mesh
