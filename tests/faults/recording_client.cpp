#include "tests/faults/recording_client.h"

#include <algorithm>
#include <stdexcept>

namespace spindle::test {

using namespace spindled::checkers;

namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kMarkerType = 0xffff;  // messages of a client do not come this far
constexpr auto kConnectTimeout = 2s;
constexpr auto kReconnectPause = 50ms;
constexpr std::size_t kLargeBytes = 100'000;

std::uint32_t next_number() {
  static std::atomic<std::uint32_t> last = 0;
  return ++last;
}

spindled::Time now() { return spindled::Time(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

RecordingClient::RecordingClient(std::string socket, Traffic traffic, std::uint64_t seed)
    : socket_(std::move(socket)), traffic_(std::move(traffic)), random_(seed), thread_([this] { run(); }) {}

RecordingClient::~RecordingClient() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void RecordingClient::run() {
  while (!stopping_) {
    number_ = next_number();
    ConnectOptions options;
    options.address = "unix:" + socket_;
    options.name = "m" + std::to_string(number_);
    options.connect_timeout = kConnectTimeout;
    options.reconnect_timeout = {};  // it connects anew, as another member
    Result<Connection> connected = Connection::connect(options);
    if (!connected) {
      std::this_thread::sleep_for(kReconnectPause);
      continue;
    }
    connection_ = *std::move(connected);
    greet();
    live();
  }
}

void RecordingClient::greet() {
  {
    const std::lock_guard lock(mutex_);
    histories_.push_back({std::string(connection_.private_name()), {}});
    member_of_.clear();
    open_ = true;
    marker_returned_ = false;
  }
  sent_ = 0;
  others_.clear();
  recorder_ = {};
  marked_ = false;
  away_ = false;
  for (const std::string& group : traffic_.groups) {
    note(JoinRequested{group});
    static_cast<void>(connection_.join(group));
  }
}

void RecordingClient::live() {
  auto next = std::chrono::steady_clock::now();
  while (!stopping_) {
    const auto time = std::chrono::steady_clock::now();
    if (quiet_ || traffic_.interval == 0ms) {
      next = time + 20ms;
      if (quiet_) talk();
    } else if (time >= next) {
      talk();
      next = std::max(next + traffic_.interval, time);
    }
    std::error_code nothing;
    const std::optional<Event> event = connection_.receive(std::max<Nanoseconds>(next - time, 1ms), nothing);
    if (!event) continue;
    take(*event);
    if (event->is<Disconnected>()) return;
  }
}

/// In the end a client returns to the group that it has left, and sends a last message to itself.
void RecordingClient::talk() {
  if (quiet_) {
    if (away_) churn();
    if (!marked_) {
      marked_ = say(Service::agreed, {std::string(connection_.private_name())}, 1, {kMarkerType, false});
    }
    return;
  }
  if (traffic_.churn && random_() % 150 == 0) return churn();
  const auto service = traffic_.service.value_or(static_cast<Service>(random_() % 6));
  const bool large = static_cast<double>(random_() % 10'000) < traffic_.large * 10'000;
  const std::size_t size = large ? kLargeBytes : random_() % (traffic_.payload_max + 1);
  say(service, choose_groups(), size, {message_type(sent_), random_() % 16 == 0});
}

std::vector<std::string> RecordingClient::choose_groups() {
  const std::vector<std::string>& groups = traffic_.groups;
  if (traffic_.churn && !others_.empty() && random_() % 10 == 0) return {others_[random_() % others_.size()]};
  if (groups.size() > 1 && random_() % 5 == 0) return groups;
  return {groups[random_() % groups.size()]};
}

bool RecordingClient::say(Service service, const std::vector<std::string>& groups, std::size_t size,
                          SendOptions options) {
  const std::string header = make_header(sent_);
  const std::vector<spindle::Header> headers = headers_of(header);
  options.headers = headers;
  const std::vector<std::uint8_t> payload = make_payload(number_, sent_, size);
  note(record_sent(std::string(connection_.private_name()), static_cast<spindled::Service>(service), options.type,
                   groups, header, payload, options.self_discard));
  const std::vector<std::string_view> names(groups.begin(), groups.end());
  const std::error_code error = connection_.try_multicast(service, names, payload, options);
  if (!error) {
    ++sent_;
    return true;
  }
  // It was not taken, so it was never sent.
  const std::lock_guard lock(mutex_);
  histories_.back().events.pop_back();
  return false;
}

void RecordingClient::churn() {
  const std::string& group = traffic_.groups.back();
  away_ = !away_;
  if (away_) {
    note(LeaveRequested{group});
    static_cast<void>(connection_.leave(group));
  } else {
    note(JoinRequested{group});
    static_cast<void>(connection_.join(group));
  }
}

void RecordingClient::take(const Event& event) {
  if (std::optional<What> what = recorder_.record(event)) note(std::move(*what));
  const std::lock_guard lock(mutex_);
  last_event_ = now();
  if (const auto* message = event.get_if<Message>()) {
    last_delivery_ = last_event_;
    marker_returned_ |= message->type() == kMarkerType && message->sender() == connection_.private_name();
  } else if (const auto* view = event.get_if<spindle::GroupView>()) {
    member_of_[view->group] = view->my_index.has_value();
    if (view->my_index) others_ = recorder_.view(view->group)->members;
  } else if (event.is<Disconnected>()) {
    open_ = false;
  }
}

void RecordingClient::note(What what) {
  const std::lock_guard lock(mutex_);
  histories_.back().events.push_back({now(), std::move(what)});
}

bool RecordingClient::is_at_rest() {
  const std::lock_guard lock(mutex_);
  return open_ && marker_returned_ && last_event_ + kRest < now() &&
         std::all_of(traffic_.groups.begin(), traffic_.groups.end(),
                     [this](const std::string& group) { return member_of_[group]; });
}

std::string RecordingClient::state() {
  const std::lock_guard lock(mutex_);
  std::string text = histories_.empty() ? "nobody yet" : histories_.back().name;
  text += open_ ? "" : ", closed";
  if (!marker_returned_)
    text += marked_ ? ", whose last message has not come back" : ", whose last message was not taken";
  for (const std::string& group : traffic_.groups) text += member_of_[group] ? "" : ", not in " + group;
  return text;
}

std::string RecordingClient::private_name() {
  const std::lock_guard lock(mutex_);
  return histories_.empty() ? std::string() : histories_.back().name;
}

std::optional<spindled::Time> RecordingClient::view_time(const std::string& group, std::size_t members,
                                                         spindled::Time since) {
  const std::lock_guard lock(mutex_);
  if (histories_.empty()) return std::nullopt;
  // Looked for from behind: what is asked for is recent, and there is much before it.
  std::optional<spindled::Time> found;
  const std::vector<spindled::checkers::Event>& events = histories_.back().events;
  for (auto event = events.rbegin(); event != events.rend() && event->at >= since; ++event) {
    const auto* view = std::get_if<spindled::checkers::GroupView>(&event->what);
    if (view != nullptr && view->group == group && view->members.size() == members) found = event->at;
  }
  return found;
}

bool RecordingClient::has_network_view(spindled::Time since) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const spindled::checkers::Event& event) {
    const auto* view = std::get_if<spindled::checkers::GroupView>(&event.what);
    return view != nullptr && view->cause == ViewCause::network && event.at >= since;
  };
  return std::any_of(histories_.begin(), histories_.end(), [&](const ClientHistory& history) {
    return std::any_of(history.events.begin(), history.events.end(), is_it);
  });
}

spindled::Time RecordingClient::last_delivery() {
  const std::lock_guard lock(mutex_);
  return last_delivery_;
}

std::vector<spindled::Time> RecordingClient::delivery_times(const std::string& sender, spindled::Time from,
                                                            spindled::Time to) {
  const std::lock_guard lock(mutex_);
  std::vector<spindled::Time> times;
  for (const ClientHistory& history : histories_) {
    for (const spindled::checkers::Event& event : history.events) {
      const auto* delivered = std::get_if<Delivered>(&event.what);
      if (delivered != nullptr && delivered->message.sender == sender && event.at >= from && event.at <= to) {
        times.push_back(event.at);
      }
    }
  }
  return times;
}

std::vector<ClientHistory> RecordingClient::finish() {
  stopping_ = true;
  thread_.join();
  return std::move(histories_);
}

}  // namespace spindle::test
