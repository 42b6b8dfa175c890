// Each peak's loop makes the products that it counts, and is timed.
#include <gtest/gtest.h>

#include <string>

#include "bench/peak_meter.h"

namespace eggroll::bench {
namespace {

class PeakTest : public testing::TestWithParam<const char*> {};

TEST_P(PeakTest, MakesTheProductsThatItCounts) {
  const Peak& peak = peak_of(GetParam());
  for (const uint64_t rounds : {uint64_t{0}, uint64_t{1}, uint64_t{1000}}) {
    EXPECT_EQ(peak.run(rounds), static_cast<int64_t>(rounds * peak.macs_per_round)) << peak.name;
  }
}

// A peak is low under an emulator, but never 0.
TEST_P(PeakTest, IsMeasuredInGigamacs) {
  PeakMeter meter(peak_of(GetParam()), 2);
  meter.take_slice();
  EXPECT_GT(meter.mean(), 0.01) << meter.name();
  EXPECT_LT(meter.mean(), 10000.0) << meter.name();
}

INSTANTIATE_TEST_SUITE_P(OfBackends, PeakTest, testing::Values("reference", "amx", "avx2", "avx512", "neon"));

TEST(PeakTest, ALoopThatLeavesProductsOutIsRefused) {
  const Peak half{"half", 8, [](uint64_t rounds) { return static_cast<int64_t>(rounds * 4); }};
  EXPECT_THROW(PeakMeter(half, 1), std::exception);
}

}  // namespace
}  // namespace eggroll::bench
