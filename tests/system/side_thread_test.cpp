// A thread that stays: its work, what the work throws, and its end.
#include "eggroll/side_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace eggroll::test {
namespace {

// By how long the thread stays awake, in microseconds.
class SideThreadTest : public testing::TestWithParam<int> {
 protected:
  SideThread thread_{std::chrono::microseconds(GetParam())};
};

TEST_P(SideThreadTest, DoesOnePieceOfWorkAfterAnother) {
  int done = 0;
  for (int i = 0; i < 1000; ++i) {
    thread_.start([&, i] { done += i; });
    thread_.wait();
  }
  EXPECT_EQ(done, 999 * 1000 / 2);
}

TEST_P(SideThreadTest, WorksBesideTheCaller) {
  std::atomic<bool> seen = false;
  thread_.start([&] {
    while (!seen) {
    }
  });
  seen = true;
  thread_.wait();
}

TEST_P(SideThreadTest, ThrowsWhatTheWorkThrewAndGoesOn) {
  thread_.start([] { throw std::runtime_error("full"); });
  EXPECT_THROW(thread_.wait(), std::runtime_error);
  bool done = false;
  thread_.start([&] { done = true; });
  thread_.wait();
  EXPECT_TRUE(done);
}

TEST_P(SideThreadTest, EndsAfterItsWork) {
  std::atomic<bool> done = false;
  {
    SideThread other{std::chrono::microseconds(GetParam())};
    other.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

INSTANTIATE_TEST_SUITE_P(Awake, SideThreadTest, testing::Values(0, 1000));

}  // namespace
}  // namespace eggroll::test
