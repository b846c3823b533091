// Histories of daemons, written down by hand.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tests/checkers/history.h"

namespace spindled::checkers {

/// Daemons are "a", "b", ..., in views whose members stand in the order of the alphabet; the first of them is the
/// coordinator. What is written belongs to the daemon chosen last. The digest of a message is made from its origin and
/// its number, which is the place in its stream.
class DaemonWriter {
 public:
  DaemonWriter& at(char daemon) {
    for (current_ = history_.daemons.size(); current_ > 0; --current_) {
      if (here().id.name == std::string(1, daemon)) return *this;
    }
    return begin({std::string(1, daemon), 1});
  }
  /// The daemon ends, and starts again.
  DaemonWriter& restarts() {
    crashes();
    return begin({here().id.name, here().id.incarnation + 1});
  }
  DaemonWriter& crashes() {
    here().end = DaemonHistory::End::crashed;
    return *this;
  }
  /// A '2' behind a letter of `members` means the daemon's second life.
  DaemonWriter& view(std::uint64_t number, std::string_view members, std::string_view along) {
    std::vector<DaemonId> ids;
    for (const char letter : members) {
      if (letter == '2') {
        ids.back().incarnation = 2;
      } else {
        ids.push_back({std::string(1, letter), 1});
      }
    }
    const ViewId id{number, ids.front().name, ids.front().incarnation};
    auto list = std::make_shared<const std::vector<DaemonId>>(std::move(ids));
    const MemberSet set = set_of(*list, along);
    return add(ViewInstalled{id, std::move(list), set});
  }
  DaemonWriter& sends(std::uint64_t number, std::string_view to, Service service = Service::agreed,
                      std::uint64_t sender = 1) {
    return add(Originated{number, service, MessageClass::client, sender, set_of(members(), to),
                          digest(here().id.name[0], number)});
  }
  /// `position` counts for ordered services only.
  DaemonWriter& gets(char origin, std::uint64_t number, std::uint64_t position = 0, Service service = Service::agreed) {
    MemberIndex index = 0;
    while (index < members().size() && members()[index].name[0] != origin) ++index;
    return add(HandedUp{index, number, service, MessageClass::client, position, digest(origin, number)});
  }
  DaemonWriter& signal(std::string_view along) { return add(Signal{set_of(members(), along)}); }
  DaemonWriter& add(decltype(DaemonEvent::what) what) {
    here().events.emplace_back().what = std::move(what);
    return *this;
  }
  /// The last event of this daemon, to be changed.
  template <typename What>
  What& last() {
    return std::get<What>(here().events.back().what);
  }

  const History& history() const { return history_; }
  operator const History&() const { return history_; }  // NOLINT(google-explicit-constructor)

 private:
  DaemonWriter& begin(DaemonId id) {
    history_.daemons.push_back({std::move(id), {}, DaemonHistory::End::running});
    current_ = history_.daemons.size();
    return *this;
  }
  DaemonHistory& here() { return history_.daemons[current_ - 1]; }
  const std::vector<DaemonId>& members() {
    const auto& events = here().events;
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (const auto* installed = std::get_if<ViewInstalled>(&event->what)) return *installed->members;
    }
    static const std::vector<DaemonId> kNobody;
    return kNobody;
  }
  static MemberSet set_of(const std::vector<DaemonId>& members, std::string_view letters) {
    MemberSet set;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (letters.find(members[i].name) != std::string_view::npos) set.insert(static_cast<MemberIndex>(i));
    }
    return set;
  }
  static std::uint64_t digest(char origin, std::uint64_t number) {
    return static_cast<std::uint64_t>(origin) << 32 | number;
  }

  History history_;
  std::size_t current_ = 0;  // one more than the index of the daemon chosen
};

}  // namespace spindled::checkers
