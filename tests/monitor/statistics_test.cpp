// Compares statistics with numbers computed by hand.
#include "monitor/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eggroll/program_builder.h"

namespace eggroll::test {
namespace {

constexpr double kRounding = 1e-12;

TEST(Statistics, OfEightValues) {
  const std::vector<int8_t> values = {127, -127, 0, 0, 5, 5, 5, 5};
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.mean, 2.5);
  EXPECT_NEAR(spread.std, std::sqrt((2.0 * 127 * 127 + 4.0 * 25) / 8.0 - 6.25), kRounding);
  EXPECT_NEAR(spread.entropy_bits, 2 * 3.0 / 8 + 2.0 / 4 + 1.0 / 2, kRounding);
  EXPECT_EQ(spread.saturated, 0.25);
  EXPECT_EQ(spread.zeros, 0.25);
}

TEST(Statistics, OfOneValueAndOfAll) {
  const Spread one = spread_of(std::vector<int8_t>(3, int8_t{-127}));
  EXPECT_EQ(one.mean, -127.0);
  EXPECT_EQ(one.std, 0.0);
  EXPECT_NEAR(one.entropy_bits, 0.0, kRounding);
  EXPECT_EQ(one.saturated, 1.0);
  EXPECT_EQ(one.zeros, 0.0);

  std::vector<int8_t> values;
  for (int value = -127; value <= 127; ++value) values.insert(values.end(), 3, static_cast<int8_t>(value));
  const Spread all = spread_of(values);
  EXPECT_EQ(all.mean, 0.0);
  EXPECT_NEAR(all.std, std::sqrt((255.0 * 255.0 - 1.0) / 12.0), kRounding);
  EXPECT_NEAR(all.entropy_bits, std::log2(255.0), kRounding);
  EXPECT_NEAR(all.saturated, 2.0 / 255.0, kRounding);
}

TEST(Statistics, ChannelsThatNoSampleChanges) {
  const std::vector<int8_t> values = {1, 2, 0, 9,  //
                                      1, 3, 0, 9,  //
                                      1, 2, 0, -9};
  EXPECT_EQ(constant_share(values, 4), 0.5);
  EXPECT_EQ(constant_share(values, 12), 1.0);  // one sample
}

// Two heads of four channels; the table's weights are small whole numbers.
class HeadsTest : public testing::Test {
 protected:
  // weights: for softmax the table from its first entry on, for sigmoid the entries around the score 0; all others are
  // 0.
  std::vector<HeadSpread> heads(int32_t weighting, const std::vector<int32_t>& weights, const std::vector<int8_t>& q,
                                const std::vector<int8_t>& k, const std::vector<size_t>& first_visible) {
    std::vector<int32_t> entries(256);
    std::copy(weights.begin(), weights.end(), entries.begin() + (weighting == EGG_WEIGHT_SIGMOID ? 128 : 0));
    ProgramBuilder b(5, 4, EGG_ROUND_NEAREST, 4);
    const Value x = b.embed("x", b.matrix("e", 5, 8, 16));
    b.attention("mixed", x, x, x, b.table("weights", entries), 4, weighting, 1);
    const egg_program& program = *b.view();
    return heads_of(program, program.ops[1], q, k, first_visible);
  }

  // Sample 1 alone sees two positions: head 0 has the scores 6 and 2, shifted 3 and 1, head 1 has 0 twice.
  const std::vector<int8_t> queries_ = {9, 9, 9, 9, 9, 9, 9, 9,  //
                                        2, 0, 0, 1, 5, 0, 0, 0,  //
                                        9, 9, 9, 9, 9, 9, 9, 9};
  const std::vector<int8_t> keys_ = {3, 7, 0, 0, 0, 1, 1, 1,  //
                                     1, 0, 7, 0, 0, 2, 2, 2,  //
                                     9, 9, 9, 9, 9, 9, 9, 9};
  const std::vector<size_t> first_visible_ = {0, 0, 2};
};

TEST_F(HeadsTest, SoftmaxWeighsByTheDistanceFromTheLargestScore) {
  const std::vector<HeadSpread> seen = heads(EGG_WEIGHT_SOFTMAX, {12, 8, 4}, queries_, keys_, first_visible_);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_NEAR(seen[0].entropy_bits, 0.75 * std::log2(4.0 / 3.0) + 0.25 * 2.0, kRounding);  // 12 to 4
  EXPECT_EQ(seen[0].largest, 0.75);
  EXPECT_NEAR(seen[1].entropy_bits, 1.0, kRounding);
  EXPECT_EQ(seen[1].largest, 0.5);
}

TEST_F(HeadsTest, SigmoidWeighsByTheScore) {
  const std::vector<HeadSpread> seen = heads(EGG_WEIGHT_SIGMOID, {5, 4, 2, 28}, queries_, keys_, first_visible_);
  EXPECT_EQ(seen[0].largest, 28.0 / 32.0);
  EXPECT_EQ(seen[1].largest, 0.5);
}

TEST_F(HeadsTest, OneTokenAloneAndNone) {
  const std::vector<HeadSpread> one = heads(EGG_WEIGHT_SOFTMAX, {12}, queries_, keys_, first_visible_);
  EXPECT_NEAR(one[0].entropy_bits, 0.0, kRounding);
  EXPECT_EQ(one[0].largest, 1.0);
  const std::vector<HeadSpread> none = heads(EGG_WEIGHT_SIGMOID, {0}, queries_, keys_, first_visible_);
  EXPECT_EQ(none[0].entropy_bits, 0.0);
  EXPECT_EQ(none[0].largest, 0.0);
  // Queries that see only one position do not count.
  EXPECT_TRUE(heads(EGG_WEIGHT_SOFTMAX, {12}, queries_, keys_, {0, 1, 2}).empty());
}

TEST_F(HeadsTest, IsTheMeanOverQueries) {
  // Sample 2 now sees all three, with scores of 14 and more: beyond this table's weights.
  const std::vector<size_t> all = {0, 0, 0};
  const std::vector<HeadSpread> seen = heads(EGG_WEIGHT_SIGMOID, {1, 1, 1, 1, 1}, queries_, keys_, all);
  EXPECT_NEAR(seen[0].entropy_bits, 0.5, kRounding);
  EXPECT_EQ(seen[1].largest, 0.25);
}

}  // namespace
}  // namespace eggroll::test
