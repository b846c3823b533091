// What a program receives: messages, and all else that a connection has to tell.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "spindle/export.h"
#include "spindle/message.h"
#include "spindle/types.h"

namespace spindle {

/// The members of a group have changed, or, with form `answer`, are told again. Every member sees a change between the
/// same two ordered messages. From which size on a group is large is the daemon's configuration, 100 members by
/// default; who wants the list of a large group always keeps a Membership (membership.h). Names are private names.
struct GroupView {
  std::string group;
  GroupViewId id;
  ViewCause cause = ViewCause::join;
  ViewForm form = ViewForm::full;
  std::size_t member_count = 0;      ///< with this view
  bool synchronous = false;          ///< the group is (JoinOptions::synchronous), from this view on
  std::uint64_t digest = 0;          ///< of the members in their order; docs/wire-format.md defines it
  std::vector<std::string> joined;   ///< who is new since the former view
  std::vector<std::string> left;     ///< who left, disconnected, or, with cause network, is out of reach
  std::vector<std::string> apart;    ///< cause network: the members that are not new and did not come from the former
                                     ///< view with this client
  std::vector<std::string> members;  ///< all, in an order that all members agree on; empty unless has_members()
  std::vector<std::string> vs_set;   ///< cause network, form full: this client, and the members that neither joined
                                     ///< nor are apart; empty in all other views
  std::optional<std::size_t> my_index;  ///< this client's place in `members`; nothing unless has_members()

  /// Whether `members`, `vs_set` and `my_index` are filled in.
  bool has_members() const { return spindle::has_members(form); }
};

/// From here to the group's next view of cause network, messages reach those of the former view that are still
/// together, and the promises of their services hold among those only. Views of other causes may come before that one.
struct Transitional {
  std::string group;
};

/// The daemon refused something.
struct RequestFailed {
  enum class Request : std::uint8_t {
    join,
    leave,
    view,        ///< to tell who the members are
    send,        ///< messages that it had been sent: nobody gets those
    membership,  ///< to have the client stay a member of the group: it has left, and its last view says so, too
    listen,      ///< to feeds of the group
  };
  Request request = Request::join;
  std::string group;  ///< of several destinations of messages, the first one that is refused
  std::error_code error;
  std::uint64_t messages = 0;  ///< request `send`: so many to one set of destinations, since it was last told
};

/// The members of a synchronous group have changed, and this client is to make way for the view that says so: it sends
/// what it still has to send in the last view, and then calls Connection::flush_ok(). Who does not answer within the
/// daemon's `session.flush_timeout_ms` leaves the group, and is told so by RequestFailed with flush_timeout.
struct FlushRequest {
  std::string group;
  std::uint64_t number = 0;  ///< tells it from the connection's other ones, and grows
};

/// Independent flows only: a flow to these destinations, for which try_multicast() has said would_block, has room
/// again, at least half of what it may hold. Comes once after one or several would_block.
struct FlowReady {
  std::vector<std::string> groups;  ///< as given to try_multicast()
};

/// How a flow fares, that is, this client's messages to one set of destinations: what Connection::request_flow() asked
/// for. A flow earns a salary and pays a price for every packet, which is up to 1,400 bytes of a message, or some small
/// messages sent at one time; dollars have no meaning beyond that. A flow that cannot pay is blocked until it can.
struct FlowState {
  std::vector<std::string> groups;            ///< as given to request_flow()
  double price = 0;                           ///< of a packet now, in dollars
  double budget = 0;                          ///< in dollars; negative after a message of several packets
  double rate = 0;                            ///< packets a second that entered the network of late
  std::chrono::microseconds salary_period{};  ///< in which a salary is earned: the shorter, the more is earned
  double blocked_share = 0;                   ///< 0 to 1: of its life, while a message waited to enter
  std::string limited_by;                     ///< the link or the receivers that cost most, or what else the flow waits
                                              ///< for; empty where nothing holds it up
};

/// The client did not keep up, and its policy is to lose messages: those that stood at this place of what it receives
/// were dropped, the oldest first. Nothing but messages is ever lost so; views and signals are where they belong.
struct Gap {
  struct Name {
    std::string name;            ///< of a group, or a private name
    std::uint64_t messages = 0;  ///< how many of the messages were sent to it; one sent to several counts at each
  };
  std::uint64_t messages = 0;  ///< that were dropped here
  std::uint64_t bytes = 0;     ///< of their payloads
  std::vector<Name> names;     ///< where they were sent to; 64 names at most
  std::uint64_t unlisted = 0;  ///< how many of the messages were sent to a name that is not listed for want of room
};

/// The daemon holds more and more for this client: the queue has passed 50 or 80 percent of the limit at which the
/// client loses messages or its connection. Overtakes whatever waits in that queue.
struct QueueWarning {
  unsigned percent = 0;           ///< 50 or 80
  std::uint64_t bytes = 0;        ///< that waited in the daemon
  std::uint64_t limit_bytes = 0;  ///< of the daemon's configuration
};

/// How many messages multicast() has accepted that have not entered the network: nobody gets those. Messages enter in
/// the order sent, so it is the last ones, but with independent flows, where it may be the last ones of each flow.
/// Of messages that are unknown (Reconnected) those are among them that the program had not been told of by that event
/// when it asked.
struct NotTaken {
  std::uint64_t messages = 0;
  /// The daemon has said so with its last word. Otherwise no word of the daemon came, or some are unknown, and it may
  /// have taken some of these: there are no more than `messages`.
  bool exact = false;
};

/// The connection was lost, and the program is connected again. Stands between what came before and what comes after.
///
/// Where the session was resumed, at the same daemon, that is all: nothing was lost or doubled either way, and the
/// client was a member of its groups all the while. Otherwise this is a new session: what was delivered to the groups
/// in between is lost here, as after a merge; the groups of before are being joined again, and their views follow; and
/// messages that the former daemon cannot have got are sent now. Those that it may have let in or not are named: they
/// are not sent again.
struct Reconnected {
  bool resumed = false;
  std::string former_name;             ///< the private name of before
  std::string private_name;            ///< now
  std::vector<std::uint64_t> unknown;  ///< SendOptions::ticket of each message that may have been sent or not
  /// New session: what is sent now enters the network only when each group that is joined again has a view without the
  /// former name, so that no message overtakes one from before. False where there is no such group.
  bool fenced = false;
};

// Of bulk channels (bulk.h), in programs that have a Bulk.

/// Somebody offers a content to a group that this client is a member of: Bulk::accept() or Bulk::refuse(). Stands at
/// one place among messages and views at all members.
struct BulkOffered {
  ChannelId channel;
  std::string group;
  std::string source;  ///< private name of the client that offers
  std::string name;    ///< as the source says it, UTF-8, of up to 255 bytes; may be empty
  ContentKind kind = ContentKind::bytes;
  std::optional<std::uint64_t> size;  ///< in bytes; nothing: not known yet
  bool late = false;                  ///< it was offered before this client joined: nobody waits for it
};

/// How far a content is that this client offers or receives. Comes at most twice a second, and only where something has
/// changed, or comes again after BulkStalled.
struct BulkProgress {
  ChannelId channel;
  /// Of a content that is received: what is there, and is right. Of one that is offered: what was sent to those who
  /// keep up; who does not is sent the rest afterwards.
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> size;   ///< of the content, in bytes; nothing: not known yet
  std::uint64_t bytes_per_second = 0;  ///< of late
};

/// Nothing has come for 10 s of a content that this client receives, although something is missing: its source has
/// stopped, or is out of reach, as may be all others that have it. Comes once; with the next BulkProgress it is over.
struct BulkStalled {
  ChannelId channel;
};

/// A content that was accepted is here, whole and right, or cannot be received. Comes once for each accept(), unless
/// BulkEnded comes first.
struct BulkReceived {
  ChannelId channel;
  std::error_code error;            ///< none: it is here; others are told (BulkComplete::failed), too
  std::string text;                 ///< says more of `error`, for people
  std::string path;                 ///< of the file, where it went into one
  std::vector<std::uint8_t> bytes;  ///< where it was received in memory
};

/// How those stand that were members where a content was offered, and are no longer: they have left, or were lost, or
/// the network has taken them away.
struct BulkGone {
  std::uint64_t done = 0;     ///< they have it
  std::uint64_t failed = 0;   ///< they could not receive it
  std::uint64_t refused = 0;  ///< they did not want it
  std::uint64_t missing = 0;  ///< they went before they had all of it
};

/// All members of the audience, the group where the content was offered, have it or have said that they will not. Who
/// is a member no longer is not waited for: `gone` counts them. Where some are missing, a source that stays serves them
/// when they are back, and hears of it by BulkReturned. Comes to source and members alike, at one place in the order.
struct BulkComplete {
  struct Failed {
    std::string name;
    std::error_code error;
  };
  ChannelId channel;
  std::vector<std::string> done;     ///< private names
  std::vector<Failed> failed;        ///< they could not receive it
  std::vector<std::string> refused;  ///< they did not want it
  BulkGone gone;
};

/// Of those that were missing in BulkComplete some are back, or gone once more, or have it by now. Comes to the source
/// as long as the channel is there. All have it, or have said why not, where `gone.missing` is 0.
struct BulkReturned {
  ChannelId channel;
  BulkGone gone;              ///< those that were missing in BulkComplete: what has come of them since
  std::uint64_t present = 0;  ///< of `gone.missing`: they are back, and receive it
};

/// Nothing more comes of the channel.
struct BulkEnded {
  enum class Cause : std::uint8_t {
    cancelled = 1,     ///< by the source, or, with an error, as its content cannot be read
    over = 2,          ///< it was complete, and its time to linger is over
    abandoned = 3,     ///< for a minute nobody had all and nothing happened, or a new session was told nothing of it
    elsewhere = 4,     ///< daemons that were apart and are back know that it has ended
    disconnected = 5,  ///< the session of this client that offered it is gone; others may go on
    left = 6,          ///< this client is a member of the group no more; others may go on
  };
  ChannelId channel;
  Cause cause = Cause::over;
  std::error_code error;  ///< why this client cancelled it by itself; none: it did not
  std::string text;       ///< says more of `error`, for people
};

constexpr std::string_view to_string(BulkEnded::Cause cause) {
  switch (cause) {
    case BulkEnded::Cause::cancelled:
      return "cancelled";
    case BulkEnded::Cause::over:
      return "over";
    case BulkEnded::Cause::abandoned:
      return "abandoned";
    case BulkEnded::Cause::elsewhere:
      return "elsewhere";
    case BulkEnded::Cause::disconnected:
      return "disconnected";
    case BulkEnded::Cause::left:
      return "left";
  }
  return "unknown";
}

// Of feeds (feed.h).

/// Names a feed that this client sends or hears: of one connection, never 0, and never used again.
using FeedId = std::uint64_t;

/// A feed of a group that this client listens to. What follows are FeedPacket and FeedGap, and FeedClosed at the end.
/// Feeds are in no order with messages and views.
struct FeedOpened {
  FeedId feed = 0;
  std::string group;
  std::string source;                      ///< private name of the client that sends it
  std::chrono::microseconds repair_for{};  ///< how long what is lost is asked for; 0: not at all
};

/// A message of a feed. Each packet of a feed is in one FeedPacket or in one FeedGap.
struct FeedPacket {
  FeedId feed = 0;
  std::uint64_t sequence = 0;  ///< of the first packet that it came in: they are counted from 0, and one by one
  std::uint64_t packets = 1;   ///< that it took; several short messages may have come in one
  std::vector<std::uint8_t> bytes;

  std::span<const std::byte> payload() const { return std::as_bytes(std::span(bytes)); }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// Packets of a feed that this client does not get. Where several reasons touch each other the last one is said.
struct FeedGap {
  enum class Cause : std::uint8_t {
    lost = 0,  ///< in the network, and not repaired in time
    slow = 1,  ///< this client has not read them in time
  };
  FeedId feed = 0;
  std::uint64_t first = 0;  ///< sequence
  std::uint64_t count = 0;
  Cause cause = Cause::lost;
};

/// Nothing more comes of a feed that this client has heard, or it can send to its own no longer.
struct FeedClosed {
  enum class Why : std::uint8_t {
    closed = 0,  ///< by its source
    lost = 1,    ///< its daemon is out of reach, or the session in which it was heard is gone
    denied = 2,  ///< the rules of access do not allow it any more
    left = 3,    ///< this client has left its group, or had stopped listening there
  };
  FeedId feed = 0;
  Why why = Why::closed;
  std::error_code error;  ///< of a feed of this client's own that could not be opened in a new session: the reason
};

/// What keeps the rate of a feed from growing.
enum class FeedLimit : std::uint8_t {
  start = 0,    ///< nothing: it grows fast
  link = 1,     ///< a path that loses packets
  source = 2,   ///< less is sent than may be
  maximum = 3,  ///< FeedOptions::bytes_per_second
  share = 4,    ///< ordered traffic has the rest of a link
};

/// How the network treats a feed of this client's own. Comes when it has changed, a few times a second at most.
struct FeedFlow {
  FeedId feed = 0;
  std::uint64_t bytes_per_second = 0;      ///< that may leave, of payload
  std::chrono::microseconds round_trip{};  ///< to listeners behind what is congested; 0: not known
  double loss = 0;                         ///< 0 to 1: of packets, on the worst path
  FeedLimit limited_by = FeedLimit::start;
};

/// There is room again in a feed of this client's own, for which Feed::try_send() has said would_block.
struct FeedWritable {
  FeedId feed = 0;
};

constexpr std::string_view to_string(FeedGap::Cause cause) { return cause == FeedGap::Cause::slow ? "slow" : "lost"; }

constexpr std::string_view to_string(FeedClosed::Why why) {
  switch (why) {
    case FeedClosed::Why::closed:
      return "closed";
    case FeedClosed::Why::lost:
      return "lost";
    case FeedClosed::Why::denied:
      return "denied";
    case FeedClosed::Why::left:
      return "left";
  }
  return "unknown";
}

constexpr std::string_view to_string(FeedLimit limit) {
  switch (limit) {
    case FeedLimit::start:
      return "start";
    case FeedLimit::link:
      return "link";
    case FeedLimit::source:
      return "source";
    case FeedLimit::maximum:
      return "maximum";
    case FeedLimit::share:
      return "share";
  }
  return "unknown";
}

/// The connection has ended: the last event, and there is exactly one. Where the daemon closed the connection, this is
/// its reason, in its words.
struct Disconnected {
  std::error_code error;
  std::string text;
  NotTaken not_taken;
};

// X(type, name): the kinds of events. New ones are appended.
#define SPINDLE_EVENTS(X)          \
  X(Message, message)              \
  X(GroupView, group_view)         \
  X(Transitional, transitional)    \
  X(RequestFailed, request_failed) \
  X(FlowReady, flow_ready)         \
  X(FlowState, flow_state)         \
  X(Gap, gap)                      \
  X(QueueWarning, queue_warning)   \
  X(Disconnected, disconnected)    \
  X(Reconnected, reconnected)      \
  X(FlushRequest, flush_request)   \
  X(BulkOffered, bulk_offered)     \
  X(BulkProgress, bulk_progress)   \
  X(BulkReceived, bulk_received)   \
  X(BulkComplete, bulk_complete)   \
  X(BulkEnded, bulk_ended)         \
  X(BulkStalled, bulk_stalled)     \
  X(FeedOpened, feed_opened)       \
  X(FeedPacket, feed_packet)       \
  X(FeedGap, feed_gap)             \
  X(FeedClosed, feed_closed)       \
  X(FeedFlow, feed_flow)           \
  X(FeedWritable, feed_writable)   \
  X(BulkReturned, bulk_returned)

/// New kinds are added with new versions: a program has to bear with one that it does not know.
enum class EventKind : std::uint8_t {
#define SPINDLE_EVENT(type, name) name,
  SPINDLE_EVENTS(SPINDLE_EVENT)
#undef SPINDLE_EVENT
};

constexpr std::string_view to_string(EventKind kind) {
  switch (kind) {
#define SPINDLE_EVENT(type, name) \
  case EventKind::name:           \
    return #name;
    SPINDLE_EVENTS(SPINDLE_EVENT)
#undef SPINDLE_EVENT
  }
  return "unknown";
}

/// The kind of events that are a `T`.
template <typename T>
struct EventKindOf;
#define SPINDLE_EVENT(type, name) \
  template <>                     \
  struct EventKindOf<type> : std::integral_constant<EventKind, EventKind::name> {};
SPINDLE_EVENTS(SPINDLE_EVENT)
#undef SPINDLE_EVENT

template <typename T>
concept EventType = requires {
  EventKindOf<T>::value;
};

/// Stands for the kinds of events that are added later, where Event::visit() looks for a handler of those. No event is
/// one.
struct LaterEvent {};

/// Something that a connection has to tell: a Message, or one of the other structs above.
///
///   if (const auto* message = event.get_if<spindle::Message>()) std::cout << message->text() << '\n';
///
/// Messages are in the event itself; what else there is, is larger and rarer, and stands elsewhere.
class SPINDLE_EXPORT Event {
 public:
  /// An empty message.
  Event() noexcept : message_() {}
  template <EventType T>
  Event(T value) : kind_(EventKindOf<T>::value) {  // NOLINT: implicit on purpose
    if constexpr (kind_of<T> == EventKind::message) {
      new (&message_) Message(std::move(value));
    } else {
      other_ = new T(std::move(value));
    }
  }
  Event(const Event& other) : kind_(other.kind_) {
    if (is_message()) {
      new (&message_) Message(other.message_);
    } else {
      other_ = copy(kind_, other.other_);
    }
  }
  /// Leaves `other` an empty message.
  Event(Event&& other) noexcept { take(other); }
  Event& operator=(const Event& other) {
    if (this != &other) *this = Event(other);
    return *this;
  }
  Event& operator=(Event&& other) noexcept {
    if (is_message() && other.is_message()) {
      message_ = std::move(other.message_);
    } else if (this != &other) {
      destroy();
      take(other);
    }
    return *this;
  }
  ~Event() { destroy(); }

  EventKind kind() const noexcept { return kind_; }
  template <EventType T>
  bool is() const noexcept {
    return kind_ == kind_of<T>;
  }
  /// Null where the event is something else.
  template <EventType T>
  T* get_if() noexcept {
    return is<T>() ? &content<T>() : nullptr;
  }
  template <EventType T>
  const T* get_if() const noexcept {
    return is<T>() ? &content<T>() : nullptr;
  }
  /// Throws std::logic_error where the event is something else.
  template <EventType T>
  T& get() & {
    if (!is<T>()) throw_other_kind(kind_, kind_of<T>);
    return content<T>();
  }
  template <EventType T>
  const T& get() const& {
    if (!is<T>()) throw_other_kind(kind_, kind_of<T>);
    return content<T>();
  }
  template <EventType T>
  T get() && {
    return std::move(get<T>());
  }

  /// Calls the one of `handlers` that takes what the event is, and gives what it returns, which is of one type for all.
  /// One of them has to take whatever else there is, now or later:
  ///
  ///   event.visit([&](const spindle::Message& message) { show(message); },
  ///               [&](const spindle::GroupView& view) { members.apply(view); },
  ///               [](const auto&) {});
  template <typename... Handlers>
  decltype(auto) visit(Handlers&&... handlers) & {
    return visit_as<Event>(*this, Overloaded{std::forward<Handlers>(handlers)...});
  }
  template <typename... Handlers>
  decltype(auto) visit(Handlers&&... handlers) const& {
    return visit_as<const Event>(*this, Overloaded{std::forward<Handlers>(handlers)...});
  }

 private:
  template <typename... Handlers>
  struct Overloaded : Handlers... {
    using Handlers::operator()...;
  };
  template <typename... Handlers>
  Overloaded(Handlers...) -> Overloaded<Handlers...>;
  template <typename T>
  static constexpr EventKind kind_of = EventKindOf<T>::value;

  template <typename Self, typename Handler>
  static decltype(auto) visit_as(Self& self, Handler&& handler) {
    static_assert(std::is_invocable_v<Handler&, LaterEvent&>,
                  "visit() needs a handler for kinds of events that are added later, such as [](const auto&) {}");
    switch (self.kind_) {
#define SPINDLE_EVENT(type, name) \
  case EventKind::name:           \
    return handler(self.template content<type>());
      SPINDLE_EVENTS(SPINDLE_EVENT)
#undef SPINDLE_EVENT
    }
    __builtin_unreachable();
  }

  bool is_message() const noexcept { return kind_ == EventKind::message; }
  template <typename T>
  T& content() noexcept {
    if constexpr (kind_of<T> == EventKind::message) {
      return message_;
    } else {
      return *static_cast<T*>(other_);
    }
  }
  template <typename T>
  const T& content() const noexcept {
    return const_cast<Event*>(this)->content<T>();
  }
  /// Nothing is here.
  void take(Event& other) noexcept {
    kind_ = other.kind_;
    if (is_message()) {
      new (&message_) Message(std::move(other.message_));
    } else {
      other_ = other.other_;
      new (&other.message_) Message();
      other.kind_ = EventKind::message;
    }
  }
  void destroy() noexcept {
    if (is_message()) {
      message_.~Message();
    } else {
      destroy(kind_, other_);
    }
  }
  // Of what is no message.
  static void* copy(EventKind kind, const void* content);
  static void destroy(EventKind kind, void* content) noexcept;
  [[noreturn]] static void throw_other_kind(EventKind is, EventKind wanted);

  union {
    Message message_;
    void* other_;
  };
  EventKind kind_ = EventKind::message;
};

}  // namespace spindle
