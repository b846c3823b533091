// A client on one connection, without sockets and threads: bytes in, events out; requests in, bytes out.
#pragma once

#include "libclient/protocol/event_reader.h"
#include "libclient/protocol/request_writer.h"
#include "libclient/protocol/requests.h"

namespace spindle::protocol {

/// Told of what becomes of requests, for callers that wait for one of them. It is called within `settle`.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  /// The daemon has refused the request of that number. Whether the caller takes that: it is no event then.
  virtual bool refused(std::uint32_t request, const RequestFailed& failed) = 0;
  /// A join is refused for which there was a good reply before. Whether the caller takes that, likewise.
  virtual bool join_refused(const RequestFailed& /*failed*/) { return false; }
  virtual void confirmed(std::uint32_t request) = 0;
  /// `ask` of that number has ended.
  virtual void answered(Requests::Number number, Answers answers) = 0;
  /// What was asked of bulk channels under that number is on its way, or refused: `error`. Who begins a new session
  /// (Reconnected) is told nothing of what was asked in the former one.
  virtual void channel_answered(std::uint32_t /*request*/, std::error_code /*error*/) {}
  /// It came before the event of that index, of those that take_events() gives next, not counting answers to `ask`.
  /// What is returned stands there as an event.
  virtual std::optional<Event> channel_news(BulkNews /*news*/, std::size_t /*before*/) { return std::nullopt; }
  /// The client is no member of the group any more, and has been told so. What is returned stands behind that.
  virtual std::vector<Event> channels_left(std::string_view /*group*/) { return {}; }
  /// The daemon has refused to open the feed that was asked for under that number.
  virtual void feed_refused(std::uint32_t /*request*/, std::error_code /*error*/) {}
  /// It refers to bytes that stay during the call.
  virtual void feed_news(const FeedNews& /*news*/) {}
  /// The client is no member of the group any more, and has been told so: between what it is told of feeds.
  virtual void group_left(std::string_view /*group*/) {}
  /// A new session begins: of the channels and feeds of the former one nothing more is told.
  virtual void session_began_anew() {}
};

/// Both halves of a client and what passes between them. A test uses the engine as it is:
///
///   engine.start(hello);                  then again and again:
///   send engine.output(); engine.consume(n);
///   engine.handle_bytes(received);        engine.handle_end() when the stream of bytes ends
///   for (Event& event : engine.take_events()) ...
///
/// The welcome shows as `is_open()` and `private_name()`, the refusal of a request as RequestFailed, a pong as
/// `last_pong()`, the end for whatever reason as Disconnected, the last event. With independent flows, `multicast` that
/// says would_block is followed by FlowReady. ClientSession drives it where a client may come back.
///
/// Threads: the two halves share nothing. One thread may be inside `reader()` while another is inside any function of
/// `writer()`; `settle` needs both halves at rest, and is due whenever `reader().has_news()` after `commit` or `end`.
/// The other functions are for one thread.
class ClientEngine {
 public:
  void start(const Hello& hello) { writer_.start(hello); }
  std::error_code multicast(Service service, const Groups& groups, const Payload& payload,
                            const SendOptions& options = {}) {
    const std::error_code error = writer_.multicast(service, groups, payload, options);
    if (error == Errc::would_block) writer_.want_ready(groups);
    return error;
  }
  /// Sends a request, whose answers RequestObserver::answered() is given. `number` is set to its number.
  std::error_code ask(const Groups& groups, const Payload& payload, const RequestOptions& options,
                      Requests::Number& number);
  /// Answers a message that is a request. bad_argument where it is none.
  std::error_code answer(const Message& request, const Payload& payload, const SendOptions& options);
  std::error_code join(std::string_view group, bool synchronous = false) { return writer_.join(group, synchronous); }
  std::error_code flush_ok(const FlushRequest& request) { return writer_.flush_ok(request); }
  std::error_code leave(std::string_view group) { return writer_.leave(group); }
  std::error_code request_view(std::string_view group) { return writer_.request_view(group); }
  std::error_code request_flow(const Groups& groups) { return writer_.request_flow(groups); }
  std::error_code confirm() { return writer_.confirm(); }
  /// Of bulk channels; `number` is set to that of the request.
  std::error_code ask_channel(BulkRequest request, std::uint32_t& number) {
    return writer_.ask_channel(std::move(request), number);
  }
  std::error_code ping(std::uint64_t token) { return writer_.ping(token); }
  void bye() { writer_.bye(); }

  ByteView output() { return writer_.output(); }
  void consume(std::size_t bytes) { writer_.consume(bytes); }

  void handle_bytes(ByteView bytes);
  void handle_end();
  std::vector<Event> take_events();

  bool is_open() const { return reader_.welcomed() && !reader_.ended(); }
  bool ended() const { return reader_.ended(); }
  const std::string& private_name() const { return reader_.private_name(); }
  std::optional<std::uint64_t> last_pong() const { return last_pong_; }

  RequestWriter& writer() { return writer_; }
  const RequestWriter& writer() const { return writer_; }
  Requests& requests() { return requests_; }
  EventReader& reader() { return reader_; }
  const EventReader& reader() const { return reader_; }
  /// Why the stream of bytes ends, as far as this side knows.
  Errc end_reason() const { return writer_.said_bye() ? Errc::closed_by_client : Errc::connection_lost; }
  /// Of the messages that `multicast` has accepted.
  NotTaken not_taken() const { return writer_.not_taken(); }
  /// Brings to each half what the other learned. `handle_welcome(welcome)` is called for a welcome, before what came
  /// behind it is settled, and gives how many events it has put in that place.
  template <typename HandleWelcome>
  void settle(HandleWelcome&& handle_welcome) {
    EventReader::News news = reader_.take_news();
    if (news.welcome) {
      const std::size_t added = handle_welcome(*news.welcome);
      for (auto& reply : news.replies) reply.before += added;
      for (auto& channel : news.channels) channel.before += added;
    }
    settle(news);
  }
  /// Of a client that does not come back: the same, and Disconnected behind the last event at the end.
  void settle();
  /// Nothing comes any more: Disconnected is the last event.
  void disconnect();
  /// What was asked in the former session is not answered.
  void begin_anew() {
    requests_.start_anew(writer_.former());
    if (observer_ != nullptr) observer_->session_began_anew();
  }
  /// `observer` outlives the engine, or is null.
  void observe(RequestObserver* observer) { observer_ = observer; }

 private:
  void settle(EventReader::News& news);
  void settle_replies(EventReader::News& news);
  void settle_feeds(const EventReader::News& news);
  /// Give how many events stand at that place now.
  std::size_t tell_channel_news(BulkNews&& news, std::size_t before);
  std::size_t tell_channels_left(std::string_view group, std::size_t before);
  void settle_admitted(const EventReader::News& news);
  void settle_taken(const EventReader::News& news);
  void settle_confirmed(const EventReader::News& news);
  void settle_requests(const EventReader::News& news);
  void tell_answers();

  RequestWriter writer_;
  EventReader reader_;
  Requests requests_;
  RequestObserver* observer_ = nullptr;
  std::optional<std::uint64_t> last_pong_;
};

}  // namespace spindle::protocol
