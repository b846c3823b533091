// Seeds for the decoders of the contents of messages.
#include "daemon/channel/channel_operations.h"
#include "daemon/feed/feed_operations.h"
#include "daemon/group/bundle.h"
#include "daemon/group/operations.h"
#include "daemon/order/records.h"
#include "tests/fuzz/seeds.h"

namespace spindle_fuzz {

namespace {

std::vector<std::uint8_t> with_number(const spindled::ChannelOperation& operation) {
  std::vector<std::uint8_t> bytes{spindled::number_of(operation)};
  const std::vector<std::uint8_t> content = spindled::write_channel_operation(operation);
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

std::vector<std::uint8_t> with_number(const spindled::FeedOperation& operation) {
  std::vector<std::uint8_t> bytes{spindled::number_of(operation)};
  const std::vector<std::uint8_t> content = spindled::write_feed_operation(operation);
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

/// One of each.
std::vector<std::pair<std::string, spindled::ChannelOperation>> channel_operations() {
  using namespace spindled;
  const BulkChannelId id{"alpha", 7, 3};
  ContentTerms terms;
  terms.name = "map";
  terms.layout = *ContentLayout::of(100'000);
  Channel known;
  known.id = id;
  known.group = "news";
  known.source = 9;
  known.client = "writer";
  known.terms = terms;
  known.root.emplace();
  known.audience = {{0, 9, BulkOutcome::failed, 30}, {1, 300}};
  known.others = {{1, 5, BulkOutcome::done}};
  known.gone = {{2, 0, 1}, {MissingReceiver{{"alpha", 7}, 4}}, {1, 0, 0}};
  return {{"offered", ChannelOffered{id, "news", 9, "writer", terms}},
          {"sealed", ChannelSealed{id, 100'000, {}}},
          {"progress", ChannelProgress{{{id, {{9, BulkOutcome::done, 0}, {300, BulkOutcome::failed, 30}}}}}},
          {"cancelled", ChannelCancelled{id}},
          {"ended", ChannelEnded{id, BulkEnd::over}},
          {"rate_set", ChannelRateSet{id, 1'000'000}},
          {"source_gone", ChannelSourceGone{9}},
          {"channels_known", ChannelsKnown{MemberSet::first(2), {known}, true}}};
}

}  // namespace

void add_message_content_seeds(Seeds& seeds) {
  using namespace spindled;
  const auto add = [&](std::string name, unsigned kind, const std::vector<std::uint8_t>& content) {
    seeds.push_back({"message_contents", std::move(name), one_byte(kind) + one_byte(2) + as_string(content)});
  };
  const MemberSet both = MemberSet::first(2);
  add("run_report", 0, write_run_report({7, {{0, false, 3, 40, both}, {0, true, 44, 1, MemberSet::of(2)}}}));
  add("run_report_without_runs", 0, write_run_report({7, {}}));
  add("order_record", 1, write_order_record({12, 7, 5, {{0, false, 3, 40, both}, {1, true, 1, 2, MemberSet::of(2)}}}));
  add("subscribe", 2, write_operation(Subscribe{"news"}));
  add("unsubscribe", 2, write_operation(Unsubscribe{"news"}));
  add("join", 2, write_operation(JoinGroup{"news", 9, "reader"}));
  add("join_synchronous", 2, write_operation(JoinGroup{"state", 9, "reader", true}));
  add("flushed", 2, write_operation(Flushed{"state", 3}));
  add("announce_pending", 2, write_operation(Announce{{{"state", 1, {{9, "a"}, {10, "b", true}}, true, true}}}));
  add("leave", 2, write_operation(LeaveGroup{"news", 9}));
  add("disconnect", 2, write_operation(Disconnect{300}));
  add("announce", 2,
      write_operation(Announce{{{"news", 1, {{9, "reader"}, {300, "writer"}}}, {"talk", 0, {{9, "reader"}}}}}));
  add("table_state", 2, write_operation(TableState{2, 3, 1u << 30, {"news", "talk"}, true}));
  add("announce_in_part", 2, write_operation(Announce{{{"news", 0, {{9, "reader"}}}}, true}));
  for (const auto& [name, operation] : channel_operations()) add("channel_" + name, 5, with_number(operation));
  using namespace std::chrono_literals;
  add("feeds_opened", 6,
      with_number(FeedOperation(FeedsOpened{{{7, "ticks", "writer", 200ms, 0}, {300, "news", "b", 0s, 70'000}}})));
  add("feeds_closed", 6, with_number(FeedOperation(FeedsClosed{{{7, 0}, {300, 70'000}}})));
  Envelope envelope;
  envelope.session = 300;
  envelope.sender = "writer";
  envelope.type = 7;
  envelope.self_discard = true;
  envelope.total = 5;
  envelope.targets = {{1, {}}, {0, "#reader#alpha"}, {200, {}}};
  std::vector<std::uint8_t> bytes;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  add("envelope", 3, bytes);
  envelope.has_headers = true;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  add("envelope_headers", 3, bytes);
  envelope.has_headers = false;
  envelope.parts = 9;
  envelope.ahead = 3;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  add("envelope_behind_parts", 3, bytes);
  std::vector<std::uint8_t> part = write_part_head(300, 5);
  add("part_of_nothing", 4, write_part_head(300, 0));
  part.insert(part.end(), {'h', 'e', 'l'});
  add("part", 4, part);
  envelope.parts = 0;
  envelope.ahead = 0;
  envelope.type = 0;
  envelope.total = 0;
  envelope.bundle = true;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  append_bundled(bytes, {7, spindle::as_bytes("first")});
  append_bundled(bytes, {0xffff, {}});
  append_bundled(bytes, {8, std::vector<std::uint8_t>(300)});
  add("bundle", 3, bytes);
}

}  // namespace spindle_fuzz
