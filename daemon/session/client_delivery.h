// What the group layer has for local clients, on its way into their queues.
#pragma once

#include <vector>

#include "daemon/base/context.h"
#include "daemon/group/local_clients.h"
#include "daemon/session/session_table.h"
#include "daemon/session/slow_clients.h"

namespace spindled {

/// Encodes each message and each view once, however many clients get it: small frames are copied into each queue, large
/// ones are shared by all.
class ClientDelivery final : public LocalClients {
 public:
  ClientDelivery(Context& context, SessionTable& sessions, SlowClients& slow_clients)
      : context_(context), sessions_(sessions), slow_clients_(slow_clients) {}

  void deliver_message(std::span<const SessionId> to, const ClientMessage& message) override;
  void deliver_bundle(std::span<const SessionId> to, const ClientBundle& bundle) override;
  void deliver_view(std::span<const SessionId> to, const spindle::protocol::GroupViewFrame& view) override;
  void deliver_transitional(std::span<const SessionId> to, std::string_view group) override;
  void deliver_flush_request(std::span<const SessionId> to, const spindle::protocol::Flush& request) override;
  void refuse_join(SessionId session, std::string_view group, Errc why) override;
  void requests_done(Time now, SessionId session) override;
  std::optional<SessionId> find_client(std::string_view name) const override { return sessions_.find_client(name); }

 private:
  /// Null where it is gone, or gets nothing any more.
  Session* find_open(SessionId id) const;
  void note_delivered(Session& session, std::span<const std::string_view> groups, std::size_t messages);
  void deliver_large(std::span<const SessionId> to, const ClientMessage& message);
  void deliver_frame(std::span<const SessionId> to, ByteView frame);
  void give_up_view(std::span<const SessionId> to);
  /// Takes note of what receivers have to know of the order before they get a message that stands there.
  void note_order(const OrderedAt& at);
  /// Tells it to who does not know.
  void tell_order(Session& session, const OrderedAt& at);

  Context& context_;
  SessionTable& sessions_;
  SlowClients& slow_clients_;
  ViewId order_view_;                       // of which the order was last
  std::uint64_t order_changes_ = 0;         // likewise
  std::uint64_t order_number_ = 0;          // counts these
  std::vector<std::uint8_t> order_frame_;   // that tells of them
  std::vector<std::uint32_t> frame_sizes_;  // of what is being delivered; kept for its memory
};

}  // namespace spindled
