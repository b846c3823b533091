#include "tests/fuzz/frame_coverage.h"

#include <array>
#include <cstdio>
#include <variant>

#include "daemon/admin/admin_frames.h"
#include "daemon/wire/control.h"
#include "daemon/wire/link_frames.h"
#include "libclient/protocol/client_frames.h"

namespace spindle_fuzz {

using namespace spindled;
using spindle::protocol::ClientFrame;

namespace {

constexpr std::array kClientNames{"hello", "define", "send", "send_more",    "join",
                                  "leave", "bye",    "ping", "view_request", "flow_request"};
constexpr std::array kLinkNames{"control", "view", "data", "report", "stable", "ready",
                                "push",    "ping", "pong", "close",  "price"};
static_assert(kClientNames.size() == static_cast<std::size_t>(ClientFrame::flow_request));
static_assert(kLinkNames.size() == static_cast<std::size_t>(LinkFrame::price));

/// In the order of ControlMessage.
constexpr std::array kControlNames{
    "link_hello", "link_state", "link_state_summary", "propose", "member_state",   "refuse", "commit",
    "done",       "counts",     "received",           "install", "partition_order"};
static_assert(kControlNames.size() == std::variant_size_v<ControlMessage>);

template <typename Names>
std::string name_in(const char* port, const Names& names, std::uint8_t type) {
  return std::string(port) + (type >= 1 && type <= names.size() ? names[type - 1u] : "(unknown)");
}

std::string name_of(Port port, std::uint8_t type, ByteView body) {
  switch (port) {
    case Port::client:
      return name_in("client ", kClientNames, type);
    case Port::admin:
      return type == static_cast<std::uint8_t>(AdminFrame::request) ? "admin request" : "admin (unknown)";
    case Port::link:
      break;
  }
  if (type != static_cast<std::uint8_t>(LinkFrame::control)) return name_in("link ", kLinkNames, type);
  const Result<ControlMessage> message = decode_control(body);
  return std::string("link control ") + (message ? kControlNames[message->index()] : "(malformed)");
}

}  // namespace

FrameCoverage& FrameCoverage::of_process() {
  static FrameCoverage coverage;
  return coverage;
}

FrameCoverage::FrameCoverage() {
  for (const char* name : kClientNames) counts_[std::string("client ") + name];
  for (const char* name : kLinkNames) {
    if (name != std::string_view("control")) counts_[std::string("link ") + name];
  }
  for (const char* name : kControlNames) counts_[std::string("link control ") + name];
  counts_["admin request"];
}

FrameCoverage::~FrameCoverage() {
  for (const auto& [name, count] : counts_) {
    std::fprintf(stderr, "frame %-32s %12llu arrived %12llu taken\n", name.c_str(),
                 static_cast<unsigned long long>(count.arrived), static_cast<unsigned long long>(count.taken));
  }
}

void FrameCoverage::note(Port port, std::uint8_t type, ByteView body, bool taken) {
  Count& count = counts_[name_of(port, type, body)];
  ++count.arrived;
  count.taken += taken ? 1 : 0;
}

}  // namespace spindle_fuzz
