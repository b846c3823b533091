// What a connection does for feeds.
#include "libclient/src/connection_impl.h"

namespace spindle {

Result<FeedId> Connection::Impl::open_feed(std::string_view group, const FeedOptions& options) {
  if (on_thread()) return Failure{Errc::would_block, "a handler cannot wait for the daemon to open a feed"};
  if (options.repair_for < std::chrono::microseconds::zero()) return Errc::bad_argument;
  protocol::ClientFeeds::SourceTerms terms;
  terms.repair_for_us = static_cast<std::uint64_t>(options.repair_for.count());
  terms.bytes_per_second_max = options.bytes_per_second;
  terms.drops_oldest = options.when_full == WhenFull::drop_oldest;
  const Deadline deadline = deadline_after(options.timeout);
  const auto answer = std::make_shared<Answer<std::error_code>>();
  FeedId feed = 0;
  {
    Lock lock(mutex_);
    if (!can_send()) return Errc::not_connected;
    if (const std::error_code error = feeds_.open(group, terms, feed)) return error;
    opening_.emplace(feed, answer);
    flush(lock);
  }
  const std::optional<std::error_code> outcome = answer->wait(deadline);
  if (outcome && *outcome) return *outcome;
  if (outcome) return feed;
  Lock lock(mutex_);
  if (opening_.erase(feed) == 0) {
    lock.unlock();
    const std::error_code late = *answer->wait(Deadline::max());  // it has come just now
    return late ? Result<FeedId>(late) : Result<FeedId>(feed);
  }
  feeds_.close(feed);
  flush(lock);
  return Errc::timed_out;
}

std::error_code Connection::Impl::listen(std::string_view group, const ListenOptions& options) {
  if (options.deadline < std::chrono::microseconds::zero()) return Errc::bad_argument;
  Lock lock(mutex_);
  if (!can_send()) return Errc::not_connected;
  const bool is_ordered = options.delivery == ListenOptions::Delivery::ordered;
  const auto most = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds::max());
  if (const std::error_code error = feeds_.listen(group, {is_ordered, std::min(options.deadline, most)})) return error;
  flush(lock);
  return {};
}

std::error_code Connection::Impl::stop_listening(std::string_view group) {
  Lock lock(mutex_);
  if (!can_send()) return Errc::not_connected;
  if (const std::error_code error = feeds_.stop_listening(group)) return error;
  flush(lock);
  return {};
}

std::error_code Connection::Impl::send_feed(FeedId feed, const Payload& message) {
  Lock lock(mutex_);
  if (!can_send()) return Errc::not_connected;
  if (const std::error_code error = feeds_.send(feed, message)) return error;
  flush(lock);
  return {};
}

void Connection::Impl::close_feed(FeedId feed) {
  Lock lock(mutex_);
  feeds_.close(feed);
  if (can_send()) flush(lock);
}

bool Connection::Impl::is_feed_open(FeedId feed) const {
  const Lock lock(mutex_);
  return feeds_.is_open(feed);
}

std::optional<FeedFlow> Connection::Impl::feed_flow(FeedId feed) const {
  const Lock lock(mutex_);
  return feeds_.flow(feed);
}

std::uint64_t Connection::Impl::feed_dropped(FeedId feed) const {
  const Lock lock(mutex_);
  return feeds_.dropped(feed);
}

// --- The session ---

void Connection::Impl::feed_refused(std::uint32_t request, std::error_code error) { feeds_.refused(request, error); }

void Connection::Impl::feed_news(const protocol::FeedNews& news) { feeds_.take(now(), news); }

// The caller holds the lock. What feeds have sent meanwhile, for which there was no room before, goes with the next
// turn of the thread, which is the one that calls.
void Connection::Impl::tell_feeds() {
  for (const protocol::ClientFeeds::Opened& opened : feeds_.take_opened()) {
    const auto waiting = opening_.find(opened.feed);
    if (waiting == opening_.end()) continue;
    waiting->second->give(opened.error);
    opening_.erase(waiting);
  }
  if (!feeds_.has_events()) return;
  feeds_.take_events(feed_events_);
  if (closing_ || ended_) {
    feed_events_.clear();
  } else {
    events_.push_feeds(feed_events_);
  }
}

}  // namespace spindle
