#include "daemon/group/client_send.h"

namespace spindled {

bool may_go_along(const ClientSend& first, const ClientSend& next) {
  return first.service == next.service && first.self_discard == next.self_discard &&
         first.has_headers == next.has_headers && first.weight + next.weight <= kBundleWeightMax;
}

void go_along(ClientSend& first, ByteView payload, std::vector<std::uint8_t>& bundle, const ClientSend& next,
              ByteView content) {
  if (first.messages == 1) append_bundled(bundle, {first.type, payload});
  if (next.messages == 1) {
    append_bundled(bundle, {next.type, content});
  } else {
    bundle.insert(bundle.end(), content.begin(), content.end());
  }
  first.total += next.total;
  first.messages += next.messages;
  first.weight += next.weight;
}

}  // namespace spindled
