#include "libclient/protocol/client_engine.h"

#include <algorithm>
#include <cstring>

#include "libclient/protocol/header_block.h"

namespace spindle::protocol {

std::error_code ClientEngine::ask(const Groups& groups, const Payload& payload, const RequestOptions& options,
                                  Requests::Number& number) {
  Requests::Wanted wanted;
  wanted.answers = options.answers;
  const bool is_for_all = options.answers == RequestOptions::kAllMembers;
  if (is_for_all) {
    if (groups.size() != 1) return Errc::bad_argument;
    if (!is_group_name(groups[0])) return Errc::bad_group_name;
    if (!writer_.groups().contains(groups[0])) return Errc::not_a_member;
    wanted.group = groups[0];
    wanted.without_self = options.self_discard;
    if (requests_.needs_list(wanted.group)) {
      if (const std::error_code error = writer_.request_view(wanted.group)) return error;
      requests_.expect_list(wanted.group, writer_.last_request());
    }
  }
  number = requests_.next_number();
  const std::string header = Requests::to_header(number);
  SendOptions send;
  send.type = options.type;
  send.self_discard = options.self_discard && !is_for_all;  // it has to see where the request stands
  send.headers = options.headers;
  if (const std::error_code error =
          writer_.multicast_with({kRequestKey, header}, options.service, groups, payload, send)) {
    return error;
  }
  wanted.accepted = writer_.accepted();
  requests_.add(number, std::move(wanted));
  return {};
}

std::error_code ClientEngine::answer(const Message& request, const Payload& payload, const SendOptions& options) {
  const std::optional<std::string_view> number = Requests::number_of(request);
  if (!number) return Errc::bad_argument;
  return writer_.multicast_with({kAnswerKey, *number}, Service::fifo, request.sender(), payload, options);
}

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
  settle([this](const EventReader::News::PlacedWelcome&) {
    writer_.open();
    return std::size_t{0};
  });
  if (reader_.ended()) disconnect();
}

void ClientEngine::settle(EventReader::News& news) {
  // Before what is said of joins: these count what is still without a last view.
  for (const EventReader::News::Farewell& farewell : news.farewells) writer_.settle_farewell(farewell.group);
  settle_replies(news);
  settle_feeds(news);
  settle_admitted(news);
  settle_taken(news);
  for (const EventReader::News::FlushNews& flush : news.flushes)
    writer_.settle_flush(flush.request, flush.daemons_number);
  settle_confirmed(news);
  settle_requests(news);
  if (news.received) writer_.acknowledge(*news.received);
  if (!news.pong) return;
  last_pong_ = news.pong;
  writer_.settle_pong(*news.pong);
}

void ClientEngine::disconnect() {
  writer_.close();
  if (reader_.has_news()) reader_.take_news();
  const std::error_code reason(static_cast<int>(reader_.end_reason()), error_category());
  requests_.end_all(reason);
  tell_answers();
  reader_.add_event(Disconnected{reason, reader_.end_text(), writer_.not_taken()}, reader_.end_text().size());
}

void ClientEngine::settle_replies(EventReader::News& news) {
  std::size_t inserted = 0;
  auto channel = news.channels.begin();
  const auto tell_channels = [&](std::size_t up_to) {
    for (; channel != news.channels.end() && channel->before <= up_to; ++channel) {
      const std::size_t before = channel->before + inserted;
      auto* const said = std::get_if<BulkNews>(&channel->news);
      inserted += said != nullptr ? tell_channel_news(std::move(*said), before)
                                  : tell_channels_left(std::get<std::string>(channel->news), before);
    }
  };
  std::size_t index = 0;
  auto lost = news.lost_groups.begin();
  const auto lose_groups = [&](std::size_t up_to) {
    for (; lost != news.lost_groups.end() && lost->before <= up_to; ++lost) writer_.lose_group(lost->group);
  };
  for (auto& [reply, before, flow, view, refused_join] : news.replies) {
    tell_channels(before);
    lose_groups(index++);
    if (refused_join) {
      writer_.settle_refused_join(refused_join->group);
      const bool is_taken = observer_ != nullptr && observer_->join_refused(*refused_join);
      if (!is_taken) reader_.insert_event(before + inserted++, std::move(*refused_join));
      continue;
    }
    bool unknown = false;
    if (!flow && !view && writer_.settle_channel(reply.request)) {
      const std::error_code error(reply.code, error_category());
      if (observer_ != nullptr) observer_->channel_answered(reply.request, error);
      continue;
    }
    if (!flow && !view && writer_.settle_feed(reply.request)) {
      if (observer_ != nullptr) observer_->feed_refused(reply.request, {reply.code, error_category()});
      continue;
    }
    std::optional<Event> event;
    if (flow) {
      writer_.settle(reply.request, *flow, unknown);
      event = std::move(*flow);
    } else if (std::optional<RequestFailed> failed = writer_.settle(reply, unknown)) {
      const bool is_taken = requests_.take_list(reply.request, before + inserted, nullptr) ||
                            (observer_ != nullptr && observer_->refused(reply.request, *failed));
      if (!is_taken) event = std::move(*failed);
    } else if (view && !unknown && !requests_.take_list(reply.request, before + inserted, &*view)) {
      event = std::move(*view);
    }
    if (unknown) {
      reader_.end(Errc::unexpected_frame, "the daemon replied to a request that was not made");
      return;
    }
    if (event) reader_.insert_event(before + inserted++, std::move(*event));
  }
  tell_channels(SIZE_MAX);
  lose_groups(SIZE_MAX);
}

std::size_t ClientEngine::tell_channel_news(BulkNews&& news, std::size_t before) {
  const auto* offered = std::get_if<BulkOffered>(&news);
  const auto* token = std::get_if<BulkToken>(&news);
  const std::uint32_t request = offered != nullptr ? offered->request : token != nullptr ? token->request : 0;
  if (request != 0 && !writer_.settle_channel(request)) {
    reader_.end(Errc::unexpected_frame, "the daemon answered a request that was not made");
    return 0;
  }
  if (observer_ == nullptr) return 0;
  std::optional<Event> event = observer_->channel_news(std::move(news), before);
  if (event) reader_.insert_event(before, *std::move(event));
  return event ? 1 : 0;
}

std::size_t ClientEngine::tell_channels_left(std::string_view group, std::size_t before) {
  if (observer_ == nullptr) return 0;
  std::vector<Event> events = observer_->channels_left(group);
  for (Event& each : events) reader_.insert_event(before++, std::move(each));
  return events.size();
}

void ClientEngine::settle_feeds(const EventReader::News& news) {
  auto farewell = news.farewells.begin();
  const auto tell_farewells = [&](std::size_t before) {
    for (; farewell != news.farewells.end() && farewell->before <= before; ++farewell) {
      if (observer_ != nullptr) observer_->group_left(farewell->group);
    }
  };
  for (std::size_t i = 0; i < news.feeds.size(); ++i) {
    tell_farewells(i);
    const FeedNews& each = news.feeds[i];
    const auto* ready = std::get_if<FeedReady>(&each);
    if (ready != nullptr && !writer_.settle_feed(ready->request)) {
      return reader_.end(Errc::unexpected_frame, "the daemon answered a request that was not made");
    }
    if (observer_ != nullptr) observer_->feed_news(each);
  }
  tell_farewells(news.feeds.size());
}

void ClientEngine::settle_admitted(const EventReader::News& news) {
  for (const Admitted& admitted : news.admitted) {
    if (reader_.ended()) return;  // Disconnected is the last event
    bool unknown = false;
    std::vector<FlowReady> ready = writer_.settle(admitted, unknown);
    if (unknown) return reader_.end(Errc::unexpected_frame, "the daemon admitted messages that were not sent");
    for (FlowReady& flow : ready) reader_.add_event(std::move(flow), 0);
  }
}

void ClientEngine::settle_confirmed(const EventReader::News& news) {
  for (const Confirmed& confirmed : news.confirmed) {
    if (!writer_.settle(confirmed)) {
      return reader_.end(Errc::unexpected_frame, "the daemon confirmed messages that were not sent");
    }
    if (observer_ != nullptr) observer_->confirmed(confirmed.request);
  }
}

void ClientEngine::settle_requests(const EventReader::News& news) {
  if (!news.has_answers && !news.has_views && !requests_.is_settling_due()) return;
  requests_.settle(reader_.settling_events(), reader_.settled(), reader_.private_name());
  reader_.note_settled();
  tell_answers();
}

void ClientEngine::tell_answers() {
  for (Requests::Outcome& outcome : requests_.take_outcomes()) {
    if (observer_ != nullptr) observer_->answered(outcome.number, std::move(outcome.answers));
  }
}

void ClientEngine::settle_taken(const EventReader::News& news) {
  if (!news.taken || writer_.settle_taken(*news.taken, news.taken_for_good)) return;
  reader_.end(Errc::unexpected_frame, "the daemon took messages that were not sent");
}

}  // namespace spindle::protocol
