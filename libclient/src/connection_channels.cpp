// What a connection does for bulk channels.
#include "libclient/src/connection_impl.h"

namespace spindle {

bool Connection::Impl::set_channel_listener(ChannelListener* listener) {
  const Lock lock(mutex_);
  if (listener != nullptr && (channels_ != nullptr || !options_.bulk)) return false;
  channels_ = listener;
  return true;
}

std::error_code Connection::Impl::ask_channel(protocol::BulkRequest request,
                                              const std::function<void(std::uint32_t)>& note_number) {
  Lock lock(mutex_);
  if (!can_send()) return Errc::not_connected;
  std::uint32_t number = 0;
  if (const std::error_code error = session_.engine().ask_channel(std::move(request), number)) return error;
  if (note_number) note_number(number);
  flush(lock);
  return {};
}

void Connection::Impl::add_event(Event event) {
  const Lock lock(mutex_);
  if (ended_ || closing_) return;
  std::vector<Event> events;
  const auto* received = event.get_if<BulkReceived>();
  const std::size_t bytes = sizeof(Event) + sizeof(BulkReceived) + (received != nullptr ? received->bytes.size() : 0);
  events.push_back(std::move(event));
  events_.push(events, bytes);
  if (handler_ != nullptr) wake_thread();
}

std::string Connection::Impl::server_address() const {
  const Lock lock(mutex_);
  return address_of(dialled_server_);
}

void Connection::Impl::channel_answered(std::uint32_t request, std::error_code error) {
  if (channels_ != nullptr) channels_->channel_answered(request, error);
}

std::optional<Event> Connection::Impl::channel_news(protocol::BulkNews news, std::size_t) {
  return channels_ != nullptr ? channels_->channel_news(std::move(news)) : std::nullopt;
}

void Connection::Impl::session_began_anew() {
  if (channels_ != nullptr) channels_->session_began_anew();
  if (!closing_) feeds_.begin_anew();
}

}  // namespace spindle
