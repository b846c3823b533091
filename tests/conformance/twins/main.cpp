// Plays random sequences to a ClientSession and writes down what it was given and what came of it, for clients that
// have a session of their own to do the same: bindings/java/src/test/java/io/spindle/protocol/TwinTest.java.
//
//   session_record SEED COUNT
//
// A line "do ..." is what the session is given, the lines "= ..." behind it are what comes of that.
#include <cstdlib>
#include <iostream>

#include "libclient/protocol/client_feeds.h"
#include "libclient/protocol/client_session.h"
#include "tests/conformance/twins/daemon.h"
#include "tests/conformance/twins/describe.h"

namespace spindle::conformance {
namespace {

using protocol::ClientFeeds;
using protocol::ClientSession;
using protocol::Instant;

constexpr std::int64_t kMillisecond = 1'000'000;

class Recorder : private protocol::RequestObserver {
 public:
  Recorder(std::uint64_t seed, const protocol::SessionOptions& options)
      : draw_(seed), daemon_(draw_), options_(options), session_(options), feeds_(session_.writer()) {
    session_.engine().observe(this);
  }

  void play(std::size_t steps) {
    tell("do session", options_.flags & 1, options_.servers, options_.connect_timeout.count(),
         options_.reconnect_timeout.count(), options_.may_resume ? 1 : 0, options_.keepalive.count(), options_.seed);
    tell("do start", now_.count());
    session_.start(now_);
    note();
    for (std::size_t i = 0; i < steps && !session_.is_over(); ++i) step();
  }

 private:
  template <typename... Parts>
  void tell(std::string_view first, const Parts&... parts) {
    std::cout << words(first, parts...) << '\n';
  }

  // What comes of a step.
  void note() {
    if (session_.take_hang_up()) {
      tell("= hang_up");
      is_dialling_ = false;
      is_linked_ = false;
      daemon_.begin();
    }
    if (const auto server = session_.take_dial()) {
      tell("= dial", *server);
      is_dialling_ = true;
    }
    std::vector<Event> events;
    session_.reader().take_events(events);
    for (const Event& event : events) std::cout << "= " << describe(event) << '\n';
    for (const Event& event : events) {
      if (const auto* request = event.get_if<FlushRequest>()) flush_ = *request;
      // Of half of what is unknown the program is told at once, and of the rest never.
      const auto* again = event.get_if<Reconnected>();
      if (again != nullptr && again->unknown.size() % 2 == 1) session_.note_told(*again);
      if (const auto* end = event.get_if<Disconnected>()) feeds_.end(end->error);
      if (const auto* message = event.get_if<Message>(); message != nullptr && message->is_request())
        request_ = *message;
    }
    for (const ClientFeeds::Opened& opened : feeds_.take_opened())
      tell("= opened", opened.feed, number_of(opened.error));
    feeds_.take_events(events_of_feeds_);
    for (const Event& event : events_of_feeds_) std::cout << "= " << describe(event) << '\n';
    events_of_feeds_.clear();
    const NotTaken lost = session_.not_taken();
    tell("= state", session_.is_connected() ? 1 : 0, session_.is_over() ? 1 : 0, session_.writer().output_size(),
         session_.writer().writable_size(), lost.messages, lost.exact ? 1 : 0, session_.next_deadline().count(),
         feeds_.next_deadline().count());
  }

  void result(const std::error_code& error) {
    tell("= code", number_of(error));
    note();
  }

  std::string group() { return "g" + std::to_string(draw_.below(3)); }

  void step() {
    if (is_dialling_ && draw_.chance(60)) return dial();
    if (draw_.chance(30)) daemon_.speak();
    switch (draw_.below(14)) {
      case 0:
      case 1:
      case 2:
        return write();
      case 3:
      case 4:
      case 5:
      case 6:
        return read();
      case 7:
        return pass_time();
      case 8:
        return draw_.chance(15) ? cut() : read();
      default:
        return request();
    }
  }

  void dial() {
    is_dialling_ = false;
    if (draw_.chance(15)) {
      const auto code = draw_.chance(50) ? Errc::connect_failed : Errc::tls_failed;
      tell("do failed", now_.count(), static_cast<int>(code));
      session_.failed(now_, code, "no way");
    } else {
      tell("do connected");
      daemon_.begin();
      is_linked_ = true;
      session_.connected(now_);
    }
    note();
  }

  void write() {
    if (!is_linked_) return;
    const ByteView piece = session_.output();
    if (piece.empty()) return;
    const std::size_t size = draw_.chance(60) ? piece.size() : 1 + draw_.below(piece.size());
    const Bytes bytes(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(size));
    tell("do write", size);
    session_.consume(size);
    tell("= bytes", to_hex(bytes));
    note();
    daemon_.take(bytes);
  }

  void read() {
    Bytes& out = daemon_.out();
    if (!is_linked_ || out.empty()) return;
    std::size_t size = std::min<std::size_t>(out.size(), draw_.chance(60) ? 40000 : 1 + draw_.below(200));
    Bytes bytes(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
    if (draw_.chance(1)) bytes[draw_.below(bytes.size())] ^= static_cast<std::uint8_t>(1u << draw_.below(8));
    tell("do read", now_.count(), to_hex(bytes));
    ByteView rest(bytes);
    while (!rest.empty() && !session_.reader().ended()) {
      const std::span<std::uint8_t> room = session_.reader().prepare();
      size = std::min(room.size(), rest.size());
      std::copy_n(rest.begin(), size, room.begin());
      session_.reader().commit(size);
      rest = rest.subspan(size);
    }
    settle();
  }

  void settle() {
    if (session_.is_settling_due()) session_.settle(now_);
    note();
  }

  void cut() {
    if (!is_linked_) return;
    tell("do cut", now_.count());
    session_.reader().end(session_.engine().end_reason());
    settle();
  }

  void pass_time() {
    const Instant next = std::min(session_.next_deadline(), feeds_.next_deadline());
    now_ += Instant(static_cast<std::int64_t>(draw_.below(50)) * kMillisecond);
    if (draw_.chance(50) && next != protocol::kNeverAgain) now_ = std::max(now_, next);
    tell("do time", now_.count());
    if (session_.next_deadline() <= now_) session_.handle_time(now_);
    if (feeds_.next_deadline() <= now_) feeds_.handle_time(now_);
    settle();
  }

  void request() {
    const std::string name = group();
    switch (draw_.below(12)) {
      case 0: {
        const bool synchronous = draw_.chance(20);
        tell("do join", name, synchronous ? 1 : 0);
        return result(session_.join(name, synchronous));
      }
      case 1:
        tell("do leave", name);
        return result(session_.leave(name));
      case 2:
        tell("do view", name);
        return result(session_.request_view(name));
      case 3:
        tell("do flow", name);
        return result(session_.request_flow(Groups(name)));
      case 4:
        return confirm();
      case 5:
        if (draw_.chance(85)) return;
        tell("do bye");
        session_.bye();
        return note();
      case 6: {
        const FlushRequest answered = flush_;
        tell("do flush_ok", hex(answered.group), answered.number);
        return result(session_.flush_ok(answered));
      }
      case 7:
        return draw_.chance(30) ? channel(name) : draw_.chance(50) ? ask(name) : feed(name);
      default:
        return send(name);
    }
  }

  void confirm() {
    tell("do confirm");
    const std::error_code error = session_.engine().confirm();
    if (!error) confirms_.push_back(session_.writer().last_request());
    result(error);
  }

  void send(const std::string& name) {
    const std::string other = draw_.chance(20) ? "#c1#a" : name;
    const auto service = static_cast<Service>(draw_.below(6));
    const std::size_t size = draw_.chance(90) ? draw_.below(100) : draw_.below(80000);
    const std::string payload(size, static_cast<char>('a' + draw_.below(26)));
    SendOptions options;
    options.type = static_cast<std::uint16_t>(draw_.below(100));
    options.self_discard = draw_.chance(10);
    options.ticket = ++ticket_;
    const std::vector<Header> headers{{"key", "value"}};
    if (draw_.chance(20)) options.headers = headers;
    tell("do send", static_cast<int>(service), name, other, size, size == 0 ? 0 : static_cast<int>(payload[0]),
         options.type, options.self_discard ? 1 : 0, options.ticket, options.headers.size());
    const std::vector<std::string_view> groups{name, other};
    result(session_.multicast(service, Groups(groups), payload, options));
  }

  void ask(const std::string& name) {
    if (request_ && draw_.chance(50)) {
      tell("do answer");
      return result(session_.engine().answer(*request_, std::string_view("answer"), {}));
    }
    RequestOptions options;
    options.answers = draw_.below(3);
    options.self_discard = draw_.chance(30);
    tell("do ask", name, options.answers, options.self_discard ? 1 : 0);
    protocol::Requests::Number number = 0;
    const std::error_code error = session_.engine().ask(Groups(name), std::string_view("q"), options, number);
    result(error);
  }

  /// What a client asks of bulk channels: always the same of each kind.
  void channel(const std::string& name) {
    const protocol::BulkChannelId id{"a", 1, 2};
    protocol::BulkRequest request;
    const std::uint64_t kind = draw_.below(6);
    switch (kind) {
      case 0:
        request = protocol::BulkOffer{0, name, {"disk.img", bulk::ContentLayout::of(100'000).value()}};
        break;
      case 1:
        request = protocol::BulkSeal{0, id, 100'000, {5, 6}};
        break;
      case 2:
        request = protocol::BulkOutcomeSaid{0, id, protocol::BulkOutcome::failed, 60};
        break;
      case 3:
        request = protocol::BulkCancel{0, id};
        break;
      case 4:
        request = protocol::BulkSetRate{0, id, 1'000'000};
        break;
      default:
        request = protocol::BulkTokenRequest{};
    }
    tell("do channel", kind, name);
    std::uint32_t number = 0;
    result(session_.engine().ask_channel(std::move(request), number));
  }

  void feed(const std::string& name) {
    switch (draw_.below(5)) {
      case 0: {
        FeedId id = 0;
        const bool drops = draw_.chance(50);
        tell("do open", name, drops ? 1 : 0);
        const std::error_code error = feeds_.open(name, {200'000, 0, drops}, id);
        if (!error) own_feeds_.push_back(id);
        return result(error);
      }
      case 1: {
        if (own_feeds_.empty()) return;
        const FeedId id = draw_.of(own_feeds_);
        const std::string payload(1 + draw_.below(500), 'f');
        tell("do emit", id, payload.size());
        return result(feeds_.send(id, payload));
      }
      case 2: {
        if (own_feeds_.empty() || draw_.chance(60)) return;
        const FeedId id = draw_.of(own_feeds_);
        tell("do shut", id);
        feeds_.close(id);
        return note();
      }
      case 3:
        if (draw_.chance(50)) return;
        tell("do unlisten", name);
        return result(feeds_.stop_listening(name));
      default: {
        const bool is_ordered = draw_.chance(60);
        tell("do listen", name, is_ordered ? 1 : 0);
        return result(feeds_.listen(name, {is_ordered, Instant(30 * kMillisecond)}));
      }
    }
  }

  // RequestObserver.
  bool refused(std::uint32_t, const RequestFailed& failed) override {
    if (failed.request == RequestFailed::Request::listen) feeds_.forget_group(failed.group);
    return false;
  }
  void confirmed(std::uint32_t request) override { tell("= confirmed", request); }
  void answered(protocol::Requests::Number number, Answers answers) override {
    tell("= answered", number, number_of(answers.error), answers.messages.size(), hex_list(answers.missing));
  }
  void feed_refused(std::uint32_t request, std::error_code error) override { feeds_.refused(request, error); }
  void feed_news(const protocol::FeedNews& news) override { feeds_.take(now_, news); }
  void group_left(std::string_view group) override { feeds_.note_left(group); }
  void session_began_anew() override {
    for (const std::uint32_t number : confirms_) {
      if (const auto messages = session_.writer().ended_confirm(number)) tell("= unconfirmed", number, *messages);
    }
    feeds_.begin_anew();
  }
  void channel_answered(std::uint32_t request, std::error_code error) override {
    tell("= channel", request, number_of(error));
  }
  std::optional<Event> channel_news(protocol::BulkNews news, std::size_t before) override {
    tell("= news", before, std::visit(DescribeNews{}, news));
    return std::nullopt;
  }

  Draw draw_;
  PlayedDaemon daemon_;
  const protocol::SessionOptions options_;
  ClientSession session_;
  ClientFeeds feeds_;
  Instant now_{kMillisecond};
  bool is_dialling_ = false;
  bool is_linked_ = false;
  std::uint64_t ticket_ = 0;
  std::vector<std::uint32_t> confirms_;  // numbers
  FlushRequest flush_;
  std::optional<Message> request_;
  std::vector<FeedId> own_feeds_;
  std::vector<Event> events_of_feeds_;
};

protocol::SessionOptions options_of(Draw& draw) {
  protocol::SessionOptions options;
  options.name = "me";
  options.flags =
      static_cast<std::uint8_t>(protocol::kTellTakenBit | (draw.chance(30) ? protocol::kIndependentFlowsBit : 0));
  options.servers = 1 + draw.below(3);
  options.reconnect_timeout = std::chrono::milliseconds(draw.chance(80) ? 60'000 : 0);
  if (draw.chance(20)) options.connect_timeout = std::chrono::milliseconds(50'000);
  options.may_resume = draw.chance(80);
  options.keepalive = std::chrono::milliseconds(draw.chance(50) ? 1'000 : 0);
  options.seed = draw.below(1'000'000);
  return options;
}

}  // namespace
}  // namespace spindle::conformance

int main(int count, char** arguments) {
  using namespace spindle::conformance;
  if (count != 3) return 2;
  const std::uint64_t first = std::strtoull(arguments[1], nullptr, 10), all = std::strtoull(arguments[2], nullptr, 10);
  std::ios::sync_with_stdio(false);
  for (std::uint64_t seed = first; seed < first + all; ++seed) {
    std::cout << "sequence " << seed << '\n';
    Draw draw(seed * 2 + 1);
    Recorder(seed, options_of(draw)).play(50 + draw.below(250));
  }
}
