// The members of each process.
#include <gmock/gmock.h>

#include "eggroll/error.h"
#include "processes/processes.h"

namespace eggroll::test {
namespace {

TEST(Shares, CoverThePopulationInOrder) {
  for (const uint32_t processes : {1U, 2U, 3U, 5U, 24U, 48U}) {
    uint32_t next = 0;
    for (const MemberShare& share : shares_of(96, 4, processes)) {
      EXPECT_EQ(share.first, next);
      EXPECT_GT(share.count, 0U);
      next += share.count;
    }
    EXPECT_EQ(next, 96U);
  }
}

// A stream that two processes read costs each a call of its own.
TEST(Shares, AreOfWholeGroupsWhereThereAreAsMany) {
  for (const MemberShare& share : shares_of(96, 8, 5)) EXPECT_EQ(share.first % 8, 0U);
  for (const MemberShare& share : shares_of(96, 96, 5)) EXPECT_EQ(share.first % 2, 0U);
}

TEST(Shares, AreEven) {
  for (const MemberShare& share : shares_of(1024, 16, 3)) EXPECT_NEAR(share.count, 1024.0 / 3.0, 16.0);
  for (const MemberShare& share : shares_of(1024, 1024, 3)) EXPECT_NEAR(share.count, 1024.0 / 3.0, 2.0);
}

TEST(Shares, MoreProcessesThanPairsAreRefused) {
  try {
    shares_of(8, 8, 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("5 processes share 8 members"));
    EXPECT_THAT(error.what(), testing::HasSubstr("start 4 or fewer"));
  }
}

TEST(Processes, AloneAllIsItsOwn) {
  Processes processes;
  EXPECT_TRUE(processes.alone());
  EXPECT_TRUE(processes.is_first());
  EXPECT_EQ(processes.gather(7), std::vector<int>{7});
  EXPECT_EQ(processes.broadcast(std::string("text")), "text");
  std::vector<uint8_t> all;
  processes.begin_gather(std::vector<uint8_t>{1, 2}, {2}, all);
  processes.end_gather();
  EXPECT_EQ(all, (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(processes.collect(std::vector<int8_t>{3}, {1}), std::vector<int8_t>{3});
}

}  // namespace
}  // namespace eggroll::test
