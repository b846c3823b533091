#include "daemon/order/records.h"

namespace spindled {

using spindle::Reader;
using spindle::varint_size;
using spindle::Writer;

namespace {

/// A run takes at least this many bytes; a claimed count that cannot fit is refused before anything is allocated.
constexpr std::size_t kRunBytesMin = 3;

std::size_t run_size(const Run& run, bool with_origin) {
  return (with_origin ? varint_size(run.origin) : 0) + varint_size(run.count << 1) + varint_size(run.first) +
         run.destinations.encoded_size();
}

void write_run(Writer& writer, const Run& run, bool with_origin) {
  if (with_origin) writer.varint(run.origin);
  writer.varint(run.count << 1 | (run.safe ? 1 : 0));
  writer.varint(run.first);
  run.destinations.write(writer);
}

/// Whether all of `set` are below `members`.
bool fits(const MemberSet& set, std::size_t members) {
  bool all = true;
  set.for_each([&](MemberIndex member) { all = all && member < members; });
  return all;
}

std::optional<std::vector<Run>> read_runs(Reader& reader, std::optional<MemberIndex> origin, std::size_t members) {
  const std::uint64_t count = reader.varint_up_to(reader.remaining() / kRunBytesMin);
  std::vector<Run> runs;
  runs.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    Run run;
    run.origin = origin ? *origin : static_cast<MemberIndex>(reader.varint_up_to(members - 1));
    const std::uint64_t count_and_safe = reader.varint();
    run.count = count_and_safe >> 1;
    run.safe = (count_and_safe & 1) != 0;
    run.first = reader.varint();
    run.destinations = MemberSet::read(reader);
    const bool valid = reader.ok() && run.count != 0 && run.first != 0 && run.first + run.count > run.first &&
                       fits(run.destinations, members);
    if (!valid) return std::nullopt;
    runs.push_back(std::move(run));
  }
  if (!reader.done()) return std::nullopt;
  return runs;
}

/// Whether message `first` continues `last` without a gap.
bool ends_before(const Run& last, MemberIndex origin, bool safe, std::uint64_t first, const MemberSet& destinations) {
  return last.origin == origin && last.safe == safe && last.first + last.count == first &&
         last.destinations == destinations;
}

std::size_t runs_size(const std::vector<Run>& runs, bool with_origin) {
  std::size_t size = varint_size(runs.size());
  for (const Run& run : runs) size += run_size(run, with_origin);
  return size;
}

}  // namespace

void append_run(std::vector<Run>& runs, Run run) {
  if (!runs.empty() && ends_before(runs.back(), run.origin, run.safe, run.first, run.destinations)) {
    runs.back().count += run.count;
  } else {
    runs.push_back(std::move(run));
  }
}

void append_message(std::vector<Run>& runs, MemberIndex origin, bool safe, std::uint64_t number,
                    const MemberSet& destinations) {
  if (!runs.empty() && ends_before(runs.back(), origin, safe, number, destinations)) {
    ++runs.back().count;
  } else {
    runs.push_back({origin, safe, number, 1, destinations});
  }
}

std::vector<std::uint8_t> write_run_report(const RunReport& report) {
  std::vector<std::uint8_t> out(1 + varint_size(report.processed) + runs_size(report.runs, false));
  Writer writer(out.data());
  writer.u8(static_cast<std::uint8_t>(OrderOperation::run_report));
  writer.varint(report.processed);
  writer.varint(report.runs.size());
  for (const Run& run : report.runs) write_run(writer, run, false);
  return out;
}

std::vector<std::uint8_t> write_order_record(const OrderRecord& record) {
  std::vector<std::uint8_t> out(1 + varint_size(record.first) + varint_size(record.horizon) +
                                varint_size(record.safe_line) + runs_size(record.runs, true));
  Writer writer(out.data());
  writer.u8(static_cast<std::uint8_t>(OrderOperation::order_record));
  writer.varint(record.first);
  writer.varint(record.horizon);
  writer.varint(record.safe_line);
  writer.varint(record.runs.size());
  for (const Run& run : record.runs) write_run(writer, run, true);
  return out;
}

std::optional<OrderOperation> order_operation(ByteView content) {
  if (content.empty() || content[0] < 1 || content[0] > 2) return std::nullopt;
  return static_cast<OrderOperation>(content[0]);
}

std::optional<RunReport> read_run_report(ByteView content, MemberIndex origin, std::size_t members) {
  Reader reader(content);
  reader.u8();
  RunReport report;
  report.processed = reader.varint();
  auto runs = read_runs(reader, origin, members);
  if (!runs) return std::nullopt;
  report.runs = std::move(*runs);
  return report;
}

std::optional<OrderRecord> read_order_record(ByteView content, std::size_t members) {
  Reader reader(content);
  reader.u8();
  OrderRecord record;
  record.first = reader.varint();
  record.horizon = reader.varint();
  record.safe_line = reader.varint();
  auto runs = read_runs(reader, std::nullopt, members);
  if (!runs) return std::nullopt;
  record.runs = std::move(*runs);
  return record;
}

}  // namespace spindled
