// What the numbers stand for under which one client sends, and what it has to spend on that.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/admission/flow.h"
#include "daemon/base/result.h"
#include "daemon/group/groups.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

struct SetFlow;
/// By the names of the sets, in an order of their own.
using FlowsBySet = std::map<std::string, SetFlow*>;

/// What a client has to spend on one set of groups and clients, whatever the order in which it names them and however
/// often, and under however many handles.
struct SetFlow {
  Flow flow;
  std::uint32_t number = 0;  // among the client's flows
  /// What Groups knows the large message by of which a part has entered; 0: there is none. The others wait behind it.
  std::uint64_t entering = 0;
  std::size_t handles = 0;     // that stand for the set; 0: it is of no set
  FlowsBySet::iterator place;  // where it is of one
};

/// Where a client sends under one handle.
struct DefinedSet {
  DestinationSet to;            // as the client names it
  std::size_t names_bytes = 0;  // that the names take in the frame of a message
  SetFlow* flow = nullptr;

  // What the rules say of it; Ingress's own.
  std::uint64_t allowed_by = 0;  // the version of the rules that allows all of it; 0: none has yet
  std::uint64_t denied_by = 0;   // the version that does not, because of the name `denied`
  std::string denied;
  std::uint64_t refused = 0;  // messages, since the client was last told
  Errc refused_why{};         // and what it is told of them
  std::string refused_name;
};

/// The sets of destinations that a client has defined, by handle, within the bounds of the protocol: so many numbers
/// (kHandlesMax), and so many bytes (kDefinedBytesMax), by defined_bytes().
///
/// A flow whose set has no handle any more goes to the next set that is new, with its budget and its salary, and none
/// is made while there is such a one. So there are as many flows as the client has had different sets at one time, and
/// one that defines its sets anew for every message earns no more than others.
class DestinationTable {
 public:
  /// Gives the handle this meaning instead of the one that it had, or none. An error where all sets together would then
  /// take too much.
  std::optional<Error> define(const spindle::protocol::Define& define);
  bool is_defined(std::uint32_t handle) const { return handle < sets_.size() && sets_[handle].flow != nullptr; }
  /// Of a handle that is defined.
  DefinedSet& operator[](std::uint32_t handle) { return sets_[handle]; }
  const DefinedSet& operator[](std::uint32_t handle) const { return sets_[handle]; }
  /// Calls `visit(const DestinationSet&, const Flow&)` for each flow that has a set, as that is named under one of its
  /// handles.
  template <typename Visit>
  void for_each_flow(Visit&& visit) const {
    const std::vector<const DestinationSet*> sets = sets_by_flow();
    for (std::size_t number = 0; number < sets.size(); ++number) {
      if (sets[number] != nullptr) visit(*sets[number], flows_[number]->flow);
    }
  }
  /// Whether `test(handle, const DestinationSet&)` is true of any handle that is defined.
  template <typename Test>
  bool any_of(Test&& test) const {
    for (std::uint32_t handle = 0; handle < sets_.size(); ++handle) {
      if (is_defined(handle) && test(handle, sets_[handle].to)) return true;
    }
    return false;
  }
  /// What all sets take.
  std::size_t bytes() const { return bytes_; }
  /// What the tables take, also where nothing is defined any more.
  std::size_t table_bytes() const {
    return sets_.capacity() * sizeof(DefinedSet) + flows_.size() * sizeof(SetFlow) +
           (flows_.capacity() + idle_.capacity()) * sizeof(SetFlow*);
  }

 private:
  SetFlow& flow_of(std::string key);
  void give_up(DefinedSet& set);
  std::vector<const DestinationSet*> sets_by_flow() const;

  std::vector<DefinedSet> sets_;                 // by handle
  std::vector<std::unique_ptr<SetFlow>> flows_;  // by number
  FlowsBySet flows_by_set_;                      // the set as set_key() makes it
  std::vector<SetFlow*> idle_;                   // of no set, the last one last
  std::size_t bytes_ = 0;
};

}  // namespace spindled
