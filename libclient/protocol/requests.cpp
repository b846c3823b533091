#include "libclient/protocol/requests.h"

#include <algorithm>
#include <utility>

#include "libclient/common/bytes.h"
#include "libclient/include/spindle/error.h"
#include "libclient/protocol/header_block.h"

namespace spindle::protocol {

namespace {
constexpr std::size_t kUnwantedMax = 1024;
}  // namespace

std::string Requests::to_header(Number number) {
  std::string text(kRequestNumberBytes, '\0');
  Writer(reinterpret_cast<std::uint8_t*>(text.data())).u64(number);
  return text;
}

std::optional<std::string_view> Requests::number_of(const Message& request) {
  return request.is_request() ? request.find_header(kRequestKey) : std::nullopt;
}

void Requests::add(Number number, Wanted wanted) {
  if (!wanted.group.empty()) groups_.try_emplace(wanted.group);
  requests_.emplace(number, Request{std::move(wanted)});
}

bool Requests::needs_list(std::string_view group) const { return joined_.contains(group) && !groups_.contains(group); }

void Requests::expect_list(std::string_view group, std::uint32_t request) {
  groups_.try_emplace(std::string(group));
  asked_.emplace(request, group);
}

bool Requests::take_list(std::uint32_t request, std::size_t place, const GroupView* view) {
  const auto asked = asked_.extract(request);
  if (!asked) return false;
  if (view != nullptr) {
    lists_.push_back({place, *view});
  } else {
    note_left(asked.mapped());  // the daemon knows the client as no member
  }
  return true;
}

void Requests::settle(std::vector<Event>& events, std::size_t from, std::string_view self) {
  std::size_t kept = from;
  auto list = lists_.begin();
  for (std::size_t i = from; i <= events.size(); ++i) {
    for (; list != lists_.end() && (list->place <= i || i == events.size()); ++list) note_view(list->view);
    if (i == events.size()) break;
    Event& event = events[i];
    if (const auto* view = event.get_if<GroupView>()) {
      if (view->my_index) joined_.insert(view->group);
      note_view(*view);
    } else if (const auto* message = event.get_if<Message>(); message != nullptr && message->has_headers_) {
      if (take(*message, self)) continue;
    }
    if (kept != i) events[kept] = std::move(event);
    ++kept;
  }
  events.resize(kept);
  lists_.clear();
}

void Requests::note_view(const GroupView& view) {
  if (view.form == ViewForm::farewell) return note_left(view.group);
  const auto group = groups_.find(view.group);
  if (group == groups_.end()) return;
  static_cast<void>(group->second.apply(view));
  for (auto request = requests_.begin(); request != requests_.end();) {
    const auto next = std::next(request);
    Request& each = request->second;
    if (each.is_placed && each.wanted.group == view.group) {
      for (const std::vector<std::string>* gone : {&view.left, &view.apart, &view.joined}) {
        for (const std::string& name : *gone) each.missing.erase(name);
      }
      if (is_complete(each)) finish(request, {});
    }
    request = next;
  }
}

void Requests::note_left(const std::string& group) {
  joined_.erase(group);
  if (groups_.erase(group) == 0) return;
  finish_all([&](const Request& request) { return request.wanted.group == group; }, Errc::not_a_member);
}

bool Requests::take(const Message& message, std::string_view self) {
  if (const std::optional<std::string_view> answered = message.find_header(kAnswerKey)) {
    take_answer(message, *answered);
    return true;  // one that comes late is of no use to anybody
  }
  const std::optional<std::string_view> number = number_of(message);
  if (!number || message.sender() != self) return false;
  const Number own = Reader(as_bytes(*number)).u64();
  if (unwanted_.erase(own) != 0) return true;
  const auto request = requests_.find(own);
  if (request == requests_.end() || !request->second.is_for_all() || request->second.is_placed) return false;
  const bool is_taken = request->second.wanted.without_self;
  if (!place(request->second, self)) {
    finish(request, Errc::not_a_member);
  } else if (is_complete(request->second)) {
    finish(request, {});
  }
  return is_taken;
}

bool Requests::place(Request& request, std::string_view self) {
  const auto group = groups_.find(request.wanted.group);
  if (group == groups_.end() || !group->second.is_current()) return false;
  request.is_placed = true;
  const std::vector<std::string>& members = group->second.members();
  request.missing.insert(members.begin(), members.end());
  if (request.wanted.without_self) request.missing.erase(std::string(self));
  std::erase_if(request.answers, [&](const Message& answer) {
    const auto member = request.missing.find(answer.sender());
    if (member == request.missing.end()) return true;
    request.missing.erase(member);
    return false;
  });
  return true;
}

void Requests::take_answer(const Message& message, std::string_view number) {
  if (number.size() != kRequestNumberBytes) return;
  const auto found = requests_.find(Reader(as_bytes(number)).u64());
  if (found == requests_.end()) return;
  Request& request = found->second;
  if (request.is_placed) {
    const auto member = request.missing.find(message.sender());
    if (member == request.missing.end()) return;
    request.missing.erase(member);
  } else if (!request.answered.emplace(message.sender()).second) {
    return;
  }
  request.answers.push_back(message);
  if (is_complete(request)) finish(found, {});
}

bool Requests::is_complete(const Request& request) const {
  return request.is_for_all() ? request.is_placed && request.missing.empty()
                              : request.answers.size() == request.wanted.answers;
}

void Requests::finish(Table::iterator request, std::error_code error) {
  const Number number = request->first;
  outcomes_.push_back({number, answers_of(number, std::move(request->second), error)});
  requests_.erase(request);
}

template <typename Concerns>
void Requests::finish_all(Concerns&& concerns, std::error_code error) {
  for (auto request = requests_.begin(); request != requests_.end();) {
    const auto next = std::next(request);
    if (concerns(request->second)) finish(request, error);
    request = next;
  }
}

Answers Requests::answers_of(Number number, Request&& request, std::error_code error) {
  if (request.wanted.without_self && !request.is_placed) unwanted_.insert(number);
  if (unwanted_.size() > kUnwantedMax) unwanted_.erase(unwanted_.begin());
  return {error, std::move(request.answers), {request.missing.begin(), request.missing.end()}};
}

std::optional<Answers> Requests::end(Number number, std::error_code error) {
  const auto request = requests_.find(number);
  if (request == requests_.end()) return std::nullopt;
  Answers answers = answers_of(number, std::move(request->second), error);
  requests_.erase(request);
  return answers;
}

void Requests::end_all(std::error_code error) {
  finish_all([](const Request&) { return true; }, error);
}

void Requests::start_anew(std::uint64_t written) {
  finish_all([&](const Request& request) { return request.wanted.accepted <= written; }, Errc::connection_lost);
  joined_.clear();
  lists_.clear();
  unwanted_.clear();
  std::map<std::string, Membership, std::less<>> groups;
  for (const auto& [number, request] : requests_) {
    if (request.is_for_all()) groups.try_emplace(request.wanted.group);
  }
  groups_ = std::move(groups);
}

}  // namespace spindle::protocol
