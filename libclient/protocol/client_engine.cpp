#include "libclient/protocol/client_engine.h"

#include <algorithm>
#include <cstring>

namespace spindle::protocol {

void ClientEngine::handle_bytes(ByteView bytes) {
  while (!bytes.empty() && !reader_.ended()) {
    const std::span<std::uint8_t> room = reader_.prepare();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    reader_.commit(count);
    if (reader_.has_news()) settle();
    bytes = bytes.subspan(count);
  }
}

void ClientEngine::handle_end() {
  reader_.end(end_reason());
  if (reader_.has_news()) settle();
}

std::vector<Event> ClientEngine::take_events() {
  std::vector<Event> events;
  reader_.take_events(events);
  return events;
}

void ClientEngine::settle() {
  const EventReader::News news = reader_.take_news();
  if (news.welcomed) writer_.open();
  std::size_t inserted = 0;
  for (const auto& [reply, before] : news.replies) {
    bool unknown = false;
    std::optional<RequestFailed> failed = writer_.settle(reply, unknown);
    if (unknown) {
      reader_.end(Errc::unexpected_frame, "the daemon replied to a request that was not made");
      break;
    }
    if (failed) reader_.insert_event(before + inserted++, std::move(*failed));
  }
  if (news.pong) last_pong_ = news.pong;
  if (reader_.ended()) {
    writer_.close();
    if (reader_.has_news()) reader_.take_news();
  }
}

}  // namespace spindle::protocol
