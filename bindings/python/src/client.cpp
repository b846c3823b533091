#include "bindings/python/src/client.h"

#include <algorithm>
#include <memory>

#include "libclient/common/names.h"
#include "libclient/src/event_queue.h"

namespace spindle::python {

namespace {

// What still is of interest to a client that has left.
bool tells_of_what_was_sent(const Event& event) {
  const auto* failed = event.get_if<RequestFailed>();
  return event.is<Disconnected>() || (failed != nullptr && failed->request == RequestFailed::Request::send);
}

}  // namespace

Client::Client(protocol::SessionOptions session, std::size_t send_buffer_bytes, std::size_t receive_buffer_bytes)
    : send_buffer_bytes_(send_buffer_bytes),
      receive_buffer_bytes_(receive_buffer_bytes),
      resume_bytes_(EventQueue::resume_bytes(receive_buffer_bytes)),
      desk_(session.wants_channels ? std::make_shared<ChannelDesk>() : nullptr),
      session_(std::move(session)),
      feed_events_(receive_buffer_bytes / 2) {
  session_.engine().observe(this);
}

Client::~Client() {
  if (desk_ != nullptr) desk_->end(Errc::not_connected);
}

// --- Connections ---

void Client::start() { session_.start(now()); }

void Client::connected(std::string_view token) { session_.connected(now(), token); }

void Client::failed(Errc reason, std::string_view text) {
  session_.failed(now(), reason, text);
  deliver();  // it may have been the last try
}

void Client::commit(std::size_t bytes) {
  session_.reader().commit(bytes);
  deliver();
}

Client::News Client::news() {
  const bool changes_connection = session_.wants_connection_changed() || takes_bytes() != told_takes_bytes_;
  if (changes_connection || ended_ || has_outcomes() || output_size() != 0 || ends_output() ||
      deadline() < told_deadline_) {
    return News::everything;
  }
  return has_events() ? News::events : News::nothing;
}

void Client::end_stream(std::optional<Errc> reason, std::string_view text) {
  if (session_.reader().ended()) return;
  session_.reader().end(reason.value_or(session_.engine().end_reason()), text);
  deliver();
}

void Client::give_up(Errc reason, std::string_view text) {
  session_.give_up(reason, text);
  deliver();
}

void Client::handle_time() {
  if (ended_) return calls_.expire(Deadline(now()));
  if (session_.next_deadline() <= now()) {
    session_.handle_time(now());
    deliver();
  }
  if (feeds_.next_deadline() <= now()) {
    feeds_.handle_time(now());
    tell_feeds();
  }
  calls_.expire(Deadline(now()));
  if (closing_ && !ended_ && Deadline(now()) >= closing_deadline_) {
    give_up(Errc::closed_by_client, "the client closed the connection before the daemon had answered");
  }
}

Deadline Client::deadline() const {
  Deadline next = calls_.next_deadline();
  if (ended_) return next;
  if (closing_) next = std::min(next, closing_deadline_);
  const protocol::Instant other = std::min(session_.next_deadline(), feeds_.next_deadline());
  return other == protocol::kNeverAgain ? next : std::min(next, Deadline(other));
}

void Client::consume(std::size_t bytes) {
  session_.consume(bytes);
  has_answered_ = false;
  if (calls_.wants_room()) note_room();
  if (flows_want_buffer_ && session_.writer().output_size() <= send_buffer_bytes_ / 2) tell_ready_flows();
}

/// Once all is written after a bye. What is held goes out later, the bye with it.
bool Client::ends_output() const {
  return closing_ && !ended_ && session_.is_connected() && session_.writer().output_size() == 0;
}

bool Client::takes_bytes() {
  if (event_bytes_ > receive_buffer_bytes_) {
    takes_bytes_ = false;
  } else if (event_bytes_ <= resume_bytes_) {
    takes_bytes_ = true;
  }
  const bool takes = takes_bytes_ || closing_ || to_leave_.has_value();
  session_.set_reading(takes);
  if (desk_ != nullptr) desk_->set_room(takes_bytes_);
  return takes;
}

// Brings what the reader has found to whom it concerns.
void Client::deliver() {
  protocol::EventReader& reader = session_.reader();
  bool has_views = false;
  if (session_.is_settling_due()) {
    const std::uint64_t reconnections = session_.reconnections();
    has_views = reader.has_views();
    session_.settle(now());
    has_views = has_views || session_.reconnections() != reconnections;
    tell_feeds();
    if (calls_.wants_room()) note_room();
  }
  if (desk_ != nullptr) desk_->set_connected(session_.is_connected());
  if (reader.events().empty()) return;
  const std::size_t bytes = reader.event_bytes();
  std::vector<Event> events = std::move(spare_);
  events.clear();
  reader.take_events(events);
  const bool is_over = session_.is_over();
  const std::error_code error = is_over ? events.back().get<Disconnected>().error : std::error_code();
  if (has_views) note_views(events);
  if (closing_) std::erase_if(events, [](const Event& event) { return !tells_of_what_was_sent(event); });
  if (!events.empty()) {
    event_bytes_ += bytes;
    arrived_.push_back({std::move(events), bytes});
  }
  if (is_over) end(error);
}

void Client::end(std::error_code error) {
  feeds_.end(error);
  tell_feeds();
  ended_ = true;
  calls_.end(error);
  if (desk_ != nullptr) {
    desk_->end(error);
    serve_channels();  // who has asked meanwhile is told
  }
  for (const auto& [feed, call] : std::exchange(opening_, {})) outcomes_.push_back({call, error, {}});
}

void Client::note_views(const std::vector<Event>& events) {
  for (const Event& event : events) {
    joined_.note(event, session_.writer().groups());
    if (const auto* view = event.get_if<GroupView>()) calls_.note_view(*view, private_name());
  }
  tell_feeds();
}

bool Client::refused(std::uint32_t request, const RequestFailed& failed) {
  joined_.note_refused(failed);
  if (failed.request == RequestFailed::Request::listen) feeds_.forget_group(failed.group);
  return calls_.note_refused(request, failed.error);
}

bool Client::join_refused(const RequestFailed& failed) {
  joined_.note_refused(failed);
  return calls_.note_join_refused(failed.group, failed.error);
}

void Client::tell_feeds() {
  for (const protocol::ClientFeeds::Opened& opened : feeds_.take_opened()) {
    const auto waiting = opening_.find(opened.feed);
    if (waiting == opening_.end()) continue;
    outcomes_.push_back({waiting->second, opened.error, {}});
    opening_.erase(waiting);
  }
  if (!feeds_.has_events()) return;
  std::vector<Event> events;
  feeds_.take_events(events);
  if (!closing_ && !ended_) feed_events_.push(events);
}

// --- Bulk channels ---

void Client::channel_answered(std::uint32_t request, std::error_code error) {
  if (desk_ == nullptr) return;
  desk_->tell([&](ChannelListener& listener) { listener.channel_answered(request, error); });
}

std::optional<Event> Client::channel_news(protocol::BulkNews news, std::size_t) {
  std::optional<Event> event;
  if (desk_ != nullptr) desk_->tell([&](ChannelListener& listener) { event = listener.channel_news(std::move(news)); });
  return event;
}

std::vector<Event> Client::channels_left(std::string_view group) {
  std::vector<Event> events;
  if (desk_ != nullptr) desk_->tell([&](ChannelListener& listener) { events = listener.channels_left(group); });
  return events;
}

void Client::session_began_anew() {
  calls_.begin_anew();
  if (desk_ != nullptr) desk_->tell([](ChannelListener& listener) { listener.session_began_anew(); });
  feeds_.begin_anew();
}

void Client::serve_channels() {
  if (desk_ == nullptr) return;
  desk_->clear();
  serve_posted();
}

void Client::serve_posted() {
  const auto ask = [this](protocol::BulkRequest request, std::uint32_t& number) -> std::error_code {
    return can_send() ? session_.engine().ask_channel(std::move(request), number) : Errc::not_connected;
  };
  desk_->serve(ask, [this](Event event) {
    if (closing_ || ended_) return;
    const auto* received = event.get_if<BulkReceived>();
    const std::size_t bytes = sizeof(Event) + sizeof(BulkReceived) + (received != nullptr ? received->bytes.size() : 0);
    std::vector<Event> events;
    events.push_back(std::move(event));
    event_bytes_ += bytes;
    arrived_.push_back({std::move(events), bytes});
  });
}

// --- Room ---

bool Client::has_room_for(const Groups& groups) {
  return !is_full() && session_.writer().has_room(groups) && !session_.writer().is_flushed(groups);
}

void Client::note_room() {
  calls_.note_room([this](const Groups& groups) { return !can_send() || has_room_for(groups); });
}

// FlowReady to those who found the send buffer full, now that half of it is free.
void Client::tell_ready_flows() {
  flows_want_buffer_ = false;
  std::vector<Event> events;
  for (FlowReady& flow : session_.writer().take_ready()) events.emplace_back(std::move(flow));
  if (events.empty() || closing_ || ended_) return;
  const std::size_t bytes = events.size() * sizeof(Event);
  event_bytes_ += bytes;
  arrived_.push_back({std::move(events), bytes});
}

// --- What a program asks ---

bool Client::may_ask() {
  if (desk_ != nullptr && desk_->has_posted()) serve_posted();
  return can_send();
}

std::error_code Client::multicast(Service service, const Groups& groups, const Payload& payload,
                                  const SendOptions& options, bool waits) {
  if (!may_ask()) return Errc::not_connected;
  std::error_code error;
  if (is_full()) {
    // A message that will never be taken is refused at once.
    error = protocol::RequestWriter::check(service, groups, payload, options);
    if (error) return error;
    error = Errc::would_block;
    if (!waits) flows_want_buffer_ = true;
  } else {
    error = session_.writer().multicast(service, groups, payload, options);
  }
  if (error == Errc::would_block && !waits) session_.writer().want_ready(groups);
  return error;
}

std::error_code Client::reply(const Message& request, const Payload& payload, const SendOptions& options) {
  if (!may_ask()) return Errc::not_connected;
  if (is_full()) return Errc::would_block;
  return session_.engine().answer(request, payload, options);
}

std::error_code Client::join(std::string_view group, bool synchronous, bool auto_flush) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  if (!may_ask()) return Errc::not_connected;
  if (is_full()) return Errc::would_block;
  if (const std::error_code error = session_.join(group, synchronous)) return error;
  joined_.asked(group);
  if (synchronous && auto_flush) {
    auto_flush_.emplace(group);
  } else if (const auto known = auto_flush_.find(group); known != auto_flush_.end()) {
    auto_flush_.erase(known);
  }
  return {};
}

std::error_code Client::leave(std::string_view group) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  if (!may_ask()) return Errc::not_connected;
  return is_full() ? Errc::would_block : session_.leave(group);
}

std::error_code Client::request_view(std::string_view group) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  if (!may_ask()) return Errc::not_connected;
  return is_full() ? Errc::would_block : session_.request_view(group);
}

std::error_code Client::request_flow(const Groups& groups) {
  if (!may_ask()) return Errc::not_connected;
  return is_full() ? Errc::would_block : session_.request_flow(groups);
}

// Waits for nothing: who is asked to flush may be the one who makes room.
std::error_code Client::flush_ok(const FlushRequest& request) {
  return may_ask() ? session_.flush_ok(request) : Errc::not_connected;
}

void Client::close_feed(FeedId feed) {
  feeds_.close(feed);
  if (const auto waiting = opening_.find(feed); waiting != opening_.end()) opening_.erase(waiting);
}

// --- Calls that wait ---

std::uint64_t Client::await_join(std::string_view group, Deadline deadline) {
  const auto number = numbered();
  *number = calls_.add_join(session_.writer().last_request(), group, deadline, [this, number](Result<GroupView> view) {
    Outcome outcome{*number, view.error(), {}};
    if (view) outcome.value = *std::move(view);
    outcomes_.push_back(std::move(outcome));
  });
  return *number;
}

std::error_code Client::confirm(Deadline deadline, std::uint64_t& call) {
  if (!may_ask()) return Errc::not_connected;
  if (const std::error_code error = session_.engine().confirm()) return error;
  const auto number = numbered();
  call = *number = calls_.add_confirm(session_.writer().last_request(), deadline, [this, number](NotTaken not_taken) {
    outcomes_.push_back({*number, {}, not_taken});
  });
  return {};
}

std::uint64_t Client::await_room(const Groups& groups, Deadline deadline) {
  const auto number = numbered();
  *number = calls_.add_writable(groups, deadline, [this, number](std::error_code error) {
    outcomes_.push_back({*number, error, {}});
  });
  if (!can_send() || has_room_for(groups)) note_room();
  return *number;
}

std::error_code Client::request(const Groups& groups, const Payload& payload, const RequestOptions& options,
                                Deadline deadline, std::uint64_t& call) {
  if (!may_ask()) return Errc::not_connected;
  if (is_full()) return Errc::would_block;
  protocol::Requests::Number request = 0;
  if (const std::error_code error = session_.engine().ask(groups, payload, options, request)) return error;
  const auto number = numbered();
  call = *number = calls_.add_request(request, deadline, [this, number](Answers answers) {
    const std::error_code error = answers.error;
    outcomes_.push_back({*number, error, std::move(answers)});
  });
  return {};
}

std::error_code Client::open_feed(std::string_view group, const protocol::ClientFeeds::SourceTerms& terms, FeedId& feed,
                                  std::uint64_t& call) {
  if (!may_ask()) return Errc::not_connected;
  if (const std::error_code error = feeds_.open(group, terms, feed)) return error;
  call = ++last_opening_;
  opening_.emplace(feed, call);
  return {};
}

bool Client::cancel(std::uint64_t call) { return calls_.end_call(call, Errc::cancelled); }

std::vector<Outcome> Client::take_outcomes() {
  for (const std::function<void()>& each : calls_.take_done()) each();
  return std::exchange(outcomes_, {});
}

// --- The end ---

void Client::close(Deadline deadline) {
  if (!may_ask()) return;
  closing_ = true;
  closing_deadline_ = deadline;
  session_.bye();
  if (desk_ != nullptr) desk_->refuse_requests();
  note_room();
}

bool Client::leave_all() {
  if (!to_leave_) to_leave_ = joined_.names();
  while (!to_leave_->empty() && can_send()) {
    const std::error_code error = leave(to_leave_->back());
    if (error == Errc::would_block) return false;
    if (error) break;
    to_leave_->pop_back();
  }
  to_leave_->clear();
  return true;
}

// --- Events ---

bool Client::next_batch() {
  event_bytes_ -= taken_bytes_;
  taken_bytes_ = 0;
  taken_.clear();
  next_ = 0;
  const bool has_last = !arrived_.empty() && arrived_.back().events.back().is<Disconnected>();
  const bool feeds_go = !feed_events_.empty() && (feeds_are_next_ || has_last || arrived_.empty());
  feeds_are_next_ = !feeds_go;
  if (feeds_go) {
    feed_events_.take(taken_, EventQueue::kBatchBytes);
  } else if (!arrived_.empty()) {
    if (taken_.capacity() > spare_.capacity()) spare_ = std::move(taken_);
    taken_ = std::move(arrived_.front().events);
    taken_bytes_ = arrived_.front().bytes;
    arrived_.pop_front();
  }
  return !taken_.empty();
}

bool Client::take(Event& event) {
  if (next_ == taken_.size() && !next_batch()) return false;
  event = std::move(taken_[next_++]);
  if (next_ == taken_.size()) next_batch();
  if (event.is<Disconnected>()) finished_ = true;
  // While it drains or closes they are told by what comes of that.
  if (const auto* again = event.get_if<Reconnected>(); again != nullptr && !to_leave_ && !closing_) {
    session_.note_told(*again);
  }
  if (const auto* request = event.get_if<FlushRequest>(); request != nullptr && auto_flush_.contains(request->group)) {
    has_answered_ = !flush_ok(*request);
  }
  return true;
}

}  // namespace spindle::python
