#include "daemon/session/access_review.h"

namespace spindled {

namespace {
/// So many are copied in the time that is one unit of a turn's work.
constexpr std::size_t kNamesPerUnit = 16;
}  // namespace

void AccessReview::start() {
  left_.clear();
  names_.clear();
  sessions_.for_each([&](const Session& session) { left_.push_back(session.id()); });
}

void AccessReview::go_on(Time now) {
  while (!left_.empty() && context_.turn.may_review()) {
    context_.turn.count_check(1);
    Session* const session = sessions_.find(left_.front());
    const bool is_open = session != nullptr && session->state() == Session::State::open;
    if (is_open && !names_.empty()) {
      review(now, *session, names_.back());
      names_.pop_back();
      if (!names_.empty()) continue;
    } else if (is_open) {
      if (session->review_feeds(now)) sessions_.mark_dirty(*session);
      names_ = groups_.requests().groups_of(session->id());
      context_.turn.count_check(names_.size() / kNamesPerUnit);
      if (!names_.empty()) continue;
    }
    names_.clear();
    left_.pop_front();
  }
}

void AccessReview::review(Time now, Session& session, const std::string& group) {
  if (session.access().may(Right::join, group)) return;
  if (!session.take_out(now, group, Errc::access_denied)) return;
  context_.counters.add(Counter::access_denied);
  session.access().log_denied("stay in", group, session.name());
  sessions_.mark_dirty(session);
}

}  // namespace spindled
