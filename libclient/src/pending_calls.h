// Calls that wait for something that the daemon does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/protocol/client_engine.h"
#include "libclient/src/socket.h"
#include "spindle/event.h"
#include "spindle/request.h"
#include "spindle/result.h"
#include "spindle/send.h"

namespace spindle {

/// Each call ends once: with what it waits for, at its deadline, or with the connection. What is to be called then is
/// kept until somebody who holds no lock takes it; what calls nothing of the program's may be called at once, by
/// whoever ends the call. There are few calls at a time. The owner guards all functions.
class PendingCalls {
 public:
  using Id = std::uint64_t;
  /// When what ends a call is called.
  enum class Ends : std::uint8_t { when_taken, at_once };
  using Joined = std::function<void(Result<GroupView>)>;
  using Confirmed = std::function<void(NotTaken)>;
  using Writable = std::function<void(std::error_code)>;
  using Answered = std::function<void(Answers)>;

  /// The engine tells what is not confirmed, and which answers a request has got that ends at its deadline.
  explicit PendingCalls(protocol::ClientEngine& engine) : engine_(engine) {}

  /// Waits for the view with which `member` has joined the group, by the request of that number.
  Id add_join(std::uint32_t request, std::string_view group, Deadline deadline, Joined done,
              Ends ends = Ends::when_taken);
  /// Waits until the messages that were accepted so far have entered. What has become unknown, and the program has not
  /// been told of so far, counts as not taken.
  Id add_confirm(std::uint32_t request, Deadline deadline, Confirmed done, Ends ends = Ends::when_taken);
  /// Waits until a message to the groups may be sent.
  Id add_writable(const Groups& groups, Deadline deadline, Writable done);
  /// Waits for the answers to the request.
  Id add_request(protocol::Requests::Number number, Deadline deadline, Answered done, Ends ends = Ends::when_taken);
  /// The call ends with the error. False where it has ended.
  bool end_call(Id id, std::error_code error);

  // What happens. The view is one that lists who joined.
  void note_view(const GroupView& view, const std::string& member);
  /// Whether somebody waits for the request.
  bool note_refused(std::uint32_t request, std::error_code error);
  /// The same of a join that there was a good reply for: of the group's, the first is it.
  bool note_join_refused(const std::string& group, std::error_code error);
  /// There is a new session, which has asked anew for each group that the client is to be in, and once.
  void begin_anew();
  void note_confirmed(std::uint32_t request);
  void note_answered(protocol::Requests::Number number, Answers answers);
  template <typename HasRoom>
  void note_room(HasRoom&& has_room);
  /// Time has passed.
  void expire(Deadline now);
  /// The connection has ended.
  void end(std::error_code error);

  bool empty() const { return joins_.empty() && confirms_.empty() && writables_.empty() && requests_.empty(); }
  bool wants_room() const { return !writables_.empty(); }
  /// The first of all deadlines.
  Deadline next_deadline() const;
  /// What is to be called now.
  bool has_done() const { return !done_.empty(); }
  std::vector<std::function<void()>> take_done() { return std::exchange(done_, {}); }

 private:
  struct Call {
    Id id = 0;
    Deadline deadline;
    Ends ends = Ends::when_taken;
  };
  struct Join : Call {
    std::uint32_t request = 0;
    std::string group;
    Joined done;
  };
  struct Confirm : Call {
    std::uint32_t request = 0;
    std::uint64_t accepted = 0;
    std::uint64_t unknown = 0;  // messages of former sessions
    Confirmed done;
  };
  struct Room : Call {
    std::vector<std::string> groups;
    Writable done;
  };
  struct Request : Call {
    protocol::Requests::Number number = 0;
    Answered done;
  };

  /// Those of which that holds end with the error. How many.
  template <typename IsOver>
  std::size_t end_those(IsOver&& is_over, std::error_code error);
  /// Calls that wait for the request: several where a new session has asked for them. Whether there is one.
  template <typename Outcome>
  bool end_joins(std::uint32_t request, const Outcome& outcome);
  /// Of several requests for one group the first ends, and others are refused.
  template <typename Outcome>
  bool end_first_join(const std::string& group, const Outcome& outcome);
  void finish(Join& join, Result<GroupView> result);
  /// Says what it knows, whatever ends it.
  void finish(Confirm& confirm, std::error_code error);
  void finish(Confirm& confirm, NotTaken not_taken);
  void finish(Room& room, std::error_code error);
  void finish(Request& request, std::error_code error);
  void finish(Request& request, Answers answers);
  template <typename Done>
  void tell(const Call& call, Done done);

  const protocol::RequestWriter& writer() const { return engine_.writer(); }

  protocol::ClientEngine& engine_;
  Id last_ = 0;
  std::vector<Join> joins_;
  std::vector<Confirm> confirms_;
  std::vector<Room> writables_;
  std::vector<Request> requests_;
  std::vector<std::function<void()>> done_;
};

template <typename HasRoom>
void PendingCalls::note_room(HasRoom&& has_room) {
  std::erase_if(writables_, [&](Room& room) {
    const std::vector<std::string_view> groups(room.groups.begin(), room.groups.end());
    if (!has_room(Groups(groups))) return false;
    finish(room, {});
    return true;
  });
}

}  // namespace spindle
