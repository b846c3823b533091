#include "libclient/protocol/event_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/header_block.h"
#include "libclient/protocol/member_list.h"

namespace spindle::protocol {

namespace {

constexpr std::size_t kMessageFrameBytesMax =
    (kGroupsPerMessageMax + 1) * (kGroupNameBytesMax + 1) + 5 * kVarintBytesMax + kChunkBytesMax;

std::size_t frame_length_limit(ClientFrame type) {
  switch (type) {
    case ClientFrame::message:
      return kMessageFrameBytesMax;
    case ClientFrame::message_more:
      return kChunkBytesMax;
    case ClientFrame::view:
    case ClientFrame::view_part:
      return kViewPartBytesMax;
    default:
      return UINT16_MAX + 4 + kVarintBytesMax;  // `close` is the longest of the others
  }
}

/// Some frames overtake, and the connection may end at any time.
bool may_follow_view_part(ClientFrame type) {
  return type == ClientFrame::view_part || type == ClientFrame::view || type == ClientFrame::warning ||
         type == ClientFrame::going || type == ClientFrame::close;
}

template <typename Strings>
std::vector<std::string> to_strings(const Strings& views) {
  return std::vector<std::string>(views.begin(), views.end());
}

/// The receiver is in the vs set also where it is new, or back, and nobody has come along with it.
void add_vs_set(GroupView& event, const std::string& receiver) {
  std::vector<std::string> others = event.joined;
  others.insert(others.end(), event.apart.begin(), event.apart.end());
  std::erase(others, receiver);
  event.vs_set = without(event.members, others);
}

static_assert(static_cast<int>(spindle::ViewForm::full) == static_cast<int>(ViewForm::full));
static_assert(static_cast<int>(spindle::ViewForm::change) == static_cast<int>(ViewForm::change));
static_assert(static_cast<int>(spindle::ViewForm::answer) == static_cast<int>(ViewForm::answer));
static_assert(static_cast<int>(spindle::ViewForm::farewell) == static_cast<int>(ViewForm::farewell));
static_assert(static_cast<int>(spindle::ViewCause::join) == static_cast<int>(ViewCause::join));
static_assert(static_cast<int>(spindle::ViewCause::leave) == static_cast<int>(ViewCause::leave));
static_assert(static_cast<int>(spindle::ViewCause::disconnect) == static_cast<int>(ViewCause::disconnect));
static_assert(static_cast<int>(spindle::ViewCause::network) == static_cast<int>(ViewCause::network));

}  // namespace

std::span<std::uint8_t> EventReader::prepare() {
  const std::size_t unparsed = filled_ - parsed_;
  if (block_bytes_ - filled_ < kReadBytesMin) {
    // A frame larger than a block makes blocks double as its bytes arrive, never ahead of them.
    const std::size_t bytes = std::max(kBlockBytes, 2 * unparsed);
    auto block = std::make_shared<Block>(bytes);
    if (unparsed != 0) std::memcpy(block->bytes.get(), at(parsed_), unparsed);
    if (change_) block->changes.push_back(change_);
    block_ = std::move(block);
    block_bytes_ = bytes;
    parsed_ = 0;
    filled_ = unparsed;
  }
  return {block_->bytes.get() + filled_, block_bytes_ - filled_};
}

void EventReader::commit(std::size_t bytes) {
  filled_ += bytes;
  bytes_ += bytes;
  while (!ended_) {
    const ByteView unparsed(at(parsed_), filled_ - parsed_);
    const std::optional<FrameHead> head = read_frame_head(unparsed);
    if (!head) break;
    if (head->length > frame_length_limit(static_cast<ClientFrame>(head->type))) {
      end(Errc::frame_too_large, "the daemon sent a frame that is too large");
      break;
    }
    if (unparsed.size() - kFrameHeadBytes < head->length) break;
    parsed_ += kFrameHeadBytes + head->length;
    handle_frame(static_cast<ClientFrame>(head->type), unparsed.subspan(kFrameHeadBytes, head->length));
  }
  if (ended_) parsed_ = filled_;
}

void EventReader::handle_frame(ClientFrame type, ByteView body) {
  if (welcomed_) {
    ++frames_;
    has_untold_frames_ |= type != ClientFrame::pong && type != ClientFrame::received_by_daemon;
  }
  const bool in_time =
      welcomed_ ? type != ClientFrame::welcome : type == ClientFrame::welcome || type == ClientFrame::close;
  // Daemons begin with a frame of this type to each other.
  if (!welcomed_ && type == ClientFrame::hello) {
    return end(Errc::bad_address, "this is an address of a daemon for other daemons (listen.links), not for clients");
  }
  if (!in_time) return end(Errc::unexpected_frame, "the daemon sent a frame at the wrong time");
  if (welcomed_ && !view_parts_.empty() && !may_follow_view_part(type)) {
    return end(Errc::unexpected_frame, "the daemon did not complete a view");
  }
  switch (type) {
    case ClientFrame::welcome:
      handle_welcome(body);
      break;
    case ClientFrame::close:
      handle_close(body);
      break;
    case ClientFrame::message:
      handle_message(body);
      break;
    case ClientFrame::message_more:
      handle_message_more(body);
      break;
    case ClientFrame::view_part:
      handle_view_part(body);
      break;
    case ClientFrame::view:
      handle_view(body);
      break;
    case ClientFrame::order_view:
      handle_order_view(body);
      break;
    case ClientFrame::transitional:
      handle_transitional(body);
      break;
    case ClientFrame::flush_request:
      handle_flush_request(body);
      break;
    case ClientFrame::reply:
      handle_reply(body);
      break;
    case ClientFrame::pong:
      handle_pong(body);
      break;
    case ClientFrame::admitted:
      handle_admitted(body);
      break;
    case ClientFrame::flow:
      handle_flow(body);
      break;
    case ClientFrame::taken:
      handle_taken(body);
      break;
    case ClientFrame::received_by_daemon:
      handle_received(body);
      break;
    case ClientFrame::confirmed:
      handle_confirmed(body);
      break;
    case ClientFrame::gap:
      handle_gap(body);
      break;
    case ClientFrame::warning:
      handle_warning(body);
      break;
    case ClientFrame::going:
      handle_going(body);
      break;
    case ClientFrame::refused:
      handle_refused(body);
      break;
    default:
      if (is_bulk_news(type)) return handle_channel_news(type, body);
      if (is_feed_news(type)) return handle_feed_news(type, body);
      end(Errc::unexpected_frame, "the daemon sent a frame of an unknown type");
  }
}

void EventReader::handle_welcome(ByteView body) {
  const std::optional<Welcome> welcome = read_welcome(body);
  if (!welcome) return end(Errc::malformed_frame);
  if (welcome->version < kClientVersionMin || welcome->version > kClientVersionMax) return end(Errc::version_mismatch);
  private_name_ = welcome->private_name;
  welcomed_ = true;
  if (!welcome->resumed) {
    partial_.reset();
    partial_complete_.reset();
    view_parts_ = {};
    answer_.reset();
    memberships_.clear();
    flushing_.clear();
    frames_ = 0;
    has_untold_frames_ = false;
  }
  news_.welcome = {welcome->resumable, welcome->resumed, events_.size()};
  has_news_ = true;
}

void EventReader::handle_close(ByteView body) {
  const std::optional<Close> close = read_close(body);
  if (!close || close->code == 0) return end(Errc::malformed_frame);
  news_.taken = close->taken;
  news_.taken_for_good = true;
  end(static_cast<Errc>(close->code), close->text);
}

void EventReader::handle_message(ByteView body) {
  const std::optional<PackedMessage> packed = read_packed_message(body, &good_names_);
  if (!packed) return end(Errc::malformed_frame);
  if (partial_) return end(Errc::unexpected_frame, "a message began before the last one was complete");
  if (packed->place.is_there() && change_ == nullptr) {
    return end(Errc::unexpected_frame, "a message has a place in an order that was not told");
  }
  if (packed->chunk.size() == packed->total) {
    // Filled in where it stays: this is the path of most events.
    Message& message = events_.emplace_back().get<Message>();
    fill(message, *packed);
    message.memory_ = block_;
    event_bytes_ += sizeof(Event) + body.size();
    if (packed->has_headers) note_headers(message);
    return;
  }
  const auto* start = reinterpret_cast<const std::uint8_t*>(packed->sender.data()) - packed->place_bytes;
  Partial partial;
  fill(partial.message, *packed);
  partial.total = packed->total;
  partial.names = packed->place_bytes + packed->sender.size() + packed->groups.size();
  partial.content = std::make_shared<PartialBytes>();
  partial.content->bytes.assign(start, start + partial.names + packed->chunk.size());
  if (packed->place.is_there()) partial.content->change = change_;
  partial_ = std::move(partial);
}

void EventReader::note_headers(const Message& message) {
  if (!message.find_header(kRequestKey) && !message.find_header(kAnswerKey)) return;
  news_.has_answers = true;
  has_news_ = true;
}

void EventReader::fill(Message& message, const PackedMessage& packed) const {
  message.change_ = packed.place.is_there() ? change_.get() : nullptr;
  message.place_bytes_ = packed.place_bytes & 0x7f;
  message.has_headers_ = packed.has_headers;
  message.service_ = static_cast<Service>(packed.service);
  message.type_ = packed.type;
  message.start_ = reinterpret_cast<const std::uint8_t*>(packed.sender.data());
  message.sender_bytes_ = static_cast<std::uint8_t>(packed.sender.size());
  message.groups_bytes_ = static_cast<std::uint32_t>(packed.groups.size());
  message.group_count_ = packed.group_count;
  message.size_ = packed.total;
}

void EventReader::handle_message_more(ByteView body) {
  if (!partial_) return end(Errc::unexpected_frame, "a part of a message came without its beginning");
  std::vector<std::uint8_t>& bytes = partial_->content->bytes;
  const std::size_t wanted = partial_->names + partial_->total;
  if (body.empty() || body.size() > wanted - bytes.size()) return end(Errc::malformed_frame);
  bytes.insert(bytes.end(), body.begin(), body.end());
  if (bytes.size() < wanted) return;
  Message message = std::move(partial_->message);
  message.start_ = bytes.data() + message.place_bytes_;
  message.memory_ = std::move(partial_->content);
  partial_.reset();
  if (message.has_headers_) note_headers(message);
  add_event(std::move(message), wanted);
}

void EventReader::handle_view_part(ByteView body) {
  if (body.empty()) return end(Errc::malformed_frame);
  if (body.size() > kViewBytesMax - view_parts_.size()) {
    return end(Errc::frame_too_large, "the daemon sent a view that is too large");
  }
  view_parts_.insert(view_parts_.end(), body.begin(), body.end());
}

void EventReader::handle_view(ByteView body) {
  const bool is_last_part = !view_parts_.empty();
  if (is_last_part) {
    handle_view_part(body);
    if (ended_) return;
  }
  const std::vector<std::uint8_t> whole = std::exchange(view_parts_, {});
  const ByteView content = is_last_part ? ByteView(whole) : body;
  const std::optional<GroupViewFrame> view = read_view(content);
  if (!view) return end(Errc::malformed_frame);
  add_view(*view, content.size());
}

void EventReader::add_view(const GroupViewFrame& view, std::size_t bytes) {
  GroupView event;
  event.group = view.group;
  event.id = view.id;
  event.cause = view.cause;
  event.form = view.form;
  event.synchronous = view.synchronous;
  event.member_count = view.member_count;
  event.digest = view.digest;
  event.members = to_strings(view.members);
  event.joined = to_strings(view.joined);
  event.left = to_strings(view.left);
  event.apart = to_strings(view.apart);
  if (view.cause == ViewCause::network && view.form == ViewForm::full) add_vs_set(event, private_name_);
  const auto me = std::find(event.members.begin(), event.members.end(), private_name_);
  if (me != event.members.end()) event.my_index = static_cast<std::size_t>(me - event.members.begin());
  if (tracks_memberships_) note_membership(event);
  if (view.form == ViewForm::farewell) news_.farewells.push_back({event.group, news_.feeds.size()});
  if (watches_views_) {
    seen_views_.push_back({event.group, event.form, event.has_members() ? event.members : event.left});
    has_news_ = true;
  }
  const std::size_t names =
      event.members.size() + event.joined.size() + event.left.size() + event.apart.size() + event.vs_set.size();
  if (view.form != ViewForm::answer && flushing_.erase(event.group) != 0) note_flush({event.group}, 0);
  if (view.form == ViewForm::answer) {
    answer_ = std::move(event);  // its reply follows
    return;
  }
  add_event(std::move(event), 2 * bytes + names * sizeof(std::string));
  if (view.form == ViewForm::farewell) news_.channels.push_back({std::string(view.group), events_.size()});
  news_.has_views = true;
  has_news_ = true;
}

void EventReader::note_membership(const GroupView& view) {
  if (view.my_index) memberships_.insert(view.group);
  if (view.form == ViewForm::farewell) memberships_.erase(view.group);
}

void EventReader::handle_order_view(ByteView body) {
  std::optional<GroupViewId> change = read_order_view(body);
  if (!change) return end(Errc::malformed_frame);
  change_ = std::make_shared<const GroupViewId>(*std::move(change));
  block_->changes.push_back(change_);
}

void EventReader::handle_transitional(ByteView body) {
  const std::optional<std::string_view> group = read_transitional(body);
  if (!group) return end(Errc::malformed_frame);
  add_event(Transitional{std::string(*group)}, body.size());
}

void EventReader::handle_flush_request(ByteView body) {
  const std::optional<Flush> request = read_flush(body);
  if (!request) return end(Errc::malformed_frame);
  FlushRequest event{std::string(request->group), ++flush_requests_};
  if (!flushing_.insert(event.group).second) {
    return end(Errc::unexpected_frame, "the daemon asked twice to flush a group for one view");
  }
  note_flush(event, request->request);
  add_event(std::move(event), body.size());
}

void EventReader::note_flush(const FlushRequest& request, std::uint64_t daemons_number) {
  news_.flushes.push_back({request, daemons_number});
  has_news_ = true;
}

void EventReader::handle_reply(ByteView body) {
  const std::optional<Reply> reply = read_reply(body);
  if (!reply) return end(Errc::malformed_frame);
  news_.replies.push_back({*reply, events_.size(), {}, std::exchange(answer_, std::nullopt)});
  has_news_ = true;
}

void EventReader::handle_pong(ByteView body) {
  const std::optional<std::uint64_t> token = read_ping(body);
  if (!token) return end(Errc::malformed_frame);
  news_.pong = *token;
  has_news_ = true;
}

void EventReader::handle_admitted(ByteView body) {
  const std::optional<Admitted> admitted = read_admitted(body);
  if (!admitted) return end(Errc::malformed_frame);
  news_.admitted.push_back(*admitted);
  has_news_ = true;
}

void EventReader::handle_flow(ByteView body) {
  const std::optional<FlowReport> report = read_flow_report(body);
  if (!report) return end(Errc::malformed_frame);
  FlowState state;
  state.price = static_cast<double>(report->price) / 1000;
  state.budget = static_cast<double>(report->budget) / 1000;
  state.salary_period = std::chrono::microseconds(report->period);
  state.rate = static_cast<double>(report->rate) / 1000;
  state.blocked_share = static_cast<double>(report->blocked) / kBlockedMax;
  state.limited_by = report->limit;
  news_.replies.push_back({{report->request, 0}, events_.size(), std::move(state)});
  has_news_ = true;
}

void EventReader::handle_taken(ByteView body) {
  news_.taken = read_taken(body);
  if (!news_.taken) return end(Errc::malformed_frame);
  has_news_ = true;
}

void EventReader::handle_received(ByteView body) {
  news_.received = read_received(body);
  if (!news_.received) return end(Errc::malformed_frame);
  has_news_ = true;
}

void EventReader::handle_confirmed(ByteView body) {
  const std::optional<Confirmed> confirmed = read_confirmed(body);
  if (!confirmed) return end(Errc::malformed_frame);
  news_.confirmed.push_back(*confirmed);
  has_news_ = true;
}

void EventReader::handle_gap(ByteView body) {
  const std::optional<Gap> gap = read_gap(body);
  if (!gap) return end(Errc::malformed_frame);
  spindle::Gap event{gap->messages, gap->bytes, {}, gap->unlisted};
  for (const Gap::Name& each : gap->names) event.names.push_back({std::string(each.name), each.messages});
  add_event(std::move(event), body.size() + gap->names.size() * sizeof(spindle::Gap::Name));
}

void EventReader::handle_warning(ByteView body) {
  const std::optional<Warning> warning = read_warning(body);
  if (!warning) return end(Errc::malformed_frame);
  add_event(QueueWarning{warning->percent, warning->bytes, warning->limit_bytes}, body.size());
}

void EventReader::handle_going(ByteView body) {
  if (!read_going(body)) return end(Errc::malformed_frame);
  daemon_goes_ = true;
  has_news_ = true;
}

void EventReader::handle_refused(ByteView body) {
  const std::optional<Refused> refused = read_refused(body);
  if (!refused) return end(Errc::malformed_frame);
  using Request = RequestFailed::Request;
  const Request request = refused->what == Refused::What::messages     ? Request::send
                          : refused->what == Refused::What::membership ? Request::membership
                                                                       : Request::join;
  if (request == Request::membership) {
    news_.lost_groups.push_back({std::string(refused->name), news_.replies.size()});
  }
  if (request != Request::send) has_news_ = true;
  RequestFailed failed{request, std::string(refused->name), std::error_code(refused->code, error_category()),
                       refused->messages};
  if (request == Request::join) {
    news_.replies.push_back({{}, events_.size(), {}, {}, std::move(failed)});  // somebody may wait for it
  } else {
    add_event(std::move(failed), body.size());
  }
}

void EventReader::end(Errc reason, std::string_view text) {
  if (ended_) return;
  ended_ = true;
  end_reason_ = reason;
  end_text_ = text.empty() ? describe(reason) : text;
  news_.ended = true;
  has_news_ = true;
}

void EventReader::handle_channel_news(ClientFrame type, ByteView body) {
  bool more = false;
  std::optional<BulkNews> news = read_bulk_news(type, body, more);
  if (!news) return end(Errc::malformed_frame);
  auto* complete = std::get_if<BulkComplete>(&*news);
  if (partial_complete_ && (complete == nullptr || complete->channel != partial_complete_->channel)) {
    return end(Errc::unexpected_frame, "the daemon did not say to its end who has the content of a channel");
  }
  if (partial_complete_) {
    partial_complete_->append(std::move(*complete));
    *complete = std::move(*partial_complete_);
    partial_complete_.reset();
  }
  if (more) {
    partial_complete_ = std::move(*complete);
    return;
  }
  news_.channels.push_back({std::move(*news), events_.size()});
  has_news_ = true;
}

void EventReader::handle_feed_news(ClientFrame type, ByteView body) {
  const std::optional<FeedNews> news = read_feed_news(type, body);
  if (!news) return end(Errc::malformed_frame);
  news_.feeds.push_back(*news);
  has_news_ = true;
}

void EventReader::restart() {
  parsed_ = filled_;
  ended_ = welcomed_ = daemon_goes_ = false;
  news_ = News();
  has_news_ = false;
}

void EventReader::add_event(Event event, std::size_t bytes) {
  events_.push_back(std::move(event));
  event_bytes_ += sizeof(Event) + bytes + (events_.back().is<Message>() ? 0 : sizeof(GroupView));  // the largest
}

void EventReader::insert_event(std::size_t index, Event event) {
  events_.insert(events_.begin() + static_cast<std::ptrdiff_t>(index), std::move(event));
  event_bytes_ += sizeof(Event) + sizeof(GroupView);
}

EventReader::News EventReader::take_news() {
  has_news_ = false;
  return std::exchange(news_, News());
}

void EventReader::take_events(std::vector<Event>& into) {
  events_.swap(into);
  event_bytes_ = 0;
  settled_ = 0;
}

}  // namespace spindle::protocol
