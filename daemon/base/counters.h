// Everything a daemon counts, in one table that `spmonitor` reads.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// X(name, what is counted)
#define SPINDLE_COUNTERS(X)                                                                        \
  X(links_up, "links that came up")                                                                \
  X(links_down, "links that went down")                                                            \
  X(link_handshakes_refused, "connections of daemons refused in the handshake")                    \
  X(tls_handshakes, "connections that have been opened with TLS")                                  \
  X(tls_handshakes_refused, "connections refused in the handshake of TLS, or waiting for it")      \
  X(name_conflicts, "meetings with another daemon of this one's name, or with itself")             \
  X(link_bytes_in, "bytes read from links")                                                        \
  X(link_bytes_out, "bytes written to links")                                                      \
  X(link_frames_in, "frames read from links")                                                      \
  X(link_frames_bad, "links closed for a frame that is malformed, too large or out of place")      \
  X(datagrams_in, "datagrams of links received")                                                   \
  X(datagrams_out, "datagrams of links sent")                                                      \
  X(datagrams_unknown, "datagrams thrown away that are of no link")                                \
  X(datagrams_repeated, "datagrams thrown away that had come before, or were too old")             \
  X(datagrams_forged, "datagrams thrown away that the other end of their link has not sealed")     \
  X(datagrams_dropped, "datagrams, and frames in their place, for which there was no room")        \
  X(datagram_ways_opened, "times that datagrams were found to get through on a link")              \
  X(datagram_ways_closed, "times that datagrams were found not to get through on a link")          \
  X(bytes_link_state, "bytes sent on links: which daemons and links there are")                    \
  X(bytes_propose, "bytes sent on links: views proposed, and refused")                             \
  X(bytes_member_state, "bytes sent on links: what members have of the view that ends")            \
  X(bytes_commit, "bytes sent on links: views committed")                                          \
  X(bytes_push, "bytes sent on links: messages brought to those who lack them")                    \
  X(bytes_done, "bytes sent on links: what members have pushed and received")                      \
  X(bytes_install, "bytes sent on links: views to be installed")                                   \
  X(bytes_data, "bytes sent on links: messages and their order")                                   \
  X(bytes_stability, "bytes sent on links: who has received what, and in which view")              \
  X(bytes_prices, "bytes sent on links: what congested links and slow clients cost")               \
  X(bytes_datagrams, "bytes sent on links: what could not go as datagrams")                        \
  X(control_in, "control messages received")                                                       \
  X(control_out, "control messages sent, counted per link")                                        \
  X(data_forwarded, "data frames relayed to other daemons")                                        \
  X(data_dropped_frozen, "data frames dropped because a view change was going on")                 \
  X(data_dropped_unreliable, "unreliable messages dropped at a full queue")                        \
  X(frames_misrouted, "frames dropped because their route led back to where they came from")       \
  X(views_proposed, "views proposed by this daemon")                                               \
  X(views_installed, "views installed")                                                            \
  X(messages_pushed, "messages pushed to others in recovery")                                      \
  X(messages_recovered, "messages received in recovery")                                           \
  X(messages_sent, "messages of local clients that entered the network")                           \
  X(messages_bundled, "those of them that shared a packet with others of their sender")            \
  X(parts_sent, "parts of large messages that went ahead of them, as their senders could pay")     \
  X(messages_delivered, "messages delivered to local clients, counted per client")                 \
  X(bytes_delivered, "payload bytes delivered to local clients")                                   \
  X(order_records_sent, "order records sent as the sequencer")                                     \
  X(order_runs, "runs appended to the order")                                                      \
  X(ordered_lost, "ordered messages lost with their senders in a view change")                     \
  X(prices_told, "prices told of links and clients of this daemon")                                \
  X(prices_heard, "prices of other daemons that were news")                                        \
  X(packets_paid, "packets of up to 1,400 bytes that local clients paid for")                      \
  X(cents_paid, "what they paid, in hundredths of a dollar")                                       \
  X(messages_blocked, "messages, or parts of them, that waited until their sender could pay")      \
  X(messages_held_for_room, "messages that had to wait for room, or for a view change")            \
  X(group_views, "group views delivered to local clients")                                         \
  X(flush_requests, "requests to flush a synchronous group delivered to local clients")            \
  X(flushes_sent, "times that all members here had flushed a synchronous group")                   \
  X(flush_timeouts, "clients taken out of a synchronous group that did not answer in time")        \
  X(sessions_opened, "client sessions opened")                                                     \
  X(sessions_refused, "client connections refused in the handshake")                               \
  X(sessions_closed, "client sessions closed")                                                     \
  X(sessions_slow, "clients cut off because they did not read")                                    \
  X(sessions_detached, "client sessions that waited for their client to come back")                \
  X(sessions_resumed, "client sessions that their client came back to")                            \
  X(queue_warnings, "warnings that the queue of a client has grown long")                          \
  X(messages_dropped, "messages dropped for clients that did not keep up, counted per client")     \
  X(bytes_dropped, "payload bytes of those messages")                                              \
  X(client_frames_bad, "clients cut off for a frame that is malformed, too large or out of place") \
  X(access_denied, "messages, requests and names of clients refused by rules of access")           \
  X(tokens_refused, "clients refused for a token that is unknown, expired, exposed or missing")    \
  X(bulk_symbols_relayed, "symbols of bulk channels given to daemons and clients")                 \
  X(bulk_bytes_relayed, "bytes of those symbols")                                                  \
  X(bulk_symbols_overwritten, "symbols that had gone before a child had room, counted per child")  \
  X(bulk_symbols_needless, "symbols of bulk channels that came though all here had their blocks")  \
  X(bulk_symbols_of_peers, "symbols of bulk channels that came of peers in a mesh")                \
  X(bulk_symbols_of_peers_useless, "of these, that were here already")                             \
  X(bulk_needs_in, "needs of bulk channels received from daemons and clients")                     \
  X(bulk_needs_out, "needs of bulk channels told to parents")                                      \
  X(bulk_backups_asked, "times that a backup parent was asked, as the parent was gone or silent")  \
  X(bulk_plans_made, "trees of bulk channels that this daemon has planned")                        \
  X(bulk_plans_followed, "trees of bulk channels that this daemon has taken its place in")         \
  X(bulk_hops_opened, "hops to other daemons that were opened")                                    \
  X(bulk_hops_idle, "hops closed because no bulk channel needed them any more")                    \
  X(bulk_yields, "times that a hop's rate was made less, as ordered messages go first")            \
  X(bulk_capacities_told, "times that what links carry was told to the other daemons")             \
  X(feeds_opened, "feeds that local clients have opened")                                          \
  X(feed_packets_sent, "packets of feeds of local clients")                                        \
  X(feed_packets_in, "packets of feeds received from neighbours, repairs left out")                \
  X(feed_packets_delivered, "packets of feeds given to local listeners, counted per listener")     \
  X(feed_packets_lost, "packets of feeds that local listeners, or relays, have given up")          \
  X(feed_naks_sent, "requests for packets of feeds that this daemon lacks")                        \
  X(feed_naks_in, "requests for packets of feeds received from neighbours")                        \
  X(feed_naks_refused, "requests for packets of neighbours that send too many")                    \
  X(feed_repairs_sent, "packets of feeds sent again by this daemon because somebody asked")        \
  X(feed_repairs_in, "packets of feeds received that somebody had asked for")                      \
  X(feed_repairs_refused, "packets asked for that were not sent, as a link had had enough")        \
  X(feed_reductions, "times that losses have reduced the rate of a feed of this daemon")           \
  X(feed_packets_yielded, "packets of feeds dropped because ordered messages waited for the link") \
  X(feed_frames_early, "frames of feeds that have waited for the view that they are of")           \
  X(feed_frames_stray, "frames of feeds dropped because they are of a view that is over")          \
  X(admin_requests, "administration requests answered")                                            \
  X(admin_frames_bad, "administration connections closed for a bad request")                       \
  X(log_lines_lost, "lines of the log lost because nobody read it or it could not be written")     \
  X(log_lines_left_out, "lines of the log left out because there were many of their kind")

namespace spindled {

enum class Counter : std::uint16_t {
#define SPINDLE_COUNTER(name, text) name,
  SPINDLE_COUNTERS(SPINDLE_COUNTER)
#undef SPINDLE_COUNTER
      count_
};

inline constexpr std::size_t kCounterCount = static_cast<std::size_t>(Counter::count_);

std::string_view to_string(Counter counter);
std::string_view describe(Counter counter);

class Counters {
 public:
  void add(Counter counter, std::uint64_t amount = 1) { values_[static_cast<std::size_t>(counter)] += amount; }
  /// For what is counted elsewhere.
  void set(Counter counter, std::uint64_t value) { values_[static_cast<std::size_t>(counter)] = value; }
  std::uint64_t value(Counter counter) const { return values_[static_cast<std::size_t>(counter)]; }

  /// Counts a connection closed for `code`, per code: a close looks the same to the peer, in the log and here.
  void add_close(std::uint16_t code) { ++closes_[code < kCloseCodes ? code : 0]; }
  std::uint64_t closes(std::uint16_t code) const { return code < kCloseCodes ? closes_[code] : 0; }
  static constexpr std::uint16_t kCloseCodes = 64;

 private:
  std::array<std::uint64_t, kCounterCount> values_{};
  std::array<std::uint64_t, kCloseCodes> closes_{};
};

}  // namespace spindled
