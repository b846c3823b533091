// A client of a simulated host, speaking the client protocol, that writes down all it asks and is told.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "libclient/protocol/client_feeds.h"
#include "libclient/protocol/client_session.h"
#include "tests/checkers/feed_frames_check.h"
#include "tests/checkers/recorder.h"
#include "tests/sim/client_channels.h"
#include "tests/sim/sim_host.h"

namespace spindled::sim {

using namespace checkers;  // what clients ask and are told is written down as the checkers read it

struct SendOptions {
  Service service = Service::agreed;
  std::size_t size = 100;
  bool self_discard = false;
};

struct ClientOptions {
  bool independent_flows = false;
  SlowPolicy policy{};      // what it asks for; 0: nothing
  bool tell_taken = false;  // has the daemon tell which of its messages have entered
  /// How often it answers what it is told, until none is left: every view, and half of others' messages, each with a
  /// message to that group. A view gets any service, for it is the first thing to be said in a view; a message an
  /// ordered one, which then depends on it.
  std::uint32_t answers = 0;
  std::vector<std::string> identities = {};  // as the daemon knows it (Peer)
  /// How long after a request to flush it answers; nothing: never, or when it is told to.
  std::optional<Duration> flushes_after = Duration{};
  /// Whether it comes back where its connection is lost: to its daemon, or to one of these as well.
  bool returns = false;
  std::vector<SimHost*> others = {};
  std::chrono::milliseconds keepalive{10'000};
  /// Of its first message; further ones count on. Where others of its name have sent before, it tells theirs from its.
  std::uint16_t first_type = 0;
  /// Whether every fourth message has a header, which sets it apart from those that it would be bundled with.
  bool has_headers = false;
  /// Whether it hears of bulk channels, and what it does about those that others offer; none: what it is told to.
  bool wants_channels = false;
  std::optional<ChannelHabit> channel_habit = {};
};

/// Connects in the constructor. Requests made before the daemon's welcome wait for it. Payloads are drawn from the
/// client's number and a count, so that no two messages are equal, down to those of zero bytes, which differ by type.
class SimClient final : private StreamOwner, private spindle::protocol::RequestObserver {
 public:
  /// `number` is unique among clients. An empty name lets the daemon choose one.
  SimClient(World world, SimHost& host, std::string name, std::uint32_t number, ClientOptions options = {});
  SimClient(const SimClient&) = delete;
  SimClient& operator=(const SimClient&) = delete;

  /// What it sends to a synchronous group from then on is fifo at least.
  void join(const std::string& group, bool synchronous = false);
  /// Where a request to flush the group is open.
  /// Answers a request to flush, where it is neither answered nor over.
  void flush_ok(const FlushRequested& request);
  void leave(const std::string& group);
  void request_view(const std::string& group);
  /// With independent flows a message for which its flow has no room is not sent, nor is one to a synchronous group
  /// that it has flushed and has no new view of.
  void multicast(const std::vector<std::string>& groups, const SendOptions& options = {});
  /// From now on never has less than `ahead` bytes of requests that the daemon has not taken yet, all of them messages
  /// of this form.
  void keep_sending(std::vector<std::string> groups, const SendOptions& options, std::size_t ahead);
  /// Tells `receiver` of each message that comes; messages are written down no more, neither these nor those sent.
  using Receiver = std::function<void(const spindle::Message&)>;
  void hand_messages_to(Receiver receiver) { receiver_ = std::move(receiver); }
  /// False, and nothing sent, where the flow to these groups is full. For a welcome client with independent flows.
  [[nodiscard]] bool try_multicast(const std::vector<std::string>& groups, const SendOptions& options = {});
  void request_flow(const std::vector<std::string>& groups);
  /// A request to all other members of the group, of which the client is one. Requests are answered by whoever gets
  /// them, and neither they nor their answers are written down.
  void ask_all(const std::string& group);
  std::size_t asked() const { return asked_; }
  /// What came of them.
  const std::vector<spindle::Answers>& outcomes() const { return outcomes_; }
  // Bulk channels, without their content. What comes of requests is in `refused_channels`.

  /// Offers a content of so many bytes; `seals_after`: when it seals that, once it is offered; nothing: when told to.
  void offer(const std::string& group, std::uint64_t size, std::optional<Duration> seals_after = Duration{},
             std::uint32_t linger_s = protocol::kLingerSecondsDefault,
             std::uint8_t weight = protocol::kChannelWeightDefault);
  /// Offers what the terms say; it is sealed when told to.
  void offer(const std::string& group, protocol::ContentTerms terms);
  void seal(const BulkChannelId& channel);
  void seal(const BulkChannelId& channel, std::uint64_t size, const protocol::ContentRoot& root);
  void say(const BulkChannelId& channel, BulkOutcome outcome);
  void cancel(const BulkChannelId& channel);
  /// Of all channels of its that it knows of and that have not ended.
  void cancel_all();
  void set_rate(const BulkChannelId& channel, std::uint64_t bytes_per_second);
  void request_token();
  const ClientChannels& channels() const { return channels_; }
  /// Why requests were refused, in the order in which it was told.
  const std::vector<Errc>& refused_channels() const { return refused_channels_; }

  // Feeds. What it asks for and is told is in its history; it names its own by numbers that it chooses.

  struct FeedSettings {
    Duration repair_for{};
    std::uint64_t bytes_per_second_max = 0;
    bool drops_oldest = false;
  };
  void open_feed(std::uint32_t number, const std::string& group, const FeedSettings& settings);
  /// So many messages of so many bytes, kFeedBytesMin at least, one each `interval`, as long as it has the feed; those
  /// for which there is no room are left out.
  void feed(std::uint32_t number, std::size_t count, std::size_t size, Duration interval);
  static constexpr std::size_t kFeedBytesMin = 8;
  void close_feed(std::uint32_t number);
  void listen(const std::string& group, bool is_ordered, Duration deadline);
  void stop_listening(const std::string& group);

  /// Asks for an orderly end; what is asked for later is not sent.
  void bye();
  /// Ends without a word, as a killed program does.
  void kill();
  /// Its connection breaks: what is on its way is lost. With `silently` its daemon is not told. It does not reach that
  /// daemon again for so long.
  void cut(bool silently = false, Duration out_of_reach = {});
  /// Bytes that are no request, at this point of the connection.
  void send_raw(ByteView bytes);

  /// Bytes per second that the client reads from now on; nothing: as they come; 0: none at all.
  void set_read_rate(std::optional<std::uint64_t> bytes_per_second);

  bool is_welcome() const { return !history_.name.empty(); }  // stays true when it closes
  bool is_connected() const { return session_.is_connected(); }
  /// Whether nothing is held back behind a former session of its.
  bool may_send() const { return session_.is_connected() && !session_.is_fenced(); }
  bool is_closed() const { return history_.is_closed(); }
  /// Why it closed; Errc{} while open.
  Errc close_code() const;
  /// "#name#daemon"; empty before the welcome.
  const std::string& private_name() const { return history_.name; }
  const SimHost& host() const { return *host_; }
  SimHost& host() { return *host_; }
  /// With what it would take up its session now.
  std::optional<spindle::protocol::Resume> resume() const { return session_.resume(); }
  /// Of the messages that it sent, as far as it was told.
  spindle::NotTaken not_taken() const { return session_.not_taken(); }
  /// Each time that it came back.
  const std::vector<spindle::Reconnected>& reconnections() const { return reconnections_; }
  /// Of the sessions that were not resumed.
  const std::vector<ClientHistory>& former_histories() const { return former_; }

  /// What it was told that it lost, and the warnings before that.
  const std::vector<spindle::Gap>& gaps() const { return gaps_; }
  const std::vector<spindle::QueueWarning>& warnings() const { return warnings_; }

  const ClientHistory& history() const { return history_; }
  /// The same, with what its daemon has yet to take.
  ClientHistory history_of_now() const;
  std::size_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }
  /// How many views of this form came.
  std::size_t views_of(spindle::ViewForm form) const { return views_of_.at(static_cast<std::size_t>(form)); }
  /// Requests for views that were refused.
  std::size_t refused_requests() const { return refused_requests_; }
  /// Those that came, in order.
  const std::vector<spindle::FlowReady>& flows_ready() const { return flows_ready_; }
  const std::vector<spindle::FlowState>& flow_states() const { return flow_states_; }
  /// The latest view of `group` that came, with the client in it; otherwise nothing.
  const GroupView* view(const std::string& group) const;
  /// Messages that its daemon is not known to have taken: of one that is connected, and is told.
  std::uint64_t untaken_messages() const {
    return may_send() && options_.tell_taken ? session_.not_taken().messages : 0;
  }
  /// Bytes of requests that the daemon has not taken yet.
  std::size_t unsent_bytes() const { return session_.engine().writer().output_size() + raw_.size(); }

 private:
  static constexpr Duration kReadTick = 10ms;

  void stream_connected(StreamRef end) override;
  void stream_readable(StreamRef end) override;
  void stream_writable(StreamRef end) override;
  void stream_closed(StreamRef end, std::string_view why) override;

  bool refused(std::uint32_t, const spindle::RequestFailed&) override { return false; }
  void confirmed(std::uint32_t) override {}
  void answered(spindle::protocol::Requests::Number, spindle::Answers answers) override {
    outcomes_.push_back(std::move(answers));
  }

  void channel_answered(std::uint32_t request, std::error_code error) override;
  std::optional<spindle::Event> channel_news(protocol::BulkNews news, std::size_t before) override {
    channel_news_.emplace_back(before, std::move(news));
    return std::nullopt;
  }
  void ask_channel(protocol::BulkRequest request);
  /// What came before that event.
  void take_channel_news(std::size_t before);
  void take(const protocol::BulkNews& news);

  void feed_refused(std::uint32_t request, std::error_code error) override { feeds_.refused(request, error); }
  void feed_news(const protocol::FeedNews& news) override;
  void group_left(std::string_view group) override { feeds_.note_left(group); }
  void session_began_anew() override;
  void send_feed(std::uint32_t number, std::size_t size);
  void take_feed_events();
  template <typename Happened>
  void note_feed(Happened what);

  void note(What what);
  std::error_code send(const std::vector<std::string>& groups, const SendOptions& options);
  void when_welcome(std::function<void()> request);
  void flush();
  void send_ahead();
  void read(std::size_t limit);
  void take_bytes(ByteView bytes);
  void schedule_read();
  void take_events();
  void answer(const What& what);
  void take_flush_request(const FlushRequested& request);
  void close(Errc code, std::string text);
  /// The other end of the connection is gone: writes it down where the daemon has done that and said nothing.
  void note_end();
  /// By which its daemon deals with it where it does not keep up.
  SlowPolicy policy() const;
  void dial();
  /// Does what the session wants, after each thing that happens.
  void drive();
  void wake(Time at);
  void begin_anew(const spindle::Reconnected& reconnected);
  spindle::protocol::Instant now() const { return world_.events.now().time_since_epoch(); }

  World world_;
  SimHost* host_;
  std::vector<SimHost*> servers_;
  const SimHost* out_of_reach_ = nullptr;  // until then:
  Time reached_at_{};
  std::string name_;
  std::uint32_t number_;
  ClientOptions options_;
  StreamRef end_;
  std::uint64_t life_ = 0;  // of its daemon, as it dialled
  bool connected_ = false;
  bool open_ = true;
  bool said_bye_ = false;
  std::optional<std::uint64_t> read_rate_;
  bool read_scheduled_ = false;

  spindle::protocol::ClientSession session_;
  Time wakes_at_ = kNever;
  ByteFifo raw_;                                // goes out behind the engine's output
  std::vector<std::function<void()>> waiting_;  // requests made before the welcome
  std::uint64_t sent_ = 0;
  std::vector<std::uint64_t> tickets_;  // of what is sent, in `history_`
  Random answers_;                      // what it draws to answer
  struct Load {
    std::vector<std::string> groups;
    SendOptions options;
    std::size_t ahead = 0;
  };
  std::optional<Load> load_;  // kept up for ever
  Receiver receiver_;
  std::set<std::string> synchronous_;  // groups that it has joined as such

  ClientHistory history_;
  std::vector<ClientHistory> former_;
  std::vector<spindle::Reconnected> reconnections_;
  std::size_t asked_ = 0;
  std::vector<spindle::Answers> outcomes_;
  std::size_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::array<std::size_t, 4> views_of_{};
  std::size_t refused_requests_ = 0;
  std::vector<spindle::FlowReady> flows_ready_;
  std::vector<spindle::FlowState> flow_states_;
  std::vector<spindle::Gap> gaps_;
  std::vector<spindle::QueueWarning> warnings_;
  Recorder recorder_;
  std::deque<std::pair<std::size_t, protocol::BulkNews>> channel_news_;  // and the event that it came before
  ClientChannels channels_;
  std::map<std::uint32_t, std::optional<Duration>> seals_;  // by the number of the offer
  std::vector<Errc> refused_channels_;

  struct OwnFeed {
    spindle::FeedId id = 0;
    std::string group;
    bool drops_oldest = false;
  };
  protocol::ClientFeeds feeds_{session_.writer()};
  std::map<std::uint32_t, OwnFeed> own_feeds_;  // by its numbers
  std::map<std::string, bool> listens_;         // and whether in order
  std::map<spindle::FeedId, bool> heard_;       // by it, of those that are not over: whether in order
  std::uint32_t fed_ = 0;                       // messages
  std::vector<FeedEvent> former_feeds_;         // of the session that has just ended
  FeedFramesCheck feed_frames_;
};

}  // namespace spindled::sim
