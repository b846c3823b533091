#include "bindings/python/src/channel_desk.h"

#include <utility>

namespace spindle::python {

/// Has the owner make the connection.
class ChannelDesk::Dialler final : public SecondDialler {
 public:
  Dialler(std::shared_ptr<ChannelDesk> desk, std::uint64_t number) : desk_(std::move(desk)), number_(number) {}
  ~Dialler() override { abandon(); }

  void start(std::function<void()> on_done) override { desk_->start_dial(number_, std::move(on_done)); }
  std::optional<DialledServer> take() override { return desk_->take_dialled(number_); }
  void abandon() override { desk_->forget_dial(number_); }

 private:
  const std::shared_ptr<ChannelDesk> desk_;
  const std::uint64_t number_;
};

bool ChannelDesk::set_channel_listener(ChannelListener* listener) {
  const std::lock_guard lock(listening_);
  if (listener != nullptr && listener_ != nullptr) return false;
  listener_ = listener;
  if (listener != nullptr) return true;
  std::deque<Posted> left;
  {
    const std::lock_guard within(mutex_);
    is_closed_ = true;
    left.swap(posted_);
    has_posted_ = false;
  }
  for (auto& each : left) {
    const auto* request = std::get_if<Request>(&each);
    if (request != nullptr && request->asked) request->asked(Errc::not_connected, 0);
  }
  return true;
}

std::error_code ChannelDesk::ask_channel(protocol::BulkRequest request, Asked asked) {
  {
    const std::lock_guard lock(mutex_);
    if (is_open_ && !is_closed_) {
      post(Request{std::move(request), std::move(asked)});
      return {};
    }
  }
  if (asked) asked(Errc::not_connected, 0);
  return Errc::not_connected;
}

void ChannelDesk::add_event(Event event) {
  const std::lock_guard lock(mutex_);
  if (!is_closed_) post(std::move(event));
}

void ChannelDesk::add_events(MakeEvents make) {
  const std::lock_guard lock(mutex_);
  if (!is_closed_) post(std::move(make));
}

void ChannelDesk::ask_and_add(protocol::BulkRequest request, Event event) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  if (is_open_) post(Request{std::move(request), nullptr});
  post(std::move(event));
}

void ChannelDesk::post(Posted what) {
  posted_.push_back(std::move(what));
  has_posted_ = true;
  raise_event(*wake_);
}

std::unique_ptr<SecondDialler> ChannelDesk::make_dialler() {
  const std::lock_guard lock(mutex_);
  return std::make_unique<Dialler>(shared_from_this(), ++last_dial_);
}

void ChannelDesk::end(std::error_code error) {
  const std::lock_guard lock(listening_);
  std::vector<Asked> unasked;
  {
    const std::lock_guard within(mutex_);
    is_open_ = false;
    std::erase_if(posted_, [&](Posted& each) {
      auto* const request = std::get_if<Request>(&each);
      if (request != nullptr && request->asked) unasked.push_back(std::move(request->asked));
      return request != nullptr;
    });
    has_posted_ = !posted_.empty();
  }
  if (listener_ != nullptr) listener_->session_ended(error);
  // Nobody may serve the desk any more.
  for (const Asked& asked : unasked) asked(Errc::not_connected, 0);
}

std::optional<ChannelDesk::Posted> ChannelDesk::next() {
  const std::lock_guard lock(mutex_);
  if (posted_.empty()) return std::nullopt;
  Posted first = std::move(posted_.front());
  posted_.pop_front();
  has_posted_ = !posted_.empty();
  return first;
}

// --- Second connections ---

void ChannelDesk::start_dial(std::uint64_t number, std::function<void()> on_done) {
  const std::lock_guard lock(mutex_);
  dials_[number].on_done = std::move(on_done);
  raise_event(*wake_);
}

std::optional<std::uint64_t> ChannelDesk::take_dial() {
  const std::lock_guard lock(mutex_);
  for (auto& [number, dial] : dials_) {
    if (!std::exchange(dial.is_begun, true)) return number;
  }
  return std::nullopt;
}

void ChannelDesk::dialled(std::uint64_t number, DialledServer server) {
  const std::lock_guard lock(mutex_);
  const auto found = dials_.find(number);
  if (found == dials_.end()) return;
  found->second.result.emplace(std::move(server));
  found->second.on_done();
}

std::optional<DialledServer> ChannelDesk::take_dialled(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = dials_.find(number);
  if (found == dials_.end() || !found->second.result) return std::nullopt;
  std::optional<DialledServer> result = std::move(found->second.result);
  dials_.erase(found);
  return result;
}

void ChannelDesk::forget_dial(std::uint64_t number) {
  std::map<std::uint64_t, Dial>::node_type forgotten;
  const std::lock_guard lock(mutex_);
  if (const auto found = dials_.find(number); found != dials_.end()) forgotten = dials_.extract(found);
}

}  // namespace spindle::python
