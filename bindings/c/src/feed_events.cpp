// The fields of events of feeds.
#include "bindings/c/src/events.h"

namespace spindle::c {
namespace {

/// The feed that the event is of, of whichever of these it is; 0 of none.
template <typename... Types>
FeedId feed_of(const spindle_event* event) {
  return (number_in(event, &Types::feed) | ...);
}

std::int64_t nanoseconds_of(std::chrono::microseconds span) { return std::chrono::nanoseconds(span).count(); }

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;
using spindle::FeedClosed;
using spindle::FeedFlow;
using spindle::FeedGap;
using spindle::FeedOpened;
using spindle::FeedPacket;
using spindle::FeedWritable;

uint64_t spindle_event_feed(const spindle_event* event) {
  return feed_of<FeedOpened, FeedPacket, FeedGap, FeedClosed, FeedFlow, FeedWritable>(event);
}

spindle_bytes spindle_feed_opened_source(const spindle_event* event) { return text_in(event, &FeedOpened::source); }

int64_t spindle_feed_opened_repair_for_ns(const spindle_event* event) {
  return nanoseconds_of(number_in(event, &FeedOpened::repair_for));
}

spindle_bytes spindle_feed_packet_payload(const spindle_event* event) {
  const auto* packet = content<FeedPacket>(event);
  return packet == nullptr ? spindle_bytes{nullptr, 0} : bytes_of(packet->text());
}

uint64_t spindle_feed_sequence(const spindle_event* event) {
  return number_in(event, &FeedPacket::sequence) | number_in(event, &FeedGap::first);
}

uint64_t spindle_feed_packet_count(const spindle_event* event) {
  return content<FeedPacket>(event) != nullptr ? number_in(event, &FeedPacket::packets)
                                               : number_in(event, &FeedGap::count);
}

unsigned spindle_feed_gap_cause(const spindle_event* event) { return enumerator_in(event, &FeedGap::cause); }

unsigned spindle_feed_closed_why(const spindle_event* event) { return enumerator_in(event, &FeedClosed::why); }

uint64_t spindle_feed_flow_rate(const spindle_event* event) { return number_in(event, &FeedFlow::bytes_per_second); }

int64_t spindle_feed_flow_round_trip_ns(const spindle_event* event) {
  return nanoseconds_of(number_in(event, &FeedFlow::round_trip));
}

double spindle_feed_flow_loss(const spindle_event* event) { return number_in(event, &FeedFlow::loss); }

unsigned spindle_feed_flow_limited_by(const spindle_event* event) {
  return enumerator_in(event, &FeedFlow::limited_by);
}
