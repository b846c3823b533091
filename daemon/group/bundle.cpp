#include "daemon/group/bundle.h"

#include "libclient/protocol/client_frames.h"

namespace spindled {

using spindle::protocol::Reader;
using spindle::protocol::varint_size;
using spindle::protocol::Writer;

namespace {
std::size_t head_size(std::size_t payload) { return 2 + varint_size(payload); }
}  // namespace

std::size_t bundled_size(std::size_t payload) { return head_size(payload) + payload; }

void append_bundled(std::vector<std::uint8_t>& bundle, const BundledMessage& message) {
  const std::size_t start = bundle.size();
  bundle.resize(start + bundled_size(message.payload.size()));
  Writer writer(bundle.data() + start);
  writer.u16(message.type);
  writer.varint(message.payload.size());
  writer.bytes(message.payload);
}

bool read_bundle(ByteView bundle, std::vector<BundledMessage>& messages) {
  messages.clear();
  Reader reader(bundle);
  do {
    BundledMessage& message = messages.emplace_back();
    message.type = reader.u16();
    message.payload = reader.bytes(reader.varint_up_to(spindle::protocol::kChunkBytesMax));
  } while (reader.ok() && !reader.done());
  return reader.ok();
}

}  // namespace spindled
