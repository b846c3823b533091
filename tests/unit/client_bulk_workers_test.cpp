// The threads that do the jobs of bulk content.
#include "libclient/src/bulk_workers.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <system_error>

#include "tests/unit/client_no_threads.h"

namespace spindle {
namespace {

/// Of the thread that calls it.
int niceness() { return ::getpriority(PRIO_PROCESS, 0); }

TEST(BulkWorkers, GiveWayToOtherThreads) {
  const int own = niceness();
  BulkWorkers workers;
  workers.start(1);
  std::promise<int> of_worker;
  workers.add([&] { of_worker.set_value(niceness()); });
  EXPECT_EQ(of_worker.get_future().get(), std::min(own + 13, 19));
  EXPECT_EQ(niceness(), own);
  workers.stop();
}

#ifdef __GLIBC__
TEST(BulkWorkers, ThatHaveBegunAreStoppedWhereThereCanBeNoMore) {
  BulkWorkers workers;
  workers.start(2);
  {
    const test::NoThreads none;
    EXPECT_THROW(workers.start(1), std::system_error);
  }
  workers.stop();
}
#endif

}  // namespace
}  // namespace spindle
