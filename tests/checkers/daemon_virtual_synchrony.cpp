#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

using Stay = DaemonIndex::Stay;
using View = DaemonIndex::View;

/// What a message came to at those of a set that handed it up.
struct Outcome {
  bool originated = false;  // by one of the set
  const Stay* regular = nullptr;
  const Stay* transitional = nullptr;
  std::uint64_t position = 0;
};

/// Those who moved together from a view, and what it came to among them.
class Together {
 public:
  Together(const DaemonIndex& index, const View& view, const std::vector<const Stay*>& next_stays)
      : index_(index), view_(view), outcomes_(view.messages.size()) {
    for (const Stay* next : next_stays) {
      stays_.push_back(&index.stay(next->previous));
      note(*stays_.back());
    }
    // Who was to move on with them and did not come: it parted, or ended, while the view was agreed on.
    const Signal* signal = stays_.front()->signal;
    if (signal != nullptr) signal->members.for_each([&](MemberIndex member) { parted_.insert(member); });
    for (const Stay* stay : stays_) parted_.erase(*stay->self);
  }

  void check(Violations& violations) const {
    for (DaemonIndex::MessageId id = 0; id < outcomes_.size(); ++id) {
      const DaemonIndex::Message& message = view_.messages[id];
      if (message.originated != nullptr && message.is_lossless()) check_all_have(id, violations);
    }
    for (const Stay* stay : stays_) check_sides(*stay, violations);
  }

 private:
  void note(const Stay& stay) {
    for (const DaemonIndex::Deed& deed : stay.deeds) {
      Outcome& outcome = outcomes_[deed.message];
      if (deed.handed_up == nullptr) {
        outcome.originated = true;
        continue;
      }
      (deed.transitional ? outcome.transitional : outcome.regular) = &stay;
      outcome.position = std::max(outcome.position, deed.handed_up->position);
    }
  }

  void check_all_have(DaemonIndex::MessageId id, Violations& violations) const {
    const Outcome& outcome = outcomes_[id];
    const Stay* somebody = outcome.regular != nullptr ? outcome.regular : outcome.transitional;
    if (somebody == nullptr && !outcome.originated) return;
    for (const Stay* stay : stays_) {
      if (!view_.messages[id].is_for(*stay->self) || stay->has(id)) continue;
      report(violations,
             fmt::format("virtual synchrony: {} never handed up {}, which {} of those that it moved on with",
                         to_text(stay->daemon->id), index_.to_text(view_, id),
                         somebody != nullptr ? to_text(somebody->daemon->id) + " did," : "is of one"));
    }
  }

  /// Some of the set never had it; or it is a safe one for none of them, of which they cannot know whether it is safe;
  /// or it was for one that was to be of the set: whoever had to wait for it until the view ended stops there.
  bool is_lacking(DaemonIndex::MessageId id) const {
    const DaemonIndex::Message& message = view_.messages[id];
    const auto is_for = [&](const Stay* stay) { return message.is_for(*stay->self); };
    bool for_one_that_parted = false;
    parted_.for_each([&](MemberIndex member) { for_one_that_parted = for_one_that_parted || message.is_for(member); });
    if (for_one_that_parted && std::none_of(stays_.begin(), stays_.end(), is_for)) return true;
    if (message.service() == Service::safe && std::none_of(stays_.begin(), stays_.end(), is_for)) return true;
    return std::any_of(stays_.begin(), stays_.end(), [&](const Stay* stay) { return is_for(stay) && !stay->has(id); });
  }

  /// The first position that can end the regular part of the set: that of a message for some of them that none had
  /// before the signal. 0 where one is lost, which may have had any position.
  std::uint64_t first_held_back() const {
    std::uint64_t first = UINT64_MAX;
    for (DaemonIndex::MessageId id = 0; id < outcomes_.size(); ++id) {
      const Outcome& outcome = outcomes_[id];
      if (outcome.regular != nullptr || !is_ordered(view_.messages[id].service())) continue;
      if (is_lacking(id)) return 0;
      if (outcome.position != 0) first = std::min(first, outcome.position);
    }
    return first;
  }

  /// A member that a lost message was not for goes past it while the view runs (decision 6), as it does past a safe
  /// one that is not safe yet. Those who have not gone so far put the signal there.
  void check_sides(const Stay& stay, Violations& violations) const {
    for (const DaemonIndex::Deed& deed : stay.deeds) {
      const Outcome& outcome = outcomes_[deed.message];
      if (deed.handed_up == nullptr || !deed.transitional || outcome.regular == nullptr) continue;
      if (!is_ordered(view_.messages[deed.message].service())) continue;
      if (first_held_back() < outcome.position) return;  // and so for all that follows
      report(violations,
             fmt::format("virtual synchrony: {} handed up {} before the signal, {} behind it and for no reason",
                         to_text(outcome.regular->daemon->id), index_.to_text(view_, deed.message),
                         to_text(stay.daemon->id)));
      return;
    }
  }

  const DaemonIndex& index_;
  const View& view_;
  std::vector<const Stay*> stays_;
  MemberSet parted_;
  std::vector<Outcome> outcomes_;
};

}  // namespace

Violations check_daemon_virtual_synchrony(const DaemonIndex& index) {
  Violations violations;
  for (std::size_t view = 0; view < index.views().size(); ++view) {
    for (const auto& set : index.moved_together(view)) Together(index, index.views()[view], set).check(violations);
  }
  return violations;
}

}  // namespace spindled::checkers
