// A call that is cut into slices, and slices that the system stops and that run again, leave the same bits.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "eggroll/error.h"
#include "shim_device.h"
#include "small_program.h"

namespace eggroll::metal {
namespace {

class SlicesTest : public testing::Test {
 protected:
  void TearDown() override { shim_faults() = ShimFaults{}; }
};

TEST_F(SlicesTest, LeaveTheSameBits) {
  static_assert(SmallProgram::kTokens == 5);
  shim_faults().slice_tokens = SmallProgram::kTokens;
  const std::vector<int64_t> expected = run_small(1);
  for (const uint32_t tokens : {1U, 2U, 3U, 4U, 7U}) {
    shim_faults().slice_tokens = tokens;
    EXPECT_EQ(run_small(1), expected) << tokens;
  }
  shim_faults().slice_tokens = 0;
  EXPECT_EQ(run_small(1), expected);
}

TEST_F(SlicesTest, ThatAreStoppedRunAgain) {
  const std::vector<int64_t> expected = run_small(1);
  for (const uint32_t tokens : {0U, 1U, 2U, 5U}) {
    const uint64_t before = shim_refusals();
    for (uint64_t seed = 1; seed < 7; ++seed) {
      shim_faults().slice_tokens = tokens;
      shim_faults().refuses_one_of = 2;
      EXPECT_EQ(run_small(seed), expected) << tokens << " tokens, seed " << seed;
    }
    EXPECT_GT(shim_refusals(), before + 6) << tokens;
  }
}

TEST_F(SlicesTest, OnInt8UnitsLeaveTheSameBits) {
  const std::vector<int64_t> expected = run_small(1);
  shim_faults().has_int8_units = true;
  for (uint64_t seed = 1; seed < 4; ++seed) EXPECT_EQ(run_small(seed), expected) << seed;
  shim_faults().slice_tokens = 1;
  shim_faults().refuses_one_of = 2;
  EXPECT_EQ(run_small(4), expected);
}

// What the faults above find: a slice that is not run again.
TEST_F(SlicesTest, AStoppedSliceLeavesOtherBits) {
  const std::unique_ptr<Device> device = open_shim_device();
  SmallProgram small;
  const egg_session_spec spec = small.spec();
  class Deaf : public Device {
   public:
    explicit Deaf(Device& device) : device_(device) {}
    std::string name() const override { return device_.name(); }
    std::string matrix_units() const override { return device_.matrix_units(); }
    uint64_t free_memory() const override { return device_.free_memory(); }
    uint64_t largest_buffer() const override { return device_.largest_buffer(); }
    std::unique_ptr<Buffer> new_buffer(size_t bytes) override { return device_.new_buffer(bytes); }
    double run(const Dispatch& dispatch, int32_t threads) override try {
      return device_.run(dispatch, threads);
    } catch (const Refused&) {
      return 0;
    }

   private:
    Device& device_;
  };
  const std::vector<int64_t> expected = run_small(1);
  for (uint64_t seed = 1; seed < 4; ++seed) {
    shim_faults().seed = seed;
    shim_faults().refuses_one_of = 2;
    MetalSession session(std::make_shared<Deaf>(*device), spec, kBlock);
    EXPECT_NE(small.run(session), expected) << seed;
  }
}

std::string error_of(Kernel refused) {
  shim_faults().refused_kernel = static_cast<int>(refused);
  try {
    run_small(1);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), EGG_ERROR_DEVICE);
    return error.what();
  }
  return "";
}

TEST_F(SlicesTest, ACallGivesUpWhereTheSystemKeepsRefusing) {
  const std::string sentence = "the system stopped the GPU's work 17 times in a row (planted by a test); ";
  for (const Kernel kernel : {Kernel::kForward, Kernel::kVotes, Kernel::kDraws, Kernel::kSiteErrors, Kernel::kSiteVotes,
                              Kernel::kSitePieces}) {
    EXPECT_THAT(error_of(kernel), testing::StartsWith(sentence)) << static_cast<int>(kernel);
  }
}

// Moved weights cannot be moved once more.
TEST_F(SlicesTest, AStoppedRuleEndsTheRun) {
  for (const Kernel kernel : {Kernel::kRule, Kernel::kMasked, Kernel::kSiteRows}) {
    EXPECT_EQ(
        error_of(kernel),
        "the system stopped the GPU while it moved the weights (planted by a test), which leaves them half moved; "
        "resume the run, which goes on from its last checkpoint");
  }
}

}  // namespace
}  // namespace eggroll::metal
