#include "daemon/admin/feed_report.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "daemon/admin/admin.pb.h"
#include "daemon/admin/page_room.h"
#include "daemon/admin/report.h"
#include "daemon/feed/feeds.h"
#include "daemon/group/groups.h"
#include "daemon/link/links.h"
#include "daemon/session/sessions.h"
#include "libclient/common/printable.h"

namespace spindled {

namespace proto = spindle::admin;

namespace {

/// By the number of a FeedLimit.
constexpr std::array<const char*, 5> kLimits = {"start", "link", "source", "maximum", "share"};
static_assert(kLimits.size() == static_cast<std::size_t>(FeedLimit::share) + 1);
/// By the number of a GivenUp.
constexpr std::array<const char*, kGivenUpKinds> kGivenUp = {"too late", "not answered", "gone", "source lost",
                                                             "too many"};

std::uint32_t microseconds(Duration duration) { return static_cast<std::uint32_t>(duration / 1us); }

void describe(Time now, const FeedSource& source, proto::FeedSource& out) {
  const FeedFlow flow = source.flow(now);
  out.set_session(source.owner().session);
  out.set_begun(source.is_begun());
  out.set_packets(source.packets());
  out.set_waiting_bytes(source.waiting_bytes());
  out.set_bytes_per_second(static_cast<std::uint64_t>(flow.bytes_per_second));
  out.set_bytes_per_second_max(source.terms().bytes_per_second_max);
  out.set_limited_by(kLimits[static_cast<std::size_t>(flow.limited_by)]);
  out.set_round_trip_us(microseconds(flow.round_trip));
  out.set_loss(flow.loss);
  if (source.rate()) out.set_epochs(source.rate()->epochs());
  if (source.silent_until() > now) out.set_silent_seconds(to_seconds(source.silent_until() - now));
  out.set_daemons(static_cast<std::uint32_t>(source.destinations().members.count()));
  out.set_links(static_cast<std::uint32_t>(source.destinations().links));
}

std::string_view state_of(const Feeds& feeds, const OpenFeed& feed) {
  if (feed.is_doubtful) return "doubtful";
  return feeds.is_ending(feed.key) ? "ending" : "open";
}

std::string_view state_of(const FeedSource& source, bool is_known) {
  if (is_known) return source.is_closing() ? "ending" : "open";
  return source.is_begun() ? "closed" : "opening";
}

/// What is the same for all feeds.
void describe(const AdminSubjects& subjects, const FeedKey& key, proto::Feed& out) {
  out.set_listeners(static_cast<std::uint32_t>(subjects.feeds.listeners().listeners_of(key)));
  const auto state = subjects.feeds.repair().state_of(key);
  if (!state) return;
  out.set_active(true);
  out.set_packets(state->next);
  out.set_missing(static_cast<std::uint32_t>(state->missing));
  out.set_branches(static_cast<std::uint32_t>(state->branches));
  if (state->upstream && subjects.links.is_established(*state->upstream)) {
    out.set_upstream(subjects.links.peer(*state->upstream).name);
  }
}

proto::Feed describe_own(Time now, const AdminSubjects& subjects, const FeedKey& key, const FeedSource& source) {
  proto::Feed out;
  out.set_number(source.handle());
  out.set_group(spindle::printable(source.terms().group));
  out.set_source(fmt::format("#{}#{}", spindle::printable(source.owner().client), key.origin.name));
  out.set_state(std::string(state_of(source, subjects.feeds.directory().find(key) != nullptr)));
  out.set_repair_for_seconds(to_seconds(source.terms().repair_for));
  describe(subjects, key, out);
  describe(now, source, *out.mutable_own());
  return out;
}

proto::Feed describe_other(const AdminSubjects& subjects, const OpenFeed& feed) {
  proto::Feed out;
  out.set_number(feed.handle);
  out.set_group(spindle::printable(feed.group));
  out.set_source(spindle::printable(feed.source));
  out.set_state(std::string(state_of(subjects.feeds, feed)));
  out.set_repair_for_seconds(to_seconds(feed.repair_for));
  describe(subjects, feed.key, out);
  return out;
}

void add_feeds(Time now, const AdminSubjects& subjects, std::uint32_t limit, proto::FeedsReply& out) {
  const View& view = subjects.groups.view();
  const DaemonId& self = view.members[view.self];
  PageRoom room(limit);
  room.take(out.ByteSizeLong());
  std::size_t total = 0;
  const auto add = [&](auto&& describe_one) {
    ++total;
    if (room.full()) return;
    proto::Feed described = describe_one();
    room.take_item(described.ByteSizeLong());
    *out.add_feeds() = std::move(described);
  };
  for (const auto& [handle, source] : subjects.feeds.sources().all()) {
    add([&, feed = handle, own = source.get()] { return describe_own(now, subjects, {self, feed}, *own); });
  }
  for (const auto& [key, feed] : subjects.feeds.directory().all()) {
    if (key.origin != self) add([&, each = &feed] { return describe_other(subjects, *each); });
  }
  out.set_total(static_cast<std::uint32_t>(total));
  out.set_truncated(static_cast<std::size_t>(out.feeds_size()) < total);
}

void add_gaps(proto::FeedsReply& out, const char* name, std::uint64_t value) {
  if (value == 0) return;
  proto::FeedCount& added = *out.add_gaps();
  added.set_name(name);
  added.set_value(value);
}

void add_tally(const RepairTally& tally, std::uint64_t slow, proto::FeedsReply& out) {
  std::size_t tries = tally.asked_by_try.size();
  while (tries != 0 && tally.asked_by_try[tries - 1] == 0) --tries;
  for (std::size_t i = 0; i < tries; ++i) out.add_asked(tally.asked_by_try[i]);
  out.set_requests_in(tally.naks_in);
  out.set_requests_passed_on(tally.naks_forwarded);
  out.set_requests_refused(tally.naks_refused);
  out.set_requests_crossed(tally.naks_crossed);
  out.set_repairs_of_own(tally.own_repairs);
  out.set_repairs_for_others(tally.repairs - tally.own_repairs);
  out.set_repairs_refused(tally.repairs_refused);
  out.set_repairs_from_upstream(tally.upstream_repairs);
  out.set_repairs_from_elsewhere(tally.repairs_in - tally.upstream_repairs);
  out.set_needless_repairs(tally.needless);
  for (std::size_t i = 0; i < kGivenUp.size(); ++i) add_gaps(out, kGivenUp[i], tally.lost_by[i]);
  add_gaps(out, "slow", slow);
}

}  // namespace

void report_feeds(Time now, const AdminSubjects& subjects, const proto::FeedsRequest& request, proto::FeedsReply& out) {
  const FeedRepair& repair = subjects.feeds.repair();
  add_tally(repair.tally(), subjects.sessions.feed_delivery().dropped(), out);
  out.set_kept_bytes(repair.cached_bytes());
  if (const auto oldest = repair.cache().oldest_at()) out.set_kept_seconds(to_seconds(now - *oldest));
  add_feeds(now, subjects, request.limit(), out);
}

}  // namespace spindled
