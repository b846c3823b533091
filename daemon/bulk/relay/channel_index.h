// The index of one channel at a daemon: the hashes of all blocks, who gives them and who gets them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "daemon/bulk/relay/relay_output.h"
#include "libclient/bulk/block_index.h"
#include "libclient/bulk/bulk_frames.h"

namespace spindled {

/// Until the content is sealed hashes are passed on as they come from upstreams, each once and in order: nobody can say
/// yet whether they are right. From then on the root says so, which is in the ordered state, and only an index that it
/// proves is passed on. One that it does not prove is dropped, and whoever has been given any of it gets another.
///
/// Where the index of sealed content is lacking and nothing of it comes, one side after the other is asked for all of
/// it: first those that say that they know it, local clients or daemons below, then upstreams. What a side gives
/// because it was asked stays apart until it is whole. A side that has given wrong ones is listened to no more, and
/// each side is given the index a few times at most: nobody can have others send much, or hash much, for little of his
/// own.
class ChannelIndex {
 public:
  /// Both outlive it.
  ChannelIndex(RelayOutput& output, const spindle::bulk::Hasher& hasher) : output_(output), hasher_(hasher) {}

  /// The content has so many blocks, and their hashes that root. Counts once.
  void seal(Time now, std::uint32_t blocks, const spindle::bulk::BlockHash& root);

  // Sides. One connection can be all of them.

  /// Gives hashes without being asked.
  void add_upstream(ConnectionId id) { sides_[id].is_upstream = true; }
  /// Is given them without asking.
  void add_child(ConnectionId id) { sides_[id].is_child = true; }
  void remove_upstream(ConnectionId id);
  void remove_child(ConnectionId id);
  /// Whether it says that it knows the whole index. Of a connection that is neither it counts not.
  void set_knows(ConnectionId id, bool knows);

  // What comes in.

  /// Hashes of blocks from `first` on. What does not continue those that have come is dropped: who gives begins with
  /// the first.
  void received(Time now, ConnectionId from, std::uint32_t first, ByteView hashes);
  /// It asks for the index from the first block on: it has none, or was told a wrong one.
  void asked_for(ConnectionId by);

  // What goes out.

  struct Part {
    std::uint32_t first = 0;
    ByteView hashes;  // valid until the next call
  };
  /// Hashes that the connection has not been given; empty: none. They count as given.
  Part next(ConnectionId to);
  void handle_time(Time now);

  /// Blocks whose hashes are here, from the first on.
  std::uint32_t count() const { return static_cast<std::uint32_t>(hashes_.size() / spindle::bulk::kBlockHashBytes); }
  /// Whether the whole index is here, and the root proves it.
  bool is_right() const { return is_right_; }
  /// Since when the content has been sealed and the index lacking.
  std::optional<Time> lacking_since() const {
    return root_ && !is_right_ ? std::optional(lacking_since_) : std::nullopt;
  }
  std::size_t bytes() const { return hashes_.capacity() + (asked_ ? asked_->hashes.capacity() : 0); }
  /// Indexes that the root did not prove.
  std::uint64_t wrong() const { return wrong_; }

  /// Where nothing of an index has come for so long, the next side is asked for it; and longer each time, as the way to
  /// it may be long.
  static constexpr Duration kPatience = 500ms;
  static constexpr Duration kPatienceMax = 16s;
  /// Where it has not come whole for so long, little by little.
  static constexpr Duration kSlow = 30s;
  /// Wrong indexes that a side may give: one that had not heard of the seal may have passed on what it was given.
  static constexpr std::uint32_t kWrongMax = 3;
  /// How often a side may ask for an index that it was given.
  static constexpr std::uint32_t kAgainMax = 8;

 private:
  struct Side {
    bool is_upstream = false;
    bool is_child = false;
    bool knows = false;
    bool is_asking = false;   // though it is no child
    std::size_t given = 0;    // blocks
    std::uint32_t again = 0;  // how often it has asked for what it had been given
    std::uint32_t wrong = 0;  // indexes that it has given
    std::uint32_t asked = 0;  // how often it was
  };
  struct Asked {
    ConnectionId side{};
    std::vector<std::uint8_t> hashes;
  };
  using Sides = std::map<ConnectionId, Side>;

  bool append(std::vector<std::uint8_t>& to, std::uint32_t first, ByteView hashes) const;
  bool is_whole(const std::vector<std::uint8_t>& hashes) const;
  bool is_proved(const std::vector<std::uint8_t>& hashes) const;
  /// What upstreams have given is whole: whether it is right.
  void look_at_hashes(Time now);
  void look_at_answer(Time now);
  void begin_anew();
  void blame(ConnectionId side);
  void ask(Time now);
  void tell_children();
  void erase_if_gone(Sides::iterator side);

  RelayOutput& output_;
  const spindle::bulk::Hasher& hasher_;
  std::optional<spindle::bulk::BlockHash> root_;  // nothing: not sealed
  std::uint32_t blocks_ = spindle::bulk::kBlocksMax;
  std::vector<std::uint8_t> hashes_;        // as upstreams give them; once the index is right, all
  std::optional<ConnectionId> only_giver_;  // of all of `hashes_`; nothing: they are of several, or there are none
  bool is_right_ = false;
  std::optional<Asked> asked_;
  Sides sides_;
  Time heard_at_{};  // of the index, or asked for it
  Time asked_at_{};
  Duration patience_ = kPatience;
  Time lacking_since_{};
  std::uint64_t wrong_ = 0;
};

}  // namespace spindled
