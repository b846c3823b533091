#include "libclient/src/bulk_workers.h"

#include <unistd.h>

#include "libclient/src/blocked_signals.h"

namespace spindle {

namespace {

/// By which a thread has 56 where another one has 1,024: bulk.share, for processors.
constexpr int kNiceness = 13;

}  // namespace

void give_way() { [[maybe_unused]] const int niceness = ::nice(kNiceness); }

void BulkWorkers::start(unsigned threads) {
  const BlockedSignals blocked;
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void BulkWorkers::add(Job job) {
  const std::lock_guard lock(mutex_);
  if (stop_) return;
  jobs_.push_back(std::move(job));
  news_.notify_one();
}

void BulkWorkers::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return jobs_.empty() && under_way_ == 0; });
}

void BulkWorkers::stop() {
  std::deque<Job> dropped;  // without the lock
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    dropped.swap(jobs_);
    news_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void BulkWorkers::run() {
  give_way();
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    if (stop_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++under_way_;
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    --under_way_;
    if (jobs_.empty() && under_way_ == 0) idle_.notify_all();
  }
}

}  // namespace spindle
