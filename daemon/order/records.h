// What orders the order: runs, reported by origins to the sequencer and multicast by it in order records. Both travel
// as messages of their sender's stream, so they are retained and recovered like any other.
#pragma once

#include <optional>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/slab.h"

namespace spindled {

/// Consecutive messages of one origin's stream that go to the same destinations.
struct Run {
  MemberIndex origin = 0;
  bool safe = false;        // they are delivered only once the safe line has passed them
  std::uint64_t first = 0;  // stream number; of messages in several fragments (then count is 1), the last one's
  std::uint64_t count = 0;  // at least 1
  MemberSet destinations;

  bool operator==(const Run&) const = default;
};

/// Appends `run`, as a part of the last one where it continues it without a gap.
void append_run(std::vector<Run>& runs, Run run);
/// The same for one message, `number` in the stream of `origin`.
void append_message(std::vector<Run>& runs, MemberIndex origin, bool safe, std::uint64_t number,
                    const MemberSet& destinations);

/// Origin to sequencer: what it has sent since its last report.
struct RunReport {
  std::uint64_t processed = 0;  // position up to which the origin had processed the order
  std::vector<Run> runs;        // their origin is the sender of the report
};

/// Sequencer to all: the next runs of the order.
struct OrderRecord {
  std::uint64_t first = 0;      // position of the first message in `runs`, or the next one where there are none
  std::uint64_t horizon = 0;    // every origin had processed the order up to here when it sent what is ordered here
  std::uint64_t safe_line = 0;  // every member has what it needs up to here
  std::vector<Run> runs;
};

/// The contents of a message of class `order`.
std::vector<std::uint8_t> write_run_report(const RunReport& report);
std::vector<std::uint8_t> write_order_record(const OrderRecord& record);

enum class OrderOperation : std::uint8_t { run_report = 1, order_record = 2 };
std::optional<OrderOperation> order_operation(ByteView content);
/// Nothing where the content is malformed. `members` is the size of the view: indices are checked against it.
std::optional<RunReport> read_run_report(ByteView content, MemberIndex origin, std::size_t members);
std::optional<OrderRecord> read_order_record(ByteView content, std::size_t members);

}  // namespace spindled
