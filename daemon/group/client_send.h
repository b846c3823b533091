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
  std::uint16_t type = 0;   // of a message alone
  std::uint32_t total = 0;  // bytes of payload, of all messages
  std::uint32_t messages = 1;
  std::uint32_t weight = kBundleWeightMax + 1;  // of all messages (bundle_weight); by default nothing goes along
  std::span<const Slice> chunks;                // the payload of a message alone; each at most kChunkBytesMax
  ByteView bundle;                              // several messages
};

/// Whether `next`, which follows `first` to the same destinations, may be bundled with it.
bool may_go_along(const ClientSend& first, const ClientSend& next);
/// Appends the content of `sent`: the payload of a message alone, or a bundle.
void append_to_bundle(std::vector<std::uint8_t>& bundle, const ClientSend& sent, ByteView content);
/// `next` was bundled with `first`.
void count_in(ClientSend& first, const ClientSend& next);

}  // namespace spindled
