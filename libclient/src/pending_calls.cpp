#include "libclient/src/pending_calls.h"

#include <algorithm>
#include <memory>

namespace spindle {

PendingCalls::Id PendingCalls::add_join(std::uint32_t request, std::string_view group, Deadline deadline, Joined done,
                                        Ends ends) {
  joins_.push_back({{++last_, deadline, ends}, request, std::string(group), std::move(done)});
  return last_;
}

PendingCalls::Id PendingCalls::add_confirm(std::uint32_t request, Deadline deadline, Confirmed done, Ends ends) {
  const std::uint64_t accepted = writer().accepted(), unknown = writer().untold_unknown();
  confirms_.push_back({{++last_, deadline, ends}, request, accepted, unknown, std::move(done)});
  return last_;
}

PendingCalls::Id PendingCalls::add_writable(const Groups& groups, Deadline deadline, Writable done) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < groups.size(); ++i) names.emplace_back(groups[i]);
  writables_.push_back({{++last_, deadline}, std::move(names), std::move(done)});
  return last_;
}

PendingCalls::Id PendingCalls::add_request(protocol::Requests::Number number, Deadline deadline, Answered done,
                                           Ends ends) {
  requests_.push_back({{++last_, deadline, ends}, number, std::move(done)});
  return last_;
}

template <typename IsOver>
std::size_t PendingCalls::end_those(IsOver&& is_over, std::error_code error) {
  const auto end = [&](auto& calls) {
    return std::erase_if(calls, [&](auto& call) {
      if (!is_over(call)) return false;
      finish(call, error);
      return true;
    });
  };
  return end(joins_) + end(confirms_) + end(writables_) + end(requests_);
}

bool PendingCalls::end_call(Id id, std::error_code error) {
  return end_those([id](const Call& call) { return call.id == id; }, error) != 0;
}

void PendingCalls::note_view(const GroupView& view, const std::string& member) {
  if (joins_.empty() || std::find(view.joined.begin(), view.joined.end(), member) == view.joined.end()) return;
  end_first_join(view.group, view);
}

bool PendingCalls::note_refused(std::uint32_t request, std::error_code error) { return end_joins(request, error); }

bool PendingCalls::note_join_refused(const std::string& group, std::error_code error) {
  return end_first_join(group, error);
}

void PendingCalls::begin_anew() {
  for (Join& join : joins_) join.request = writer().pending_join(join.group);
  end_joins(0, Errc::connection_lost);  // they were left, and nobody has asked anew
  std::erase_if(confirms_, [this](Confirm& confirm) {
    const std::optional<std::uint64_t> messages = writer().ended_confirm(confirm.request);
    if (messages) finish(confirm, {*messages, false});
    return messages.has_value();
  });
}

template <typename Outcome>
bool PendingCalls::end_joins(std::uint32_t request, const Outcome& outcome) {
  return std::erase_if(joins_, [&](Join& join) {
           if (join.request != request) return false;
           finish(join, outcome);
           return true;
         }) != 0;
}

template <typename Outcome>
bool PendingCalls::end_first_join(const std::string& group, const Outcome& outcome) {
  const auto join = std::find_if(joins_.begin(), joins_.end(), [&](const Join& each) { return each.group == group; });
  return join != joins_.end() && end_joins(join->request, outcome);
}

void PendingCalls::note_confirmed(std::uint32_t request) {
  std::erase_if(confirms_, [&](Confirm& confirm) {
    if (confirm.request != request) return false;
    finish(confirm, {0, true});
    return true;
  });
}

void PendingCalls::note_answered(protocol::Requests::Number number, Answers answers) {
  const auto request =
      std::find_if(requests_.begin(), requests_.end(), [&](const Request& each) { return each.number == number; });
  if (request == requests_.end()) return;
  finish(*request, std::move(answers));
  requests_.erase(request);
}

void PendingCalls::expire(Deadline now) {
  end_those([now](const Call& call) { return call.deadline <= now; }, Errc::timed_out);
}

void PendingCalls::end(std::error_code error) {
  for (Join& join : joins_) finish(join, error);
  for (Confirm& confirm : confirms_) finish(confirm, error);
  for (Room& room : writables_) finish(room, Errc::not_connected);
  joins_.clear();
  confirms_.clear();
  writables_.clear();
}

Deadline PendingCalls::next_deadline() const {
  Deadline first = Deadline::max();
  const auto add = [&first](const auto& calls) {
    for (const Call& call : calls) first = std::min(first, call.deadline);
  };
  add(joins_);
  add(confirms_);
  add(writables_);
  add(requests_);
  return first;
}

template <typename Done>
void PendingCalls::tell(const Call& call, Done done) {
  if (call.ends == Ends::at_once) return done();
  done_.emplace_back(std::move(done));
}

void PendingCalls::finish(Join& join, Result<GroupView> result) {
  tell(join, [done = std::move(join.done), result = std::move(result)]() mutable { done(std::move(result)); });
}

void PendingCalls::finish(Confirm& confirm, std::error_code) {
  finish(confirm, writer().not_taken_of(confirm.accepted));
}

void PendingCalls::finish(Confirm& confirm, NotTaken not_taken) {
  not_taken.messages += confirm.unknown;
  not_taken.exact = not_taken.exact && confirm.unknown == 0;
  tell(confirm, [done = std::move(confirm.done), not_taken] { done(not_taken); });
}

void PendingCalls::finish(Room& room, std::error_code error) {
  tell(room, [done = std::move(room.done), error] { done(error); });
}

void PendingCalls::finish(Request& request, std::error_code error) {
  finish(request, engine_.requests().end(request.number, error).value_or(Answers()));
}

void PendingCalls::finish(Request& request, Answers answers) {
  tell(request, [done = std::move(request.done), answers = std::move(answers)]() mutable { done(std::move(answers)); });
}

}  // namespace spindle
