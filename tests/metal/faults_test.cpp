// The shim finds three kinds of fault: a missing barrier, an access beyond a buffer's end, and host and kernel that do
// not name the same buffers.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "eggroll/error.h"
#include "shim_device.h"
#include "shim_kernels.h"
#include "small_program.h"
#include "threadgroup.h"

namespace eggroll::metal {
namespace {

class FaultTest : public testing::Test {
 protected:
  void TearDown() override {
    shim::leave_out_barrier("");
    shim_faults() = ShimFaults{};
  }
};

TEST_F(FaultTest, NoOrderOfThreadsChangesTheResult) {
  const std::vector<int64_t> expected = run_small(1);
  for (uint64_t seed = 2; seed < 6; ++seed) EXPECT_EQ(run_small(seed), expected) << seed;
}

// The test runs on both kinds of matrix units, because each has barriers of its own.
TEST_F(FaultTest, EveryBarrierIsMissedWhereItIsLeftOut) {
  std::set<std::string> tried;
  for (const bool has_int8_units : {false, true}) {
    shim_faults().has_int8_units = has_int8_units;
    shim::take_barriers();
    const std::vector<int64_t> expected = run_small(1);
    for (const std::string& barrier : shim::take_barriers()) {
      if (!tried.insert(barrier).second) continue;
      shim::leave_out_barrier(barrier);
      bool found = false;
      for (uint64_t seed = 1; seed < 5 && !found; ++seed) found = run_small(seed) != expected;
      EXPECT_TRUE(found) << barrier;
      shim::leave_out_barrier("");
    }
  }
  size_t written = 0;
  for (const char* at = std::strstr(kKernelSource, "_barrier(mem_"); at != nullptr;
       at = std::strstr(at + 1, "_barrier(mem_")) {
    ++written;
  }
  EXPECT_EQ(tried.size(), written) << testing::PrintToString(tried);
}

// The bytes to cut off a buffer's end so that a run touches a missing one, where 16 are too few; SIZE_MAX: a step uses
// little of the buffer.
struct Lost {
  Kernel kernel;
  int binding;
  size_t bytes;
};

std::vector<Lost> lost_bytes() {
  using Small = SmallProgram;
  const size_t width = padded(Small::kWidth, kBlock);
  const size_t site_row = padded(Small::kVocab, kBlock);
  // Weights and slots end with those of the site's table and of the masked one.
  const size_t table_bytes = Small::kTableRows * width;
  constexpr size_t kTable = size_t{Small::kTableRows} * Small::kWidth;
  constexpr size_t kSiteTable = size_t{Small::kSiteTableRows} * Small::kVocab;
  constexpr size_t kOtherTargets = size_t{Small::kStreams - Small::kOfSite} * Small::kTokens * sizeof(uint32_t);
  // Errors end with those of the inner site; records with what this site keeps, behind the input of the head.
  const size_t inner_errors =
      size_t{Small::kOfInnerSite} * Small::kTokens * (width * sizeof(int16_t) + kSquareBytes) + 16;
  // The padding of the last outputs, and one cell more, whose last weights the rule need not move.
  constexpr size_t kCellBytes = size_t{2} * kCell * kCell;
  constexpr size_t kPaddedHalves = (kBlock / kCell - Small::kWidth % kBlock / kCell + 1) * kCellBytes;
  return {
      // a run reads only a part of an op and of the tables of the loss, behind which are those of draws
      {Kernel::kForward, kBindOps, sizeof(DeviceOp) / 2},
      {Kernel::kForward, kBindLossTables, sizeof(egg_loss_tables) * 3 / 2},
      {Kernel::kForward, kBindHalves, kPaddedHalves},
      // a member's record ends with a loss, which begins with the call
      {Kernel::kForward, kBindStatesBefore, kLossBytes + 16},
      // the last tile has members in half of its rows
      {Kernel::kForward, kBindWorkspace, size_t{kTileRows / 2} * Small::kTokens * width + 16},
      {Kernel::kRule, kBindWeights, table_bytes + padded(Small::kSiteTableRows, kBlock) * site_row + 16},
      {Kernel::kRule, kBindSlots, (kTable + kSiteTable) * sizeof(float) + 16},
      {Kernel::kRule, kBindHalves, kPaddedHalves},
      // a step reads few of the rows; a row of weights ends with padding
      {Kernel::kMasked, kBindVotedRows, SIZE_MAX},
      {Kernel::kMasked, kBindRuleScratch, SIZE_MAX},
      {Kernel::kMasked, kBindWeights, kBlock},
      // votes end with those of the head, the squares of its columns, and those of its bias
      {Kernel::kVotes, kBindVotes, size_t{Small::kVocab + 1} * (Small::kWidth + 1) * sizeof(int64_t) + 16},
      {Kernel::kDraws, kBindLossTables, sizeof(egg_loss_tables) / 2},
      {Kernel::kDraws, kBindKept, 6 * width + 16},
      {Kernel::kDraws, kBindTargets, kOtherTargets + 16},
      {Kernel::kDraws, kBindErrors, inner_errors},
      {Kernel::kSiteErrors, kBindTargets, kOtherTargets + 16},
      {Kernel::kSiteVotes, kBindErrors, inner_errors + kSquareBytes},
      {Kernel::kSiteVotes, kBindKept, 5 * width + 16},
      // the buffer has room for more pieces than a step has
      {Kernel::kSitePieces, kBindVotedRows, SIZE_MAX},
      {Kernel::kSitePieces, kBindVotes, SIZE_MAX},
      {Kernel::kSitePieces, kBindErrors, inner_errors + kSquareBytes},
      // the last places read the row that is cut
      {Kernel::kSiteRows, kBindWeights, table_bytes + (kBlock - Small::kSiteTableRows) * site_row + 16},
      {Kernel::kSiteRows, kBindSlots, kTable * sizeof(float) + 16},
      {Kernel::kSiteRows, kBindVotedRows, SIZE_MAX},
      {Kernel::kSiteRows, kBindRowVoters, SIZE_MAX},
      {Kernel::kSiteRows, kBindErrors, SIZE_MAX},
      {Kernel::kSiteRows, kBindVotes, SIZE_MAX},
      {Kernel::kSiteRows, kBindRuleScratch, SIZE_MAX},
  };
}

TEST_F(FaultTest, EveryBufferThatEndsEarlyIsFound) {
  const std::vector<Lost> all_lost = lost_bytes();
  size_t buffers = 0;
  for (size_t number = 0; number < std::size(kKernelNames); ++number) {
    const auto kernel = static_cast<Kernel>(number);
    for (const int binding : kShimKernels[number].bindings) {
      ++buffers;
      shim_faults().short_kernel = static_cast<int>(kernel);
      shim_faults().short_buffer = binding;
      const auto lost = std::find_if(all_lost.begin(), all_lost.end(), [&](const Lost& each) {
        return each.kernel == kernel && each.binding == binding;
      });
      shim_faults().short_bytes = lost == all_lost.end() ? 16 : lost->bytes;
      std::string found;
      try {
        run_small(1);
      } catch (const Error& error) {
        found = error.what();
      }
      EXPECT_THAT(found, testing::HasSubstr("touches memory beyond its buffers"))
          << kKernelNames[number] << " " << binding;
    }
  }
  EXPECT_EQ(buffers, 69U);
}

TEST_F(FaultTest, ABindingThatHostOrKernelLacksIsFound) {
  const std::unique_ptr<Device> device = open_shim_device();
  const std::unique_ptr<Buffer> memory = device->new_buffer(16);
  const auto run = [&](const std::vector<Binding>& bindings) {
    Dispatch votes{Kernel::kVotes, 0, 16, std::vector<std::byte>(sizeof(VoteArgs)), {}};
    for (const Binding binding : bindings) votes.buffers.push_back({binding, memory.get()});
    device->run(votes, 1);
  };
  EXPECT_NO_THROW(run({kBindNoise, kBindVotes, kBindVoteJobs, kBindFitness}));
  EXPECT_THROW(run({kBindNoise, kBindVotes, kBindVoteJobs}), Error);
  EXPECT_THROW(run({kBindNoise, kBindVotes, kBindVoteJobs, kBindWeights}), Error);
  EXPECT_THROW(run({kBindNoise, kBindVotes, kBindVoteJobs, kBindVotes}), Error);
  EXPECT_THROW(run({kBindNoise, kBindVotes, kBindVoteJobs, kBindFitness, kBindWeights}), Error);
}

TEST_F(FaultTest, ThreadsThatMeetAtDifferentPlacesAreFound) {
  const auto here = [] { shim::wait_for_threadgroup({__FILE__, __LINE__}); };
  const auto there = [] { shim::wait_for_threadgroup({__FILE__, __LINE__}); };
  EXPECT_THROW(shim::run_threadgroup([&](uint32_t, uint32_t lane) { lane == 0 ? here() : there(); }, 1), Error);
  EXPECT_THROW(shim::run_threadgroup(
                   [&](uint32_t, uint32_t lane) {
                     if (lane == 0) here();
                   },
                   1),
               Error);
  EXPECT_NO_THROW(shim::run_threadgroup([&](uint32_t, uint32_t) { here(); }, 1));
}

// The rank of the noise sets how much threadgroup memory a forward pass takes; `noise.rank` goes up to 64.
TEST_F(FaultTest, MoreThreadgroupMemoryThanAGpuHasIsFound) {
  const std::unique_ptr<Device> device = open_shim_device();
  const std::unique_ptr<Buffer> memory = device->new_buffer(16);
  const auto said = [&](uint32_t threadgroup_memory, size_t argument_bytes) -> std::string {
    Dispatch votes{Kernel::kVotes, 0, threadgroup_memory, std::vector<std::byte>(argument_bytes), {}};
    for (const Binding binding : {kBindNoise, kBindVotes, kBindVoteJobs, kBindFitness}) {
      votes.buffers.push_back({binding, memory.get()});
    }
    try {
      device->run({votes}, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said(32768, sizeof(VoteArgs)), "");
  EXPECT_THAT(said(32784, sizeof(VoteArgs)), testing::HasSubstr("32784 bytes of threadgroup memory, expected a"));
  EXPECT_THAT(said(100, sizeof(VoteArgs)), testing::HasSubstr("100 bytes of threadgroup memory, expected a"));
  EXPECT_THAT(said(16, 4112), testing::HasSubstr("4112 bytes of arguments, expected at most 4096"));
  EXPECT_EQ(said(kStaging + 4 * kTileRows * 64, sizeof(VoteArgs)), "");
}

}  // namespace
}  // namespace eggroll::metal
