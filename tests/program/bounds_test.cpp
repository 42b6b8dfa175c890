// The overflow proof at its exact edge: the largest value passes, and one more is refused. The numbers are by hand.
#include <gmock/gmock.h>

#include "eggroll/arithmetic.h"
#include "eggroll/noise.h"
#include "program/program.h"
#include "program/raw_program.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Setting {
  int32_t inputs;
  int32_t shift = 7;
  int32_t fixed_point = 4;
  int32_t rounding = EGG_ROUND_NEAREST;
  int32_t sigma_shift = 4;
  int32_t rank = 1;
  int32_t distribution = EGG_NOISE_GAUSSIAN;
  bool frozen = false;
};

egg_noise noise_of(const Setting& s) {
  egg_noise noise{};
  noise.distribution = s.distribution;
  noise.rank = s.rank;
  noise.sigma_shift = s.sigma_shift;
  noise.sigma_vector_shift = s.sigma_shift;
  return noise;
}

// A program of an embedding, one product over `inputs` and a loss.
ProgramBuilder one_product(const Setting& s) {
  ProgramBuilder builder(2, s.fixed_point, s.rounding);
  const Param head = builder.matrix("head", 2, s.inputs, 16);
  if (s.frozen) builder.freeze(head);
  const Value x = builder.embed("x", builder.matrix("e", 2, s.inputs, 16));
  builder.loss(builder.linear("logits", x, head, s.shift), 4096);
  return builder;
}

std::string refusal(const Setting& s) {
  ProgramBuilder builder = one_product(s);
  return message_of([&] { require_no_overflow(*builder.view(), noise_of(s)); });
}

int64_t largest(const Setting& s, const std::string& what) {
  ProgramBuilder builder = one_product(s);
  for (const AccumulatorBound& bound : accumulator_bounds(*builder.view(), noise_of(s))) {
    if (bound.what == what) return bound.largest;
  }
  return -1;
}

// inputs * 127 * 127 * 16 = inputs * 258064; q at its limit of 32767, times 46; half of 2^11.
TEST(OverflowProof, WidthAtTheEdge) {
  EXPECT_EQ(largest({.inputs = 8315}, "16*x*W + q*A"), int64_t{8315} * 258064 + 32767 * 46 + 1024);
  EXPECT_EQ(refusal({.inputs = 8315}), "");
  EXPECT_EQ(refusal({.inputs = 8316}),
            "the accumulator 16*x*W + q*A of 'logits' (linear) can reach 2147568530, more than an int32 holds "
            "(2147483647); use a smaller width, context, rank or noise amplitude");
  // Without noise 8321 inputs fit: 2147350544, and 1024 more.
  EXPECT_EQ(refusal({.inputs = 8321, .frozen = true}), "");
  EXPECT_THAT(refusal({.inputs = 8322, .frozen = true}), HasSubstr("can reach 2147609632"));
}

TEST(OverflowProof, RankAtTheEdge) {
  // 2147483647 - 8300 * 258064 - 1024 = 5551423, which is 3 * 32767 * 46 and less than a fourth.
  EXPECT_EQ(refusal({.inputs = 8300, .rank = 3}), "");
  EXPECT_THAT(refusal({.inputs = 8300, .rank = 4}), HasSubstr("can reach 2147961352"));
}

TEST(OverflowProof, NoiseAmplitudeAtTheEdge) {
  // Rank 4 leaves 5551423 / 4 / 32767 = 42.4: an amplitude of 28 or 16 passes where 46 does not.
  EXPECT_EQ(refusal({.inputs = 8300, .rank = 4, .distribution = EGG_NOISE_UNIFORM}), "");
  EXPECT_EQ(refusal({.inputs = 8300, .rank = 4, .distribution = EGG_NOISE_RADEMACHER}), "");
  EXPECT_NE(refusal({.inputs = 8300, .rank = 4, .distribution = EGG_NOISE_GAUSSIAN}), "");
  // 28 * 32767 * 6 = 5504856; 7 times is too much. 16 * 32767 * 10 = 5242720; 11 times is.
  EXPECT_EQ(refusal({.inputs = 8300, .rank = 6, .distribution = EGG_NOISE_UNIFORM}), "");
  EXPECT_NE(refusal({.inputs = 8300, .rank = 7, .distribution = EGG_NOISE_UNIFORM}), "");
  EXPECT_EQ(refusal({.inputs = 8300, .rank = 10, .distribution = EGG_NOISE_RADEMACHER}), "");
  EXPECT_NE(refusal({.inputs = 8300, .rank = 11, .distribution = EGG_NOISE_RADEMACHER}), "");
}

TEST(OverflowProof, ShiftAtTheEdge) {
  // Rounding to nearest adds 2^(shift + 3): 2^18 = 262144 with shift 15, 2^19 with 16. Frozen: nothing else.
  EXPECT_EQ(refusal({.inputs = 8320, .shift = 15, .frozen = true}), "");  // 2147092480 + 262144
  EXPECT_NE(refusal({.inputs = 8320, .shift = 16, .frozen = true}), "");  // 2147092480 + 524288
  EXPECT_EQ(refusal({.inputs = 8321, .shift = 26, .rounding = EGG_ROUND_FLOOR, .frozen = true}), "");
}

// Floor takes a negative sum away from zero: 8321 * 127 * 46 = 48611282 is 46.4 times 2^20, and -47 after the shift.
TEST(OverflowProof, FloorRoundsNegativeSumsAwayFromZero) {
  const Setting edge{.inputs = 8321, .fixed_point = 12, .rounding = EGG_ROUND_FLOOR, .sigma_shift = 12, .rank = 62};
  const int64_t q = egg_linear_q(-8321 * 127 * 46, 20, 0);
  ASSERT_EQ(q, -47);
  const int64_t reached = int64_t{8321} * 127 * 127 * 16 + 62 * q * -46;
  ASSERT_EQ(reached, 2147484588);  // 941 more than an int32 holds
  EXPECT_GE(largest(edge, "16*x*W + q*A"), reached);
  EXPECT_NE(refusal(edge), "");
}

// Every accumulator of a small product, as far as the arithmetic can drive it: x, W, B and A at their limits and of the
// signs that help.
TEST(OverflowProof, BoundsAreWhatTheArithmeticReaches) {
  for (const int32_t rounding : {EGG_ROUND_FLOOR, EGG_ROUND_NEAREST}) {
    for (const int32_t inputs : {1, 7, 64, 89, 90, 1000}) {
      for (const int32_t sigma_shift : {0, 4, 9, 12}) {
        const Setting s{.inputs = inputs, .rounding = rounding, .sigma_shift = sigma_shift, .rank = 5};
        const int32_t xb = inputs * 127 * 46;
        const int32_t shift = 4 + sigma_shift - EGG_LINEAR_GUARD_BITS;
        const int64_t up = egg_linear_q(xb, shift, rounding);
        const int64_t down = -egg_linear_q(-xb, shift, rounding);
        const int64_t half_out = rounding == EGG_ROUND_NEAREST ? 1 << (7 + 4 - 1) : 0;
        const int64_t half_q = rounding == EGG_ROUND_NEAREST && shift > 0 ? 1 << (shift - 1) : 0;
        EXPECT_EQ(largest(s, "x*B"), xb + half_q);
        EXPECT_EQ(largest(s, "16*x*W + q*A"), int64_t{inputs} * 127 * 127 * 16 + 5 * 46 * std::max(up, down) + half_out)
            << inputs << " inputs, sigma_shift " << sigma_shift << ", rounding " << rounding;
      }
    }
  }
}

TEST(OverflowProof, ListsTheAccumulatorsOfEachOp) {
  RawProgram raw;
  std::vector<std::string> listed;
  std::vector<int64_t> values;
  for (const AccumulatorBound& bound : accumulator_bounds(raw.view(), noise_of({.inputs = 0, .rank = 2}))) {
    listed.push_back(std::to_string(bound.op) + " " + bound.what);
    values.push_back(bound.largest);
  }
  EXPECT_THAT(listed, ElementsAre("0 A*B", "1 sum |x|", "1 x*gain*R", "2 x*B", "2 16*x*W + q*A", "7 x*B",
                                  "7 16*x*W + q*A", "8 loss in Q16"));
  // 2 * 46 * 46 + 2^7; 3 * 127; 127 * 127 * 65536 + 2^15; 3 * 127 * 46 + 2^3; 3 * 258064 + 2 * 1095 * 46 + 2^10.
  EXPECT_THAT(values, ElementsAre(4360, 381, 1057062912, 17534, 875956, 17534, 875956, 2678784));
}

// The largest loss of a token fits the Q16 int32 of egg_loss_q16, whatever a valid program says.
TEST(OverflowProof, NoValidLossOverflows) {
  RawProgram raw;
  raw.program.vocab = EGG_LOSS_VOCAB_MAX;
  raw.params[0].rows = EGG_LOSS_VOCAB_MAX;
  raw.params[4].rows = EGG_LOSS_VOCAB_MAX;
  raw.values[7].size = EGG_LOSS_VOCAB_MAX;
  raw.ops[8].attr = 1 << 18;
  validate_program(raw.view());
  require_no_overflow(raw.program, noise_of({.inputs = 0}));
  const std::vector<uint32_t> log2_q24 = [] {
    egg_loss_tables tables;
    egg_fill_loss_tables(&tables, 1 << 18);
    return std::vector<uint32_t>(std::begin(tables.log2_q24), std::end(tables.log2_q24));
  }();
  // All logits but the target's at 127, the target's at -127.
  const int64_t loss = egg_loss_q16(uint64_t{EGG_LOSS_VOCAB_MAX} << 30, 127, -127, 1 << 18, log2_q24.data());
  EXPECT_EQ(loss, 18 * 65536 + 254 * int64_t{1 << 18});
  EXPECT_LE(loss, accumulator_bounds(raw.program, noise_of({.inputs = 0})).back().largest);
}

// A tensor's side longer than half the noise table would meet its own values again.
TEST(NoiseTable, MustCoverEveryPerturbedTensor) {
  const auto refused = [](int32_t inputs, bool frozen, int32_t source, int32_t table_log2) {
    ProgramBuilder builder = one_product({.inputs = inputs, .frozen = frozen});
    egg_noise noise = noise_of({.inputs = inputs});
    noise.source = source;
    noise.table_log2 = table_log2;
    return message_of([&] { require_table_covers(*builder.view(), noise); });
  };
  EXPECT_EQ(refused(2048, false, EGG_NOISE_TABLE, 12), "");
  EXPECT_EQ(
      refused(2049, false, EGG_NOISE_TABLE, 12),
      "table_log2 is 12, which gives each side 2048 values, but 'head' takes 2049, so its noise would repeat; use "
      "a larger table_log2");
  EXPECT_THAT(refused(2049, true, EGG_NOISE_TABLE, 12), HasSubstr("but 'e' takes 2049"));
  EXPECT_EQ(refused(2049, false, EGG_NOISE_TABLE, 13), "");
  EXPECT_EQ(refused(2049, false, EGG_NOISE_COUNTER, 0), "");
}

}  // namespace
}  // namespace eggroll::test
