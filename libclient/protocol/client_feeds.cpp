#include "libclient/protocol/client_feeds.h"

#include <algorithm>
#include <utility>

#include "libclient/common/feed_bundle.h"
#include "libclient/common/names.h"

namespace spindle::protocol {

namespace {

static_assert(static_cast<int>(spindle::FeedGap::Cause::lost) == static_cast<int>(FeedGapCause::lost));
static_assert(static_cast<int>(spindle::FeedGap::Cause::slow) == static_cast<int>(FeedGapCause::slow));
static_assert(static_cast<int>(FeedClosed::Why::closed) == static_cast<int>(FeedEnd::closed));
static_assert(static_cast<int>(FeedClosed::Why::lost) == static_cast<int>(FeedEnd::lost));
static_assert(static_cast<int>(FeedClosed::Why::denied) == static_cast<int>(FeedEnd::denied));
static_assert(static_cast<int>(FeedClosed::Why::left) == static_cast<int>(FeedEnd::left));
static_assert(static_cast<int>(spindle::FeedLimit::start) == static_cast<int>(FeedLimit::start));
static_assert(static_cast<int>(spindle::FeedLimit::link) == static_cast<int>(FeedLimit::link));
static_assert(static_cast<int>(spindle::FeedLimit::source) == static_cast<int>(FeedLimit::source));
static_assert(static_cast<int>(spindle::FeedLimit::maximum) == static_cast<int>(FeedLimit::maximum));
static_assert(static_cast<int>(spindle::FeedLimit::share) == static_cast<int>(FeedLimit::share));

std::vector<std::uint8_t> to_bytes(const Payload& payload) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(payload.size());
  for (const Bytes& piece : payload.pieces()) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(piece.data());
    bytes.insert(bytes.end(), begin, begin + piece.size());
  }
  return bytes;
}

/// More than there can be is as much as there can be.
std::chrono::microseconds to_microseconds(std::uint64_t count) {
  return std::chrono::microseconds(std::min<std::uint64_t>(count, INT64_MAX / 1000));
}

}  // namespace

// --- Its own ---

std::error_code ClientFeeds::ask(Own& own) {
  FeedOpen open;
  open.group = own.group;
  open.repair_for_us = own.terms.repair_for_us;
  open.bytes_per_second_max = own.terms.bytes_per_second_max;
  own.number = 0;
  return writer_.open_feed(open, own.request);
}

std::error_code ClientFeeds::open(std::string_view group, const SourceTerms& terms, FeedId& id) {
  if (!is_group_name(group)) return Errc::bad_group_name;
  if (terms.repair_for_us > kRepairForMaxUs) return Errc::bad_argument;
  Own own{std::string(group), terms, FeedSourceWindow(terms.drops_oldest), 0, 0, false, {}};
  if (const std::error_code error = ask(own)) return error;
  id = ++last_id_;
  own_.emplace(id, std::move(own));
  return {};
}

std::error_code ClientFeeds::send(FeedId id, const Payload& message) {
  if (message.size() == 0) return Errc::bad_argument;
  if (message.size() > kFeedMessageBytesMax) return Errc::message_too_large;
  const auto found = own_.find(id);
  if (found == own_.end()) return Errc::unknown_feed;
  Own& own = found->second;
  switch (own.window.offer(message.size())) {
    case FeedSourceWindow::Answer::send:
      writer_.send_feed(own.number, message);
      return {};
    case FeedSourceWindow::Answer::keep:
      own.window.keep(to_bytes(message));
      return {};
    case FeedSourceWindow::Answer::refuse:
      break;
  }
  return Errc::would_block;
}

void ClientFeeds::close(FeedId id) {
  const auto found = own_.find(id);
  if (found == own_.end()) return;
  // One that is being opened is closed when it is open.
  if (found->second.number != 0) {
    writer_.close_feed(found->second.number);
    own_ids_.erase(found->second.number);
  }
  own_.erase(found);
}

std::optional<spindle::FeedFlow> ClientFeeds::flow(FeedId id) const {
  const auto own = own_.find(id);
  return own == own_.end() ? std::nullopt : own->second.flow;
}

std::uint64_t ClientFeeds::dropped(FeedId id) const {
  const auto own = own_.find(id);
  return own == own_.end() ? 0 : own->second.window.dropped();
}

ClientFeeds::Own* ClientFeeds::find_own(FeedNumber number) {
  const auto id = own_ids_.find(number);
  return id == own_ids_.end() ? nullptr : &own_.at(id->second);
}

void ClientFeeds::take(const FeedReady& ready) {
  const auto asked = std::find_if(own_.begin(), own_.end(), [&](const auto& own) {
    return own.second.number == 0 && own.second.request == ready.request;
  });
  if (asked == own_.end()) return writer_.close_feed(ready.feed);  // it has been closed since
  auto& [id, own] = *asked;
  own.number = ready.feed;
  own_ids_[ready.feed] = id;
  own.window.open(ready.room);
  if (!std::exchange(own.is_told, true)) opened_.push_back({id, {}});
  send_kept(id, own);
}

void ClientFeeds::send_kept(FeedId id, Own& own) {
  while (const auto message = own.window.next()) writer_.send_feed(own.number, Payload(*message));
  if (own.window.take_writable()) events_.emplace_back(FeedWritable{id});
}

void ClientFeeds::take(const FeedRoom& room) {
  Own* own = find_own(room.feed);
  if (own == nullptr) return;
  own->window.add_room(room.bytes);
  send_kept(own_ids_.at(room.feed), *own);
}

void ClientFeeds::take(const FeedFlow& flow) {
  Own* own = find_own(flow.feed);
  if (own == nullptr) return;
  own->flow = spindle::FeedFlow{own_ids_.at(flow.feed), flow.bytes_per_second, to_microseconds(flow.round_trip_us),
                                static_cast<double>(flow.loss) / kFeedLossMax,
                                static_cast<spindle::FeedLimit>(flow.limited_by)};
  events_.emplace_back(*own->flow);
}

void ClientFeeds::refused(std::uint32_t request, std::error_code error) {
  const auto asked = std::find_if(own_.begin(), own_.end(), [&](const auto& own) {
    return own.second.number == 0 && own.second.request == request;
  });
  if (asked == own_.end()) return;
  end_own(asked->first, error == Errc::access_denied ? FeedClosed::Why::denied : FeedClosed::Why::lost, error);
}

void ClientFeeds::end_own(FeedId id, FeedClosed::Why why, std::error_code error) {
  const auto found = own_.find(id);
  if (found->second.number != 0) own_ids_.erase(found->second.number);
  const bool is_told = found->second.is_told;
  own_.erase(found);
  if (is_told) {
    events_.emplace_back(FeedClosed{id, why, error});
  } else {
    opened_.push_back({id, error});
  }
}

// --- Those that it hears ---

std::error_code ClientFeeds::listen(std::string_view group, const ListenTerms& terms) {
  if (!is_group_name(group)) return Errc::bad_group_name;
  if (const auto known = listens_.find(group); known != listens_.end()) {
    known->second = terms;
    return {};
  }
  if (const std::error_code error = writer_.listen(ClientFrame::listen, group)) return error;
  listens_.emplace(group, terms);
  return {};
}

std::error_code ClientFeeds::stop_listening(std::string_view group) {
  if (!is_group_name(group)) return Errc::bad_group_name;
  const auto known = listens_.find(group);
  if (known == listens_.end()) return {};
  if (const std::error_code error = writer_.listen(ClientFrame::stop_listening, group)) return error;
  forget_group(group);
  return {};
}

void ClientFeeds::forget_group(std::string_view group) {
  const auto known = listens_.find(group);
  if (known == listens_.end()) return;
  listens_.erase(known);
  std::erase_if(heard_, [&](const auto& heard) { return heard.second.group == group; });
}

void ClientFeeds::note_left(std::string_view group) {
  for (auto heard = heard_.begin(); heard != heard_.end();) {
    heard = heard->second.group == group ? end_heard(heard, FeedClosed::Why::left) : std::next(heard);
  }
}

void ClientFeeds::take(const FeedOpened& opened) {
  const auto terms = listens_.find(opened.group);
  if (terms == listens_.end()) return;
  // The same number again: the client has left the group meanwhile, and joined it.
  if (const auto known = heard_.find(opened.feed); known != heard_.end()) end_heard(known, FeedClosed::Why::left);
  const FeedId id = ++last_id_;
  heard_.emplace(opened.feed, Heard{id, std::string(opened.group),
                                    FeedReorderer(terms->second.is_ordered, terms->second.deadline, opened.is_new)});
  events_.emplace_back(spindle::FeedOpened{id, std::string(opened.group), std::string(opened.source),
                                           to_microseconds(opened.repair_for_us)});
}

void ClientFeeds::take(Instant now, const FeedPacket& packet) {
  const auto heard = heard_.find(packet.feed);
  if (heard == heard_.end()) return;
  heard->second.packets.packet(now, packet.sequence, packet.flags, packet.payload);
  give(heard->second);
}

void ClientFeeds::take(const FeedGap& gap) {
  const auto heard = heard_.find(gap.feed);
  if (heard == heard_.end()) return;
  heard->second.packets.gap(gap.first, gap.count, gap.cause);
  give(heard->second);
}

void ClientFeeds::take(const FeedEnded& ended) {
  const auto why = static_cast<FeedClosed::Why>(ended.why);
  if (const auto heard = heard_.find(ended.feed); heard != heard_.end()) end_heard(heard, why);
  if (ended.why == FeedEnd::left) return;
  if (const auto own = own_ids_.find(ended.feed); own != own_ids_.end()) end_own(own->second, why);
}

void ClientFeeds::give(Heard& heard) {
  if (!heard.packets.has_output()) return;
  for (FeedReorderer::Output& output : heard.packets.take_output()) {
    if (output.gap) {
      const auto cause = static_cast<spindle::FeedGap::Cause>(*output.gap);
      events_.emplace_back(spindle::FeedGap{heard.id, output.first, output.count, cause});
    } else if (output.is_bundle) {
      for_each_in_bundle(output.payload, [&](ByteView message) {
        events_.emplace_back(spindle::FeedPacket{heard.id, output.first, 1, {message.begin(), message.end()}});
      });
    } else {
      events_.emplace_back(spindle::FeedPacket{heard.id, output.first, output.count, std::move(output.payload)});
    }
  }
}

ClientFeeds::HeardFeeds::iterator ClientFeeds::end_heard(HeardFeeds::iterator heard,
                                                         std::optional<FeedClosed::Why> why) {
  heard->second.packets.end();
  give(heard->second);
  if (why) events_.emplace_back(FeedClosed{heard->second.id, *why, {}});
  return heard_.erase(heard);
}

// --- What happens ---

void ClientFeeds::take(Instant now, const FeedNews& news) {
  std::visit(
      [&](const auto& known) {
        if constexpr (std::is_same_v<std::decay_t<decltype(known)>, FeedPacket>) {
          take(now, known);
        } else {
          take(known);
        }
      },
      news);
}

void ClientFeeds::begin_anew() {
  for (auto heard = heard_.begin(); heard != heard_.end();) heard = end_heard(heard, FeedClosed::Why::lost);
  for (const auto& [group, terms] : listens_) static_cast<void>(writer_.listen(ClientFrame::listen, group));
  own_ids_.clear();
  std::vector<std::pair<FeedId, std::error_code>> failed;
  for (auto& [id, own] : own_) {
    own.window.stop();
    if (const std::error_code error = ask(own)) failed.emplace_back(id, error);
  }
  for (const auto& [id, error] : failed) end_own(id, FeedClosed::Why::lost, error);
}

void ClientFeeds::end(std::error_code error) {
  for (auto heard = heard_.begin(); heard != heard_.end();) heard = end_heard(heard, std::nullopt);
  for (const auto& [id, own] : own_) {
    if (!own.is_told) opened_.push_back({id, error});
  }
  own_.clear();
  own_ids_.clear();
  listens_.clear();
}

void ClientFeeds::handle_time(Instant now) {
  for (auto& [number, heard] : heard_) {
    if (heard.packets.next_deadline() > now) continue;
    heard.packets.handle_time(now);
    give(heard);
  }
}

Instant ClientFeeds::next_deadline() const {
  Instant next = kNeverAgain;
  for (const auto& [number, heard] : heard_) next = std::min(next, heard.packets.next_deadline());
  return next;
}

}  // namespace spindle::protocol
