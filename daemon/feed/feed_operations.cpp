#include "daemon/feed/feed_operations.h"

#include "libclient/common/growing_writer.h"

namespace spindled {

using spindle::GrowingWriter;
using spindle::Reader;

namespace {

struct OperationWriter {
  GrowingWriter& out;

  void operator()(const FeedsOpened& op) const {
    out.varint(op.feeds.size());
    for (const FeedsOpened::Feed& each : op.feeds) {
      out.varint(each.number);
      out.short_string(each.group);
      out.short_string(each.client);
      out.varint(static_cast<std::uint64_t>(each.repair_for / 1us));
      out.varint(each.next);
    }
  }
  void operator()(const FeedsClosed& op) const {
    out.varint(op.feeds.size());
    for (const FeedsClosed::Feed& each : op.feeds) {
      out.varint(each.number);
      out.varint(each.next);
    }
  }
};

/// One that is not 0, and behind all before it.
template <typename Feed>
std::uint32_t read_number(Reader& reader, const std::vector<Feed>& before) {
  const auto number = static_cast<std::uint32_t>(reader.varint_up_to(UINT32_MAX));
  if (number <= (before.empty() ? 0 : before.back().number)) reader.fail();
  return number;
}

std::uint64_t read_count(Reader& reader) {
  const std::uint64_t count = reader.varint();
  if (count == 0) reader.fail();
  return count;
}

FeedsOpened read_opened(Reader& reader) {
  FeedsOpened opened;
  const std::uint64_t count = read_count(reader);
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    FeedsOpened::Feed feed;
    feed.number = read_number(reader, opened.feeds);
    feed.group = read_group_name(reader);
    feed.client = read_client_name(reader);
    feed.repair_for = std::chrono::microseconds(reader.varint_up_to(kRepairForMax / 1us));
    feed.next = reader.varint();
    opened.feeds.push_back(std::move(feed));
  }
  return opened;
}

FeedsClosed read_closed(Reader& reader) {
  FeedsClosed closed;
  const std::uint64_t count = read_count(reader);
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    FeedsClosed::Feed feed;
    feed.number = read_number(reader, closed.feeds);
    feed.next = reader.varint();
    closed.feeds.push_back(feed);
  }
  return closed;
}

}  // namespace

std::vector<std::uint8_t> write_feed_operation(const FeedOperation& operation) {
  GrowingWriter out;
  std::visit(OperationWriter{out}, operation);
  return out.take();
}

std::optional<FeedOperation> read_feed_operation(std::uint8_t number, ByteView content) {
  Reader reader(content);
  std::optional<FeedOperation> operation;
  if (number == kFeedOperationMin) {
    operation = read_opened(reader);
  } else if (number == kFeedOperationMin + 1) {
    operation = read_closed(reader);
  } else {
    return std::nullopt;
  }
  return reader.done() ? std::move(operation) : std::nullopt;
}

}  // namespace spindled
