// The half of a client that turns requests into frames.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "libclient/include/spindle/event.h"
#include "libclient/include/spindle/send.h"
#include "libclient/protocol/bulk_requests.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/protocol/feed_frames.h"
#include "libclient/protocol/flow_windows.h"
#include "libclient/protocol/outgoing_frames.h"
#include "libclient/protocol/untaken_messages.h"

namespace spindle::protocol {

/// Appends the frames of requests to a queue of bytes that the owner drains, and remembers which number stands for
/// which set of groups. A request that is refused leaves the queue as it was, but that the groups may have got a
/// number.
///
/// With independent flows it also keeps the windows of the flows: `multicast` says would_block for a flow without room.
/// Who wants to be told when there is room again says so with `want_ready`.
///
/// Order of calls: `start`, `open` when the daemon has welcomed the client, requests, and `close` at the end.
/// Requests are refused with not_connected before `open`, after `bye` and after `close`.
///
/// Of a client that may come back (`expect_return`, before `start`): `cut` when the connection is gone, `start` when
/// there is another one, and then `resume` or `start_anew`. Requests are taken all the while.
class RequestWriter {
 public:
  void start(const Hello& hello);
  void open();
  void close();

  std::error_code multicast(Service service, const Groups& groups, const Payload& payload, const SendOptions& options);
  /// With a header of the library's, where it has a key.
  std::error_code multicast_with(const Header& own, Service service, const Groups& groups, const Payload& payload,
                                 const SendOptions& options);
  std::error_code join(std::string_view group, bool synchronous = false) {
    return request(ClientFrame::join, group, synchronous ? kSynchronousBit : std::uint8_t{0});
  }
  std::error_code leave(std::string_view group) { return request(ClientFrame::leave, group); }
  std::error_code request_view(std::string_view group) { return request(ClientFrame::view_request, group); }
  /// `type` is one of these three.
  std::error_code request(ClientFrame type, std::string_view group, std::uint8_t flags = 0);
  /// Nothing is sent to the group from here to its next view: `multicast` says flushing. An answer to a request that is
  /// over is none. bad_argument for what is no request of this connection.
  std::error_code flush_ok(const FlushRequest& request);
  /// Whether that holds for one of the groups.
  bool is_flushed(const Groups& groups) const;
  /// Whether the request is neither answered nor over.
  bool awaits_flush(const FlushRequest& request) const;
  std::error_code request_flow(const Groups& groups);
  /// Asks to be told once all messages that were accepted before have entered the network.
  std::error_code confirm();
  /// Of bulk channels, where the `hello` says that the client wants to hear of them. `number` is set to the request's.
  std::error_code ask_channel(BulkRequest request, std::uint32_t& number);

  // Of feeds. These frames go ahead of what waits for `release`: a feed waits for nobody.

  /// `number` is set to that of the request.
  std::error_code open_feed(FeedOpen open, std::uint32_t& number);
  /// There is room for it.
  void send_feed(FeedNumber feed, const Payload& payload);
  void close_feed(FeedNumber feed);
  /// `type`: `listen` or `stop_listening`. Refused with RequestFailed.
  std::error_code listen(ClientFrame type, std::string_view group);

  std::error_code ping(std::uint64_t token);
  /// The number of a join of the group that has no reply; 0: there is none.
  std::uint32_t pending_join(std::string_view group) const;
  /// The number of the last request: one of `request`, `request_flow` or `confirm`.
  std::uint32_t last_request() const { return next_request_ - 1; }
  void bye();
  bool said_bye() const { return said_bye_; }

  /// Of the messages that `multicast` has accepted, as far as the daemon has told; exact once no more will be taken.
  /// Those of untold_unknown() are among them.
  NotTaken not_taken() const { return {accepted_ - taken_ + untold_unknown_, untold_unknown_ == 0 && knows_taken()}; }
  std::uint64_t accepted() const { return accepted_; }
  /// The same of the first `accepted` messages, without those of former sessions. With independent flows those may have
  /// been overtaken: a bound then, unless all have entered.
  NotTaken not_taken_of(std::uint64_t accepted) const;

  /// What `multicast` would answer for the arguments alone.
  static std::error_code check(Service service, const Groups& groups, const Payload& payload,
                               const SendOptions& options = {});

  bool has_independent_flows() const { return independent_; }
  /// Whether `multicast` would find room in the window of the flow to `groups`.
  bool has_room(const Groups& groups);
  /// Has a later `settle` or `take_ready` give a FlowReady for `groups`, which `check` has passed.
  void want_ready(const Groups& groups);
  bool is_ready_wanted() const { return windows_.is_wanted(); }
  /// FlowReady for all that is wanted and whose window does not stand against it.
  std::vector<FlowReady> take_ready();

  /// Takes the reply of the daemon to a request. Gives an event where it refused; `unknown` is set where nothing
  /// was asked under that number.
  std::optional<RequestFailed> settle(const Reply& reply, bool& unknown);
  /// Likewise the answer to `request_flow`: fills in what `state` is about.
  void settle(std::uint32_t request, FlowState& state, bool& unknown);
  /// Likewise the answer to `confirm`: the messages that it was about have entered. False where nothing was asked under
  /// that number, or more is said to have entered than was sent.
  [[nodiscard]] bool settle(const Confirmed& confirmed);
  /// Takes what the daemon has let in. `unknown` is set where that was never sent.
  std::vector<FlowReady> settle(const Admitted& admitted, bool& unknown);
  /// Takes the answer to `ask_channel`, of whatever form. False where nothing was asked under that number.
  [[nodiscard]] bool settle_channel(std::uint32_t request) { return pending_channels_.erase(request) != 0; }
  /// Likewise that to `open_feed`.
  [[nodiscard]] bool settle_feed(std::uint32_t request) { return pending_feeds_.erase(request) != 0; }
  void settle_pong(std::uint64_t token);
  /// Takes a request to flush a group, with the number that the daemon gave it; 0: a view of the group, which ends one.
  void settle_flush(const FlushRequest& request, std::uint64_t daemons_number);
  /// Takes how many messages have entered the network. False where so many were never sent, or fewer than before.
  [[nodiscard]] bool settle_taken(std::uint64_t messages, bool for_good);

  /// What is to be written next: not all in one piece. It stays where it is until it is consumed, whatever is asked.
  ByteView output() { return out_.next(); }
  std::size_t output_size() const { return out_.size(); }
  /// Of that, what `output` gives now, or would give next.
  std::size_t writable_size() const { return out_.writable_size(); }
  void consume(std::size_t bytes) { out_.consume(bytes); }
  /// Nothing more will be written.
  void drop_output() { out_.drop(); }

  // A client that may come back.

  void expect_return();
  /// Whether the session can be taken up on another connection: what is written is kept.
  void set_resumable(bool on) { out_.set_keeping(on); }
  bool is_resumable() const { return out_.is_keeping(); }
  /// The daemon has got so many frames.
  void acknowledge(std::uint64_t frames) { out_.acknowledge(frames); }
  // Frames that nothing holds back.
  void tell_received(std::uint64_t frames);
  void show_life();
  void cut() { out_.cut(); }
  /// The session goes on where the daemon has got so many frames. False where that cannot be.
  [[nodiscard]] bool resume(std::uint64_t frames);
  /// A new session begins: its groups are joined again, and, with `hold`, what follows waits for `release`. Gives the
  /// messages that the former session may have let in, or not; what it cannot have got is sent in the new one.
  std::vector<std::uint64_t> start_anew(bool hold);
  void release() { out_.release(); }
  /// How many messages `start_anew` has given as unknown that the program has not been told of yet.
  std::uint64_t untold_unknown() const { return untold_unknown_; }
  /// It has been told of so many.
  void note_told_unknown(std::uint64_t messages) { untold_unknown_ -= std::min(messages, untold_unknown_); }
  /// A `confirm` that is asked no more, as `start_anew` has given some of the messages before it as unknown: how many
  /// of those messages are not known to have entered. Nothing where it is asked again.
  std::optional<std::uint64_t> ended_confirm(std::uint32_t request) const;
  /// Messages that former sessions were sent: what became of them is known, or never will be.
  std::uint64_t former() const { return former_; }
  /// The daemon goes: what is accepted from here on waits for the next session. Asks whether all that was sent before
  /// has entered.
  void part();
  bool has_all_entered() const { return parting_ && !pending_confirms_.contains(parting_->request); }
  /// Ends the session, and not the client.
  void end_session();
  /// Whether messages wait for the next session.
  bool holds_messages() const { return parting_ && accepted_ > parting_->accepted; }
  /// The tickets of messages that are not known to have entered.
  std::vector<std::uint64_t> untaken() const { return untaken_.tickets(); }
  /// The last join of a group.
  struct Joined {
    std::uint8_t flags;
    std::uint32_t request;  // its number
  };
  /// Groups that the client is in, or has asked to be in.
  const std::map<std::string, Joined, std::less<>>& groups() const { return groups_; }
  /// The daemon has taken the client out of it, or does not let it in. A join that was asked for since stands.
  void lose_group(std::string_view group);
  /// Whether the client has asked this session to leave the group and does not know yet what has come of it.
  bool is_leaving(std::string_view group) const { return leaving_.contains(group); }
  /// There was a last view of the group.
  void settle_farewell(std::string_view group);
  /// A join of the group that was on its way is not to be: the next leave finds no member, and has no last view.
  void settle_refused_join(std::string_view group);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using HandleMap = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;

  std::error_code make_key(const Groups& groups);
  std::error_code find_handle(const Groups& groups, std::uint32_t& handle);
  std::uint32_t known_handle() const;
  std::uint32_t define(const Groups& groups);
  /// The number of the set that is to be given up next, of those that there are.
  std::uint32_t set_to_give_up() const;
  void give_up(std::uint32_t handle);
  std::error_code write_send(Service service, const Groups& groups, const Payload& payload, const SendOptions& options,
                             bool has_headers);
  void append_chunks(const Payload& payload);
  void write_definition(const Define& define);
  void write_request(ClientFrame type, std::uint32_t number, std::string_view group, std::uint8_t flags = 0);
  void write_flow_request_frame(const FlowRequest& request);
  void write_confirm_frame(std::uint32_t number);
  void write_ping_frame(std::uint64_t token);
  void write_bye_frame();
  /// Appends what `write(frames)` writes, which is one frame of that type.
  template <typename Write>
  void write_feed_frame(ClientFrame type, Write&& write);
  bool knows_taken() const { return taken_for_good_ || accepted_ == taken_; }
  void join_again(bool hold);
  std::vector<std::uint64_t> take_unknown(std::span<const std::uint32_t> unsent);
  void ask_again();
  void count_in_window(ByteView frames);

  OutgoingFrames out_;
  bool open_ = false;
  bool returns_ = false;
  bool said_bye_ = false;
  bool independent_ = false;

  HandleMap handles_;                     // names behind one byte of length each, to the number of the set
  std::vector<const std::string*> sets_;  // by number: the key in `handles_`; none where it was given up
  std::vector<std::uint32_t> unused_;     // those numbers
  std::size_t defined_bytes_ = 0;         // of all sets, as the daemon counts
  std::uint32_t oldest_ = 0;              // where to look first for a set to give up
  std::uint32_t last_ = 0;                // the number that the last message went to, while it stands for the same
  FlowWindows windows_;                   // with independent flows only
  std::string key_;                       // built anew where a set is looked for, kept for its memory

  struct Pending {
    RequestFailed::Request request;
    std::string group;
  };
  std::map<std::uint32_t, Pending> pending_;  // requests without a reply
  std::map<std::string, Joined, std::less<>> groups_;
  std::map<std::string, unsigned, std::less<>> leaving_;     // by group: times it was left without a last view since
  std::deque<std::uint64_t> pings_;                          // without a pong, where the client may come back
  std::map<std::uint32_t, std::string> pending_flows_;       // `request_flow`s without an answer: the key of the groups
  std::map<std::uint32_t, std::uint64_t> pending_confirms_;  // `confirm`s without an answer: what was accepted before
  std::set<std::uint32_t> pending_channels_;                 // `ask_channel`s without an answer
  std::set<std::uint32_t> pending_feeds_;                    // `open_feed`s without an answer
  std::uint32_t next_request_ = 1;

  UntakenMessages untaken_;   // where the client may come back
  std::uint64_t former_ = 0;  // messages of former sessions: taken, or not known to be
  std::uint64_t untold_unknown_ = 0;
  std::map<std::uint32_t, std::uint64_t> ended_confirms_;  // with the last session: how many messages are not known
  struct AskedToFlush {
    std::uint64_t number = 0;          // FlushRequest::number
    std::uint64_t daemons_number = 0;  // begins anew at each daemon
  };
  std::map<std::string, AskedToFlush, std::less<>> asked_;  // requests to flush groups that are not answered
  std::uint64_t last_asked_ = 0;                            // the number of the last one
  std::set<std::string, std::less<>> flushed_;              // groups where one is answered, and the view is to come

  struct Parting {
    std::uint32_t request = 0;   // a `confirm`
    std::uint64_t accepted = 0;  // messages before it
  };
  std::optional<Parting> parting_;  // of this session

  std::uint64_t accepted_ = 0;  // messages
  std::uint64_t taken_ = 0;     // of these, as far as the daemon has told
  bool taken_for_good_ = false;
};

}  // namespace spindle::protocol
