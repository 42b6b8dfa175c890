// Breaks each condition on an update rule once, and proves that integer votes fit.
#include "program/rule.h"

#include <fmt/format.h>

#include "eggroll/rule_builder.h"
#include "program/raw_program.h"

namespace eggroll::test {
namespace {

// A rule with a slot and a scalar of each kind of use, as plain lists that a test can break.
struct RawRule {
  RawRule() {
    const Node scalar = builder.scalar("rate");                                    // node 0
    const Node vote = builder.vote_f32();                                          // node 1
    const Node product = builder.op(EGG_RULE_FMUL, {scalar, vote});                // node 2
    const Node count = builder.slot("count", 'i');                                 // node 3
    const Node one = builder.constant(1);                                          // node 4
    const Node next = builder.op(EGG_RULE_IADD, {count, one});                     // node 5
    const Node big = builder.op(EGG_RULE_FLT, {builder.constant(2.5F), product});  // nodes 6, 7
    builder.set_slot(count, next);
    builder.delta(builder.op(EGG_RULE_SELECT, {big, one, builder.weight()}));  // nodes 8, 9
    rule = *builder.view();
    nodes.assign(rule.nodes, rule.nodes + rule.node_count);
    slots.assign(rule.slots, rule.slots + rule.slot_count);
    scalars.assign(rule.scalar_names, rule.scalar_names + rule.scalar_count);
  }

  const egg_rule& view() {
    rule.node_count = static_cast<uint32_t>(nodes.size());
    rule.slot_count = static_cast<uint32_t>(slots.size());
    rule.scalar_count = static_cast<uint32_t>(scalars.size());
    rule.nodes = nodes.data();
    rule.slots = slots.data();
    rule.scalar_names = scalars.data();
    return rule;
  }

  RuleBuilder builder;  // owns the names
  egg_rule rule;
  std::vector<egg_rule_node> nodes;
  std::vector<egg_slot> slots;
  std::vector<const char*> scalars;
};

using Broken = BrokenPart<RawRule>;

class ValidateRule : public testing::TestWithParam<Broken> {};

TEST_P(ValidateRule, RefusesWithOneSentence) {
  RawRule raw;
  GetParam().change(raw);
  EXPECT_EQ(message_of([&] { Rule rule(raw.view()); }),
            "the optimizer's rule is wrong: " + GetParam().fault + "; fix the optimizer plugin");
}

const std::string kTooLong(201, 'n');
const std::string kMuchTooLong(1000000, 'n');

TEST(ValidateRuleNames, TakesTheLongestAndASlotNamedAsAScalar) {
  RawRule raw;
  const std::string longest(200, 'n');
  raw.slots[0].name = longest.c_str();
  raw.scalars[0] = longest.c_str();
  EXPECT_EQ(message_of([&] { Rule rule(raw.view()); }), "");
  raw.slots[0].name = "step";  // slots are not in the lines of metrics, so a slot may have this name
  EXPECT_EQ(message_of([&] { Rule rule(raw.view()); }), "");
}

const std::vector<Broken> kBroken = {
    // ---- Head ----
    {"ShortStruct", [](auto& r) { r.rule.struct_size = 8; },
     fmt::format("it has 8 bytes, expected {}", sizeof(egg_rule))},
    {"NoNodes", [](auto& r) { r.nodes.clear(); }, "it has 0 nodes, expected 1 to 4096"},
    {"TooManyNodes", [](auto& r) { r.nodes.resize(4097, r.nodes[1]); }, "it has 4097 nodes, expected 1 to 4096"},
    {"SlotWithoutName", [](auto& r) { r.slots[0].name = nullptr; }, "slot 0 has no name"},
    {"SlotType", [](auto& r) { r.slots[0].type = 'd'; }, "slot 'count' is neither of type i nor f"},
    {"ScalarWithoutName", [](auto& r) { r.scalars[0] = nullptr; }, "scalar 0 has no name"},
    {"TooManySlots", [](auto& r) { r.slots.resize(4097, r.slots[0]); },
     "it has 4097 slots and 1 scalars, expected at most 4096 each"},
    {"TooManyScalars", [](auto& r) { r.scalars.resize(4097, "rate"); },
     "it has 1 slots and 4097 scalars, expected at most 4096 each"},
    // ---- Names ----
    // Names appear in files, tables and terminals.
    {"EmptySlot", [](auto& r) { r.slots[0].name = ""; }, "slot 0: a name is empty"},
    {"EmptyScalar", [](auto& r) { r.scalars[0] = ""; }, "scalar 0: a name is empty"},
    {"SlotWithASlash", [](auto& r) { r.slots[0].name = "a/b"; },
     "slot 0: the name 'a/b' has characters other than a-z, 0-9, underscores and dots"},
    {"ScalarThatIsNoText", [](auto& r) { r.scalars[0] = "lr\xff"; },
     "scalar 0: the name 'lr\xef\xbf\xbd' has characters other than a-z, 0-9, underscores and dots"},
    {"ScalarThatControls", [](auto& r) { r.scalars[0] = "\x1b[31m"; },
     "scalar 0: the name '\xef\xbf\xbd[31m' has characters other than a-z, 0-9, underscores and dots"},
    {"LongSlot", [](auto& r) { r.slots[0].name = kTooLong.c_str(); },
     "slot 0: the name '" + kTooLong + "' is longer than 200 characters"},
    {"LongScalar", [](auto& r) { r.scalars[0] = kMuchTooLong.c_str(); },
     "scalar 0: the name '" + kMuchTooLong.substr(0, 1000) + "...' is longer than 200 characters"},
    {"TwinSlots", [](auto& r) { r.slots.push_back(r.slots[0]); }, "two slots are named 'count'"},
    {"TwinScalars", [](auto& r) { r.scalars.push_back("rate"); }, "two scalars are named 'rate'"},
    {"ScalarNamedAsTheChecksum", [](auto& r) { r.scalars[0] = "crc"; },
     "scalar 'crc' has the name of a figure that the host writes beside it, expected another name"},
    {"ScalarOfTheHost", [](auto& r) { r.scalars[0] = "step"; },
     "scalar 'step' has the name of a figure that the host writes beside it, expected another name"},
    // ---- Nodes ----
    {"NegativeCode", [](auto& r) { r.nodes[2].code = -1; }, "node 2 has the unknown code -1"},
    {"UnknownCode", [](auto& r) { r.nodes[2].code = EGG_RULE_COUNT; },
     fmt::format("node 2 has the unknown code {}", int{EGG_RULE_COUNT})},
    {"OperandTooMany", [](auto& r) { r.nodes[2].in[2] = 0; }, "node 2 (fmul) has an operand too many"},
    {"OperandMissing", [](auto& r) { r.nodes[2].in[1] = -1; },
     "node 2 (fmul) has an operand that is not an earlier node"},
    {"OperandIsItself", [](auto& r) { r.nodes[2].in[1] = 2; },
     "node 2 (fmul) has an operand that is not an earlier node"},
    {"OperandIsLater", [](auto& r) { r.nodes[2].in[0] = 9; },
     "node 2 (fmul) has an operand that is not an earlier node"},
    {"IntegerForFloat", [](auto& r) { r.nodes[7].in[0] = 4; }, "node 7 (flt): operand 0 is of type i, expected f"},
    {"FloatForInteger", [](auto& r) { r.nodes[5].in[1] = 2; }, "node 5 (iadd): operand 1 is of type f, expected i"},
    {"ConditionIsAFloat", [](auto& r) { r.nodes[9].in[0] = 1; }, "node 9 (select): operand 0 is of type f, expected i"},
    {"BranchesOfTwoTypes", [](auto& r) { r.nodes[9].in[2] = 1; },
     "node 9 (select): operand 2 is of type f, expected i"},
    {"SlotThatIsNone", [](auto& r) { r.nodes[3].index = 1; }, "node 3 (slot) has index 1, expected 0 to 0"},
    {"NegativeSlot", [](auto& r) { r.nodes[3].index = -1; }, "node 3 (slot) has index -1, expected 0 to 0"},
    {"ScalarThatIsNone", [](auto& r) { r.nodes[0].index = 1; }, "node 0 (scalar) has index 1, expected 0 to 0"},
    // ---- Results ----
    {"NoChange", [](auto& r) { r.rule.delta = -1; }, "the weight change is no node of the rule"},
    {"ChangeThatIsNone", [](auto& r) { r.rule.delta = 10; }, "the weight change is no node of the rule"},
    {"ChangeIsAFloat", [](auto& r) { r.rule.delta = 2; }, "the weight change is a float, expected an integer"},
    {"SlotNeverSet", [](auto& r) { r.slots[0].node = -1; }, "the new value of slot 'count' is no node of the rule"},
    {"SlotOfTheOtherType", [](auto& r) { r.slots[0].node = 2; },
     "the new value of slot 'count' has another type than the slot"},
};

INSTANTIATE_TEST_SUITE_P(Each, ValidateRule, testing::ValuesIn(kBroken), name_of<RawRule>);

TEST(ValidateRuleLists, MustBeThere) {
  const std::string sentence = "the optimizer's rule is wrong: a list is missing; fix the optimizer plugin";
  for (void (*drop)(egg_rule&) : {+[](egg_rule& r) { r.nodes = nullptr; }, +[](egg_rule& r) { r.slots = nullptr; },
                                  +[](egg_rule& r) { r.scalar_names = nullptr; }}) {
    RawRule raw;
    egg_rule rule = raw.view();
    drop(rule);
    EXPECT_EQ(message_of([&] { rule_types(rule); }), sentence);
  }
}

TEST(RuleTypes, FollowFromTheOps) {
  RawRule raw;
  EXPECT_EQ(rule_types(raw.view()), (std::vector<char>{'f', 'f', 'f', 'i', 'i', 'i', 'f', 'i', 'i', 'i'}));
  raw.slots[0].type = 'f';  // then its users must be floats, too
  EXPECT_EQ(
      message_of([&] { rule_types(raw.view()); }),
      "the optimizer's rule is wrong: node 5 (iadd): operand 0 is of type f, expected i; fix the optimizer plugin");
}

TEST(RuleCopy, OutlivesItsSource) {
  std::optional<RawRule> raw(std::in_place);
  const Rule rule(raw->view());
  const std::string text = rule.text();
  raw.reset();
  EXPECT_EQ(rule.text(), text);
  EXPECT_STREQ(rule.slots()[0].name, "count");
  EXPECT_STREQ(rule.scalar_names()[0], "rate");
  EXPECT_EQ(rule.view().nodes[4].integer, 1);
}

// pairs * 127 * amplitude^2 * rank, of 2147483647. gaussian: 127 * 46 * 46 = 268732 a pair.
TEST(VotesFit, AtTheExactEdge) {
  RuleBuilder integer;
  integer.delta(integer.vote_i32());
  RuleBuilder real;
  real.delta(real.op(EGG_RULE_TRUNC_I32, {real.vote_f32()}));
  const auto sentence = [](RuleBuilder& rule, int32_t distribution, int32_t rank, uint32_t pairs) {
    egg_noise noise{};
    noise.distribution = distribution;
    noise.rank = rank;
    return message_of([&] { require_votes_fit(*rule.view(), noise, pairs); });
  };
  EXPECT_EQ(sentence(integer, EGG_NOISE_GAUSSIAN, 1, 7991), "");  // 2147437412
  EXPECT_EQ(sentence(integer, EGG_NOISE_GAUSSIAN, 1, 7992),
            "a vote can reach 2147706144 with 7992 pairs, more than the rule's int32 vote holds; use a smaller "
            "population or a rule that reads the vote as float32");
  EXPECT_EQ(sentence(integer, EGG_NOISE_GAUSSIAN, 3, 2663), "");  // 2146899948
  EXPECT_NE(sentence(integer, EGG_NOISE_GAUSSIAN, 3, 2664), "");  // 2147706144
  EXPECT_EQ(sentence(integer, EGG_NOISE_UNIFORM, 1, 21568), "");  // 28 * 28 * 127 = 99568 a pair: 2147482624
  EXPECT_NE(sentence(integer, EGG_NOISE_UNIFORM, 1, 21569), "");
  EXPECT_EQ(sentence(integer, EGG_NOISE_RADEMACHER, 1, 66052), "");  // 16 * 16 * 127 = 32512: 2147482624
  EXPECT_NE(sentence(integer, EGG_NOISE_RADEMACHER, 1, 66053), "");
  EXPECT_EQ(sentence(real, EGG_NOISE_GAUSSIAN, 64, 1 << 23), "");
}

}  // namespace
}  // namespace eggroll::test
