#include "daemon/feed/feeds.h"

#include <algorithm>

#include "daemon/base/check.h"
#include "libclient/common/names.h"

namespace spindled {

namespace {

/// What packets may take of a daemon's memory.
constexpr std::size_t kMemoryPart = 8;
/// So many are looked at in the time that is one unit of a turn's work.
constexpr std::size_t kFeedsAtOnce = 16;

std::size_t cache_bytes(const NodeConfig& config) {
  return std::min(config.feed.cache_bytes, config.memory_bytes_max / kMemoryPart);
}

RepairConfig repair_config(const NodeConfig& config) {
  RepairConfig repair;
  repair.cache = config.feed.cache;
  repair.cache_bytes = cache_bytes(config);
  repair.datagram_bytes = config.feed.datagram_bytes;
  return repair;
}

}  // namespace

Feeds::Feeds(Context& context, Links& links, Groups& groups, const OwnPrices& prices)
    : context_(context),
      log_(context.log_sink, "feed"),
      groups_(groups),
      transport_(context, links, prices),
      repair_(repair_config(context.config), transport_),
      listeners_(context, groups, directory_),
      sources_(context, {links, groups, directory_, repair_, listeners_}) {
  transport_.attach(repair_, listeners_, sources_);
  attach(nobody_);
  links.attach(static_cast<FeedFrames&>(transport_));
  for (std::size_t i = 0; i < kFeedOperations; ++i) {
    const auto number = static_cast<std::uint8_t>(kFeedOperationMin + i);
    groups.handle(number, [this, number](Time now, const Delivery& message, ByteView content) {
      return deliver(now, message, number, content);
    });
  }
  groups.observe(*this);
}

void Feeds::attach(FeedClients& clients) {
  listeners_.attach(clients);
  sources_.attach(clients);
}

void Feeds::reconsider() { repair_.set_cache_bytes(cache_bytes(context_.config)); }

// --- Requests of local clients ---

Result<FeedHandle> Feeds::open(Time now, SessionId source, std::string_view client_name, const FeedTerms& terms) {
  transport_.begin(now);
  if (!spindle::is_group_name(terms.group)) return fail(Errc::bad_group_name);
  transport_.need_routes();
  FeedTerms bounded = terms;
  bounded.repair_for = std::clamp(terms.repair_for, Duration::zero(), kRepairForMax);
  return sources_.open(now, ++last_handle_, {source, std::string(client_name)}, std::move(bounded),
                       transport_.routes());
}

std::optional<Errc> Feeds::send(Time now, SessionId source, FeedHandle feed, ByteView message) {
  SPINDLE_CHECK(!message.empty() && message.size() <= kMessageBytesMax);
  return sources_.send(now, source, feed, message);
}

void Feeds::close(Time, SessionId source, FeedHandle feed) { sources_.close(source, feed); }

bool Feeds::deny(Time, SessionId source, FeedHandle feed) { return sources_.deny(source, feed); }

std::optional<Errc> Feeds::listen(Time, SessionId session, std::string_view group) {
  return listeners_.listen(session, group);
}

void Feeds::stop_listening(Time, SessionId session, std::string_view group) {
  listeners_.stop_listening(session, group);
}

void Feeds::close_session(Time, SessionId session) {
  sources_.close_session(session);
  listeners_.close_session(session);
}

// --- Members and views ---

void Feeds::member_came(Time, const Group& group, SessionId session) {
  directory_.for_each_of(group.name, [&](const OpenFeed& feed) { repair_.rejoin(feed.key); });
  listeners_.member_came(group, session);
}

void Feeds::member_left(Time, std::uint64_t, const Group& group, MemberIndex daemon, SessionId session) {
  if (daemon != groups_.view().self) return;
  listeners_.member_left(group, session);
  if (!group.members_of(daemon).empty()) return;
  directory_.for_each_of(group.name, [&](const OpenFeed& feed) { repair_.leave(feed.key); });
}

void Feeds::view_began(Time now, const GroupTable::Renumbering& to, const MemberSet& came_along) {
  const View& view = groups_.view();
  listeners_.begin_view();
  transport_.begin_view(now, view);
  if (directory_.size() != 0) transport_.need_routes();
  context_.turn.count(directory_.size() / kFeedsAtOnce);
  std::vector<FeedKey> lost;
  for (const auto& [key, feed] : directory_.all()) {
    const std::optional<MemberIndex> origin = index_in(view.members, key.origin);
    if (!origin) {
      lost.push_back(key);
    } else if (!came_along.contains(*origin)) {
      directory_.set_doubtful(key, true);
    }
  }
  end_lost(now, std::move(lost));
  sources_.view_began(now, to, came_along != MemberSet::first(view.size()));
}

// What grows with feeds and their listeners is done in steps, before anything else comes out of the order.
void Feeds::table_completed(Time now) {
  end_doubtful(now);
  rejoin_all(now);
  listeners_.settle(now);
  sources_.table_completed();
}

// Where members left, and others came with the tables, nobody has said that these came.
void Feeds::rejoin_all(Time now) {
  groups_.do_in_steps(now, [this, last = std::optional<FeedKey>()](Time) mutable {
    const FeedDirectory::Feeds& all = directory_.all();
    auto next = last ? all.upper_bound(*last) : all.begin();
    for (std::size_t i = 0; i < kFeedsAtOnce && next != all.end(); ++i, ++next) {
      const auto& [key, feed] = *next;
      const Group* group = groups_.table().find(feed.group);
      if (group != nullptr && !group->members_of(groups_.view().self).empty()) repair_.rejoin(key);
      last = key;
    }
    context_.turn.count(1);
    return next == all.end();
  });
}

void Feeds::end_doubtful(Time now) {
  std::vector<FeedKey> lost;
  context_.turn.count(directory_.size() / kFeedsAtOnce);
  for (const auto& [key, feed] : directory_.all()) {
    if (feed.is_doubtful) lost.push_back(key);
  }
  end_lost(now, std::move(lost));
}

void Feeds::end_lost(Time now, std::vector<FeedKey> feeds) {
  if (feeds.empty()) return;
  groups_.do_in_steps(now, [this, feeds = std::move(feeds), next = std::size_t{0}](Time) mutable {
    const FeedKey& key = feeds[next++];
    context_.turn.count(1);
    // One of which nothing more is sent may have come to its end meanwhile.
    if (const OpenFeed* feed = directory_.find(key))
      end(*feed, ending_.contains(key) ? FeedEnd::closed : FeedEnd::lost);
    return next == feeds.size();
  });
}

void Feeds::opened(Time) { sources_.may_originate(); }

void Feeds::end(const OpenFeed& feed, FeedEnd why) {
  const FeedKey key = feed.key;
  log_.debug("feed {} of {} is {}", feed.handle, feed.source, why == FeedEnd::lost ? "lost" : "closed");
  listeners_.ended(feed, why);
  ending_.erase(key);
  repair_.forget(key);
  directory_.remove(key);
}

// --- Out of the order ---

bool Feeds::deliver(Time now, const Delivery& message, std::uint8_t number, ByteView content) {
  std::optional<FeedOperation> operation = read_feed_operation(number, content);
  if (!operation) return false;
  transport_.begin(now);
  transport_.need_routes();
  std::visit([&](auto& known) { apply_in_steps(now, message.origin, std::move(known)); }, *operation);
  return true;
}

/// What comes of each feed grows with its listeners.
template <typename Operation>
void Feeds::apply_in_steps(Time now, MemberIndex origin, Operation operation) {
  groups_.do_in_steps(now, [this, origin, said = std::move(operation), next = std::size_t{0}](Time later) mutable {
    transport_.begin(later);
    context_.turn.count(1);
    apply(later, origin, said.feeds[next++]);
    return next == said.feeds.size();
  });
}

void Feeds::apply(Time now, MemberIndex origin, FeedsOpened::Feed& said) {
  const View& view = groups_.view();
  const bool is_own = origin == view.self;
  const FeedKey key{view.members[origin], said.number};
  if (directory_.find(key) != nullptr) return directory_.set_doubtful(key, false);
  if (directory_.is_full()) {
    if (is_own) sources_.refused(now, said.number);
    return;
  }
  const bool is_new = said.next == 0;
  if (!is_own) {
    // Who gets the packets of a new feed asks for the first ones, too.
    const Group* group = groups_.table().find(said.group);
    const bool is_for_here = group != nullptr && group->subscribers.contains(view.self);
    repair_.describe(now, key, said.repair_for, is_new && is_for_here ? std::optional(0u) : std::nullopt);
  }
  const std::string source = fmt::format("#{}#{}", said.client, view.members[origin].name);
  const FeedHandle handle = is_own ? said.number : ++last_handle_;
  log_.debug("feed {} of {} to {} is open", handle, source, said.group);
  listeners_.opened(directory_.add({key, handle, std::move(said.group), source, said.repair_for}), is_new);
  if (is_own) sources_.opened(said.number);
}

void Feeds::apply(Time now, MemberIndex origin, const FeedsClosed::Feed& said) {
  const View& view = groups_.view();
  const FeedKey key{view.members[origin], said.number};
  const OpenFeed* feed = directory_.find(key);
  if (feed == nullptr) return;
  if (origin == view.self) return end(*feed, FeedEnd::closed);  // all of it was delivered when it left
  const auto last = static_cast<std::uint32_t>(said.next);
  ending_[key] = {last, now + feed->repair_for + kEndGrace};
  repair_.finish(now, key, last);
}

// --- Time ---

/// A feed is over for its listeners when all of it has come, or is lost.
void Feeds::end_whole(Time now) {
  std::vector<FeedKey> whole;
  for (const auto& [key, each] : ending_) {
    if (now >= each.over_at || repair_.is_whole(key, each.end)) whole.push_back(key);
  }
  // One in each turn, whatever else that has done.
  for (std::size_t i = 0; i < whole.size(); ++i) {
    has_unended_ = i != 0 && context_.turn.is_over();
    if (has_unended_) return;
    if (const OpenFeed* feed = directory_.find(whole[i])) end(*feed, FeedEnd::closed);
  }
}

void Feeds::handle_time(Time now) {
  transport_.begin(now);
  repair_.handle_time(now);
  transport_.handle_time(now);
}

Time Feeds::next_deadline() const {
  if (has_unended_) return flushed_at_;
  Time next = std::min({repair_.next_at(), sources_.next_at(), transport_.next_at()});
  for (const auto& [key, each] : ending_) next = std::min(next, each.over_at);
  return std::max(next, flushed_at_);
}

void Feeds::flush(Time now) {
  transport_.begin(now);
  flushed_at_ = now;
  sources_.flush(now, transport_.routes());
  has_unended_ = false;
  if (!ending_.empty()) end_whole(now);
  count();
}

std::size_t Feeds::heap_bytes() const {
  return directory_.memory_bytes() + repair_.memory_bytes() + transport_.memory_bytes() + listeners_.memory_bytes() +
         sources_.heap_bytes();
}

void Feeds::count() {
  const RepairTally& tally = repair_.tally();
  Counters& counters = context_.counters;
  counters.set(Counter::feed_packets_sent, sources_.packets());
  counters.set(Counter::feed_packets_in, tally.packets_in);
  counters.set(Counter::feed_packets_lost, tally.lost);
  counters.set(Counter::feed_naks_sent, tally.asked);
  counters.set(Counter::feed_naks_in, tally.naks_in);
  counters.set(Counter::feed_naks_refused, tally.naks_refused);
  counters.set(Counter::feed_repairs_sent, tally.repairs);
  counters.set(Counter::feed_repairs_in, tally.repairs_in);
  counters.set(Counter::feed_repairs_refused, tally.repairs_refused);
  counters.set(Counter::feed_reductions, sources_.reductions());
}

}  // namespace spindled
