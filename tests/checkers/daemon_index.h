// The daemons' histories, with messages and views by number.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/checkers/history.h"

namespace spindled::checkers {

inline constexpr std::size_t kNone = SIZE_MAX;

/// What the checkers of daemons look up. Refers to the history that it is made from.
class DaemonIndex {
 public:
  /// `at_rest`: nothing is on its way any more, so what has not happened does not happen. Taken back where a view was
  /// installed in the last second before the end.
  DaemonIndex(const History& history, bool at_rest = false);  // NOLINT(google-explicit-constructor): for short calls

  /// A message, by its place in its view's list.
  using MessageId = std::uint32_t;
  enum class State : std::uint8_t { not_delivered, regular, transitional };

  struct Message {
    MemberIndex origin = 0;
    std::uint64_t number = 0;                // 0: unreliable
    const Originated* originated = nullptr;  // nullptr: its origin did not originate it in this view
    const HandedUp* handed_up = nullptr;     // somewhere; nullptr: nowhere
    std::size_t sender = 0;                  // a number in the view for its origin and sender together
    std::size_t place = 0;  // among the sender's messages in the view that are fifo or stronger, from 1

    Service service() const { return originated != nullptr ? originated->service : handed_up->service; }
    MessageClass message_class() const {
      return originated != nullptr ? originated->message_class : handed_up->message_class;
    }
    bool is_for(MemberIndex member) const { return originated != nullptr && originated->destinations.contains(member); }
    bool is_lossless() const { return service() != Service::unreliable; }
  };
  /// A daemon originated a message, or (`handed_up`) handed it up.
  struct Deed {
    MessageId message = 0;
    const HandedUp* handed_up = nullptr;
    bool transitional = false;  // behind the signal
  };
  /// One daemon in one view.
  struct Stay {
    const DaemonHistory* daemon = nullptr;
    const ViewInstalled* installed = nullptr;
    std::size_t view = 0;
    std::optional<MemberIndex> self;  // nothing: it is no member of the view that it installed
    std::size_t previous = kNone;     // the stays of the same life before and after
    std::size_t next = kNone;
    const Signal* signal = nullptr;
    std::size_t signals = 0;
    std::vector<Deed> deeds;
    std::vector<State> states;  // by message of the view
    std::vector<MessageId> duplicates;

    bool has(MessageId message) const { return states[message] != State::not_delivered; }
    /// The daemon ended in this view.
    bool is_cut_off() const { return next == kNone && !daemon->is_running(); }
  };
  struct View {
    ViewId id;
    const std::vector<DaemonId>* members = nullptr;
    std::vector<std::size_t> stays;  // by member; kNone where it never installed the view
    std::vector<Message> messages;
    std::vector<std::vector<MessageId>> of_sender;  // by sender: its messages that are fifo or stronger, in order
    DaemonId coordinator() const;
    std::optional<MemberIndex> index_of(const DaemonId& daemon) const;
  };

  bool at_rest() const { return at_rest_; }
  const std::vector<View>& views() const { return views_; }
  const std::vector<Stay>& stays() const { return stays_; }
  const Stay& stay(std::size_t index) const { return stays_[index]; }
  const View& view_of(const Stay& stay) const { return views_[stay.view]; }
  /// The stays of all daemons that installed `view`.
  std::vector<const Stay*> stays_in(const View& view) const;
  /// The stays of all daemons in their last views.
  std::vector<const Stay*> last_stays() const;
  /// Those who moved together from `view` to one next view, each set once; they are told by their next stays.
  std::vector<std::vector<const Stay*>> moved_together(std::size_t view) const;

  std::string to_text(const View& view) const { return to_string(view.id); }
  std::string to_text(const View& view, MessageId message) const;

 private:
  struct Lookup {
    std::unordered_map<std::uint64_t, MessageId> numbered;    // by origin and number
    std::unordered_map<std::uint64_t, MessageId> unreliable;  // by origin and digest
    std::map<std::pair<MemberIndex, std::uint64_t>, std::size_t> senders;
  };

  static bool is_view_new(const History& history);
  void read_views(const DaemonHistory& daemon);
  void read_deeds(const DaemonHistory& daemon, std::size_t first_stay);
  std::size_t find_view(const ViewInstalled& installed);
  void add(std::size_t stay, const Originated& originated);
  MessageId find(std::size_t view, const HandedUp& handed_up);
  MessageId& entry(std::size_t view, MemberIndex origin, std::uint64_t number, std::uint64_t digest);

  bool at_rest_;
  std::vector<View> views_;
  std::vector<Stay> stays_;
  std::vector<Lookup> lookups_;  // by view; while reading
  std::map<ViewId, std::vector<std::size_t>> views_by_id_;
};

inline std::string to_text(const DaemonId& daemon) { return fmt::format("{}/{:x}", daemon.name, daemon.incarnation); }

}  // namespace spindled::checkers
