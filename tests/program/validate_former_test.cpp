// The rules of wide values, tables, heads and contexts, each broken once.
#include <fmt/format.h>

#include "program/program.h"
#include "program/raw_program.h"

namespace eggroll::test {
namespace {

// Indices in tiny_former().
enum ValueIndex : size_t { kX, kU, kQ, kR, kN, kO, kS, kY, kLogits };
enum OpIndex : size_t { kEmbed, kLut, kLinear, kRope, kNorm, kAttention, kAdd, kLastNorm, kLogitsOp, kLoss };
enum TableIndex : size_t { kLutTable, kAngles, kWeights };

using Broken = BrokenPart<RawProgram>;

class ValidateFormer : public testing::TestWithParam<Broken> {};

TEST_P(ValidateFormer, RefusesWithOneSentence) {
  RawProgram raw(tiny_former());
  GetParam().change(raw);
  EXPECT_EQ(message_of([&] { validate_program(raw.view()); }),
            "the model's program is wrong: " + GetParam().fault + "; fix the model plugin");
}

TEST(TinyFormer, IsValid) {
  RawProgram raw(tiny_former());
  EXPECT_NO_THROW(validate_program(raw.view()));
}

const std::vector<int32_t> kOut(256, 128);
const std::vector<int32_t> kNegative(256, -1);

const std::vector<Broken> kBroken = {
    // ---- Wide values ----
    {"MadeByEmbed", [](auto& r) { r.values[kX].is_wide = 1; }, "op 0 (embed 'x') writes 'x', which is wide"},
    {"MadeByLut", [](auto& r) { r.values[kU].is_wide = 1; }, "op 1 (lut 'u') writes 'u', which is wide"},
    {"ReadByAttention", [](auto& r) { r.ops[kAttention].in[1] = kR; },
     "op 5 (attention 'o') reads 'r', which is wide; let an add make a narrow value of it first"},
    {"MadeByMaxNorm", [](auto& r) { r.values[kY].is_wide = 1; }, "op 7 (max_norm 'y') writes 'y', which is wide"},
    {"NeitherNorYes", [](auto& r) { r.values[kQ].is_wide = 2; }, "value 'q': wide is 2, expected 0 to 1"},
    // ---- Tables ----
    {"None", [](auto& r) { r.ops[kLut].table = -1; }, "op 1 (lut 'u'): table is -1, expected 0 to 2"},
    {"ThatIsNone", [](auto& r) { r.ops[kLut].table = 3; }, "op 1 (lut 'u'): table is 3, expected 0 to 2"},
    {"TooShort", [](auto& r) { r.tables[kLutTable].count = 255; },
     "op 1 (lut 'u'): its table has size 255, expected 256"},
    {"EntryOfLut", [](auto& r) { r.tables[kLutTable].entries = kOut.data(); },
     "table 'lut': entry 0 is 128, expected -127 to 127"},
    {"EntryOfAttention", [](auto& r) { r.tables[kWeights].entries = kNegative.data(); },
     "table 'weights': entry 0 is -1, expected 0 to 2097151"},
    {"OfAnotherContext", [](auto& r) { r.program.context = 3; }, "op 3 (rope 'r'): its table has size 8, expected 12"},
    {"Missing", [](auto& r) { r.tables[kLutTable].entries = nullptr; }, "table 'lut' has no entries"},
    {"Unused",
     [](auto& r) {
       r.tables.push_back({"more", 0, 0, kOut.data()});
     },
     "table 'more' is never used"},
    {"NamedTwice", [](auto& r) { r.tables[kLutTable].name = "x"; }, "two parameters, values or tables are named 'x'"},
    {"OfAnAdd", [](auto& r) { r.ops[kAdd].table = 0; }, "op 6 (add 's') has an attribute it does not take"},
    // ---- Heads and context ----
    {"NoContext", [](auto& r) { r.program.context = 0; },
     "context of a program with op 3 (rope 'r') is 0, expected 1 to 65536"},
    {"NegativeContext", [](auto& r) { r.program.context = -1; }, "context is -1, expected 0 to 65536"},
    {"OddHead", [](auto& r) { r.ops[kRope].head = 1; },
     "op 3 (rope 'r'): a head has 1 channels, expected a multiple of 2 that divides 8"},
    {"HeadOfAttention", [](auto& r) { r.ops[kAttention].head = 2; },
     "op 5 (attention 'o'): a head has 2 channels, expected a multiple of 4 that divides 8"},
    {"HeadThatDoesNotDivide", [](auto& r) { r.ops[kAttention].head = 12; },
     "op 5 (attention 'o'): a head has 12 channels, expected a multiple of 4 that divides 8"},
    {"Weighting", [](auto& r) { r.ops[kAttention].mode = 2; }, "op 5 (attention 'o'): weighting is 2, expected 0 to 1"},
    {"Shift", [](auto& r) { r.ops[kAttention].attr = 27; }, "op 5 (attention 'o'): shift is 27, expected 0 to 26"},
    {"HeadOfALut", [](auto& r) { r.ops[kLut].head = 4; }, "op 1 (lut 'u') has an attribute it does not take"},
    {"ModeOfARope", [](auto& r) { r.ops[kRope].mode = 1; }, "op 3 (rope 'r') has an attribute it does not take"},
};

INSTANTIATE_TEST_SUITE_P(Each, ValidateFormer, testing::ValuesIn(kBroken), name_of<RawProgram>);

// The proof reaches through wide values: rope may double what it turns.
TEST(WideBounds, FollowTheValues) {
  const egg_noise noise{0, EGG_NOISE_COUNTER, EGG_NOISE_RADEMACHER, 1, 4, 4, 0};
  RawProgram raw(tiny_former());
  int64_t linear = 0;
  int64_t rope = 0;
  for (const AccumulatorBound& bound : accumulator_bounds(raw.view(), noise)) {
    if (std::string(bound.what) != "value") continue;
    if (bound.op == kLinear) linear = bound.largest;
    if (bound.op == kRope) rope = bound.largest;
    if (bound.op == kAdd) {
      EXPECT_EQ(bound.largest, linear + 127);
    }
    EXPECT_EQ(bound.limit, 1 << 28);
  }
  EXPECT_GE(linear, 8 * 127 * 127);
  EXPECT_LE(linear, 8 * 127 * 127 + 1024);
  EXPECT_EQ(rope, 2 * linear);
}

TEST(WideBounds, RefusesWeightsThatCouldOverflow) {
  const egg_noise noise{0, EGG_NOISE_COUNTER, EGG_NOISE_RADEMACHER, 1, 4, 4, 0};
  const auto refusal = [&](int32_t context, int32_t weight) {
    ProgramBuilder b(5, 4, EGG_ROUND_NEAREST, context);
    const Table weights = b.table("weights", std::vector<int32_t>(256, weight));
    const Value x = b.embed("x", b.matrix("e", 5, 8, 16));
    const Value o = b.attention("o", x, x, x, weights, 4, EGG_WEIGHT_SOFTMAX, 6);
    b.loss(b.linear("logits", o, b.matrix("head", 5, 8, 16), 7), 4096);
    return message_of([&] { require_no_overflow(*b.view(), noise); });
  };
  EXPECT_EQ(refusal(64, 131586), "");  // 255 * 64 * 131586 = 2147483520
  EXPECT_EQ(refusal(64, 131587),
            "the accumulator w*v of 'o' (attention) can reach 2147499840, more than an int32 holds (2147483647); use a "
            "smaller width, context, rank or noise amplitude");
}

}  // namespace
}  // namespace eggroll::test
