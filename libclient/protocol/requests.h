// Requests of a client that wait for answers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libclient/include/spindle/event.h"
#include "libclient/include/spindle/membership.h"
#include "libclient/include/spindle/request.h"

namespace spindle::protocol {

/// Knows which message answers which request, and who has still to answer. A request has a number, in a header that its
/// receivers send back with the answer.
///
/// Whose answers a request to all members waits for is settled where the client gets the request itself: those who are
/// members there get it in the same view. It therefore follows the views of groups that such requests go to. The list
/// that it begins with is the first view of the group, or, where that has been before, the answer to a `view_request`
/// that goes in front of the request.
class Requests {
 public:
  using Number = std::uint64_t;

  /// Numbers are counted from here: no other client, or former life, of the same name is to have the same ones.
  void count_from(Number first) { last_ = first; }
  Number next_number() { return ++last_; }

  struct Wanted {
    std::size_t answers = 1;
    std::string group;           // where those of all its members are waited for
    bool without_self = false;   // the client is no one to wait for, and the request is not given to it
    std::uint64_t accepted = 0;  // messages that the client has sent, this one included
  };
  void add(Number number, Wanted wanted);
  /// Whether a list of the group's members is to be asked for, under the number of the request that asks for it.
  bool needs_list(std::string_view group) const;
  void expect_list(std::string_view group, std::uint32_t request);

  /// The reply to a request of that number, behind `place` events: the list, or null where it is refused. Whether it
  /// was asked for here.
  bool take_list(std::uint32_t request, std::size_t place, const GroupView* view);
  /// Takes what concerns requests from the events behind the first `from`. `self` is the client's private name.
  void settle(std::vector<Event>& events, std::size_t from, std::string_view self);
  /// Whether there is something to settle beside messages and views.
  bool is_settling_due() const { return !lists_.empty() || !outcomes_.empty(); }
  /// A new session: messages beyond the first `written` are sent in it, what became of the others is not known.
  void start_anew(std::uint64_t written);

  struct Outcome {
    Number number;
    Answers answers;
  };
  std::vector<Outcome> take_outcomes() { return std::exchange(outcomes_, {}); }
  /// It is not waited for any more. Nothing where it has ended.
  std::optional<Answers> end(Number number, std::error_code error);
  void end_all(std::error_code error);

  /// The number that an answer to `request` has to carry; nothing where it is no request.
  static std::optional<std::string_view> number_of(const Message& request);
  static std::string to_header(Number number);

 private:
  struct Request {
    Wanted wanted;
    bool is_placed = false;  // for all members: it has come, so that it is known who they are
    std::vector<Message> answers{};
    std::set<std::string, std::less<>> answered{};
    std::set<std::string, std::less<>> missing{};
    bool is_for_all() const { return !wanted.group.empty(); }
  };
  using Table = std::map<Number, Request>;
  struct List {
    std::size_t place;
    GroupView view;
  };

  void note_view(const GroupView& view);
  void note_left(const std::string& group);
  /// Whether the message is for the requests only.
  bool take(const Message& message, std::string_view self);
  void take_answer(const Message& message, std::string_view number);
  bool place(Request& request, std::string_view self);
  bool is_complete(const Request& request) const;
  void finish(Table::iterator request, std::error_code error);
  template <typename Concerns>
  void finish_all(Concerns&& concerns, std::error_code error);
  Answers answers_of(Number number, Request&& request, std::error_code error);

  Number last_ = 0;
  Table requests_;
  std::map<std::string, Membership, std::less<>> groups_;  // that requests to all members have gone to
  std::set<std::string, std::less<>> joined_;              // that have shown a view
  std::map<std::uint32_t, std::string> asked_;             // for lists of the groups, in open requests
  std::vector<List> lists_;                                // that have come
  std::vector<Outcome> outcomes_;
  /// Requests that have ended before the client has got them, which it does not want; the last ones.
  std::set<Number> unwanted_;
};

}  // namespace spindle::protocol
