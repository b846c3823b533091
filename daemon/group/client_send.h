// What the clients of this daemon send.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/group/bundle.h"

namespace spindled {

/// A client's message on its way out, or several of them in a bundle.
struct ClientSend {
  Service service = Service::agreed;
  bool self_discard = false;
  bool has_headers = false;  // each payload begins with them
  std::uint16_t type = 0;    // of a message alone
  std::uint32_t total = 0;   // bytes of payload, of all messages
  std::uint32_t messages = 1;
  std::uint32_t weight = kBundleWeightMax + 1;  // of all messages (bundle_weight); by default nothing goes along
  std::span<const Slice> chunks;                // the payload of a message alone; each at most kChunkBytesMax
  ByteView bundle;                              // several messages
};

/// Whether `next`, which follows `first` to the same destinations, may be bundled with it.
bool may_go_along(const ClientSend& first, const ClientSend& next);
/// Bundles `next` with `first`. What `first` is of stands in `payload` as long as it is a message alone, and then in
/// `bundle`; `content` is what `next` is of, a payload or a bundle. Whoever keeps the bytes has `first` refer to them.
void go_along(ClientSend& first, ByteView payload, std::vector<std::uint8_t>& bundle, const ClientSend& next,
              ByteView content);

}  // namespace spindled
