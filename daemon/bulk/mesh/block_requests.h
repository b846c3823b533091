// Which blocks a member asks of peers that have all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/random.h"
#include "daemon/base/time.h"
#include "daemon/bulk/mesh/holding.h"
#include "libclient/bulk/block_set.h"

namespace spindled::mesh {

/// Who is far behind, as one that has come late is, is given what it lacks by its parent, from the first block on. It
/// asks peers for blocks besides, from the other end. A block is asked of one sender at a time, and a sender for a few
/// blocks at a time: as many as it gives in a while. Each goes on with the block below its last one, so that what is
/// here has few gaps, and can be told in few words.
class BlockRequests {
 public:
  static constexpr std::size_t kOfSenderMax = 4;
  /// Who lacks fewer blocks that peers have gets them sooner of its parent.
  static constexpr std::uint32_t kLeast = 2;
  /// What a sender has not had for so long may be on its way along the tree.
  static constexpr Duration kTreeDelay = 1s;
  /// A sender that gives nothing of what it was asked for is asked for nothing for as long again.
  static constexpr Duration kPatience = 3s;
  /// A sender is asked for as many blocks as it gives in this time, and for one more.
  static constexpr Duration kAhead = 500ms;
  /// What a sender has said of what it has holds for so long, while there is something to ask for.
  static constexpr Duration kHoldingAge = 2500ms;
  /// Where everything is asked for, what was asked for so long ago others may give as well.
  static constexpr Duration kEnd = 2s;

  explicit BlockRequests(Random random) : random_(random) {}

  /// A sender says what it has.
  void holding_received(Time now, MemberIndex sender, const Holding& holding);
  /// Of use.
  void symbol_received(Time now, MemberIndex sender, std::uint32_t block);
  /// It sends no more. Whether it was known.
  bool forget(MemberIndex sender) { return senders_.erase(sender) != 0; }

  /// What is not lacking any more is asked for no more, and senders are asked for others.
  void renew(Time now, const spindle::bulk::BlockSet& lacked);
  /// Senders that have not been told what is wanted of them now, or where `is_behind`, or any is asked for something,
  /// may have more than they have said.
  std::vector<MemberIndex> untold(Time now, bool is_behind) const;
  /// The first one first.
  std::vector<std::uint32_t> asked_of(MemberIndex sender) const;
  /// It has been told that, and says what it has in answer.
  void note_told(Time now, MemberIndex sender);
  /// Those that nobody else is to give.
  spindle::bulk::BlockSet asked(Time now) const;
  /// Nobody is asked for anything.
  bool is_idle() const;

 private:
  struct Request {
    std::uint32_t block = 0;
    Time since{};
  };
  struct Sender {
    spindle::bulk::BlockSet told{};  // what it has, by its latest word,
    Time told_at{};                  // then,
    spindle::bulk::BlockSet held{};  // and what it has had for a while
    std::vector<Request> asked{};
    std::optional<std::uint32_t> last{};  // that it was asked for
    Time heard_at{};                      // something of what it was asked for has come, or since when it is asked
    Time gave_at{};                       // the last block that is complete,
    Duration of_block = kAhead;           // and how long that took
    Time asked_from{};                    // not before
    bool is_told = true;                  // what it is asked for,
    Time asked_at{};                      // then
  };

  /// Requests that are met, or in vain.
  static void clear(Time now, const spindle::bulk::BlockSet& lacked, Sender& sender);
  static std::size_t window(const Sender& sender);
  std::optional<std::uint32_t> pick(const Sender& sender, const spindle::bulk::BlockSet& free);

  std::map<MemberIndex, Sender> senders_;
  Random random_;
  bool is_all_asked_ = false;
};

}  // namespace spindled::mesh
