// What local receivers say of themselves, until it is ordered.
#pragma once

#include <map>

#include "daemon/channel/channel_operations.h"

namespace spindled {

/// Many receivers are done at nearly the same time: what comes within a while is ordered as one. Of a receiver that
/// says more than one thing in that time only the last counts, but that nothing follows what is final.
class ProgressBatch {
 public:
  bool empty() const { return channels_.empty(); }
  bool has(SessionId session) const { return sessions_.contains(session); }
  void add(const BulkChannelId& id, const ChannelProgress::Said& said);
  /// As much as one operation holds; it is not empty.
  ChannelProgress take();

 private:
  static constexpr std::size_t kSaidMax = 1000;

  std::map<BulkChannelId, std::map<SessionId, ChannelProgress::Said>> channels_;
  std::map<SessionId, std::size_t> sessions_;  // and of how many channels they say something
};

}  // namespace spindled
