// Writes down what the order layer of a simulated daemon does, as the checkers read it.
#pragma once

#include <map>
#include <vector>

#include "daemon/group/operations.h"
#include "daemon/order/order_observer.h"
#include "tests/checkers/history.h"
#include "tests/sim/event_queue.h"

namespace spindled::sim {

/// One list for each set of members, however many daemons install the view.
class MemberLists {
 public:
  checkers::MemberList share(const View& view);

 private:
  std::map<ViewId, std::vector<checkers::MemberList>> lists_;
};

/// Of one host: all lives of its daemon.
class DaemonRecorder final : public OrderObserver {
 public:
  DaemonRecorder(const EventQueue& events, MemberLists& lists) : events_(events), lists_(lists) {}

  void begin(DaemonId id);
  void end(checkers::DaemonHistory::End end);
  const std::vector<checkers::DaemonHistory>& lives() const { return lives_; }

  // OrderObserver
  void originated(const Delivery& message, const MemberSet& destinations) override;
  void delivered(const Delivery& message) override;
  void transitional(const MemberSet& transitional) override;
  void view_installed(const View& view, const MemberSet& came_along) override;

 private:
  void note_operation(ByteView content);
  template <typename What>
  void note(What what) {
    lives_.back().events.push_back({events_.now(), std::move(what)});
  }

  const EventQueue& events_;
  MemberLists& lists_;
  std::vector<checkers::DaemonHistory> lives_;
  std::map<SessionId, std::string> clients_;  // of this life, that have joined a group
  Envelope envelope_;
};

}  // namespace spindled::sim
