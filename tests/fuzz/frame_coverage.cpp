#include "tests/fuzz/frame_coverage.h"

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include "daemon/admin/admin_frames.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "libclient/bulk/bulk_frames.h"
#include "libclient/protocol/bulk_requests.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/feed_frames.h"

namespace spindle_fuzz {

using namespace spindled;
using spindle::bulk::BulkFrame;
using spindle::protocol::ClientFrame;

namespace {

constexpr std::array kClientNames{"hello", "define",       "send",         "send_more", "join",     "leave",  "bye",
                                  "ping",  "view_request", "flow_request", "received",  "flush_ok", "confirm"};
/// From bulk_offer on.
constexpr std::array kChannelNames{"bulk_offer",  "bulk_seal",     "bulk_outcome",
                                   "bulk_cancel", "bulk_set_rate", "bulk_token_request"};
constexpr auto kFirstOfChannels = static_cast<std::size_t>(ClientFrame::bulk_offer);
static_assert(kFirstOfChannels + kChannelNames.size() == static_cast<std::size_t>(ClientFrame::bulk_token_request) + 1);
/// From feed_open on.
constexpr std::array kFeedNames{"feed_open", "feed_send", "feed_close", "listen", "stop_listening"};
constexpr auto kFirstOfFeeds = static_cast<std::size_t>(ClientFrame::feed_open);
static_assert(kFirstOfFeeds + kFeedNames.size() == static_cast<std::size_t>(ClientFrame::stop_listening) + 1);
/// From open on, and those that begin and end a connection.
constexpr std::array kBulkNames{"open", "shut",      "symbol", "index",  "need",    "grant", "release",
                                "mark", "ask_index", "hello",  "attach", "welcome", "close"};
constexpr auto kBulkFramesBetween = static_cast<std::size_t>(BulkFrame::ask_index);
constexpr auto kFirstBulkGreeting = static_cast<std::size_t>(BulkFrame::hello);
static_assert(kBulkNames.size() ==
              kBulkFramesBetween + static_cast<std::size_t>(BulkFrame::close) - kFirstBulkGreeting + 1);
constexpr auto kLinkNames = [] {
  std::array<std::string_view, kFrameTypes> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFrameTraits[i].name;
  return names;
}();
static_assert(kClientNames.size() == static_cast<std::size_t>(ClientFrame::confirm));

/// In the order of ControlMessage.
constexpr std::array kControlNames{
    "link_hello", "link_state", "link_state_summary", "propose", "member_state",   "refuse", "commit",
    "done",       "counts",     "received",           "install", "partition_order"};
static_assert(kControlNames.size() == std::variant_size_v<ControlMessage>);

/// In the order of DatagramFrame.
constexpr std::array kDatagramNames{"packet", "nak", "gone", "beat"};

constexpr std::array kAdminNames{"request"};
static_assert(kAdminNames.size() == static_cast<std::size_t>(AdminFrame::request));

template <typename Counts>
void write_row(const char* port, std::string_view name, const Counts& count) {
  std::fprintf(stderr, "frame %-32s %12llu arrived %12llu taken\n", std::string(port).append(name).c_str(),
               static_cast<unsigned long long>(count.arrived), static_cast<unsigned long long>(count.taken));
}

/// Those from `first` on that have a name, and the last, which stands for all others, where there were any.
template <typename Names, typename Counts>
void write_rows(const char* port, const Names& names, std::size_t first, const Counts& counts, const char* others) {
  static_assert(std::tuple_size_v<Names> + 1 < std::tuple_size_v<Counts>);
  for (std::size_t i = 0; i < names.size(); ++i) write_row(port, names[i], counts[first + i]);
  if (counts.back().arrived != 0) write_row(port, others, counts.back());
}

/// Where frames of `type` are counted where this many types have names, from 1 on.
template <typename Counts>
auto& count_in(Counts& counts, std::size_t names, std::uint8_t type) {
  return type >= 1 && type <= names ? counts[type] : counts.back();
}

}  // namespace

FrameCoverage& FrameCoverage::of_process() {
  static FrameCoverage coverage;
  return coverage;
}

FrameCoverage::~FrameCoverage() {
  write_rows("admin ", kAdminNames, 1, admin_, "(unknown)");
  write_rows("client ", kClientNames, 1, client_, "(unknown)");
  write_rows("client ", kChannelNames, 0, channel_, "(unknown)");
  write_rows("client ", kFeedNames, 0, feed_, "(unknown)");
  write_rows("link control ", kControlNames, 0, control_, "(malformed)");
  write_rows("bulk ", kBulkNames, 1, bulk_, "(unknown)");
  write_rows("datagram ", kDatagramNames, 1, datagram_, "(unknown)");
  // Control frames are counted by what they say.
  constexpr std::string_view kControl = kLinkNames.front();
  static_assert(kControl == "control");
  static_assert(kLinkNames.size() + 1 < std::tuple_size_v<Counts>);
  for (std::size_t i = 1; i < kLinkNames.size(); ++i) write_row("link ", kLinkNames[i], link_[i + 1]);
  if (link_.back().arrived != 0) write_row("link ", "(unknown)", link_.back());
}

FrameCoverage::Count& FrameCoverage::count_of(Port port, std::uint8_t type, ByteView body) {
  switch (port) {
    case Port::client:
      if (spindle::protocol::is_bulk_request(ClientFrame{type})) return channel_[type - kFirstOfChannels];
      if (spindle::protocol::is_feed_request(ClientFrame{type})) return feed_[type - kFirstOfFeeds];
      return count_in(client_, kClientNames.size(), type);
    case Port::admin:
      return count_in(admin_, kAdminNames.size(), type);
    case Port::bulk: {
      const std::size_t place = type < kFirstBulkGreeting ? type : type - kFirstBulkGreeting + kBulkFramesBetween + 1;
      const bool is_between = type > kBulkFramesBetween && type < kFirstBulkGreeting;
      return is_between || place == 0 || place > kBulkNames.size() ? bulk_.back() : bulk_[place];
    }
    case Port::link:
      break;
  }
  if (type != static_cast<std::uint8_t>(LinkFrame::control)) return count_in(link_, kLinkNames.size(), type);
  const Result<ControlMessage> message = decode_control(body);
  return message ? control_[message->index()] : control_.back();
}

void FrameCoverage::note_datagram(std::uint8_t type, bool taken) {
  Count& count = count_in(datagram_, kDatagramNames.size(), type);
  ++count.arrived;
  count.taken += taken ? 1 : 0;
}

void FrameCoverage::note(Port port, std::uint8_t type, ByteView body, bool taken) {
  Count& count = count_of(port, type, body);
  ++count.arrived;
  count.taken += taken ? 1 : 0;
}

}  // namespace spindle_fuzz
