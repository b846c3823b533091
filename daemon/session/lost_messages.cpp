#include "daemon/session/lost_messages.h"

#include "daemon/base/check.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

namespace protocol = spindle::protocol;

void LostMessages::add(spindle::ByteView frame) {
  spindle::Reader reader(frame.subspan(spindle::kFrameHeadBytes));
  const bool has_place = protocol::has_place(reader.u8());
  reader.u16();  // type
  bytes_ += reader.varint();
  if (has_place) {
    reader.varint();
    reader.varint();
  }
  const std::uint64_t groups = reader.varint();
  reader.short_string();  // sender
  bool listed = true;
  for (std::uint64_t i = 0; i < groups && reader.ok(); ++i) {
    const std::string_view name = reader.short_string();
    const auto at = names_.find(name);
    if (at != names_.end()) {
      ++at->second;
    } else if (names_.size() < protocol::kGapNamesMax) {
      names_.emplace(name, 1);
    } else {
      listed = false;
    }
  }
  SPINDLE_CHECK(reader.ok());  // this daemon has written it
  ++messages_;
  if (!listed) ++unlisted_;
}

std::vector<std::uint8_t> LostMessages::frame() const {
  protocol::Gap gap{messages_, bytes_, {}, unlisted_};
  for (const auto& [name, messages] : names_) gap.names.push_back({name, messages});
  std::vector<std::uint8_t> bytes;
  protocol::write_gap(bytes, gap);
  return bytes;
}

}  // namespace spindled
