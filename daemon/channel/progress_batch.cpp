#include "daemon/channel/progress_batch.h"

namespace spindled {

void ProgressBatch::add(const BulkChannelId& id, const ChannelProgress::Said& said) {
  const auto [at, is_new] = channels_[id].try_emplace(said.session, said);
  if (is_new) {
    ++sessions_[said.session];
  } else if (may_follow(at->second.outcome, said.outcome)) {
    at->second = said;
  }
}

ChannelProgress ProgressBatch::take() {
  ChannelProgress progress;
  std::size_t count = 0;
  while (!channels_.empty() && count < kSaidMax) {
    const auto channel = channels_.begin();
    ChannelProgress::OfChannel& taken = progress.channels.emplace_back();
    taken.id = channel->first;
    while (!channel->second.empty() && count < kSaidMax) {
      const auto first = channel->second.begin();
      taken.said.push_back(first->second);
      if (const auto of_session = sessions_.find(first->first); --of_session->second == 0) sessions_.erase(of_session);
      channel->second.erase(first);
      ++count;
    }
    if (channel->second.empty()) channels_.erase(channel);
  }
  return progress;
}

}  // namespace spindled
