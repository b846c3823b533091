// The connections between this daemon and others.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/link/link.h"
#include "daemon/link/link_id.h"

namespace spindled {

/// Finds them by connection, and those that are established by id and by peer; and knows which have something to write,
/// and which have a deadline. What becomes of a connection is decided elsewhere.
class LinkTable {
 public:
  Link& add(std::unique_ptr<Link> link);
  /// It is found no more. It lasts until `forget_removed`, for its frames may be being handled.
  void remove(Link& link);
  void forget_removed() { removed_.clear(); }

  Link* find(ConnectionId connection) const;
  bool empty() const { return by_connection_.empty(); }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [connection, link] : by_connection_) visit(*link);
  }
  /// The same, where `visit` may remove any.
  template <typename Visit>
  void for_each_of_now(Visit&& visit) const {
    std::vector<ConnectionId> connections;
    for (const auto& [connection, link] : by_connection_) connections.push_back(connection);
    for (const ConnectionId connection : connections) {
      if (Link* link = find(connection)) visit(*link);
    }
  }

  // Established links.

  /// Whether it has got an id: none is free beyond kLinksMax. No other link to its peer is established.
  bool take_id(Link& link);
  /// It is no longer the link to its peer. Its id stays its own until `free_id`.
  void forget_peer(const Link& link) { by_peer_.erase(link.peer()); }
  void free_id(Link& link);

  std::size_t established_count() const { return by_peer_.size(); }
  bool is_established(LinkId id) const { return find_established(id) != nullptr; }
  Link* find_established(LinkId id) const {
    const auto index = static_cast<std::size_t>(id);
    Link* link = index < by_id_.size() ? by_id_[index] : nullptr;
    return link != nullptr && link->is_established() ? link : nullptr;
  }
  /// The link of an id that is taken.
  Link& at(LinkId id) const;
  Link* established_to(const DaemonId& peer) const;
  /// Of the daemons of that name, or the lives of one, the one whose link came up last.
  Link* established_to(std::string_view name) const;
  /// By ascending id; `visit` may end any.
  template <typename Visit>
  void for_each_established(Visit&& visit) const {
    for (std::size_t i = 0; i < by_id_.size(); ++i) {
      if (Link* link = find_established(static_cast<LinkId>(i))) visit(*link);
    }
  }

  // What there is to do.

  /// It has something to write.
  void mark_dirty(Link& link) {
    overflow_ |= link.overflowed();
    if (!std::exchange(link.marks.dirty, true)) dirty_.push_back(link.connection());
  }
  std::vector<ConnectionId>& dirty() { return dirty_; }
  /// Whether some link may have exceeded its queue since the last call.
  bool take_overflow() { return std::exchange(overflow_, false); }

  /// Until when it has to become a link, or to be gone; kNever: as long as it likes.
  void set_deadline(Link& link, Time deadline);
  Time next_deadline() const { return deadlines_.empty() ? kNever : deadlines_.begin()->first; }
  /// One whose deadline has come: it has none any more.
  Link* take_due(Time now);

 private:
  std::map<ConnectionId, std::unique_ptr<Link>> by_connection_;  // all
  std::vector<Link*> by_id_;                                     // established, or just ended
  std::map<DaemonId, Link*> by_peer_;                            // the established ones
  std::set<std::pair<Time, ConnectionId>> deadlines_;
  std::vector<ConnectionId> dirty_;
  std::vector<std::unique_ptr<Link>> removed_;
  bool overflow_ = false;
};

}  // namespace spindled
