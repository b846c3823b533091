#include "bench/micro/instructions/meter.h"

namespace spindled::bench {

void spindle_toggle_count(void (*work)(void*), void* argument) {
  work(argument);
  // The call above must not become a jump, which would leave this function too early.
  asm volatile("" ::: "memory");
}

}  // namespace spindled::bench
