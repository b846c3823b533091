// The connection of a program to its Spindle daemon.
//
//   spindle::Connection connection = spindle::Connection::connect({.name = "reader"}).value();
//   if (const std::error_code error = connection.join("news")) throw std::system_error(error);
//   while (auto event = connection.receive()) {
//     if (const auto* message = event->get_if<spindle::Message>()) std::cout << message->text() << '\n';
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "spindle/error.h"
#include "spindle/event.h"
#include "spindle/export.h"
#include "spindle/feed.h"
#include "spindle/request.h"
#include "spindle/result.h"
#include "spindle/send.h"
#include "spindle/types.h"

namespace spindle {

class Bulk;

struct ConnectOptions {
  /// "unix:/path" or "/path"; "tls:host:port" or "tls:host"; "tcp:host:port", "host:port" or "host" (port 4803); IPv6
  /// addresses in brackets. What is sent by "tcp:" can be read and altered on its way.
  /// Empty: what the environment variable SPINDLE_ADDRESS says, otherwise the socket of a daemon of this host:
  /// "spindle.4803" in /run/spindle, in XDG_RUNTIME_DIR, or, of a daemon of root's or of the own user, in /tmp.
  std::string address{};
  /// Further daemons, in the same form. They are tried in this order where the one before cannot be reached or is lost,
  /// and then from the first one again.
  std::vector<std::string> more_addresses{};
  /// The client is known to groups as "#name#daemon". 1 to 64 printable characters other than '#' and space; empty:
  /// the daemon chooses.
  std::string name{};
  /// For "tls:": a file of PEM with the CA certificates of the cluster, which the daemon's is held to, and the key and
  /// certificate of this client, as `spmonitor pki issue --client` makes it. A client that has a token needs no key and
  /// no certificate: `spmonitor pki trust` makes such a file. Empty: what the environment variable SPINDLE_TLS_BUNDLE
  /// says.
  std::string tls_bundle{};
  /// For "tls:": a file of PEM with lists of revoked certificates; empty: what SPINDLE_REVOCATION_LISTS says, or none.
  std::string tls_revocation_lists{};
  /// A secret by which the client proves who it is, as `spmonitor token new` makes it. It is sent only by "tls:" and to
  /// a unix socket: with any other address connecting fails with token_exposed. Empty: what the environment variable
  /// SPINDLE_TOKEN holds, or else none.
  std::string token{};
  /// Bounds connecting: the resolver's work on a host name, the connection, and the daemon's welcome.
  std::chrono::milliseconds connect_timeout{5'000};
  /// For how long the library tries to connect again where a connection is lost; Disconnected then. Each attempt has
  /// `connect_timeout`; where less than that is left, its share of what is left, 5 s at least. 0: the loss is the end.
  /// While there is no connection requests are taken as ever. See docs/reconnecting.md. connect() itself does not wait
  /// for a daemon that is not there.
  std::chrono::milliseconds reconnect_timeout{60'000};
  /// Whether the daemon is asked to keep the session for a while where its connection is lost, so that nothing is lost
  /// with it. Matters where `reconnect_timeout` is not 0; never on a unix socket, as only the end of its program ends
  /// it.
  bool resume = true;
  /// How often the library makes sure that the daemon is there, and shows that this program is; 0: never. Of who is
  /// silent for three times as long the connection counts as lost.
  std::chrono::milliseconds keepalive{10'000};
  /// Bounds how long a call waits for room in the send buffer or in a flow, where it says nothing else; timed_out then.
  /// The longest there is: no bound.
  std::chrono::nanoseconds send_timeout = std::chrono::nanoseconds::max();
  /// Bounds how long disconnecting waits until the daemon has taken what was sent. What it has not taken by then is
  /// lost; disconnect() and Disconnected say how much that is.
  std::chrono::milliseconds disconnect_timeout{1'000};
  /// Beyond this many bytes not yet taken by the daemon, sending waits or says would_block. The last message taken may
  /// exceed it.
  std::size_t send_buffer_bytes = std::size_t{1} << 20;
  /// Beyond this much memory in events not yet received, the connection stops reading from the daemon until an
  /// eighth of it is free again, and what follows waits in the daemon. Events of feeds are not among them: of those up
  /// to half as much waits, and then the oldest packets are dropped.
  std::size_t receive_buffer_bytes = std::size_t{8} << 20;
  /// False: messages enter the network in the order sent, and one that may not enter yet holds up those behind it.
  /// True: each set of destinations is a flow of its own, and a flow that may not enter holds up nothing but itself.
  /// The order in which messages to different sets of destinations enter is then not promised. See docs/client.md.
  bool independent_flows = false;
  SlowPolicy slow_policy = SlowPolicy::daemon_default;
  /// Whether the daemon is asked to tell of bulk channels: for a program that makes a Bulk (bulk.h).
  bool bulk = false;
};

struct JoinOptions {
  /// Members of a synchronous group get each message in the view that its sender, a member, had when it sent it. To
  /// that end they are asked, by FlushRequest, to stop sending before each new view. The first member of a group says
  /// what it is; messages to a synchronous one are fifo to safe.
  bool synchronous = false;
  /// A FlushRequest of the group is answered by the connection as soon as the program is given it.
  bool auto_flush = false;
};

/// A connection has one thread of its own for reading and writing. All functions may be called by several threads at
/// once, except that moving, assigning and destroying must not coincide with anything else. Functions that return
/// std::error_code return an Errc, or nothing wrong; they throw nothing but std::bad_alloc.
///
/// A call that waits takes a std::stop_token: once a stop is requested, by any thread, it ends with `cancelled`. With a
/// token that is stopped already it ends so at once, and does nothing. What a call waits for comes first: where it has
/// come, the stop is too late, and changes nothing. `stop_requested` on the token says which it was where the result
/// does not.
///
/// A connection belongs to the process that made it. In a child of fork() its copy is a closed connection: functions
/// return not_connected, receive() returns nothing, and destroying it returns at once and does nothing to the parent's
/// connection. The child may make connections of its own, and a handler may fork.
class SPINDLE_EXPORT Connection {
 public:
  /// A closed connection: functions return not_connected, receive() returns nothing.
  Connection() noexcept;
  Connection(Connection&&) noexcept;
  /// Disconnects first.
  Connection& operator=(Connection&&) noexcept;
  /// Disconnects, see disconnect(), and waits for a handler that is running, unless that is the caller: whoever holds a
  /// lock that the handler waits for must not destroy the connection.
  ~Connection();

  /// Connects and waits for the daemon's welcome. Errors: bad_address, bad_client_name, bad_argument for what is no
  /// token, token_exposed, connect_failed, tls_failed, timed_out, or the reason that the daemon gave.
  /// `connect(options).value()` throws them.
  static Result<Connection> connect(const ConnectOptions& options = {});

  /// "#name#daemon": others can multicast to it. Empty for a closed connection.
  [[nodiscard]] std::string_view private_name() const noexcept;
  /// Whether requests can be made: neither side has ended the connection.
  [[nodiscard]] bool is_open() const noexcept;
  /// ConnectOptions::send_timeout of this connection; the longest there is for a closed one.
  [[nodiscard]] std::chrono::nanoseconds send_timeout() const noexcept;

  /// Asks the daemon to make this client a member of `group` (1 to 255 bytes, not starting with '#'), or no longer.
  /// Queues the request, waiting for room as multicast() does; the GroupView that follows shows it done, RequestFailed
  /// that the daemon refused. Errors: bad_group_name, not_connected, timed_out, and in a handler would_block.
  /// Where others know the group as synchronous, or as not, and this client as the other, RequestFailed says
  /// mode_mismatch.
  [[nodiscard]] std::error_code join(std::string_view group, JoinOptions options = {});
  /// Where it is cancelled while it waits for room nothing was asked.
  [[nodiscard]] std::error_code join(std::string_view group, JoinOptions options, const std::stop_token& stop);
  [[nodiscard]] std::error_code leave(std::string_view group);
  /// Answers a FlushRequest: from here to the next view of the group this client sends nothing to it. multicast() waits
  /// for that view then, try_multicast() and a handler are told `flushing`; what is sent behind this call is of the
  /// next view. Queues the answer, and does not wait for room. Where the request is over, since it has been answered or
  /// the view of the group that follows it is here already, nothing happens. Errors: bad_argument for what is no
  /// FlushRequest of this connection, not_connected.
  [[nodiscard]] std::error_code flush_ok(const FlushRequest& request);
  /// Joins, and waits for the first view of the group. The view is an event, too, in its place among the others: who
  /// receives events finds it there. Errors, beside those of the other form: what the daemon refused it with, which is
  /// no event then, and the end of the connection. After timed_out, or cancelled, the request stands once it is queued,
  /// and what comes of it is an event; leave() takes it back. Somebody has to receive events meanwhile where more of
  /// them may come than ConnectOptions::receive_buffer_bytes.
  [[nodiscard]] Result<GroupView> join(std::string_view group, std::chrono::nanoseconds timeout,
                                       JoinOptions options = {}, const std::stop_token& stop = {});
  /// The same without waiting: `done` is called once with the outcome, by the connection's own thread, or by this call
  /// where that is known at once. As a handler it should be brief, and must not throw. It is not called by whoever
  /// requests a stop.
  void join_then(std::string_view group, std::chrono::nanoseconds timeout, std::function<void(Result<GroupView>)> done,
                 JoinOptions options = {}, std::stop_token stop = {});

  /// Asks the daemon for all members of a group that this client is a member of, for a program that has only seen
  /// changes of a large group and wants the list now. Queues the request as join() does. The answer is a GroupView of
  /// form `answer` with the id of the view that is current where it comes; changes that follow it apply to its list:
  ///
  ///   connection.request_view("news");
  ///   ...
  ///   if (view->form == spindle::ViewForm::answer) show(view->members);
  ///
  /// RequestFailed says not_a_member where the client is none. A daemon answers no further request of a client that
  /// does not read the answers. Errors: as for join().
  [[nodiscard]] std::error_code request_view(std::string_view group);

  /// Asks the daemon how the flow to these destinations fares. Queues the request as join() does; the answer is a
  /// FlowState. Works for every connection, with independent flows or without. Errors: too_many_groups and those of
  /// join().
  [[nodiscard]] std::error_code request_flow(const Groups& groups);

  /// Sends a message of up to 16 MiB, headers included, to 1 to 1,000 groups or private names; the client need not be a
  /// member. Waits while the send buffer is full, with independent flows also while the flow is, but never in a
  /// handler, where it says would_block. The message is copied before this returns. A thread's messages enter the
  /// network in the order of its calls, with independent flows those to the same destinations do. Errors:
  /// message_too_large, too_many_groups, bad_group_name, bad_argument (no such service), bad_headers, not_connected,
  /// timed_out, and flushing where flush_ok() says so.
  [[nodiscard]] std::error_code multicast(Service service, const Groups& groups, const Payload& payload,
                                          SendOptions options = {});
  /// A message whose call was cancelled was not sent.
  [[nodiscard]] std::error_code multicast(Service service, const Groups& groups, const Payload& payload,
                                          SendOptions options, const std::stop_token& stop);
  /// The same, but says would_block, and sends nothing, where it would wait. With independent flows that is said for
  /// one flow while another may go on, and the event FlowReady follows when it is worth trying again; such a program
  /// has to receive events.
  [[nodiscard]] std::error_code try_multicast(Service service, const Groups& groups, const Payload& payload,
                                              SendOptions options = {});

  /// Sends a request, and waits for answers: one, or as many as `options` say, for `timeout` at most, in which it also
  /// waits for room as multicast() does. Whoever gets the request as a Message, for which is_request() holds, may
  /// answer it with reply(); no answer is an event. With RequestOptions::kAllMembers those answer who are members of
  /// the group where the client gets its own request, so that this is of the services agreed and safe and, of others,
  /// what the client itself has seen. Answers::error is, beside what RequestOptions and Answers say, what multicast()
  /// says, not_a_member where the client is none or ceases to be, and the reason of the connection's end. Where the
  /// call is cancelled the request may have been sent.
  [[nodiscard]] Answers request(const Groups& groups, const Payload& payload, std::chrono::nanoseconds timeout,
                                RequestOptions options = {}, const std::stop_token& stop = {});
  /// The same without waiting; `done` is called as by join_then(). Says would_block where there is no room to send.
  void request_then(const Groups& groups, const Payload& payload, std::chrono::nanoseconds timeout,
                    std::function<void(Answers)> done, RequestOptions options = {}, const std::stop_token& stop = {});
  /// Answers a request, to its sender alone, in the service fifo: what this client sends later does not overtake it,
  /// nor does its leaving. Each receiver's first answer counts. Waits, and errors, as multicast(), and bad_argument for
  /// a message that is no request.
  [[nodiscard]] std::error_code reply(const Message& request, const Payload& payload, SendOptions options = {},
                                      const std::stop_token& stop = {});
  /// The same, but says would_block as try_multicast() does.
  [[nodiscard]] std::error_code try_reply(const Message& request, const Payload& payload, SendOptions options = {});

  /// Opens a feed (feed.h) to a group that this client may send to, and waits until the daemon has. The client itself
  /// need not be a member. Errors: bad_group_name, bad_argument, access_denied, too_many_feeds beyond 64,
  /// not_connected, timed_out, would_block in a handler.
  [[nodiscard]] Result<Feed> open_feed(std::string_view group, const FeedOptions& options = {});
  /// Has this client hear the feeds of a group, those that are open and those that will be, as long as it is a member:
  /// joining is another matter. Waits for nothing; where the daemon refuses RequestFailed says so. Once more for the
  /// same group: other options hold for feeds that are opened from then on. The events are FeedOpened, FeedPacket,
  /// FeedGap and FeedClosed; somebody has to receive events, or the oldest packets are dropped. Errors: bad_group_name,
  /// bad_argument, not_connected.
  [[nodiscard]] std::error_code listen(std::string_view group, const ListenOptions& options = {});
  /// Nothing more is told of the feeds of that group. Errors as of listen().
  [[nodiscard]] std::error_code stop_listening(std::string_view group);

  /// Calls `done` when a message to these destinations can be sent: where try_multicast() has said would_block, or
  /// flushing, it is worth trying again. The errors are not_connected, timed_out and cancelled; `done` is called as by
  /// join_then().
  void when_writable(const Groups& groups, std::chrono::nanoseconds timeout, std::function<void(std::error_code)> done,
                     std::stop_token stop = {});

  /// Waits until the network has taken all messages that were sent before, for `timeout` at most, and says how many it
  /// has not taken. Ends, and counts them, where some of these become unknown (Reconnected) meanwhile. With independent
  /// flows and others that send meanwhile the number is a bound where it is not zero. In a handler, where it does not
  /// wait, these are the messages that are under way. Where it is cancelled it says what it knows, as at the end of its
  /// time.
  [[nodiscard]] NotTaken confirm(std::chrono::nanoseconds timeout, const std::stop_token& stop = {});
  /// The same without waiting; `done` is called as by join_then().
  void confirm_then(std::chrono::nanoseconds timeout, std::function<void(NotTaken)> done, std::stop_token stop = {});

  /// Waits for the next event. Nothing is returned once Disconnected, the last event, has been.
  [[nodiscard]] std::optional<Event> receive();
  /// Waits no longer than `timeout`; zero does not wait. Where nothing is returned, `error` is timed_out, or
  /// not_connected once Disconnected has been returned.
  [[nodiscard]] std::optional<Event> receive(std::chrono::nanoseconds timeout, std::error_code& error);
  [[nodiscard]] std::optional<Event> receive(std::chrono::nanoseconds timeout);
  /// Nothing is returned once a stop is requested, even where events wait, which stay; `error` is cancelled then.
  [[nodiscard]] std::optional<Event> receive(const std::stop_token& stop);
  [[nodiscard]] std::optional<Event> receive(std::chrono::nanoseconds timeout, std::error_code& error,
                                             const std::stop_token& stop);

  /// A descriptor that polls as readable while events wait, for an event loop that then calls receive() with a timeout
  /// of zero until nothing comes. It belongs to the connection: do not read, write or close it. -1 if there is none.
  [[nodiscard]] int descriptor();

  using Handler = std::function<void(Event&&)>;
  /// Has every event, those that wait included, handed to `handler` by the connection's own thread, one at a time;
  /// receive() is not to be used then. An empty handler brings receive() back. While the handler runs nothing is read,
  /// and what it sends is written when the events at hand are done: it should be brief. It may call any function but
  /// receive(), may destroy the connection, and must not throw. It is not made to wait by functions that wait
  /// elsewhere.
  ///
  /// When this returns, no call of the former handler is running or will come, and it has been destroyed: what it uses
  /// may go. Not so where that handler itself is the caller, of course, and whoever holds a lock that the handler waits
  /// for must not call this.
  void set_handler(Handler handler);

  /// Ends the connection: what was sent before is written, the daemon is told, and its last word awaited, for
  /// `disconnect_timeout` at most (a handler does not wait). Messages that arrive meanwhile are dropped; those that
  /// arrived before can be received, and then, where rules of access refused messages that were sent, RequestFailed,
  /// and Disconnected. Where a handler runs when the time is over these follow when that returns.
  ///
  /// Returns how many messages did not enter the network, as Disconnected does: none where the network took all in
  /// time, more where it is congested or a receiver is slow; those that were refused are not among them. In a handler
  /// these are the messages that are still under way.
  NotTaken disconnect();
  /// Goes without losing anything, in `timeout` at most: leaves all groups, waits for their last views, so that all
  /// messages up to there can be received, and disconnects once the network has taken all that was sent. Returns what
  /// disconnect() does. A handler does not wait. Where it is cancelled it disconnects at once, as at the end of its
  /// time.
  ///
  /// As with disconnect(), a handler may not have had the last events when this returns, and those that it has not had
  /// when the connection is destroyed it does not get: who needs them waits for Disconnected, or takes the handler away
  /// and receives them.
  NotTaken drain(std::chrono::nanoseconds timeout, const std::stop_token& stop = {});

 private:
  class SPINDLE_HIDDEN Impl;
  explicit Connection(std::shared_ptr<Impl> impl) noexcept;
  /// Null where the connection is closed or belongs to another process.
  Impl* usable() const noexcept;
  void let_go();

  friend class Bulk;
  friend class Feed;

  std::shared_ptr<Impl> impl_;
};

}  // namespace spindle
