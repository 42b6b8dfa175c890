// The expected figures are of SciPy 1.10.1 (t.ppf, binomtest(...).proportion_ci('wilson'), linregress, norm.sf) and of
// numpy.quantile.
#include "report/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "record/run_metrics.h"

namespace eggroll {
namespace {

TEST(Statistics, MeanAndItsIntervalAreStudents) {
  const Mean five = mean_of({3.1, 2.9, 3.4, 3.0, 3.3});
  EXPECT_EQ(five.n, 5U);
  EXPECT_NEAR(five.mean, 3.14, 1e-12);
  EXPECT_NEAR(five.interval->low, 2.8825230732070914, 1e-9);
  EXPECT_NEAR(five.interval->high, 3.397476926792908, 1e-9);
  const Mean two = mean_of({1.0, 2.5});
  EXPECT_NEAR(two.interval->low, -7.779653552324071, 1e-9);
  EXPECT_NEAR(two.interval->high, 11.27965355232407, 1e-9);
}

TEST(Statistics, OneValueHasNoInterval) {
  EXPECT_EQ(mean_of({4.5}).mean, 4.5);
  EXPECT_FALSE(mean_of({4.5}).interval);
}

TEST(Statistics, EqualValuesHaveAnIntervalWithoutWidth) {
  const Mean mean = mean_of({2.5, 2.5, 2.5});
  EXPECT_EQ(mean.interval->low, 2.5);
  EXPECT_EQ(mean.interval->high, 2.5);
}

TEST(Statistics, IntervalsThatTouchOverlap) {
  EXPECT_TRUE(overlap({1, 2}, {2, 3}));
  EXPECT_TRUE(overlap({1, 5}, {2, 3}));
  EXPECT_FALSE(overlap({1, 2}, {2.1, 3}));
  EXPECT_FALSE(overlap({2.1, 3}, {1, 2}));
}

TEST(Statistics, SharesHaveWilsonsInterval) {
  const auto expect = [](size_t successes, size_t n, double low, double high) {
    const Interval interval = wilson(successes, n);
    EXPECT_NEAR(interval.low, low, 1e-12) << successes << " of " << n;
    EXPECT_NEAR(interval.high, high, 1e-12) << successes << " of " << n;
  };
  expect(3, 5, 0.23072428127601297, 0.8823792257673521);
  expect(0, 5, 0.0, 0.43448246478317476);
  expect(5, 5, 0.5655175352168251, 1.0);
  expect(1, 1, 0.20654931437723745, 1.0);
  expect(37, 120, 0.23272736988916295, 0.3958299772380067);
}

TEST(Statistics, SlopesAreOfLogarithms) {
  EXPECT_NEAR(*log_log_slope({{256, 0.7}, {1024, 2.9}, {4096, 11.1}, {16384, 47.0}}), 1.007196047237236, 1e-12);
  EXPECT_NEAR(*log_log_slope({{4, 8.0}, {16, 4.0}}), -0.5, 1e-12);
  EXPECT_FALSE(log_log_slope({{4, 1.0}, {4, 2.0}}));
  EXPECT_FALSE(log_log_slope({{4, 1.0}, {8, 0.0}}));
  EXPECT_FALSE(log_log_slope({}));
}

TEST(Statistics, QuantilesLieBetweenValues) {
  const std::vector<double> values = {5, 1, 9, 3, 7, 8};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.05), 1.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 6);
  EXPECT_DOUBLE_EQ(quantile(values, 0.95), 8.75);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 9);
  EXPECT_DOUBLE_EQ(quantile({2.5}, 0.95), 2.5);
}

TEST(Statistics, TailsAreTheNormalDistributions) {
  EXPECT_DOUBLE_EQ(normal_tails(0), 1);
  EXPECT_NEAR(normal_tails(1), 0.31731050786291415, 1e-14);
  EXPECT_NEAR(normal_tails(1.96), 0.04999579029644087, 1e-14);
  EXPECT_NEAR(normal_tails(3.29), 0.0010018738275714444, 1e-14);
  EXPECT_NEAR(normal_tails(8) / 1.244192114854348e-15, 1, 1e-9);
}

// By hand with tables of t: 33 values give (2.0369 + 0.8416) * 0.1 / sqrt(33) = 0.0501, 34 give 0.0493.
TEST(ValuesToDecide, LeaveOutZeroInFourOfFiveSamples) {
  const Mean mean = mean_of({-0.05, 0.05, 0.15});
  EXPECT_NEAR(mean.error, 0.1 / std::sqrt(3.0), 1e-15);
  EXPECT_EQ(values_to_decide(mean, 1000), 34U);
  EXPECT_EQ(values_to_decide(mean, 34), 34U);
  EXPECT_EQ(values_to_decide(mean, 33), std::nullopt);
  EXPECT_EQ(values_to_decide(mean_of({0.05, -0.05, -0.15}), 1000), 34U);
  EXPECT_EQ(values_to_decide(mean_of({-0.1, 0.1}), 1000), std::nullopt);  // a difference of 0
  EXPECT_EQ(values_to_decide(mean_of({0.5, 0.5, 0.5}), 1000), 4U);        // it is decided
}

}  // namespace
}  // namespace eggroll
