#include "bindings/c/src/handles.h"

using namespace spindle::c;

namespace {

/// Has `set` change the options, which have to be there.
template <typename Options, typename Set>
spindle_code change(Options* options, Set&& set) {
  if (options == nullptr) return SPINDLE_BAD_ARGUMENT;
  return guarded([&] { set(options->options); });
}

spindle_code change_text(spindle_options* options, std::string spindle::ConnectOptions::*member, const char* text) {
  if (text == nullptr) return SPINDLE_BAD_ARGUMENT;
  return change(options, [&](spindle::ConnectOptions& all) { all.*member = text; });
}

}  // namespace

spindle_options* spindle_options_new(void) { return new (std::nothrow) spindle_options; }

void spindle_options_free(spindle_options* options) { delete options; }

spindle_code spindle_options_set_address(spindle_options* options, const char* address) {
  return change_text(options, &spindle::ConnectOptions::address, address);
}

spindle_code spindle_options_set_name(spindle_options* options, const char* name) {
  return change_text(options, &spindle::ConnectOptions::name, name);
}

spindle_code spindle_options_set_tls_bundle(spindle_options* options, const char* path) {
  return change_text(options, &spindle::ConnectOptions::tls_bundle, path);
}

spindle_code spindle_options_set_tls_revocation_lists(spindle_options* options, const char* path) {
  return change_text(options, &spindle::ConnectOptions::tls_revocation_lists, path);
}

spindle_code spindle_options_set_token(spindle_options* options, const char* token) {
  return change_text(options, &spindle::ConnectOptions::token, token);
}

spindle_code spindle_options_set_disconnect_timeout(spindle_options* options, int64_t timeout_ns) {
  return change(options, [&](spindle::ConnectOptions& all) {
    all.disconnect_timeout = std::chrono::ceil<std::chrono::milliseconds>(to_timeout(timeout_ns));
  });
}

spindle_code spindle_options_set_send_timeout(spindle_options* options, int64_t timeout_ns) {
  return change(options, [&](spindle::ConnectOptions& all) { all.send_timeout = to_timeout(timeout_ns); });
}

spindle_code spindle_options_set_send_buffer(spindle_options* options, size_t bytes) {
  return change(options, [&](spindle::ConnectOptions& all) { all.send_buffer_bytes = bytes; });
}

spindle_code spindle_options_set_receive_buffer(spindle_options* options, size_t bytes) {
  return change(options, [&](spindle::ConnectOptions& all) { all.receive_buffer_bytes = bytes; });
}

spindle_code spindle_options_set_independent_flows(spindle_options* options, int independent) {
  return change(options, [&](spindle::ConnectOptions& all) { all.independent_flows = independent != 0; });
}

spindle_code spindle_options_set_slow_policy(spindle_options* options, unsigned policy) {
  if (policy > SPINDLE_SLOW_DISCONNECT) return SPINDLE_BAD_ARGUMENT;
  return change(options, [&](spindle::ConnectOptions& all) { all.slow_policy = spindle::SlowPolicy(policy); });
}

spindle_send_options* spindle_send_options_new(void) { return new (std::nothrow) spindle_send_options; }

void spindle_send_options_free(spindle_send_options* options) { delete options; }

spindle_code spindle_send_options_set_type(spindle_send_options* options, uint16_t type) {
  return change(options, [&](spindle::SendOptions& all) { all.type = type; });
}

spindle_code spindle_send_options_set_self_discard(spindle_send_options* options, int discard) {
  return change(options, [&](spindle::SendOptions& all) { all.self_discard = discard != 0; });
}
