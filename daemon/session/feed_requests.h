// What one client asks of feeds, and sends to its own.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/access/access_rules.h"
#include "daemon/access/quotas.h"
#include "daemon/base/context.h"
#include "daemon/feed/feeds.h"
#include "daemon/session/ingress.h"
#include "daemon/session/session_queue.h"
#include "libclient/protocol/feed_frames.h"

namespace spindled {

/// A feed that is opened or closed takes its place among the client's joins and leaves, and is paid for as one of them.
/// To open a feed to a group takes the right to send to it; to listen takes the right to join it. What is sent counts
/// for the rate of the client's quota, which it waits for.
class FeedRequests final {
 public:
  /// `answers` is where the client is told. All outlive this one.
  FeedRequests(Context& context, Feeds& feeds, ClientAccess& access, ClientQuota& quota, Ingress& ingress,
               SessionQueue& answers)
      : context_(context), feeds_(feeds), access_(access), quota_(quota), ingress_(ingress), answers_(answers) {}

  /// Whether the frame may be handled now.
  Verdict try_admit(Time now, spindle::protocol::ClientFrame type, ByteView body);
  /// One that may. An error ends the session.
  std::optional<Error> handle(Time now, spindle::protocol::ClientFrame type, ByteView body);
  /// The session is gone.
  void close(Time now);

  // As FeedClients has them, of the client's own feeds.

  void give_room(FeedHandle feed, std::size_t bytes);
  void tell_flow(FeedHandle feed, const FeedFlow& flow);
  void note_end(FeedHandle feed);

  /// Whether the client is to be told of room, or of how a feed fares.
  bool has_news() const { return has_news_; }
  /// Tells it, with the last of each.
  void tell();

  /// After the rules have changed: closes those of its feeds that it may not send to any more, and drops what has not
  /// left, also of those that it has closed itself. How many; the client is told with `end`.
  template <typename End>
  std::size_t review(Time now, End&& end);
  std::size_t open_feeds() const { return own_.size(); }

  /// Feeds that have ended by themselves, which the client may have sent to before it knew.
  static constexpr std::size_t kEndedMax = 4 * Feeds::kFeedsPerClient;

 private:
  struct Own {
    std::string group;
    std::uint64_t untold_room = 0;
    std::optional<FeedFlow> untold_flow;
  };

  Verdict try_admit_open(Time now, const spindle::protocol::FeedOpen& open);
  Verdict try_admit_close(Time now, FeedHandle feed);
  void open(Time now, const spindle::protocol::FeedOpen& open);
  std::optional<Error> send(Time now, const spindle::protocol::FeedSend& send);
  std::optional<Error> close_feed(Time now, FeedHandle feed);
  std::optional<Error> listen(Time now, spindle::protocol::ClientFrame type, ByteView body);
  /// Why not, if not.
  std::optional<Errc> begin_to_listen(Time now, std::string_view group);
  /// Why there is no such feed, unless it ended by itself lately.
  std::optional<Error> unknown(FeedHandle feed) const;
  void remember_ended(FeedHandle feed);
  void deny(std::string_view what, std::string_view group);
  void answer(std::uint32_t request, std::optional<Errc> refusal);

  Context& context_;
  Feeds& feeds_;
  ClientAccess& access_;
  ClientQuota& quota_;
  Ingress& ingress_;
  SessionQueue& answers_;
  std::map<FeedHandle, Own> own_;
  std::set<FeedHandle> ended_;  // of its own
  std::set<std::string, std::less<>> listens_;
  std::optional<Errc> refused_;                // why the request to open at the front of the input is
  std::map<FeedHandle, std::uint64_t> first_;  // room of those that are being opened
  bool is_opening_ = false;
  bool has_news_ = false;
};

template <typename End>
std::size_t FeedRequests::review(Time now, End&& end) {
  std::vector<FeedHandle> denied;
  feeds_.for_each_of(ingress_.session(), [&](FeedHandle feed, const std::string& group) {
    if (access_.may(Right::send, group)) return;
    denied.push_back(feed);
    if (own_.contains(feed)) deny("go on with a feed to", group);
  });
  std::erase_if(denied, [&](FeedHandle feed) { return !feeds_.deny(now, ingress_.session(), feed); });
  for (const FeedHandle feed : denied) {
    if (own_.erase(feed) != 0) remember_ended(feed);
    end(feed);
  }
  return denied.size();
}

}  // namespace spindled
