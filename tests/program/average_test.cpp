// The rule with an average that the host makes of an optimizer's rule: what it adds, what it leaves as it is, and which
// names clash.
#include "program/average.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "eggroll/rule_builder.h"
#include "record/scratch.h"

namespace eggroll::test {
namespace {

using ::testing::StartsWith;

// A rule with a scalar and a slot of these names.
RuleBuilder rule_named(const std::string& slot, const std::string& scalar) {
  RuleBuilder builder;
  const Node old = builder.slot(slot, 'f');
  builder.set_slot(old, builder.op(EGG_RULE_FADD, {old, builder.scalar(scalar)}));
  builder.delta(builder.op(EGG_RULE_TRUNC_I32, {old}));
  return builder;
}

TEST(AverageRule, FollowsTheOptimizersOwn) {
  RuleBuilder builder = rule_named("carried", "rate");
  const std::string own = Rule(*builder.view()).text();
  const std::unique_ptr<Rule> rule = rule_with_average(*builder.view(), "optimizer 'x'");
  const std::string nodes = own.substr(0, own.find("slot carried float32"));
  EXPECT_THAT(rule->text(), StartsWith(nodes));
  EXPECT_EQ(rule->text().substr(nodes.size()),
            "node %4 = slot average\n"
            "node %5 = scalar average_kept\n"
            "node %6 = weight\n"
            "node %7 = to_f32 %6\n"
            "node %8 = to_f32 %3\n"
            "node %9 = fadd %7 %8\n"
            "node %10 = const_f32 127\n"
            "node %11 = const_f32 -127\n"
            "node %12 = flt %10 %9\n"
            "node %13 = select %12 %10 %9\n"
            "node %14 = flt %13 %11\n"
            "node %15 = select %14 %11 %13\n"
            "node %16 = fsub %15 %7\n"
            "node %17 = fsub %4 %16\n"
            "node %18 = fmul %5 %17\n"
            "slot carried float32 = %2\n"
            "slot average float32 = %18\n"
            "weight = clip(weight + %3)\n");
}

TEST(AverageRule, RefusesAnOptimizerThatHasItsNames) {
  const auto refusal = [](const std::string& slot, const std::string& scalar) {
    RuleBuilder builder = rule_named(slot, scalar);
    return message_of([&] { rule_with_average(*builder.view(), "optimizer 'x'"); });
  };
  EXPECT_EQ(refusal("carried", "rate"), "");
  EXPECT_EQ(refusal("carried", "average"), "");
  EXPECT_EQ(refusal("average_kept", "rate"), "");
  EXPECT_EQ(refusal("average", "rate"),
            "average is a number, but optimizer 'x' has a slot 'average' of its own, and the average of the weights "
            "needs that name; set average to null, or rename the slot");
  EXPECT_EQ(refusal("carried", "average_kept"),
            "average is a number, but optimizer 'x' has a scalar 'average_kept' of its own, and the average of the "
            "weights needs that name; set average to null, or rename the scalar");
}

// As exact fractions, rounded by hand: 1/10, 2/11, 10/19 and the share itself.
TEST(AverageKept, RisesToTheShare) {
  EXPECT_EQ(std::bit_cast<uint32_t>(average_kept(0.9, 0)), 0x3dcccccdU);
  EXPECT_EQ(std::bit_cast<uint32_t>(average_kept(0.9, 1)), 0x3e3a2e8cU);
  EXPECT_EQ(std::bit_cast<uint32_t>(average_kept(0.9, 9)), 0x3f06bca2U);
  EXPECT_EQ(average_kept(0.5, 8), 0.5F);  // 9/18
  EXPECT_EQ(average_kept(0.75, 1000), 0.75F);
  EXPECT_EQ(average_kept(0.9, 80), 0.9F);  // 81/90
  EXPECT_LT(average_kept(0.9, 79), 0.9F);
  EXPECT_EQ(average_kept(0.99999, UINT64_C(1) << 40), 0.99999F);
}

TEST(AveragedWeight, IsTheNearestWithinTheBounds) {
  const float below_half = std::nextafter(0.5F, 0.0F);
  for (const auto& [weight, difference, expected] : {std::tuple{0, 0.5F, 1},
                                                     {0, -0.5F, -1},
                                                     {1, -0.5F, 1},
                                                     {-1, 0.5F, -1},
                                                     {-1, 1.5F, 1},
                                                     {0, below_half, 0},
                                                     {0, -below_half, 0},
                                                     {7, below_half, 7},
                                                     {100, 0.5F, 101},
                                                     {-100, -0.5F, -101},
                                                     {100, -0.5F, 100},
                                                     {100, -100.5F, -1},
                                                     {127, 0.4F, 127},
                                                     {127, 0.75F, 127},
                                                     {-127, -0.75F, -127},
                                                     {127, -254.0F, -127},
                                                     {-127, 254.0F, 127},
                                                     {3, 1e-40F, 3},
                                                     {-3, 0.0F, -3}}) {
    EXPECT_EQ(averaged_weight(static_cast<int8_t>(weight), difference), expected) << weight << " + " << difference;
  }
}

}  // namespace
}  // namespace eggroll::test
