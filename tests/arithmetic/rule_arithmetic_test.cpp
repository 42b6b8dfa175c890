// rule_arithmetic.h against known answers: all backends share it, so no comparison of two backends finds a fault in it.
#include "eggroll/rule_arithmetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace eggroll {
namespace {

using Function = uint32_t (*)(uint32_t, uint32_t, uint32_t);

struct Op {
  std::string name;
  Function function;
};
#define EGG_OP_OF(code, name, result, operands, text) Op{#name, &egg_rule_arithmetic<egg_float32>::name},
const std::vector<Op> kOps = {EGG_RULE_ARITHMETIC(EGG_OP_OF)};
#undef EGG_OP_OF

constexpr uint32_t kLowestInt = 0x80000000U;
constexpr uint32_t kHighestInt = 0x7fffffffU;
constexpr uint32_t kOne = 0x3f800000U;
constexpr uint32_t kMinusOne = 0xbf800000U;
constexpr uint32_t kLargest = 0x7f7fffffU;
constexpr uint32_t kInfinity = 0x7f800000U;
constexpr uint32_t kNan = 0x7fc00000U;
constexpr uint32_t kMinus = 0x80000000U;  // its sign alone is also -0

struct Known {
  std::string op;
  uint32_t a;
  uint32_t b;
  uint32_t c;
  uint32_t result;
};

const std::vector<Known> kKnown = {
    {"iadd", 2, 3, 0, 5},
    {"iadd", kHighestInt, 1, 0, kLowestInt},
    {"isub", 2, 3, 0, 0xffffffffU},
    {"isub", kLowestInt, 1, 0, kHighestInt},
    {"imul", 0xfffffffeU, 3, 0, 0xfffffffaU},
    {"imul", 65536, 65536, 0, 0},
    {"ilt", 0xffffffffU, 0, 0, 1},
    {"ilt", 0, 0xffffffffU, 0, 0},
    {"ilt", 7, 7, 0, 0},
    {"ilt", kLowestInt, kHighestInt, 0, 1},
    {"fadd", kOne, kOne, 0, 0x40000000U},
    {"fadd", 0x4b800000U, kOne, 0, 0x4b800000U},         // 2^24 + 1: a tie, to the even
    {"fadd", 0x4b800001U, kOne, 0, 0x4b800002U},         // 2^24 + 2 + 1
    {"fadd", 0x00000001U, 0x00000001U, 0, 0x00000002U},  // below 2^-126
    {"fadd", kLargest, kLargest, 0, kInfinity},
    {"fsub", kOne, 0x3f7fffffU, 0, 0x33800000U},  // 2^-24
    {"fsub", kOne, kOne, 0, 0},
    {"fsub", 0x00800000U, 0x00000001U, 0, 0x007fffffU},
    {"fmul", 0x3f800001U, 0x3f800001U, 0, 0x3f800002U},  // (1 + 2^-23)^2
    {"fmul", kMinusOne, 0, 0, kMinus},
    {"fmul", 0x00800000U, 0x3f000000U, 0, 0x00400000U},  // 2^-126 / 2
    {"fdiv", kOne, 0x40400000U, 0, 0x3eaaaaabU},         // 1 / 3
    {"fdiv", kMinusOne, 0, 0, kInfinity | kMinus},
    {"fdiv", 0x00000003U, 0x40000000U, 0, 0x00000002U},  // 3 / 2 of the smallest: a tie
    {"fsqrt", 0x40000000U, 0, 0, 0x3fb504f3U},
    {"fsqrt", kMinus, 0, 0, kMinus},
    {"fsqrt", 0x00000001U, 0, 0, 0x1a3504f3U},  // 2^-74.5
    {"fabs", kMinusOne, 0, 0, kOne},
    {"fabs", kMinus, 0, 0, 0},
    {"fabs", kNan | kMinus, 0, 0, kNan},
    {"fabs", kMinus | 1U, 0, 0, 1},
    {"flt", kMinusOne, kOne, 0, 1},
    {"flt", kOne, kOne, 0, 0},
    {"flt", kMinus, 0, 0, 0},
    {"flt", kNan, kOne, 0, 0},
    {"flt", kOne, kNan, 0, 0},
    {"select", 0, 5, 6, 6},
    {"select", kLowestInt, 5, 6, 5},
    {"to_f32", 0xffffffffU, 0, 0, kMinusOne},
    {"to_f32", 16777217, 0, 0, 0x4b800000U},  // 2^24 + 1: a tie, to the even
    {"to_f32", 16777219, 0, 0, 0x4b800002U},
    {"to_f32", kHighestInt, 0, 0, 0x4f000000U},
    {"trunc_i32", 0x3fffffffU, 0, 0, 1},
    {"trunc_i32", 0xbfffffffU, 0, 0, 0xffffffffU},
    {"trunc_i32", 0x4effffffU, 0, 0, 2147483520},   // the largest that fits
    {"trunc_i32", 0x4f000000U, 0, 0, kHighestInt},  // 2^31
    {"trunc_i32", kInfinity, 0, 0, kHighestInt},
    {"trunc_i32", 0xcf000000U, 0, 0, kLowestInt},  // -2^31
    {"trunc_i32", 0xcf000001U, 0, 0, kLowestInt},
    {"trunc_i32", kInfinity | kMinus, 0, 0, kLowestInt},
    {"trunc_i32", kNan, 0, 0, 0},
    {"trunc_i32", kNan | kMinus, 0, 0, 0},
};

TEST(RuleArithmetic, EachOpHasItsKnownAnswers) {
  for (const Op& op : kOps) {
    int answers = 0;
    for (const Known& known : kKnown) {
      if (known.op != op.name) continue;
      ++answers;
      EXPECT_EQ(op.function(known.a, known.b, known.c), known.result)
          << op.name << std::hex << " of " << known.a << ", " << known.b << ", " << known.c;
    }
    EXPECT_GT(answers, 0) << op.name << " has no known answer; add one";
  }
}

TEST(RuleArithmetic, InvalidOperationsMakeNan) {
  using Arithmetic = egg_rule_arithmetic<egg_float32>;
  for (const uint32_t made : {Arithmetic::fsub(kInfinity, kInfinity, 0), Arithmetic::fmul(0, kInfinity, 0),
                              Arithmetic::fdiv(0, 0, 0), Arithmetic::fsqrt(kMinusOne, 0, 0)}) {
    EXPECT_GT(made & ~kMinus, kInfinity) << std::hex << made;
  }
}

TEST(RuleArithmetic, WeightsSaturate) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  for (const int32_t weight : {-127, -1, 0, 1, 127}) {
    for (const int32_t delta : {kLeast, -300, -255, -254, -253, -2, 0, 1, 253, 254, 255, 300, kMost}) {
      const int64_t moved = std::clamp<int64_t>(int64_t{weight} + delta, -127, 127);
      EXPECT_EQ(egg_moved(weight, delta), moved) << weight << " by " << delta;
    }
  }
}

}  // namespace
}  // namespace eggroll
