// What a simulated client knows of bulk channels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "libclient/protocol/bulk_requests.h"

namespace spindled::sim {

namespace protocol = spindle::protocol;
using protocol::BulkChannelId;
using protocol::BulkOutcome;

/// What a client does about channels that others offer.
struct ChannelHabit {
  BulkOutcome outcome = BulkOutcome::done;  // what comes of each; none: it says nothing, accepted: no more than that
  Duration after{};                         // it is told of the offer
  bool operator==(const ChannelHabit&) const = default;
};

/// A channel as the client was told of it.
struct ClientChannel {
  protocol::BulkOffered offered;
  std::optional<protocol::BulkSealed> sealed;      // since
  std::optional<protocol::BulkComplete> complete;  // since
  std::optional<protocol::BulkReturned> returned;  // since
  std::optional<protocol::BulkEnd> ended;
  std::size_t offers = 0;  // how often it was told that it is offered

  bool is_sealed() const { return offered.root.has_value() || sealed.has_value(); }
  bool is_complete() const { return offered.is_complete || complete.has_value(); }
};

/// Keeps what came last of each.
class ClientChannels {
 public:
  void take(const protocol::BulkNews& news) {
    if (const auto* offered = std::get_if<protocol::BulkOffered>(&news)) {
      if (!channels_.contains(offered->channel)) order_.push_back(offered->channel);
      ClientChannel& channel = channels_[offered->channel];
      channel = {*offered, {}, {}, {}, {}, channel.offers + 1};
    } else if (const auto* sealed = std::get_if<protocol::BulkSealed>(&news)) {
      channels_[sealed->channel].sealed = *sealed;
    } else if (const auto* complete = std::get_if<protocol::BulkComplete>(&news)) {
      channels_[complete->channel].complete = *complete;
    } else if (const auto* returned = std::get_if<protocol::BulkReturned>(&news)) {
      channels_[returned->channel].returned = *returned;
    } else if (const auto* ended = std::get_if<protocol::BulkEnded>(&news)) {
      channels_[ended->channel].ended = ended->why;
    } else if (const auto* token = std::get_if<protocol::BulkToken>(&news)) {
      token_ = *token;
      ++tokens_;
    }
  }
  /// Null where it was never told of it.
  const ClientChannel* find(const BulkChannelId& id) const {
    const auto found = channels_.find(id);
    return found == channels_.end() ? nullptr : &found->second;
  }
  /// In the order in which it was told of them.
  const std::vector<BulkChannelId>& ids() const { return order_; }
  std::size_t size() const { return channels_.size(); }
  const std::optional<protocol::BulkToken>& token() const { return token_; }
  /// How many came.
  std::size_t tokens() const { return tokens_; }

 private:
  std::map<BulkChannelId, ClientChannel> channels_;
  std::vector<BulkChannelId> order_;
  std::optional<protocol::BulkToken> token_;
  std::size_t tokens_ = 0;
};

}  // namespace spindled::sim
