// What a connection does for bulk channels.
#include "libclient/src/connection_impl.h"

namespace spindle {

namespace {

/// As the connection itself does.
class DiallerOfOptions final : public SecondDialler {
 public:
  DiallerOfOptions(ConnectOptions options, std::string address)
      : options_(std::move(options)), address_(std::move(address)) {}

  void start(std::function<void()> on_done) override {
    dialler_.start(options_, address_, deadline_after(options_.connect_timeout), std::move(on_done));
  }
  std::optional<DialledServer> take() override { return dialler_.take(); }
  void abandon() override { dialler_.abandon(); }

 private:
  const ConnectOptions options_;
  const std::string address_;
  Dialler dialler_;
};

}  // namespace

bool Connection::Impl::set_channel_listener(ChannelListener* listener) {
  const Lock lock(mutex_);
  if (listener != nullptr && (channels_ != nullptr || !options_.bulk)) return false;
  channels_ = listener;
  return true;
}

std::error_code Connection::Impl::ask_channel(protocol::BulkRequest request, Asked asked) {
  Lock lock(mutex_);
  std::uint32_t number = 0;
  const std::error_code error = append_channel_request(std::move(request), number);
  if (asked) asked(error, number);
  if (!error) flush(lock);
  return error;
}

void Connection::Impl::add_event(Event event) {
  const Lock lock(mutex_);
  push_channel_event(std::move(event));
}

void Connection::Impl::add_events(MakeEvents make) {
  const Lock lock(mutex_);
  for (Event& event : make()) push_channel_event(std::move(event));
}

void Connection::Impl::ask_and_add(protocol::BulkRequest request, Event event) {
  Lock lock(mutex_);
  std::uint32_t number = 0;
  const std::error_code error = append_channel_request(std::move(request), number);
  push_channel_event(std::move(event));
  if (!error) flush(lock);
}

std::error_code Connection::Impl::append_channel_request(protocol::BulkRequest request, std::uint32_t& number) {
  return can_send() ? session_.engine().ask_channel(std::move(request), number) : Errc::not_connected;
}

void Connection::Impl::push_channel_event(Event event) {
  if (ended_ || closing_) return;
  std::vector<Event> events;
  const auto* received = event.get_if<BulkReceived>();
  const std::size_t bytes = sizeof(Event) + sizeof(BulkReceived) + (received != nullptr ? received->bytes.size() : 0);
  events.push_back(std::move(event));
  events_.push(events, bytes);
  // Also a thread that is about to sleep, and has found nothing for the handler.
  if (handler_ != nullptr) raise_event(wake_);
}

std::unique_ptr<SecondDialler> Connection::Impl::make_dialler() {
  const Lock lock(mutex_);
  return std::make_unique<DiallerOfOptions>(options_, address_of(dialled_server_));
}

bool Connection::Impl::is_told() const {
  const Lock lock(mutex_);
  return session_.is_connected() && takes_events();
}

void Connection::Impl::channel_answered(std::uint32_t request, std::error_code error) {
  if (channels_ != nullptr) channels_->channel_answered(request, error);
}

std::optional<Event> Connection::Impl::channel_news(protocol::BulkNews news, std::size_t) {
  return channels_ != nullptr ? channels_->channel_news(std::move(news)) : std::nullopt;
}

std::vector<Event> Connection::Impl::channels_left(std::string_view group) {
  return channels_ != nullptr ? channels_->channels_left(group) : std::vector<Event>();
}

void Connection::Impl::session_began_anew() {
  calls_.begin_anew();
  if (channels_ != nullptr) channels_->session_began_anew();
  if (!closing_) feeds_.begin_anew();
}

}  // namespace spindle
