#include "tests/sim/sim_client.h"
#include "libclient/common/limits.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"
#include "daemon/base/result.h"
#include "tests/checkers/digest.h"

namespace spindled::sim {

namespace {

constexpr std::uint32_t kClientTraceBit = 1u << 23;  // tells clients from hosts in the trace
constexpr std::size_t kHeaderRoom = 64;

spindle::protocol::SessionOptions session_options(const std::string& name, std::uint32_t number,
                                                  const ClientOptions& options) {
  const auto policy = static_cast<unsigned>(options.policy) << spindle::protocol::kSlowPolicyShift;
  const unsigned flows = options.independent_flows ? spindle::protocol::kIndependentFlowsBit : 0;
  const unsigned taken = options.tell_taken ? spindle::protocol::kTellTakenBit : 0;
  spindle::protocol::SessionOptions session;
  session.name = name;
  session.flags = static_cast<std::uint8_t>(policy | flows | taken);
  session.servers = 1 + options.others.size();
  session.seed = number;
  session.wants_channels = options.wants_channels;
  if (!options.returns) {
    session.reconnect_timeout = 0ms;
    session.keepalive = 0ms;
  } else {
    session.keepalive = options.keepalive;
  }
  return session;
}

}  // namespace

SimClient::SimClient(World world, SimHost& host, std::string name, std::uint32_t number, ClientOptions options)
    : world_(world),
      host_(&host),
      name_(std::move(name)),
      number_(number),
      options_(std::move(options)),
      session_(session_options(name_, number, options_)),
      answers_(number) {
  history_.independent_flows = options_.independent_flows;
  history_.wants_channels = options_.wants_channels;
  history_.daemon = host.name();
  if (options_.returns) history_.program = number + 1;
  history_.wish = name_;
  history_.identities = options_.identities;
  history_.connected = world_.events.now();
  servers_ = {&host};
  servers_.insert(servers_.end(), options_.others.begin(), options_.others.end());
  session_.engine().observe(this);
  session_.start(now());
  drive();
}

void SimClient::dial() {
  connected_ = false;
  if (host_ == out_of_reach_ && world_.events.now() < reached_at_) {
    world_.events.after(1ms, [this] {
      session_.failed(now(), Errc::connect_failed, "no route to host");
      take_events();
      drive();
    });
    return;
  }
  end_ = world_.network.dial_local(host_->index(), Port::client, "client", *this);
  life_ = host_->life();
  host_->expect(end_.peer(), options_.identities);
}

void SimClient::drive() {
  if (!open_) return;
  if (session_.take_hang_up() && end_ != StreamRef()) {
    connected_ = false;
    world_.network.close(std::exchange(end_, StreamRef()));
  }
  if (const std::optional<std::size_t> server = session_.take_dial()) {
    host_ = servers_.at(*server);
    dial();
  }
  flush();
  const spindle::protocol::Instant at = std::min(session_.next_deadline(), feeds_.next_deadline());
  if (at != spindle::protocol::kNeverAgain) wake(Time(at));
}

void SimClient::wake(Time at) {
  if (at >= wakes_at_) return;
  wakes_at_ = at;
  world_.events.at(at, [this, at] {
    if (!open_ || at != wakes_at_) return;
    wakes_at_ = kNever;
    session_.handle_time(now());
    feeds_.handle_time(now());
    take_events();
    drive();
  });
}

// Requests.

void SimClient::when_welcome(std::function<void()> request) {
  if (!open_ || said_bye_) return;
  if (is_welcome()) {
    request();
    flush();
  } else {
    waiting_.push_back(std::move(request));
  }
}

void SimClient::join(const std::string& group, bool synchronous) {
  if (synchronous) synchronous_.insert(group);
  when_welcome([this, group, synchronous] {
    note(JoinRequested{group, synchronous});
    SPINDLE_CHECK(!session_.join(group, synchronous));
  });
}

void SimClient::flush_ok(const FlushRequested& request) {
  const spindle::FlushRequest asked{request.group, request.number};
  if (!open_ || !session_.writer().awaits_flush(asked) || session_.flush_ok(asked)) return;
  note(FlushAnswered{request.group});
  flush();
}

void SimClient::take_flush_request(const FlushRequested& request) {
  if (!options_.flushes_after) return;
  if (*options_.flushes_after == Duration{}) return flush_ok(request);
  world_.events.after(*options_.flushes_after, [this, request] { flush_ok(request); });
}

void SimClient::leave(const std::string& group) {
  when_welcome([this, group] {
    note(LeaveRequested{group});
    SPINDLE_CHECK(!session_.leave(group));
  });
}

void SimClient::request_view(const std::string& group) {
  when_welcome([this, group] { SPINDLE_CHECK(!session_.request_view(group)); });
}

void SimClient::ask_all(const std::string& group) {
  when_welcome([this, group] {
    spindle::protocol::Requests::Number number = 0;
    const spindle::RequestOptions options{.answers = spindle::RequestOptions::kAllMembers, .self_discard = true};
    if (!session_.engine().ask(group, "?", options, number)) ++asked_;
  });
}

std::error_code SimClient::send(const std::vector<std::string>& groups, const SendOptions& options) {
  const std::uint16_t type = message_type(options_.first_type + sent_);
  const bool is_to_synchronous = std::any_of(groups.begin(), groups.end(),
                                             [this](const std::string& name) { return synchronous_.contains(name); });
  const Service service = is_to_synchronous ? std::max(options.service, Service::fifo) : options.service;
  const std::vector<std::uint8_t> payload = make_payload(number_, sent_, options.size);
  const std::vector<std::string_view> names(groups.begin(), groups.end());
  // One of the largest has no room for it.
  const bool is_described = options_.has_headers && options.size + kHeaderRoom <= spindle::kMessageBytesMax;
  const std::string header = is_described ? make_header(sent_) : std::string();
  const std::vector<spindle::Header> headers = headers_of(header);
  const std::error_code error =
      session_.multicast(service, names, payload,
                         {.type = type, .self_discard = options.self_discard, .ticket = sent_, .headers = headers});
  if (error) return error;
  ++sent_;
  if (receiver_) return {};
  tickets_.push_back(sent_ - 1);
  note(record_sent(history_.name, service, type, groups, header, payload, options.self_discard));
  return {};
}

void SimClient::multicast(const std::vector<std::string>& groups, const SendOptions& options) {
  when_welcome([this, groups, options] {
    const std::error_code error = send(groups, options);
    SPINDLE_CHECK(!error || error == Errc::flushing || (options_.independent_flows && error == Errc::would_block));
  });
}

bool SimClient::try_multicast(const std::vector<std::string>& groups, const SendOptions& options) {
  SPINDLE_CHECK(is_welcome() && open_);
  const std::error_code error = send(groups, options);
  SPINDLE_CHECK(!error || error == Errc::would_block || error == Errc::flushing);
  flush();
  return !error;
}

void SimClient::request_flow(const std::vector<std::string>& groups) {
  when_welcome([this, groups] {
    const std::vector<std::string_view> names(groups.begin(), groups.end());
    SPINDLE_CHECK(!session_.request_flow(names));
  });
}

void SimClient::keep_sending(std::vector<std::string> groups, const SendOptions& options, std::size_t ahead) {
  load_ = {std::move(groups), options, ahead};
  when_welcome([this] { send_ahead(); });
}

void SimClient::send_ahead() {
  while (load_ && open_ && is_welcome() && !said_bye_ && unsent_bytes() < load_->ahead) {
    if (const std::error_code error = send(load_->groups, load_->options)) {
      SPINDLE_CHECK(error == Errc::flushing || (options_.independent_flows && error == Errc::would_block));
      return;
    }
    flush();
  }
}

void SimClient::bye() {
  when_welcome([this] { session_.bye(); });
  said_bye_ = true;
}

void SimClient::kill() {
  if (!open_) return;
  history_.killed = session_.is_connected();
  world_.network.abort(end_, "connection reset by peer");
  close(Errc::closed_by_client, "killed");
}

void SimClient::cut(bool silently, Duration out_of_reach) {
  if (!open_ || !connected_) return;
  out_of_reach_ = host_;
  reached_at_ = world_.events.now() + out_of_reach;
  connected_ = false;
  const StreamRef end = std::exchange(end_, StreamRef());
  if (silently) {
    world_.network.vanish(end);
  } else {
    world_.network.abort(end, "connection reset by peer");
  }
  session_.reader().end(Errc::connection_lost, "connection reset by peer");
  session_.settle(now());
  take_events();
  drive();
}

void SimClient::send_raw(ByteView bytes) {
  raw_.push(bytes);
  flush();
}

void SimClient::flush() {
  if (!connected_ || !open_) return;
  while (!session_.output().empty()) {
    const ByteView front = session_.output();
    const std::size_t taken = world_.network.write(end_, {&front, 1});
    session_.consume(taken);
    if (taken == 0) return;
  }
  const ByteView front = raw_.front();
  if (!front.empty()) raw_.pop(world_.network.write(end_, {&front, 1}));
}

// The connection.

void SimClient::stream_connected(StreamRef end) {
  if (end != end_) return;
  connected_ = true;
  session_.connected(now());
  flush();
}

void SimClient::stream_writable(StreamRef) {
  flush();
  send_ahead();
}

void SimClient::stream_closed(StreamRef end, std::string_view why) {
  if (!open_ || end != end_) return;
  end_ = StreamRef();
  note_end();
  if (std::exchange(connected_, false)) {
    session_.reader().end(Errc::connection_lost, why);
    session_.settle(now());
  } else {
    session_.failed(now(), Errc::connection_lost, why);
  }
  take_events();
  drive();
}

void SimClient::stream_readable(StreamRef) {
  if (!read_rate_) {
    read(SIZE_MAX);
  } else {
    schedule_read();
  }
}

void SimClient::set_read_rate(std::optional<std::uint64_t> bytes_per_second) {
  read_rate_ = bytes_per_second;
  if (read_rate_ && !history_.slow_since) history_.slow_since = world_.events.now();
  session_.set_reading(read_rate_ != 0);
  schedule_read();
}

void SimClient::schedule_read() {
  if (read_scheduled_ || !open_ || read_rate_ == 0) return;
  read_scheduled_ = true;
  world_.events.after(read_rate_ ? kReadTick : 0ns, [this] {
    read_scheduled_ = false;
    if (!open_ || read_rate_ == 0) return;
    read(read_rate_ ? static_cast<std::size_t>(static_cast<double>(*read_rate_) * to_seconds(kReadTick)) : SIZE_MAX);
    if (open_ && read_rate_ && world_.network.readable(end_) > 0) schedule_read();
  });
}

void SimClient::read(std::size_t limit) {
  std::uint8_t buffer[16u << 10];
  while (open_ && connected_ && limit > 0) {
    const std::size_t count = world_.network.read(end_, std::span(buffer).first(std::min(limit, sizeof buffer)));
    if (count == 0) break;
    limit -= count;
    take_bytes({buffer, count});
    take_events();
  }
  if (open_ && connected_ && world_.network.at_end(end_)) {
    note_end();
    history_.bye_unanswered = said_bye_ && !session_.reader().ended();
    session_.reader().end(session_.engine().end_reason());
    session_.settle(now());
    take_events();
  }
  drive();
}

void SimClient::take_bytes(ByteView bytes) {
  while (!bytes.empty() && !session_.reader().ended()) {
    const std::span<std::uint8_t> room = session_.reader().prepare();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::copy_n(bytes.begin(), count, room.begin());
    session_.reader().commit(count);
    if (session_.is_settling_due()) session_.settle(now());
    bytes = bytes.subspan(count);
  }
}

void SimClient::take_events() {
  if (history_.name.empty() && !session_.private_name().empty()) {
    history_.name = session_.private_name();
    history_.since = world_.events.now();
    history_.policy = policy();
    for (const auto& request : std::exchange(waiting_, {})) {
      if (session_.is_connected()) request();  // the daemon may have said welcome and closed in one go
    }
    flush();
  }
  std::size_t taken = 0;
  for (const spindle::Event& event : session_.engine().take_events()) {
    take_channel_news(taken++);
    if (const auto* end = event.get_if<spindle::Disconnected>()) {
      close(static_cast<Errc>(end->error.value()), end->text);
      continue;
    }
    if (const auto* reconnected = event.get_if<spindle::Reconnected>()) {
      reconnections_.push_back(*reconnected);
      session_.note_told(*reconnected);
      if (!reconnected->resumed) begin_anew(*reconnected);
    }
    if (const auto* message = event.get_if<spindle::Message>(); message != nullptr && message->is_request()) {
      static_cast<void>(session_.engine().answer(*message, "yes", {}));
      flush();
      continue;
    }
    if (const auto* message = event.get_if<spindle::Message>()) {
      ++messages_;
      bytes_ += message->payload().size();
      if (receiver_) {
        receiver_(*message);
        continue;
      }
    }
    if (const auto* view = event.get_if<spindle::GroupView>()) {
      ++views_of_.at(static_cast<std::size_t>(view->form));
    }
    if (const auto* failed = event.get_if<spindle::RequestFailed>()) {
      if (failed->request == spindle::RequestFailed::Request::view) ++refused_requests_;
      if (failed->request == spindle::RequestFailed::Request::listen) {
        take_feed_events();  // they came before
        feeds_.forget_group(failed->group);
        listens_.erase(failed->group);
        note_feed(ListenOver{failed->group});
        continue;
      }
    }
    if (const auto* ready = event.get_if<spindle::FlowReady>()) flows_ready_.push_back(*ready);
    if (const auto* flow = event.get_if<spindle::FlowState>()) flow_states_.push_back(*flow);
    if (const auto* gap = event.get_if<spindle::Gap>()) gaps_.push_back(*gap);
    if (const auto* warning = event.get_if<spindle::QueueWarning>()) warnings_.push_back(*warning);
    if (std::optional<What> what = recorder_.record(event)) {
      note(*what);
      if (options_.answers > 0) answer(*what);
      if (const auto* request = std::get_if<FlushRequested>(&*what)) take_flush_request(*request);
      if (std::holds_alternative<GroupView>(*what)) send_ahead();
    }
  }
  take_channel_news(SIZE_MAX);
  take_feed_events();
}

// Feeds.

template <typename Happened>
void SimClient::note_feed(Happened what) {
  history_.feeds.push_back({world_.events.now(), std::move(what)});
}

void SimClient::feed_news(const protocol::FeedNews& news) {
  if (auto wrong = feed_frames_.take(news)) note_feed(FeedFrameWrong{std::move(*wrong)});
  const auto* ended = std::get_if<protocol::FeedEnded>(&news);
  if (ended != nullptr && ended->why == protocol::FeedEnd::denied) note_feed(OwnFeedDenied{});
  feeds_.take(now(), news);
}

void SimClient::open_feed(std::uint32_t number, const std::string& group, const FeedSettings& settings) {
  when_welcome([this, number, group, settings] {
    if (own_feeds_.contains(number)) return;
    protocol::ClientFeeds::SourceTerms terms;
    terms.repair_for_us = static_cast<std::uint64_t>(settings.repair_for / 1us);
    terms.bytes_per_second_max = settings.bytes_per_second_max;
    terms.drops_oldest = settings.drops_oldest;
    OwnFeed feed{0, group, settings.drops_oldest};
    if (feeds_.open(group, terms, feed.id)) return;
    note_feed(FeedAsked{feed.id, group, settings.drops_oldest});
    own_feeds_.emplace(number, std::move(feed));
  });
}

void SimClient::feed(std::uint32_t number, std::size_t count, std::size_t size, Duration interval) {
  if (!open_ || said_bye_ || count == 0) return;
  send_feed(number, std::max(size, kFeedBytesMin));
  if (count == 1) return;
  if (interval == Duration{}) return feed(number, count - 1, size, interval);
  world_.events.after(interval, [this, number, count, size, interval] { feed(number, count - 1, size, interval); });
}

/// The client's number and a count are in front, so that no two are equal.
void SimClient::send_feed(std::uint32_t number, std::size_t size) {
  const auto found = own_feeds_.find(number);
  if (found == own_feeds_.end() || !is_welcome()) return;
  std::vector<std::uint8_t> message = make_payload(number_, fed_, size);
  Writer writer(message.data());
  writer.u32(number_);
  writer.u32(fed_++);
  if (feeds_.send(found->second.id, message)) return;
  Digest digest;
  digest.add(ByteView(message));
  note_feed(FeedSent{found->second.id, digest.value()});
  flush();
}

void SimClient::close_feed(std::uint32_t number) {
  when_welcome([this, number] {
    const auto found = own_feeds_.find(number);
    if (found == own_feeds_.end()) return;
    feeds_.close(found->second.id);
    note_feed(FeedGivenUp{found->second.id});
    own_feeds_.erase(found);
  });
}

void SimClient::listen(const std::string& group, bool is_ordered, Duration deadline) {
  when_welcome([this, group, is_ordered, deadline] {
    if (listens_.contains(group) || feeds_.listen(group, {is_ordered, deadline})) return;
    listens_.emplace(group, is_ordered);
    note_feed(ListenAsked{group, is_ordered});
  });
}

void SimClient::stop_listening(const std::string& group) {
  when_welcome([this, group] {
    if (!listens_.contains(group) || feeds_.stop_listening(group)) return;
    take_feed_events();
    listens_.erase(group);
    note_feed(ListenOver{group});
  });
}

void SimClient::session_began_anew() {
  take_feed_events();
  feed_frames_ = {};
  feeds_.begin_anew();
  take_feed_events();
  former_feeds_ = std::exchange(history_.feeds, {});
  for (const auto& [group, is_ordered] : listens_) note_feed(ListenAsked{group, is_ordered});
  for (const auto& [number, feed] : own_feeds_) note_feed(FeedAsked{feed.id, feed.group, feed.drops_oldest});
}

void SimClient::take_feed_events() {
  const auto end_own = [&](spindle::FeedId id) {
    std::erase_if(own_feeds_, [&](const auto& each) { return each.second.id == id; });
    note_feed(OwnFeedOver{id});
  };
  for (const protocol::ClientFeeds::Opened& opened : feeds_.take_opened()) {
    if (opened.error) end_own(opened.feed);
  }
  std::vector<spindle::Event> events;
  feeds_.take_events(events);
  for (const spindle::Event& event : events) {
    if (const auto* heard = event.get_if<spindle::FeedOpened>()) {
      const auto listens = listens_.find(heard->group);
      const bool is_ordered = listens != listens_.end() && listens->second;
      heard_.emplace(heard->feed, is_ordered);
      note_feed(FeedHeard{heard->feed, heard->group, heard->source, is_ordered, heard->repair_for != 0us});
    } else if (const auto* packet = event.get_if<spindle::FeedPacket>()) {
      Digest digest;
      digest.add(ByteView(packet->bytes));
      note_feed(FeedGot{packet->feed, packet->sequence, packet->packets, digest.value()});
    } else if (const auto* gap = event.get_if<spindle::FeedGap>()) {
      note_feed(FeedMissed{gap->feed, gap->first, gap->count, gap->cause});
    } else if (const auto* closed = event.get_if<spindle::FeedClosed>()) {
      if (heard_.erase(closed->feed) > 0) {
        note_feed(FeedOver{closed->feed, closed->why});
      } else {
        end_own(closed->feed);
      }
    }
  }
}

// Bulk channels.

void SimClient::ask_channel(protocol::BulkRequest request) {
  std::uint32_t number = 0;
  note(ChannelSaid{request});
  static_cast<void>(session_.engine().ask_channel(std::move(request), number));
}

void SimClient::offer(const std::string& group, std::uint64_t size, std::optional<Duration> seals_after,
                      std::uint32_t linger_s, std::uint8_t weight) {
  when_welcome([this, group, size, seals_after, linger_s, weight] {
    protocol::BulkOffer offer;
    offer.group = group;
    offer.terms.name = "content";
    offer.terms.layout = *protocol::ContentLayout::of(size);
    offer.terms.linger_s = linger_s;
    offer.terms.weight = weight;
    ask_channel(std::move(offer));
    seals_[session_.writer().last_request()] = seals_after;
  });
}

void SimClient::offer(const std::string& group, protocol::ContentTerms terms) {
  when_welcome([this, group, terms = std::move(terms)] {
    protocol::BulkOffer offer;
    offer.group = group;
    offer.terms = terms;
    ask_channel(std::move(offer));
  });
}

void SimClient::seal(const BulkChannelId& channel) {
  const ClientChannel* known = channels_.find(channel);
  const std::uint64_t size = known == nullptr ? 0 : known->offered.terms.layout.size;
  seal(channel, size, {});
}

void SimClient::seal(const BulkChannelId& channel, std::uint64_t size, const protocol::ContentRoot& root) {
  when_welcome([this, channel, size, root] { ask_channel(protocol::BulkSeal{0, channel, size, root}); });
}

void SimClient::say(const BulkChannelId& channel, BulkOutcome outcome) {
  const bool is_failed = outcome == BulkOutcome::failed;
  const auto code = static_cast<std::uint16_t>(is_failed ? static_cast<int>(Errc::limit_exceeded) : 0);
  when_welcome([this, channel, outcome, code] { ask_channel(protocol::BulkOutcomeSaid{0, channel, outcome, code}); });
}

void SimClient::cancel(const BulkChannelId& channel) {
  when_welcome([this, channel] { ask_channel(protocol::BulkCancel{0, channel}); });
}

void SimClient::cancel_all() {
  for (const BulkChannelId& id : channels_.ids()) {
    const ClientChannel& channel = *channels_.find(id);
    if (channel.offered.request != 0 && !channel.ended) cancel(id);
  }
}

void SimClient::set_rate(const BulkChannelId& channel, std::uint64_t bytes_per_second) {
  when_welcome([this, channel, bytes_per_second] { ask_channel(protocol::BulkSetRate{0, channel, bytes_per_second}); });
}

void SimClient::request_token() {
  when_welcome([this] { ask_channel(protocol::BulkTokenRequest{}); });
}

void SimClient::channel_answered(std::uint32_t, std::error_code error) {
  if (error) refused_channels_.push_back(static_cast<Errc>(error.value()));
}

void SimClient::take_channel_news(std::size_t before) {
  while (!channel_news_.empty() && channel_news_.front().first <= before) {
    const protocol::BulkNews news = std::move(channel_news_.front().second);
    channel_news_.pop_front();
    take(news);
  }
}

void SimClient::take(const protocol::BulkNews& news) {
  channels_.take(news);
  note(ChannelTold{news});
  const auto* offered = std::get_if<protocol::BulkOffered>(&news);
  if (offered == nullptr || !open_) return;
  const BulkChannelId id = offered->channel;
  if (offered->request != 0) {
    const auto seals = seals_.extract(offered->request);
    if (!seals.empty() && seals.mapped()) world_.events.after(*seals.mapped(), [this, id] { seal(id); });
  } else if (options_.channel_habit && options_.channel_habit->outcome != BulkOutcome::none) {
    const BulkOutcome outcome = options_.channel_habit->outcome;
    if (outcome != BulkOutcome::refused) say(id, BulkOutcome::accepted);
    if (outcome == BulkOutcome::accepted) return;
    world_.events.after(options_.channel_habit->after, [this, id, outcome] { say(id, outcome); });
  }
}

/// What was sent in the former session and may have entered is of that; what cannot have is sent in the new one.
void SimClient::begin_anew(const spindle::Reconnected& reconnected) {
  ClientHistory former = std::exchange(history_, ClientHistory());
  history_.feeds = std::exchange(former.feeds, std::exchange(former_feeds_, {}));
  history_.independent_flows = former.independent_flows;
  history_.wants_channels = former.wants_channels;
  history_.daemon = host_->name();
  history_.wish = name_;
  history_.identities = former.identities;
  history_.connected = history_.since = world_.events.now();
  history_.program = former.program;
  history_.session = former.session + 1;
  history_.policy = policy();
  history_.slow_since = former.slow_since;
  history_.follows = reconnected.fenced || reconnected.private_name == reconnected.former_name;
  history_.name = reconnected.private_name;
  recorder_ = Recorder();
  channels_ = ClientChannels();  // its daemon tells it of all anew
  for (const auto& [group, joined] : session_.writer().groups()) {
    note(JoinRequested{group, (joined.flags & spindle::protocol::kSynchronousBit) != 0});
  }
  const std::vector<std::uint64_t> unsent = session_.writer().untaken();
  const std::vector<std::uint64_t> tickets = std::exchange(tickets_, {});
  auto ticket = tickets.begin();
  std::erase_if(former.events, [&](Event& event) {
    auto* sent = std::get_if<Sent>(&event.what);
    if (sent == nullptr || !std::binary_search(unsent.begin(), unsent.end(), *ticket++)) return false;
    tickets_.push_back(*std::prev(ticket));
    sent->message.sender = history_.name;
    note(std::move(*sent));
    return true;
  });
  former.events.push_back({world_.events.now(), Closed{static_cast<std::uint16_t>(Errc::connection_lost), "moved"}});
  former_.push_back(std::move(former));
}

void SimClient::answer(const What& what) {
  if (!open_ || said_bye_) return;
  SendOptions message{.size = answers_.below(500)};
  std::string group;
  if (const auto* view = std::get_if<GroupView>(&what)) {
    message.service = static_cast<Service>(answers_.below(6));
    group = view->group;
  } else if (const auto* delivered = std::get_if<Delivered>(&what)) {
    if (delivered->message.sender == history_.name || answers_.chance(0.5)) return;
    constexpr Service kOrdered[] = {Service::causal, Service::agreed, Service::safe};
    message.service = kOrdered[answers_.below(std::size(kOrdered))];
    group = delivered->message.groups.front();
  } else {
    return;
  }
  --options_.answers;
  multicast({group}, message);
}

void SimClient::close(Errc code, std::string text) {
  note(Closed{static_cast<std::uint16_t>(code), std::move(text)});
  open_ = false;
  world_.network.close(end_);
}

void SimClient::note_end() {
  const bool has_ended = session_.reader().ended() || said_bye_ || !session_.is_connected();
  const bool is_daemon_there = host_->is_running() && !host_->is_stopping() && host_->life() == life_;
  if (!has_ended && is_daemon_there) history_.ends_untold.push_back(world_.events.now());
}

SlowPolicy SimClient::policy() const {
  return options_.policy != SlowPolicy{} ? options_.policy : host_->config().session.slow_policy;
}

ClientHistory SimClient::history_of_now() const {
  ClientHistory history = history_;
  history.messages_untaken = untaken_messages();
  history.bytes_unsent = may_send() ? unsent_bytes() : 0;
  return history;
}

Errc SimClient::close_code() const {
  return is_closed() ? static_cast<Errc>(std::get<Closed>(history_.events.back().what).code) : Errc{};
}

const GroupView* SimClient::view(const std::string& group) const { return open_ ? recorder_.view(group) : nullptr; }

void SimClient::note(What what) {
  Digest digest;
  digest.add(std::uint64_t{what.index()});
  if (const auto* delivered = std::get_if<Delivered>(&what)) digest.add(delivered->message.digest);
  if (const auto* view = std::get_if<GroupView>(&what)) {
    digest.add(view->id.view_number);
    digest.add(view->id.incarnation);
    digest.add(view->id.position);
    for (const std::string& member : view->members) digest.add(member);
  }
  if (const auto* told = std::get_if<ChannelTold>(&what)) {
    std::vector<std::uint8_t> frames;
    protocol::write_bulk_news(frames, told->news);
    digest.add(ByteView(frames));
  }
  if (const auto* closed = std::get_if<Closed>(&what)) digest.add(std::uint64_t{closed->code});
  world_.trace.record(world_.events.now(), kClientTraceBit + number_, TraceEvent::delivery, digest.value());
  history_.events.push_back({world_.events.now(), std::move(what)});
}

}  // namespace spindled::sim
