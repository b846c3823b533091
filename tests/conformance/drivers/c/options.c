#include "tests/conformance/drivers/c/options.h"

#include <stdlib.h>
#include <string.h>

static const char* const kPolicies[] = {"daemon_default", "price", "drop", "disconnect"};

static void add_addresses(spindle_options* options, const call* asked) {
  char address[300];
  size_t i, count;
  spindle_bytes* all = call_all(asked, "address", &count);
  for (i = 0; i < count; ++i) {
    const size_t size = all[i].size < sizeof address - 1 ? all[i].size : sizeof address - 1;
    memcpy(address, all[i].data, size);
    address[size] = '\0';
    if (i == 0) {
      spindle_options_set_address(options, address);
    } else {
      spindle_options_add_address(options, address);
    }
  }
  free(all);
}

spindle_options* connect_options_of(const call* asked) {
  spindle_options* options = spindle_options_new();
  add_addresses(options, asked);
  spindle_options_set_reconnect_timeout(options, call_has(asked, "reconnect") ? INT64_C(60000000000) : 0);
  spindle_options_set_resume(options, call_has(asked, "resume"));
  if (call_has(asked, "keepalive_ms")) spindle_options_set_keepalive(options, call_milliseconds(asked, "keepalive_ms"));
  spindle_options_set_name(options, call_text(asked, "name"));
  spindle_options_set_independent_flows(options, call_has(asked, "flows"));
  if (call_has(asked, "policy")) {
    spindle_options_set_slow_policy(options, place_of_name(kPolicies, 4, call_text(asked, "policy")));
  }
  if (call_has(asked, "receive_buffer")) {
    spindle_options_set_receive_buffer(options, (size_t)call_integer(asked, "receive_buffer"));
  }
  if (call_has(asked, "send_buffer")) {
    spindle_options_set_send_buffer(options, (size_t)call_integer(asked, "send_buffer"));
  }
  if (call_has(asked, "connect_timeout_ms")) {
    spindle_options_set_connect_timeout(options, call_milliseconds(asked, "connect_timeout_ms"));
  }
  if (call_has(asked, "disconnect_timeout_ms")) {
    spindle_options_set_disconnect_timeout(options, call_milliseconds(asked, "disconnect_timeout_ms"));
  }
  spindle_options_set_bulk(options, call_has(asked, "bulk"));
  return options;
}
