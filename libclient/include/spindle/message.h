// What a connection sends and receives. Sizes are in bytes; every name is at most 255 bytes long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "spindle/types.h"

namespace spindle {

namespace protocol {
class EventReader;
}

/// Where a message goes: one name or several. A name is a group, or the private name "#client#daemon" of one client.
/// Refers to the caller's strings and is meant as a function argument only.
class Groups {
 public:
  Groups(std::string_view group) : single_(group) {}    // NOLINT: implicit on purpose
  Groups(const char* group) : single_(group) {}         // NOLINT
  Groups(const std::string& group) : single_(group) {}  // NOLINT
  Groups(std::span<const std::string_view> groups)      // NOLINT
      : several_(groups.data()), count_(groups.size()) {}
  Groups(const std::vector<std::string_view>& groups)  // NOLINT
      : several_(groups.data()), count_(groups.size()) {}
  Groups(std::initializer_list<std::string_view> groups)  // NOLINT: the list lives until the call is over
      : several_(std::data(groups)), count_(groups.size()) {}

  std::size_t size() const { return count_; }
  std::string_view operator[](std::size_t index) const { return several_ == nullptr ? single_ : several_[index]; }

 private:
  std::string_view single_;
  const std::string_view* several_ = nullptr;
  std::size_t count_ = 1;
};

/// The bytes of a message to be sent. Refers to the caller's memory, which sending copies before it returns.
class Payload {
 public:
  Payload() = default;
  Payload(std::span<const std::byte> bytes) : bytes_(bytes) {}                                    // NOLINT
  Payload(std::span<const std::uint8_t> bytes) : bytes_(std::as_bytes(bytes)) {}                  // NOLINT
  Payload(std::string_view text) : bytes_(std::as_bytes(std::span(text.data(), text.size()))) {}  // NOLINT
  Payload(const char* text) : Payload(std::string_view(text)) {}                                  // NOLINT
  Payload(const std::string& text) : Payload(std::string_view(text)) {}                           // NOLINT
  Payload(const std::vector<std::byte>& bytes) : bytes_(bytes) {}                                 // NOLINT
  Payload(const std::vector<std::uint8_t>& bytes) : bytes_(std::as_bytes(std::span(bytes))) {}    // NOLINT

  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

struct SendOptions {
  std::uint16_t type = 0;     ///< a tag for the application's own use, delivered with the message
  bool self_discard = false;  ///< do not deliver to the sender itself
};

/// The destinations of a received message, in the sender's order: a forward range of std::string_view that refers to
/// the message.
class GroupNames {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    iterator() = default;
    std::string_view operator*() const { return {reinterpret_cast<const char*>(at_ + 1), *at_}; }
    iterator& operator++() {
      at_ += 1 + *at_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator&) const = default;

   private:
    friend class GroupNames;
    explicit iterator(const std::uint8_t* at) : at_(at) {}

    const std::uint8_t* at_ = nullptr;
  };

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::string_view front() const { return *begin(); }
  iterator begin() const { return iterator(begin_); }
  iterator end() const { return iterator(end_); }

 private:
  friend class Message;
  GroupNames(const std::uint8_t* begin, const std::uint8_t* end, std::size_t count)
      : begin_(begin), end_(end), count_(count) {}

  const std::uint8_t* begin_;  // names behind one byte of length each
  const std::uint8_t* end_;
  std::size_t count_;
};

/// A received message. It shares the block of memory that it was received in with its neighbours (256 KiB, or more for
/// large messages): what is kept for long is better copied. What its functions return is valid as long as the
/// message, or a copy of it, lives. Copies are cheap, and may live and die in any thread, even after the connection.
class Message {
 public:
  Message() = default;

  Service service() const { return service_; }
  /// The sender's tag.
  std::uint16_t type() const { return type_; }
  /// The private name of the sender, "#client#daemon".
  std::string_view sender() const { return {reinterpret_cast<const char*>(start_), sender_bytes_}; }
  GroupNames groups() const {
    const std::uint8_t* begin = start_ + sender_bytes_;
    return {begin, begin + groups_bytes_, group_count_};
  }
  std::span<const std::byte> payload() const { return {reinterpret_cast<const std::byte*>(payload_start()), size_}; }
  /// The payload as text.
  std::string_view text() const { return {reinterpret_cast<const char*>(payload_start()), size_}; }

 private:
  friend class protocol::EventReader;

  const std::uint8_t* payload_start() const { return start_ + sender_bytes_ + groups_bytes_; }

  std::shared_ptr<const void> memory_;
  const std::uint8_t* start_ = nullptr;  // sender, group names, payload: without a gap
  std::uint32_t size_ = 0;
  std::uint32_t groups_bytes_ = 0;
  std::uint16_t group_count_ = 0;
  std::uint16_t type_ = 0;
  std::uint8_t sender_bytes_ = 0;
  Service service_ = Service::unreliable;
};

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
struct NotTaken {
  std::uint64_t messages = 0;
  /// The daemon has said so with its last word. Otherwise no word of the daemon came, and it may have taken some of
  /// these: there are no more than `messages`.
  bool exact = false;
};

/// The connection has ended: the last event, and there is exactly one. Where the daemon closed the connection, this is
/// its reason, in its words.
struct Disconnected {
  std::error_code error;
  std::string text;
  NotTaken not_taken;
};

using Event = std::variant<Message, GroupView, Transitional, FlushRequest, RequestFailed, FlowReady, FlowState, Gap,
                           QueueWarning, Disconnected>;

}  // namespace spindle
