#include "daemon/session/feed_requests.h"

#include <algorithm>
#include <utility>

#include "daemon/session/client_errors.h"
#include "libclient/common/names.h"

namespace spindled {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;

namespace {

static_assert(protocol::kFeedMessageBytesMax == Feeds::kMessageBytesMax);

protocol::FeedFlow to_frame(FeedHandle feed, const FeedFlow& flow) {
  protocol::FeedFlow frame;
  frame.feed = feed;
  frame.bytes_per_second = static_cast<std::uint64_t>(std::clamp(flow.bytes_per_second, 0.0, 1e18));
  frame.round_trip_us = static_cast<std::uint64_t>(std::max<Duration::rep>(flow.round_trip / 1us, 0));
  frame.loss = static_cast<std::uint16_t>(std::clamp(flow.loss, 0.0, 1.0) * protocol::kFeedLossMax + 0.5);
  frame.limited_by = static_cast<protocol::FeedLimit>(flow.limited_by);
  return frame;
}

}  // namespace

// --- Whether a frame may be handled now ---

Verdict FeedRequests::try_admit(Time now, ClientFrame type, ByteView body) {
  switch (type) {
    case ClientFrame::feed_open: {
      const std::optional<protocol::FeedOpen> open = protocol::read_feed_open(body);
      return open ? try_admit_open(now, *open) : Verdict();  // the session ends
    }
    case ClientFrame::feed_send: {
      const std::optional<Time> until = quota_.wait_until(now);
      return until ? Verdict{0, AdmissionWait::quota, *until} : Verdict();
    }
    case ClientFrame::feed_close: {
      const std::optional<protocol::FeedClose> close = protocol::read_feed_close(body);
      return close ? try_admit_close(now, close->feed) : Verdict();
    }
    default:  // it is asked in a few bytes, and what comes of it are as many as the group has feeds
      return context_.turn.may_check() ? Verdict() : Verdict{0, AdmissionWait::room, now};
  }
}

Verdict FeedRequests::try_admit_open(Time now, const protocol::FeedOpen& open) {
  if (ingress_.waits_for_requests_of(open.group)) return {0, AdmissionWait::requests, kNever};
  if (access_.has_rules() && !context_.turn.may_check()) return {0, AdmissionWait::room, now};
  refused_.reset();
  if (!spindle::is_group_name(open.group)) {
    refused_ = Errc::bad_group_name;
  } else if (!access_.may(Right::send, open.group)) {
    refused_ = Errc::access_denied;
  } else if (own_.size() >= Feeds::kFeedsPerClient) {
    refused_ = Errc::too_many_feeds;
  }
  if (refused_) return {};
  return ingress_.try_admit_change(now, Admission::Change::join, std::string(open.group));
}

Verdict FeedRequests::try_admit_close(Time now, FeedHandle feed) {
  const auto own = own_.find(feed);
  return own == own_.end() ? Verdict() : ingress_.try_admit_change(now, Admission::Change::leave, own->second.group);
}

// --- What is asked ---

std::optional<Error> FeedRequests::handle(Time now, ClientFrame type, ByteView body) {
  switch (type) {
    case ClientFrame::feed_open: {
      const std::optional<protocol::FeedOpen> request = protocol::read_feed_open(body);
      if (!request) return malformed("feed_open");
      open(now, *request);
      return std::nullopt;
    }
    case ClientFrame::feed_send: {
      const std::optional<protocol::FeedSend> message = protocol::read_feed_send(body);
      return message ? send(now, *message) : malformed("feed_send");
    }
    case ClientFrame::feed_close: {
      const std::optional<protocol::FeedClose> request = protocol::read_feed_close(body);
      return request ? close_feed(now, request->feed) : malformed("feed_close");
    }
    default:
      return listen(now, type, body);
  }
}

void FeedRequests::open(Time now, const protocol::FeedOpen& request) {
  if (const std::optional<Errc> why = std::exchange(refused_, std::nullopt)) {
    if (*why == Errc::access_denied) deny("open a feed to", request.group);
    return answer(request.request, why);
  }
  FeedTerms terms;
  terms.group = request.group;
  terms.repair_for = std::chrono::microseconds(request.repair_for_us);
  terms.bytes_per_second_max = request.bytes_per_second_max;
  is_opening_ = true;
  const Result<FeedHandle> feed = feeds_.open(now, ingress_.session(), ingress_.client(), terms);
  is_opening_ = false;
  const std::map<FeedHandle, std::uint64_t> first = std::exchange(first_, {});
  if (!feed) return answer(request.request, feed.error().code);
  own_[*feed].group = std::move(terms.group);
  const auto room = first.find(*feed);
  std::vector<std::uint8_t> frame;
  protocol::write_feed_news(frame, protocol::FeedReady{request.request, *feed, room == first.end() ? 0 : room->second});
  answers_.append_frame(frame);
}

std::optional<Error> FeedRequests::send(Time now, const protocol::FeedSend& message) {
  if (!own_.contains(message.feed)) return unknown(message.feed);
  if (quota_.has_rate()) quota_.take(message.payload.size());
  const std::optional<Errc> error = feeds_.send(now, ingress_.session(), message.feed, message.payload);
  if (!error) return std::nullopt;
  if (*error == Errc::unknown_feed) return unknown(message.feed);
  return Error{*error, fmt::format("the client has sent more to its feed {} than it had room for", message.feed)};
}

std::optional<Error> FeedRequests::close_feed(Time now, FeedHandle feed) {
  if (ended_.erase(feed) != 0) return std::nullopt;
  if (own_.erase(feed) == 0) return unknown(feed);
  feeds_.close(now, ingress_.session(), feed);
  return std::nullopt;
}

std::optional<Error> FeedRequests::listen(Time now, ClientFrame type, ByteView body) {
  const std::optional<protocol::GroupRequest> request = protocol::read_listen(body);
  if (!request) return malformed("listen");
  std::optional<Errc> refusal;
  context_.turn.check([&] {
    context_.turn.count(1);
    if (type == ClientFrame::listen) {
      refusal = begin_to_listen(now, request->group);
    } else if (const auto known = listens_.find(request->group); known != listens_.end()) {
      feeds_.stop_listening(now, ingress_.session(), request->group);
      listens_.erase(known);
    }
  });
  answer(request->request, refusal);
  return std::nullopt;
}

std::optional<Errc> FeedRequests::begin_to_listen(Time now, std::string_view group) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  if (!access_.may(Right::join, group)) {
    deny("listen to", group);
    return Errc::access_denied;
  }
  if (listens_.contains(group)) return std::nullopt;
  const std::optional<Errc> refusal = feeds_.listen(now, ingress_.session(), group);
  if (!refusal) listens_.emplace(group);
  return refusal;
}

void FeedRequests::close(Time now) {
  first_.clear();
  ended_.clear();
  has_news_ = false;
  own_.clear();
  listens_.clear();
  feeds_.close_session(now, ingress_.session());
}

std::optional<Error> FeedRequests::unknown(FeedHandle feed) const {
  if (ended_.contains(feed)) return std::nullopt;
  return Error{Errc::unknown_feed, fmt::format("the client has no feed {}", feed)};
}

void FeedRequests::remember_ended(FeedHandle feed) {
  ended_.insert(feed);
  // Those of the least numbers are the oldest.
  if (ended_.size() > kEndedMax) ended_.erase(ended_.begin());
}

void FeedRequests::deny(std::string_view what, std::string_view group) {
  context_.counters.add(Counter::access_denied);
  access_.log_denied(what, group, ingress_.client());
}

void FeedRequests::answer(std::uint32_t request, std::optional<Errc> refusal) {
  std::vector<std::uint8_t> frame;
  protocol::write_reply(frame, {request, static_cast<std::uint16_t>(refusal ? static_cast<int>(*refusal) : 0)});
  answers_.append_frame(frame);
}

// --- What its own feeds tell ---

void FeedRequests::give_room(FeedHandle feed, std::size_t bytes) {
  if (is_opening_ && !own_.contains(feed)) {
    first_[feed] += bytes;
    return;
  }
  const auto own = own_.find(feed);
  if (own == own_.end() || bytes == 0) return;
  own->second.untold_room += bytes;
  has_news_ = true;
}

void FeedRequests::tell_flow(FeedHandle feed, const FeedFlow& flow) {
  const auto own = own_.find(feed);
  if (own == own_.end()) return;
  own->second.untold_flow = flow;
  has_news_ = true;
}

void FeedRequests::note_end(FeedHandle feed) {
  if (own_.erase(feed) != 0) remember_ended(feed);
}

void FeedRequests::tell() {
  std::vector<std::uint8_t> frames;
  for (auto& [feed, own] : own_) {
    if (const std::uint64_t room = std::exchange(own.untold_room, 0); room != 0) {
      frames.clear();
      protocol::write_feed_news(frames, protocol::FeedRoom{feed, room});
      answers_.append_frame(frames);
    }
    if (const std::optional<FeedFlow> flow = std::exchange(own.untold_flow, std::nullopt)) {
      frames.clear();
      protocol::write_feed_news(frames, to_frame(feed, *flow));
      answers_.append_frame(frames);
    }
  }
  has_news_ = false;
}

}  // namespace spindled
