// Requests at a daemon's administration port, as bytes.
#pragma once

#include <vector>

#include "daemon/admin/admin.pb.h"
#include "daemon/admin/admin_frames.h"
#include "libclient/common/bytes.h"

namespace spindled::sim {

inline std::vector<std::uint8_t> admin_frame_of(const spindle::admin::Request& request) {
  const std::string body = request.SerializeAsString();
  std::vector<std::uint8_t> frame(spindle::kFrameHeadBytes + body.size());
  spindle::Writer writer(frame.data());
  spindle::write_frame_head(writer, static_cast<std::uint8_t>(AdminFrame::request), body.size());
  writer.bytes(spindle::as_bytes(body));
  return frame;
}

}  // namespace spindled::sim
