// The half of a client that turns requests into frames.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "libclient/include/spindle/message.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/flow_windows.h"

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
class RequestWriter {
 public:
  void start(const Hello& hello);
  void open() { open_ = true; }
  void close();

  std::error_code multicast(Service service, const Groups& groups, const Payload& payload, SendOptions options);
  std::error_code join(std::string_view group, bool synchronous = false) {
    return request(ClientFrame::join, group, synchronous ? kSynchronousBit : std::uint8_t{0});
  }
  std::error_code leave(std::string_view group) { return request(ClientFrame::leave, group); }
  std::error_code request_view(std::string_view group) { return request(ClientFrame::view_request, group); }
  /// `type` is one of these three.
  std::error_code request(ClientFrame type, std::string_view group, std::uint8_t flags = 0);
  /// Nothing is sent to the group from here to its next view: `multicast` says flushing. bad_argument where no request
  /// to flush the group is open.
  std::error_code flush_ok(std::string_view group);
  /// Whether that holds for one of the groups.
  bool is_flushed(const Groups& groups) const;
  std::error_code request_flow(const Groups& groups);
  std::error_code ping(std::uint64_t token);
  void bye();
  bool said_bye() const { return said_bye_; }

  /// Of the messages that `multicast` has accepted, as far as the daemon has told; exact once no more will be taken.
  NotTaken not_taken() const { return {accepted_ - taken_, taken_for_good_ || accepted_ == taken_}; }

  /// What `multicast` would answer for the arguments alone.
  static std::error_code check(Service service, const Groups& groups, const Payload& payload);

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
  /// Takes what the daemon has let in. `unknown` is set where that was never sent.
  std::vector<FlowReady> settle(const Admitted& admitted, bool& unknown);
  /// Takes a request to flush the group; 0: a view of it, which ends one.
  void settle_flush(const std::string& group, std::uint64_t request);
  /// Takes how many messages have entered the network. False where so many were never sent, or fewer than before.
  [[nodiscard]] bool settle_taken(std::uint64_t messages, bool for_good);

  ByteView output() const { return ByteView(output_).subspan(consumed_); }
  std::size_t output_size() const { return output_.size() - consumed_; }
  /// Drops the first `bytes` of the output.
  void consume(std::size_t bytes);
  /// Swaps the output for an empty vector, `into`, whose memory is used from then on.
  void take_output(std::vector<std::uint8_t>& into);

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
  void append_chunk(ByteView chunk);

  std::vector<std::uint8_t> output_;
  std::size_t consumed_ = 0;
  bool open_ = false;
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
  std::map<std::uint32_t, Pending> pending_;            // requests without a reply
  std::map<std::uint32_t, std::string> pending_flows_;  // `request_flow`s without an answer: the key of the groups
  std::uint32_t next_request_ = 1;

  std::map<std::string, std::uint64_t, std::less<>> asked_;  // requests to flush groups that are not answered
  std::set<std::string, std::less<>> flushed_;               // groups where it is, and the view is to come

  std::uint64_t accepted_ = 0;  // messages
  std::uint64_t taken_ = 0;     // of these, as far as the daemon has told
  bool taken_for_good_ = false;
};

}  // namespace spindle::protocol
