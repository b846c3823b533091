// Tokens by which calls are cancelled.
#include "bindings/c/src/handles.h"

using namespace spindle::c;

spindle_cancel_token* spindle_cancel_token_new(void) {
  spindle_cancel_token* token = nullptr;
  (void)guarded([&] { token = new spindle_cancel_token(); });
  return token;
}

void spindle_cancel_token_free(spindle_cancel_token* token) { delete token; }

spindle_code spindle_cancel(spindle_cancel_token* token) {
  if (token == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  // Whose call has ended may free the token while others are being ended.
  std::stop_source source = token->value;
  source.request_stop();
  return 0;
}

int spindle_is_cancelled(const spindle_cancel_token* token) {
  return token != nullptr && token->value.stop_requested() ? 1 : 0;
}
