// Memory for events that are received together.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "bindings/c/src/handles.h"

namespace spindle::c {

/// Some events in one piece of memory, which goes when the last of them is freed, by whatever thread: most programs
/// free what they have received together soon after each other, and memory for each alone would cost more than all else
/// here.
struct EventBlock {
  /// Little enough for a program that keeps one of them.
  static constexpr std::size_t kEventsMax = 16;

  /// Null without memory. It belongs to the caller until release().
  static EventBlock* make(std::size_t room) {
    void* memory = std::malloc(sizeof(EventBlock) + room * sizeof(spindle_event));
    return memory == nullptr ? nullptr : new (memory) EventBlock();
  }

  /// The next event of the block, of which there is one less to be had.
  spindle_event* add(Event&& event) {
    users.fetch_add(1, std::memory_order_relaxed);
    return new (reinterpret_cast<spindle_event*>(this + 1) + count++) spindle_event{std::move(event), this};
  }

  /// The caller, or an event, needs the block no longer.
  void release() {
    if (users.fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(this);
  }

  std::atomic<std::size_t> users{1};
  std::size_t count = 0;
};
static_assert(sizeof(EventBlock) % alignof(spindle_event) == 0 && std::is_trivially_destructible_v<EventBlock>);

/// The maker's hold on a block.
struct ReleaseBlock {
  void operator()(EventBlock* block) const { block->release(); }
};
using BlockPointer = std::unique_ptr<EventBlock, ReleaseBlock>;

}  // namespace spindle::c
