#include "tests/conformance/drivers/c/feeds.h"

#include <stdlib.h>
#include <string.h>

enum { kFeedsMax = 64 };

static spindle_feed* feeds[kFeedsMax];
static size_t feed_count = 0;

/* Its place; `feed_count` where there is none. */
static size_t place_of(uint64_t id) {
  size_t i = 0;
  while (i < feed_count && spindle_feed_id(feeds[i]) != id) ++i;
  return i;
}

spindle_code listen_to(spindle_connection* connection, spindle_bytes group, const call* asked) {
  const char* delivery = call_text(asked, "delivery");
  const int is_immediate = delivery != NULL && strcmp(delivery, "immediate") == 0;
  const int64_t deadline_ns = call_has(asked, "deadline_ms") ? call_milliseconds(asked, "deadline_ms") : 50000000;
  return spindle_listen(connection, group, is_immediate ? SPINDLE_FEED_IMMEDIATE : SPINDLE_FEED_ORDERED, deadline_ns);
}

spindle_code open_feed(spindle_connection* connection, spindle_bytes group, const call* asked, uint64_t* id) {
  spindle_feed_options* options = spindle_feed_options_new();
  const int64_t timeout_ns =
      call_has(asked, "timeout_ms") ? call_milliseconds(asked, "timeout_ms") : INT64_C(30000000000);
  spindle_feed* feed = NULL;
  spindle_code code = feed_count < kFeedsMax ? 0 : SPINDLE_ERROR_TOO_MANY_FEEDS;
  if (call_has(asked, "repair_ms")) {
    spindle_feed_options_set_repair_for(options, call_milliseconds(asked, "repair_ms"));
  }
  spindle_feed_options_set_rate(options, call_integer(asked, "rate"));
  spindle_feed_options_set_drop_oldest(options, call_has(asked, "drop_oldest"));
  if (code == 0) code = spindle_feed_open(connection, group, options, timeout_ns, &feed);
  spindle_feed_options_free(options);
  if (code != 0) return code;
  feeds[feed_count++] = feed;
  *id = spindle_feed_id(feed);
  return 0;
}

spindle_code emit(const call* asked, uint64_t* sent) {
  const size_t place = place_of(call_integer(asked, "feed"));
  const size_t size = (size_t)call_integer(asked, "size");
  spindle_code code = place < feed_count ? 0 : SPINDLE_ERROR_UNKNOWN_FEED;
  *sent = 0;
  while (code == 0 && *sent < call_integer(asked, "count")) {
    unsigned char* payload = make_payload(call_integer(asked, "seed") + *sent, size);
    const spindle_bytes bytes = {payload, size};
    code = spindle_feed_send(feeds[place], bytes);
    free(payload);
    if (code == 0) ++*sent;
  }
  return code;
}

spindle_code close_feed(uint64_t id) {
  const size_t place = place_of(id);
  if (place == feed_count) return SPINDLE_ERROR_UNKNOWN_FEED;
  spindle_feed_close(feeds[place]);
  feeds[place] = feeds[--feed_count];
  return 0;
}

void close_feeds(void) {
  while (feed_count > 0) spindle_feed_close(feeds[--feed_count]);
}
