#include "daemon/feed/feed_sender.h"

namespace spindled {

bool FeedSender::send_repair(Time now, const FeedRoutes& routes, FeedPacket packet, const MemberSet& to,
                             std::optional<LinkId> from) {
  bool is_sent = false;
  packet.missing = 0;
  packet.flags |= FeedPacket::kRepair;
  split(routes, to, from, [&](LinkId link, const MemberSet& part) {
    const EncodedSet encoded(part);
    packet.to = encoded.view();
    if (!links_.at(link).budget.take(now, packet_size(packet))) {
      ++tally_.repairs_refused;
      return;
    }
    output_.send(link, packet);
    is_sent = true;
  });
  return is_sent;
}

void FeedSender::send_packet(const FeedRoutes& routes, FeedPacket packet, const MemberSet& to,
                             std::optional<LinkId> from) {
  split(routes, to, from, [&](LinkId link, const MemberSet& part) {
    const EncodedSet encoded(part);
    packet.to = encoded.view();
    links_.at(link).budget.fed(packet_size(packet));
    output_.send(link, packet);
  });
}

}  // namespace spindled
