#include "daemon/group/bundle.h"

#include <algorithm>

#include "libclient/protocol/client_frames.h"

namespace spindled {

using spindle::Reader;
using spindle::varint_size;
using spindle::Writer;

namespace {
std::size_t bundled_size(std::size_t payload_bytes) { return 2 + varint_size(payload_bytes) + payload_bytes; }
}  // namespace

void append_bundled(std::vector<std::uint8_t>& bundle, const BundledMessage& message) {
  std::uint8_t head[2 + spindle::kVarintBytesMax];
  Writer writer(head);
  writer.u16(message.type);
  writer.varint(message.payload.size());
  // Three or four: a call would take longer than they do.
  for (const std::uint8_t* at = head; at != writer.at(); ++at) bundle.push_back(*at);
  bundle.insert(bundle.end(), message.payload.begin(), message.payload.end());
}

bool read_bundle(ByteView bundle, std::vector<BundledMessage>& messages) {
  messages.clear();
  Reader reader(bundle);
  do {
    BundledMessage& message = messages.emplace_back();
    message.type = reader.u16();
    message.payload = reader.bytes(reader.varint_up_to(kBundleWeightMax));
  } while (reader.ok() && !reader.done());
  return reader.ok();
}

std::uint32_t bundle_weight(std::size_t payload_bytes, std::size_t names_bytes) {
  const std::size_t in_bundle = bundled_size(payload_bytes);
  const std::size_t in_frame = spindle::protocol::message_frame_size(payload_bytes, names_bytes);
  return static_cast<std::uint32_t>(std::min<std::size_t>(std::max(in_bundle, in_frame / 2), kBundleWeightMax + 1));
}

}  // namespace spindled
