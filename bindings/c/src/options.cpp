// How to connect, and how to send.
#include <new>

#include "bindings/c/src/handles.h"
#include "libclient/protocol/header_block.h"

namespace spindle::c {
namespace {

template <typename Options, typename Change>
spindle_code change(Options* options, Change&& apply) noexcept {
  if (options == nullptr) return code_of(Errc::bad_argument);
  return guarded([&] { apply(options->value); });
}

// Not less than what was asked for.
std::chrono::milliseconds milliseconds_of(std::int64_t timeout_ns) {
  return timeout_ns < 0 ? std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds::max())
                        : std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(timeout_ns));
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;

spindle_options* spindle_options_new(void) { return new (std::nothrow) spindle_options(); }

void spindle_options_free(spindle_options* options) { delete options; }

spindle_code spindle_options_set_address(spindle_options* options, const char* address) {
  return change(options, [&](auto& value) { value.address = text_or_empty(address); });
}

spindle_code spindle_options_add_address(spindle_options* options, const char* address) {
  return change(options, [&](auto& value) {
    if (address == nullptr) return value.more_addresses.clear();
    value.more_addresses.emplace_back(address);
  });
}

spindle_code spindle_options_set_reconnect_timeout(spindle_options* options, int64_t timeout_ns) {
  return change(options, [&](auto& value) { value.reconnect_timeout = milliseconds_of(timeout_ns); });
}

spindle_code spindle_options_set_resume(spindle_options* options, int resume) {
  return change(options, [&](auto& value) { value.resume = resume != 0; });
}

spindle_code spindle_options_set_keepalive(spindle_options* options, int64_t period_ns) {
  if (period_ns < 0) return SPINDLE_ERROR_BAD_ARGUMENT;
  return change(options, [&](auto& value) { value.keepalive = milliseconds_of(period_ns); });
}

spindle_code spindle_options_set_name(spindle_options* options, const char* name) {
  return change(options, [&](auto& value) { value.name = text_or_empty(name); });
}

spindle_code spindle_options_set_tls_bundle(spindle_options* options, const char* path) {
  return change(options, [&](auto& value) { value.tls_bundle = text_or_empty(path); });
}

spindle_code spindle_options_set_tls_revocation_lists(spindle_options* options, const char* path) {
  return change(options, [&](auto& value) { value.tls_revocation_lists = text_or_empty(path); });
}

spindle_code spindle_options_set_token(spindle_options* options, const char* token) {
  return change(options, [&](auto& value) { value.token = text_or_empty(token); });
}

spindle_code spindle_options_set_connect_timeout(spindle_options* options, int64_t timeout_ns) {
  return change(options, [&](auto& value) { value.connect_timeout = milliseconds_of(timeout_ns); });
}

spindle_code spindle_options_set_send_timeout(spindle_options* options, int64_t timeout_ns) {
  return change(options, [&](auto& value) { value.send_timeout = duration_of(timeout_ns); });
}

spindle_code spindle_options_set_disconnect_timeout(spindle_options* options, int64_t timeout_ns) {
  return change(options, [&](auto& value) { value.disconnect_timeout = milliseconds_of(timeout_ns); });
}

spindle_code spindle_options_set_send_buffer(spindle_options* options, size_t bytes) {
  return change(options, [&](auto& value) { value.send_buffer_bytes = bytes; });
}

spindle_code spindle_options_set_receive_buffer(spindle_options* options, size_t bytes) {
  return change(options, [&](auto& value) { value.receive_buffer_bytes = bytes; });
}

spindle_code spindle_options_set_independent_flows(spindle_options* options, int independent) {
  return change(options, [&](auto& value) { value.independent_flows = independent != 0; });
}

spindle_code spindle_options_set_slow_policy(spindle_options* options, unsigned policy) {
  if (policy > SPINDLE_SLOW_DISCONNECT) return SPINDLE_ERROR_BAD_ARGUMENT;
  return change(options, [&](auto& value) { value.slow_policy = static_cast<spindle::SlowPolicy>(policy); });
}

spindle_code spindle_options_set_bulk(spindle_options* options, int bulk) {
  return change(options, [&](auto& value) { value.bulk = bulk != 0; });
}

spindle_send_options* spindle_send_options_new(void) { return new (std::nothrow) spindle_send_options(); }

void spindle_send_options_free(spindle_send_options* options) { delete options; }

spindle_code spindle_send_options_set_type(spindle_send_options* options, uint16_t type) {
  return change(options, [&](auto& value) { value.type = type; });
}

spindle_code spindle_send_options_set_self_discard(spindle_send_options* options, int discard) {
  return change(options, [&](auto& value) { value.self_discard = discard != 0; });
}

spindle_code spindle_send_options_set_ticket(spindle_send_options* options, uint64_t ticket) {
  return change(options, [&](auto& value) { value.ticket = ticket; });
}

spindle_code spindle_send_options_add_header(spindle_send_options* options, spindle_bytes key, spindle_bytes value) {
  if (options == nullptr || !are_bytes(key) || !are_bytes(value)) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] {
    std::vector<spindle::Header> headers = options->headers;
    headers.push_back({text_of(key), text_of(value)});
    if (!spindle::protocol::are_valid(headers)) return make_error_code(spindle::Errc::bad_headers);
    std::deque<std::string>& texts = options->header_texts;
    const std::string& own_key = texts.emplace_back(text_of(key));
    const std::string& own_value = texts.emplace_back(text_of(value));
    headers.back() = {own_key, own_value};
    options->headers = std::move(headers);
    options->value.headers = options->headers;
    return std::error_code();
  });
}

spindle_code spindle_send_options_clear_headers(spindle_send_options* options) {
  if (options == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->value.headers = {};
  options->headers.clear();
  options->header_texts.clear();
  return 0;
}

spindle_code spindle_send_options_set_cancel_token(spindle_send_options* options, const spindle_cancel_token* token) {
  if (options == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->stop = stop_of(token);
  return 0;
}
