#include "daemon/session/memory_relief.h"

#include <algorithm>

namespace spindled {

namespace {
/// Of the limit, half of which is for what is on its way: what messages may take that are not complete or wait, and
/// what definitions may.
constexpr std::size_t kUnfinishedPercent = 20;
constexpr std::size_t kDefinitionsPercent = 25;
/// What a client takes that holds nothing, roughly.
constexpr std::size_t kSessionBytes = 4u << 10;
/// Who holds less is not worth cutting off: of all, and of those who read nothing.
constexpr std::size_t kLargeBytes = 16u << 10;
constexpr std::size_t kLargeWhereStalled = 4u << 10;
/// Who has let something lie for so long does not go on with it. Another's turn comes sooner.
constexpr Duration kStalled = QueueWatch::kStalled;
constexpr Duration kPaused = 200ms;
/// Sessions that are cut off in a turn, and how often all are looked at where there are none.
constexpr std::size_t kCutOffMax = 16;
constexpr Duration kLookAgain = 10ms;

Error explain(const SessionMemory& memory, std::string_view limit, std::size_t bytes_max) {
  const bool is_queue = memory.queued > memory.total() / 2;
  std::string text = fmt::format(
      "it holds {} bytes of the daemon's memory: {} of messages that are not complete or wait, {} of definitions, {} "
      "that it has not read; {} is {}",
      memory.total(), memory.unfinished + memory.held, memory.definitions, memory.queued, limit, bytes_max);
  return {is_queue ? Errc::slow_receiver : Errc::limit_exceeded, std::move(text)};
}

/// Something waits for the client, and it has not read for a while.
bool is_stalled(Time now, const Session& session) {
  return session.marks.blocked && !session.queue().empty() && now - session.watch().progress_at() >= kStalled;
}
}  // namespace

MemoryRelief::MemoryRelief(Context& context, const SessionTable& sessions)
    : context_(context), log_(context.log_sink, "session"), sessions_(sessions) {}

void MemoryRelief::change(const SessionMemory& before, const SessionMemory& after) {
  definitions_ += after.definitions - before.definitions;
  unfinished_ += after.unfinished - before.unfinished;
  heap_ += after.heap - before.heap;
}

bool MemoryRelief::is_crowded() const {
  const MemoryBudget& memory = context_.memory;
  return memory.is_short() || unfinished_ > memory.limit() / 100 * kUnfinishedPercent;
}

void MemoryRelief::count(Session& session) {
  const SessionMemory memory = session.memory();
  change(std::exchange(session.marks.counted, memory), memory);
  session.quota().note_memory(memory.total());
}

std::optional<Error> MemoryRelief::objection_to(Time now, Session& session) const {
  if (session.state() != Session::State::open) return std::nullopt;
  if (std::optional<Error> error = session.quota().objection_to_memory()) return error;
  const SessionMemory& memory = session.marks.counted;
  const std::size_t bytes_max = context_.config.session.client_memory_bytes_max;
  // What others have sent is not its own doing while it reads.
  const std::size_t excused = session.watch().is_paid_for(now) ? memory.queued : 0;
  if (memory.total() - excused <= bytes_max) return std::nullopt;
  return explain(memory, "session.client_memory_max_bytes", bytes_max);
}

bool MemoryRelief::look(Time now) {
  MemoryBudget& memory = context_.memory;
  memory.set(MemoryBudget::Use::definitions, definitions_);
  memory.set(MemoryBudget::Use::waiting, heap_);
  memory.set(MemoryBudget::Use::clients, sessions_.size() * kSessionBytes);
  const bool was_short = std::exchange(is_short_, memory.is_short());
  const bool was_full = std::exchange(is_full_, memory.is_full());
  if (is_full_ && !was_full) {
    log_.warning(
        "memory is used up, {} of {} bytes (limits.memory_bytes): newcomers and new groups are refused, and clients "
        "that let lie what they hold are cut off",
        memory.used(), memory.limit());
  } else if (is_short_ && !was_short) {
    log_.warning(
        "memory is short, {} of {} bytes (limits.memory_bytes) are used: no message of more than 32 KiB is begun",
        memory.used(), memory.limit());
  }
  if (is_crowded()) return choose_who_goes_on(now);
  going_on_ = 0;
  return std::exchange(has_paused_, false);
}

bool MemoryRelief::choose_who_goes_on(Time now) {
  if (nobody_to_choose_) return false;
  const Session* current = sessions_.find(going_on_);
  const bool has_begun = current != nullptr && current->ingress().has_begun();
  if (has_begun && !current->ingress().has_complete()) {
    const Time since = current->unfinished_since();
    if (since == kNever || now - since < kPaused) return false;
  }
  // The one that has least left is complete soonest, and then lets go of all.
  const Session* next = nullptr;
  bool are_complete = false;  // some: they wait for their price, or for room, and give up what they hold then
  sessions_.for_each([&](const Session& session) {
    if (session.state() != Session::State::open || session.marks.lost || !session.is_waiting()) return;
    are_complete = are_complete || session.ingress().has_complete();
    const std::size_t missing = session.ingress().missing_bytes();
    if (missing == 0 || session.id() == going_on_) return;
    if (next == nullptr || missing < next->ingress().missing_bytes()) next = &session;
  });
  nobody_to_choose_ = next == nullptr;
  if (next == nullptr) return false;
  if (are_complete && !context_.memory.has_room_for(next->ingress().missing_bytes())) return false;
  going_on_ = next->id();
  return true;
}

bool MemoryRelief::has_too_many_definitions() const {
  return definitions_ > context_.memory.limit() / 100 * kDefinitionsPercent;
}

std::vector<Session*> MemoryRelief::find_largest(Time now) {
  std::vector<Session*> found;
  if (!is_overdrawn() || now < look_again_at_) return found;
  std::vector<std::pair<double, Session*>> candidates;
  sessions_.for_each([&](Session& session) {
    const double weight = weight_of(now, session);
    if (weight > 0) candidates.emplace_back(weight, &session);
  });
  const auto heavier = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->id() < b.second->id();
  };
  const std::size_t count = std::min(candidates.size(), kCutOffMax);
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end(),
                    heavier);
  for (std::size_t i = 0; i < count; ++i) found.push_back(candidates[i].second);
  if (found.empty()) look_again_at_ = now + kLookAgain;
  return found;
}

/// First those who have begun something and let it lie, the more and the longer the sooner; then those who do not read;
/// and only beyond the limit whoever holds much. None of another kind weighs as much as the least of one before.
double MemoryRelief::weight_of(Time now, const Session& session) const {
  constexpr double kKind = 1e15;
  if (session.state() != Session::State::open || session.marks.lost) return 0;
  const SessionMemory& memory = session.marks.counted;
  if (!context_.memory.is_full()) {
    return memory.definitions >= kLargeBytes ? static_cast<double>(memory.definitions) : 0;
  }
  const auto total = static_cast<double>(memory.total());
  const Time since = session.unfinished_since();
  if (memory.unfinished >= kLargeBytes && since != kNever && now - since >= kStalled) {
    return 2 * kKind + static_cast<double>(memory.unfinished) * to_seconds(now - since);
  }
  if (memory.total() >= kLargeWhereStalled && is_stalled(now, session)) return kKind + total;
  return memory.total() >= kLargeBytes && context_.memory.is_exceeded() ? total : 0;
}

Error MemoryRelief::reason_for(const Session& session) const {
  const std::string_view limit = context_.memory.is_exceeded() ? "more than all memory is used: limits.memory_bytes"
                                 : context_.memory.is_full()
                                     ? "memory is used up: limits.memory_bytes"
                                     : "the definitions of all clients have a quarter of limits.memory_bytes, which";
  return explain(session.memory(), limit, context_.memory.limit());
}

}  // namespace spindled
