// The contents of messages between daemons: run reports, order records, operations of groups, bulk channels and feeds,
// envelopes and what is in bundles. The first byte chooses which, the second is the size of the view.
#include "daemon/channel/channel_operations.h"
#include "daemon/feed/feed_operations.h"
#include "daemon/group/bundle.h"
#include "daemon/group/operations.h"
#include "daemon/group/partial_messages.h"
#include "daemon/order/records.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace spindled;
using spindle_fuzz::check_round_trip;

void fuzz_bundle(ByteView content) {
  std::vector<BundledMessage> messages;
  if (!read_bundle(content, messages)) return;
  SPINDLE_CHECK(!messages.empty());
  std::vector<std::uint8_t> written;
  for (const BundledMessage& message : messages) append_bundled(written, message);
  SPINDLE_CHECK(written.size() <= content.size());
  std::vector<BundledMessage> again;
  SPINDLE_CHECK(read_bundle(written, again) && again.size() == messages.size());
}

void fuzz_envelope(ByteView content) {
  Envelope envelope;
  const std::size_t size = read_envelope(content, envelope);
  if (size == 0) return;
  SPINDLE_CHECK(size <= content.size());
  std::vector<std::uint8_t> written;
  write_envelope(written, envelope, write_targets(envelope.targets, envelope.has_views));
  Envelope again;
  SPINDLE_CHECK(read_envelope(written, again) == written.size());
  SPINDLE_CHECK(again.sender == envelope.sender && again.targets.size() == envelope.targets.size());
  SPINDLE_CHECK(again.bundle == envelope.bundle && again.has_views == envelope.has_views);
  SPINDLE_CHECK(again.has_headers == envelope.has_headers);
  SPINDLE_CHECK(again.parts == envelope.parts && again.ahead == envelope.ahead);
  if (envelope.bundle) fuzz_bundle(content.subspan(size));
}

void fuzz_part(ByteView content) {
  const std::optional<Part> part = read_part(content);
  if (!part) return;
  std::vector<std::uint8_t> written = write_part_head(part->number, part->total);
  written.insert(written.end(), part->payload.begin(), part->payload.end());
  const std::optional<Part> again = read_part(written);
  SPINDLE_CHECK(again && again->number == part->number && again->total == part->total);
  PartialMessages messages;
  messages.add(0, *part);
  SPINDLE_CHECK(messages.bytes() == part->payload.size());
}

/// The number comes first.
void fuzz_channel_operation(ByteView content) {
  if (content.empty()) return;
  const std::uint8_t number = content[0];
  check_round_trip(
      content.subspan(1), [number](ByteView bytes) { return read_channel_operation(number, bytes); },
      [number](const ChannelOperation& operation) {
        SPINDLE_CHECK(number_of(operation) == number);
        return write_channel_operation(operation);
      });
}

/// Likewise.
void fuzz_feed_operation(ByteView content) {
  if (content.empty()) return;
  const std::uint8_t number = content[0];
  check_round_trip(
      content.subspan(1), [number](ByteView bytes) { return read_feed_operation(number, bytes); },
      [number](const FeedOperation& operation) {
        SPINDLE_CHECK(number_of(operation) == number);
        return write_feed_operation(operation);
      });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Input input(data, size);
  const std::uint8_t kind = input.u8();
  const std::size_t members = 1 + input.u8();
  const ByteView content = input.rest();
  static_cast<void>(order_operation(content));
  switch (kind % 7) {
    case 0:
      check_round_trip(
          content, [&](ByteView bytes) { return read_run_report(bytes, 0, members); }, write_run_report);
      break;
    case 1:
      check_round_trip(
          content, [&](ByteView bytes) { return read_order_record(bytes, members); }, write_order_record);
      break;
    case 2:
      check_round_trip(content, read_operation, write_operation);
      break;
    case 3:
      fuzz_envelope(content);
      break;
    case 4:
      fuzz_part(content);
      break;
    case 5:
      fuzz_channel_operation(content);
      break;
    default:
      fuzz_feed_operation(content);
      break;
  }
  return 0;
}
