// What docs/wire-format.md says of numbers and limits is what the code does; wire_examples_test.cpp has its examples.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/feed_frames.h"

namespace spindle::protocol {
namespace {

std::string read_page() {
  const std::filesystem::path root(SPINDLE_SOURCE_FOLDER);
  std::ifstream page(root / "docs" / "wire-format.md");
  return {std::istreambuf_iterator<char>(page), {}};
}

void expect_line(const std::string& page, const std::string& line) {
  EXPECT_NE(page.find("\n" + line), std::string::npos) << line;
}

TEST(WireFormatPage, HasEveryErrorCode) {
  const std::string page = read_page();
  std::size_t rows = 0;
#define SPINDLE_ROW(name, number, text) \
  expect_line(page, fmt::format("| {} | {} | {} |\n", number, #name, text)), ++rows;
  SPINDLE_ERRORS(SPINDLE_ROW)
#undef SPINDLE_ROW
  const std::size_t table = page.find("\n| 1 | would_block |");
  const std::string_view rest = std::string_view(page).substr(table, page.find("\n\n", table) - table);
  EXPECT_EQ(std::count(rest.begin(), rest.end(), '\n'), static_cast<std::ptrdiff_t>(rows))
      << "a code that there is not";
}

TEST(WireFormatPage, HasTheLimits) {
  const std::string page = read_page();
  const std::pair<const char*, std::size_t> rows[] = {
      {"bytes of a message's payload", kMessageBytesMax},
      {"bytes of payload in one `send`, `send_more`, `message` or `message_more`", kChunkBytesMax},
      {"names in a `define`, and groups of a message", kGroupsPerMessageMax},
      {"handles that may be defined at a time, numbered from 0", kHandlesMax},
      {"what all sets that are defined may take", kDefinedBytesMax},
      {"what a name takes in a set beside its bytes", kDefinedNameBytes},
      {"length of a `define`", kClientFrameBytesMax},
      {"length of a `send` or `send_more`", kChunkBytesMax + 64},
      {"length of a `message`",
       (kGroupsPerMessageMax + 1) * (kGroupNameBytesMax + 1) + 5 * kVarintBytesMax + kChunkBytesMax},
      {"length of a `view` or `view_part`", kViewPartBytesMax},
      {"length of any other frame of a daemon", UINT16_MAX + 4 + kVarintBytesMax},
      {"bytes of a view's content in all its parts", kViewBytesMax},
      {"window of a handle with independent flows, in bytes", kFlowWindowBytes},
      {"bytes that a daemon may have let in without telling of them", kFlowToldBytes},
      {"what a message counts there beside its payload", kFlowMessageBytes},
      {"names in a `gap`", kGapNamesMax},
      {"bytes of a message of a feed, and at least one", kFeedMessageBytesMax},
      {"microseconds that repairs may be of use for", kRepairForMaxUs},
      {"length of a `feed_send`", kFeedMessageBytesMax + kVarintBytesMax},
  };
  for (const auto& [what, limit] : rows) {
    std::string digits = std::to_string(limit);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    expect_line(page, fmt::format("| {} | {} |\n", what, digits));
  }
  EXPECT_NE(page.find(fmt::format("the version described here is {}.", kClientVersionMax)), std::string::npos);
  EXPECT_EQ(kClientVersionMin, kClientVersionMax) << "the page knows one version";
}

TEST(WireFormatPage, HasEveryFrameOfClientsWithItsNumber) {
  const std::string page = read_page();
  const std::pair<ClientFrame, const char*> types[] = {
      {ClientFrame::hello, "hello"},
      {ClientFrame::define, "define"},
      {ClientFrame::send, "send"},
      {ClientFrame::send_more, "send_more"},
      {ClientFrame::join, "join"},
      {ClientFrame::leave, "leave"},
      {ClientFrame::bye, "bye"},
      {ClientFrame::ping, "ping"},
      {ClientFrame::view_request, "view_request"},
      {ClientFrame::flow_request, "flow_request"},
      {ClientFrame::confirm, "confirm"},
      {ClientFrame::welcome, "welcome"},
      {ClientFrame::close, "close"},
      {ClientFrame::message, "message"},
      {ClientFrame::message_more, "message_more"},
      {ClientFrame::view, "view"},
      {ClientFrame::transitional, "transitional"},
      {ClientFrame::reply, "reply"},
      {ClientFrame::pong, "pong"},
      {ClientFrame::admitted, "admitted"},
      {ClientFrame::flow, "flow"},
      {ClientFrame::gap, "gap"},
      {ClientFrame::warning, "warning"},
      {ClientFrame::view_part, "view_part"},
      {ClientFrame::taken, "taken"},
      {ClientFrame::received, "received"},
      {ClientFrame::received_by_daemon, "received"},
      {ClientFrame::refused, "refused"},
      {ClientFrame::order_view, "order_view"},
      {ClientFrame::confirmed, "confirmed"},
      {ClientFrame::flush_ok, "flush_ok"},
      {ClientFrame::flush_request, "flush_request"},
      {ClientFrame::going, "going"},
      {ClientFrame::bulk_offer, "bulk_offer"},
      {ClientFrame::bulk_seal, "bulk_seal"},
      {ClientFrame::bulk_outcome, "bulk_outcome"},
      {ClientFrame::bulk_cancel, "bulk_cancel"},
      {ClientFrame::bulk_set_rate, "bulk_set_rate"},
      {ClientFrame::bulk_token_request, "bulk_token_request"},
      {ClientFrame::bulk_offered, "bulk_offered"},
      {ClientFrame::bulk_sealed, "bulk_sealed"},
      {ClientFrame::bulk_complete, "bulk_complete"},
      {ClientFrame::bulk_ended, "bulk_ended"},
      {ClientFrame::bulk_token, "bulk_token"},
      {ClientFrame::feed_open, "feed_open"},
      {ClientFrame::feed_send, "feed_send"},
      {ClientFrame::feed_close, "feed_close"},
      {ClientFrame::listen, "listen"},
      {ClientFrame::stop_listening, "stop_listening"},
      {ClientFrame::feed_ready, "feed_ready"},
      {ClientFrame::feed_room, "feed_room"},
      {ClientFrame::feed_flow, "feed_flow"},
      {ClientFrame::feed_opened, "feed_opened"},
      {ClientFrame::feed_packet, "feed_packet"},
      {ClientFrame::feed_gap, "feed_gap"},
      {ClientFrame::feed_end, "feed_end"},
  };
  for (const auto& [type, name] : types) {
    EXPECT_NE(page.find(fmt::format("**{} {}**", static_cast<int>(type), name)), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace spindle::protocol
