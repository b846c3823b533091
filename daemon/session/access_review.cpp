#include "daemon/session/access_review.h"

namespace spindled {

namespace {
/// So many names, or numbers, are copied in the time that is one unit of a turn's work.
constexpr std::size_t kNamesPerUnit = 16;
constexpr std::size_t kNumbersPerUnit = 512;
}  // namespace

void AccessReview::start() {
  left_.clear();
  next_client();
  sessions_.for_each([&](const Session& session) { left_.push_back(session.id()); });
}

void AccessReview::go_on(Time now) {
  while (!left_.empty() && context_.turn.may_review()) {
    context_.turn.count_check(1);
    Session* const session = sessions_.find(left_.front());
    if (session == nullptr || session->state() != Session::State::open) {
      next_client();
      continue;
    }
    // In another table groups have other numbers.
    if (!is_listed_ || table_ != groups_.tables_completed()) {
      list(now, *session);
    } else if (!asked_for_.empty()) {
      review(now, *session, asked_for_.back());
      asked_for_.pop_back();
    } else {
      review(now, *session, groups_.name_of(joined_.back()));
      joined_.pop_back();
    }
    if (asked_for_.empty() && joined_.empty()) next_client();
  }
}

void AccessReview::list(Time now, Session& session) {
  if (session.review_feeds(now)) sessions_.mark_dirty(session);
  asked_for_ = groups_.requests().asked_for_by(session.id());
  joined_ = groups_.requests().joined_by(session.id());
  table_ = groups_.tables_completed();
  is_listed_ = true;
  context_.turn.count_check(asked_for_.size() / kNamesPerUnit + joined_.size() / kNumbersPerUnit);
}

void AccessReview::next_client() {
  if (!left_.empty()) left_.pop_front();
  is_listed_ = false;
  asked_for_.clear();
  joined_.clear();
}

void AccessReview::review(Time now, Session& session, std::string_view name) {
  const std::string group(name);
  if (session.access().may(Right::join, group)) return;
  if (!session.take_out(now, group, Errc::access_denied)) return;
  context_.counters.add(Counter::access_denied);
  session.access().log_denied("stay in", group, session.name());
  sessions_.mark_dirty(session);
}

}  // namespace spindled
