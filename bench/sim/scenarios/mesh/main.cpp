// scenario_mesh: the experiments of Bullet, with the daemon's own code for the mesh of bulk channels.
// docs/performance.md says what the experiments are.
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "bench/sim/scenarios/mesh/experiments.h"
#include "bench/sim/scenarios/mesh/trial.h"

namespace {

/// What this thread has taken of the heap and not given back.
thread_local std::int64_t heap_bytes = 0;

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  heap_bytes += static_cast<std::int64_t>(::malloc_usable_size(block));
  return block;
}

void give_back(void* block) {
  if (block != nullptr) heap_bytes -= static_cast<std::int64_t>(::malloc_usable_size(block));
  std::free(block);
}

}  // namespace

// An experiment runs in one thread.
void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  mesh::heap_bytes_of_thread = [] { return heap_bytes; };
  return run_experiments({.name = "scenario_mesh",
                          .description = "What the mesh of bulk channels makes of the networks of the paper on Bullet",
                          .results = "mesh",
                          .experiments = mesh::experiments()},
                         argc, argv);
}
