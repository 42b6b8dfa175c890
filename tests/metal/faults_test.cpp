// The shim finds three kinds of fault: a missing barrier, an access beyond a buffer's end, and host and kernel that do
// not name the same buffers.
#include <gmock/gmock.h>

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

// On both kinds of matrix units, which have barriers of their own.
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

// The number of bytes to cut off a buffer's end so that a run touches a missing one; 16 do for most buffers.
size_t bytes_to_lose(Kernel kernel, int binding) {
  // Weights and slots end with those of the site's table and of the masked one.
  constexpr size_t kTable = size_t{SmallProgram::kTableRows} * SmallProgram::kWidth;
  constexpr size_t kSiteTable = size_t{SmallProgram::kSiteTableRows} * SmallProgram::kVocab;
  const size_t table_bytes = size_t{SmallProgram::kTableRows} * padded(SmallProgram::kWidth, kBlock);
  constexpr size_t kOtherTargets =
      size_t{SmallProgram::kStreams - SmallProgram::kOfSite} * SmallProgram::kTokens * sizeof(uint32_t);
  const size_t padded_width = padded(SmallProgram::kWidth, kBlock);
  const size_t inner_errors =
      size_t{SmallProgram::kOfInnerSite} * SmallProgram::kTokens * (padded_width * sizeof(int16_t) + kSquareBytes);
  const size_t site_row = padded(SmallProgram::kVocab, kBlock);
  // The padding of the last outputs, and one cell more, whose last weights the rule need not move.
  constexpr size_t kCellBytes = size_t{2} * kCell * kCell;
  constexpr size_t kPaddedHalves = (kBlock / kCell - SmallProgram::kWidth % kBlock / kCell + 1) * kCellBytes;
  switch (kernel) {
    case Kernel::kForward:
      switch (binding) {
        case kBindOps:  // a run reads only a part of an op and of the tables of the loss
          return sizeof(DeviceOp) / 2;
        case kBindLossTables:  // behind its own are those of draws
          return sizeof(egg_loss_tables) * 3 / 2;
        case kBindHalves:
          return kPaddedHalves;
        case kBindStatesBefore:  // a member's record ends with a loss, which begins with the call
          return kLossBytes + 16;
        case kBindWorkspace:  // the last tile has members in half of its rows
          return size_t{kTileRows / 2} * SmallProgram::kTokens * padded(SmallProgram::kWidth, kBlock) + 16;
        default:
          return 16;
      }
    case Kernel::kRule:
      return binding == kBindWeights  ? table_bytes + padded(SmallProgram::kSiteTableRows, kBlock) * site_row + 16
             : binding == kBindSlots  ? (kTable + kSiteTable) * sizeof(float) + 16
             : binding == kBindHalves ? kPaddedHalves
                                      : 16;
    case Kernel::kMasked:  // a step reads few of the rows; a row of weights ends with padding
      return binding == kBindVotedRows || binding == kBindRuleScratch ? SIZE_MAX
             : binding == kBindWeights                                ? kBlock
                                                                      : 16;
    case Kernel::kVotes:  // votes end with those of the head, the squares of its columns, and those of its bias
      return binding == kBindVotes
                 ? (size_t{SmallProgram::kVocab + 1} * (SmallProgram::kWidth + 1)) * sizeof(int64_t) + 16
                 : 16;
    // Errors end with those of the inner site; records with what this site keeps, behind the input of the head.
    case Kernel::kDraws:
      return binding == kBindLossTables ? sizeof(egg_loss_tables) / 2
             : binding == kBindKept     ? 6 * padded_width + 16
             : binding == kBindTargets  ? kOtherTargets + 16
             : binding == kBindErrors   ? inner_errors + 16
                                        : 16;
    case Kernel::kSiteErrors:
      return binding == kBindTargets ? kOtherTargets + 16 : 16;
    case Kernel::kSiteVotes:
      return binding == kBindErrors ? inner_errors + kSquareBytes + 16
             : binding == kBindKept ? 5 * padded_width + 16
                                    : 16;
    case Kernel::kSitePieces:  // there may be more pieces than a step has
      return binding == kBindVotedRows || binding == kBindVotes ? SIZE_MAX
             : binding == kBindErrors                           ? inner_errors + kSquareBytes + 16
                                                                : 16;
    case Kernel::kSiteRows:  // the last places read the row that is cut
      switch (binding) {
        case kBindWeights:
          return table_bytes + (kBlock - SmallProgram::kSiteTableRows) * site_row + 16;
        case kBindSlots:
          return kTable * sizeof(float) + 16;
        case kBindVotedRows:
        case kBindRowVoters:
        case kBindErrors:
        case kBindVotes:
        case kBindRuleScratch:
          return SIZE_MAX;
        default:
          return 16;
      }
  }
  return 16;
}

TEST_F(FaultTest, EveryBufferThatEndsEarlyIsFound) {
  size_t buffers = 0;
  for (size_t number = 0; number < std::size(kKernelNames); ++number) {
    const auto kernel = static_cast<Kernel>(number);
    for (const int binding : kShimKernels[number].bindings) {
      ++buffers;
      shim_faults().short_kernel = static_cast<int>(kernel);
      shim_faults().short_buffer = binding;
      shim_faults().short_bytes = bytes_to_lose(kernel, binding);
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
