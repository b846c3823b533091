// The datagrams of all links.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/link/datagram_channel.h"
#include "daemon/link/feed_frames.h"
#include "daemon/link/link.h"

namespace spindled {

/// How the frames of feeds travel on a link, for people.
struct DatagramInfo {
  bool is_open = false;  // by datagrams; otherwise over the connection of the link,
  std::string why_not;   // because of this
  bool is_sealed = false;
  Duration round_trip{};  // zero: not known
  double loss_in = 0;     // 0 to 1
  double loss_out = 0;
  std::uint64_t in = 0;  // datagrams
  std::uint64_t out = 0;
  // That were dropped.
  std::uint64_t repeated = 0;  // they had come before, or were too old
  std::uint64_t forged = 0;    // the peer has not sealed them
  std::uint64_t no_room = 0;   // in the turn, in the system, or in a frame of the connection
  std::uint64_t behind = 0;    // frames, because too much waited on the connection
};

/// Gives each link that comes up a DatagramChannel, tells by its token which one a datagram is for, and sends what a
/// turn has gathered at its end. Frames that cannot go by datagram go over the connection of their link. Whoever knows
/// no token leaves nothing behind but a number in a counter.
class Datagrams {
 public:
  Datagrams(Context& context, Driver& driver, const Log& log);
  /// Where frames go up to.
  void attach(FeedFrames& feeds) { feeds_ = &feeds; }

  /// What this side is to say of itself in the handshake of `connection`.
  DatagramOffer make_offer(ConnectionId connection);
  /// `link` has just been established, or is so no more.
  void link_up(Time now, const Link& link);
  void link_down(Time now, const Link& link);

  /// The link that has sent what no daemon sends, and is to be closed.
  std::optional<LinkId> handle(Time now, const IncomingDatagram& datagram);
  /// What came over the connection; false: it is malformed.
  bool frames_received(Time now, LinkId link, ByteView frames);
  void handle_time(Time now);
  Time next_deadline() const { return deadlines_.empty() ? kNever : deadlines_.begin()->first; }

  /// What a frame has in one datagram of this daemon's, its head left out. Others may have cut packets for longer ones.
  std::size_t frame_bytes_max() const;
  enum class Way : std::uint8_t { datagram, connection, none };
  /// How a frame to that link travels whose body has so many bytes: one that does not fit into a datagram goes over the
  /// connection. Keeps the channel awake.
  Way next_way(Time now, LinkId link, std::size_t bytes);
  /// A frame whose body is in two parts, for a link with Way::datagram. Whether it is on its way.
  bool send(LinkId link, std::uint8_t type, ByteView head, ByteView tail);
  /// A frame was not sent because too much waits on the connection.
  void note_behind(LinkId link);
  /// When a datagram last came from the peer, and was good; long ago where none has.
  Time last_heard(LinkId link) const {
    const Entry* entry = find(link);
    return entry != nullptr ? entry->last_heard : Time{};
  }
  /// Whether datagrams to the peer get through.
  bool is_open(LinkId link) const {
    const Entry* entry = find(link);
    return entry != nullptr && entry->channel && entry->channel->is_open();
  }
  /// Asks the peer whether it is there, whatever questions are due. False: no datagrams get through.
  bool ask_now(Time now, LinkId link);
  /// Sends what the turn has gathered.
  void flush(Time now);

  DatagramInfo info(LinkId link) const;
  Duration round_trip(LinkId link) const {
    const Entry* entry = find(link);
    return entry != nullptr && entry->channel ? entry->channel->round_trip() : Duration::zero();
  }

 private:
  struct Entry {
    LinkId link{};
    std::string peer;
    bool is_known_to_peer = false;  // which takes frames over the connection then
    std::string why_not;            // there is no channel
    std::optional<DatagramChannel> channel;
    bool is_dirty = false;
    bool has_told = false;  // the log, that the channel is closed
    Time deadline = kNever;
    Time last_heard{};
    DatagramInfo counts;
  };

  Entry* find(LinkId link) const;
  std::string open_channel(Time now, const Link& link, Entry& entry);
  bool hand_up(Time now, LinkId link, Entry& entry, const DatagramAddress& from, ByteView frames);
  void mark_dirty(Entry& entry);
  void note_no_room(Entry& entry);
  void set_deadline(Entry& entry, Time deadline);
  void ask_due(Time now, Entry& entry);
  void tell(Entry& entry, DatagramChannel::State before);
  std::uint64_t draw_mark();

  Context& context_;
  Driver& driver_;
  const Log& log_;
  FeedFrames* feeds_ = nullptr;
  std::vector<std::unique_ptr<Entry>> entries_;               // by link; null: it is not established
  std::unordered_map<std::uint64_t, LinkId> links_by_token_;  // own tokens
  std::set<std::pair<Time, LinkId>> deadlines_;
  std::vector<LinkId> dirty_;
  std::vector<OutgoingDatagram> outgoing_;  // only while they are sent
};

}  // namespace spindled
