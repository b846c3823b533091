// Sending and hearing feeds.
#include <memory>

#include "bindings/c/src/handles.h"

namespace spindle::c {
namespace {

// Negative is the longest there is; the library looks at what is too long.
std::chrono::microseconds microseconds_of(std::int64_t nanoseconds) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration_of(nanoseconds));
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;

spindle_feed_options* spindle_feed_options_new(void) { return new (std::nothrow) spindle_feed_options(); }

void spindle_feed_options_free(spindle_feed_options* options) { delete options; }

spindle_code spindle_feed_options_set_repair_for(spindle_feed_options* options, int64_t repair_for_ns) {
  if (options == nullptr || repair_for_ns < 0) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->value.repair_for = microseconds_of(repair_for_ns);
  return 0;
}

spindle_code spindle_feed_options_set_rate(spindle_feed_options* options, uint64_t bytes_per_second) {
  if (options == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->value.bytes_per_second = bytes_per_second;
  return 0;
}

spindle_code spindle_feed_options_set_drop_oldest(spindle_feed_options* options, int drop_oldest) {
  if (options == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->value.when_full = drop_oldest != 0 ? spindle::WhenFull::drop_oldest : spindle::WhenFull::refuse;
  return 0;
}

spindle_code spindle_feed_open(spindle_connection* connection, spindle_bytes group, const spindle_feed_options* options,
                               int64_t timeout_ns, spindle_feed** feed) {
  if (feed == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  *feed = nullptr;
  if (connection == nullptr || !are_bytes(group)) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] {
    spindle::FeedOptions how = options == nullptr ? spindle::FeedOptions() : options->value;
    how.timeout = duration_of(timeout_ns);
    auto made = std::make_unique<spindle_feed>();
    auto result = connection->value.open_feed(text_of(group), how);
    if (!result) return result.error();
    made->value = *std::move(result);
    *feed = made.release();
    return std::error_code();
  });
}

void spindle_feed_close(spindle_feed* feed) { delete feed; }

uint64_t spindle_feed_id(const spindle_feed* feed) { return feed == nullptr ? 0 : feed->value.id(); }

int spindle_feed_is_open(const spindle_feed* feed) { return feed != nullptr && feed->value.is_open() ? 1 : 0; }

spindle_code spindle_feed_send(spindle_feed* feed, spindle_bytes message) {
  if (feed == nullptr || !are_bytes(message)) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] { return feed->value.try_send(text_of(message)); });
}

uint64_t spindle_feed_dropped(const spindle_feed* feed) { return feed == nullptr ? 0 : feed->value.dropped(); }

spindle_code spindle_listen(spindle_connection* connection, spindle_bytes group, unsigned delivery,
                            int64_t deadline_ns) {
  if (connection == nullptr || !are_bytes(group) || delivery > SPINDLE_FEED_IMMEDIATE) {
    return SPINDLE_ERROR_BAD_ARGUMENT;
  }
  const spindle::ListenOptions options{static_cast<spindle::ListenOptions::Delivery>(delivery),
                                       microseconds_of(deadline_ns)};
  return guarded([&] { return connection->value.listen(text_of(group), options); });
}

spindle_code spindle_stop_listening(spindle_connection* connection, spindle_bytes group) {
  if (connection == nullptr || !are_bytes(group)) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] { return connection->value.stop_listening(text_of(group)); });
}
