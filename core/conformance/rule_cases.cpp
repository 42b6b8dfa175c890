// Cases for every rule op. The operands a, b, c are slots that the runner fills with ordinary values and with the edges
// of their type (largest, smallest, denormal, infinite, NaN), so one case covers thousands of operand pairs. Votes are
// tried with more and larger sums as well.
#include <fmt/format.h>

#include <array>

#include "conformance/cases.h"
#include "eggroll/error.h"
#include "program/op_info.h"

namespace eggroll {
namespace {

egg_noise noise_of(int32_t distribution, int32_t rank, int32_t table_log2 = 0) {
  egg_noise noise{};
  noise.seed = 5;
  noise.source = table_log2 > 0 ? EGG_NOISE_TABLE : EGG_NOISE_COUNTER;
  noise.table_log2 = table_log2;
  noise.distribution = distribution;
  noise.rank = rank;
  noise.sigma_shift = 4;
  noise.sigma_vector_shift = 4;
  return noise;
}

// Two updates; the second starts from the slots of the first. The weights are used after them.
Scenario updates(uint32_t population, const egg_noise& noise) {
  Scenario scenario;
  scenario.noise = noise;
  scenario.population = population;
  for (const uint64_t step : {uint64_t{41}, UINT64_C(0xFFFFFFFFFFFFFF00)}) {
    scenario.actions.push_back({.kind = ActionKind::kUpdate, .step = step});
  }
  scenario.actions.push_back({.kind = ActionKind::kInfer, .streams = 3, .tokens = 2});
  return scenario;
}

// An op of slots.
Node make_node(RuleBuilder& rule, egg_rule_code code, char any) {
  const RuleOpInfo& info = kRuleOpInfo[static_cast<size_t>(code)];
  constexpr std::array kNames = {"a", "b", "c"};
  std::array<Node, 3> in{};
  for (size_t k = 0; k < info.operands.size(); ++k) {
    const char type = info.operands[k] == 't' ? any : info.operands[k];
    in.at(k) = rule.slot(kNames.at(k), type);
    rule.set_slot(in.at(k), in.at(k));
  }
  switch (info.operands.size()) {
    case 1:
      return rule.op(code, {in[0]});
    case 2:
      return rule.op(code, {in[0], in[1]});
    default:
      return rule.op(code, {in[0], in[1], in[2]});
  }
}

// An op without operands.
Node leaf(RuleBuilder& rule, egg_rule_code code, char type) {
  if (code == EGG_RULE_SLOT) {
    const Node slot = rule.slot("a", type);
    rule.set_slot(slot, slot);
    return slot;
  }
  if (code == EGG_RULE_SCALAR) {
    rule.scalar("first");
    return rule.scalar("second");
  }
  if (code == EGG_RULE_CONST_I32) return rule.constant(-1234567);
  if (code == EGG_RULE_CONST_F32) return rule.constant(-0.1F);
  if (code == EGG_RULE_VOTE_I32) return rule.vote_i32();
  if (code == EGG_RULE_VOTE_F32) return rule.vote_f32();
  if (code == EGG_RULE_VOTE_STD) return rule.vote_std();
  if (code == EGG_RULE_WEIGHT) return rule.weight();
  throw Error(
      fmt::format("the rule op '{}' has no conformance case; add one", kRuleOpInfo[static_cast<size_t>(code)].name));
}

// Slot "out" becomes the result; the weight moves with it, far enough to saturate at times.
void keep_result(RuleBuilder& rule, Node result, char type) {
  const Node out = rule.slot("out", type);
  rule.set_slot(out, result);
  rule.delta(type == 'i' ? result : rule.op(EGG_RULE_TRUNC_I32, {result}));
}

void add_cases(std::vector<RuleCase>& cases, egg_rule_code code) {
  const RuleOpInfo& info = kRuleOpInfo[static_cast<size_t>(code)];
  const bool either = info.result == 't';
  for (const char type : either ? std::string("if") : std::string(1, info.result)) {
    const auto build = [=](RuleBuilder& rule) {
      keep_result(rule, info.operands.empty() ? leaf(rule, code, type) : make_node(rule, code, type), type);
    };
    for (const int32_t vocab : {61, 2, 16}) {
      const std::string name =
          fmt::format("rule {} {} of {}", info.name, type == 'i' ? "int32" : "float32", vocab * vocab);
      cases.push_back(
          RuleCase{code, name, vocab, updates(vocab == 2 ? 2 : 12, noise_of(EGG_NOISE_GAUSSIAN, 1)), build});
    }
  }
}

void add_vote_cases(std::vector<RuleCase>& cases, egg_rule_code code) {
  const char type = kRuleOpInfo[static_cast<size_t>(code)].result;
  const auto add = [&](const std::string& what, int32_t vocab, const Scenario& scenario) {
    cases.push_back(RuleCase{code, fmt::format("rule {} {}", kRuleOpInfo[static_cast<size_t>(code)].name, what), vocab,
                             scenario, [=](RuleBuilder& rule) { keep_result(rule, leaf(rule, code, type), type); }});
  };
  // One pair, and around the numbers of pairs and draws that vector units take at a time.
  for (const uint32_t pairs : {1U, 3U, 4U, 15U, 16U, 17U, 63U, 64U, 65U, 131U}) {
    for (const int32_t rank : {1, 3}) {
      add(fmt::format("of {} pairs, rank {}", pairs, rank), 13, updates(2 * pairs, noise_of(EGG_NOISE_GAUSSIAN, rank)));
    }
  }
  for (const int32_t rank : {2, 5, 64}) {
    add(fmt::format("of rank {} from a table", rank), 67, updates(22, noise_of(EGG_NOISE_UNIFORM, rank, 12)));
  }
  for (const Votes votes : {Votes::kZero, Votes::kOne}) {
    Scenario scenario = updates(70, noise_of(EGG_NOISE_GAUSSIAN, 2));
    scenario.votes = votes;
    add(votes == Votes::kZero ? "without fitness" : "of one pair among 35", 13, scenario);
  }
  add("of 4099 pairs", 7, updates(2 * 4099, noise_of(EGG_NOISE_GAUSSIAN, 1)));
  add("of 9003 draws of 3001 pairs", 7, updates(2 * 3001, noise_of(EGG_NOISE_UNIFORM, 3)));
  // 127 * 16 * 16 a pair, all of one sign: 66052 pairs are as many as an int32 holds, 66100 pass it.
  const uint32_t pairs = code == EGG_RULE_VOTE_I32 ? 66052 : 66100;
  for (const Votes votes : {Votes::kAligned, Votes::kOpposed}) {
    Scenario scenario = updates(2 * pairs, noise_of(EGG_NOISE_RADEMACHER, 1));
    scenario.actions.erase(scenario.actions.begin() + 1);
    scenario.votes = votes;
    add(fmt::format("of {} pairs {}", pairs, votes == Votes::kAligned ? "upwards" : "downwards"), 3, scenario);
  }
}

// Each row of a masked table has a deviation of its own.
void add_masked_cases(std::vector<RuleCase>& cases) {
  for (const int32_t rank : {1, 3}) {
    for (const uint32_t tokens : {1U, 5U}) {
      Scenario scenario = updates(24, noise_of(EGG_NOISE_GAUSSIAN, rank));
      scenario.masked = true;
      for (Action& action : scenario.actions) {
        if (action.kind != ActionKind::kUpdate) continue;
        action.tokens = tokens;
        action.members_per_stream = 4;
      }
      cases.push_back(RuleCase{EGG_RULE_VOTE_STD,
                               fmt::format("rule vote_std of masked rows, rank {}, {} tokens", rank, tokens), 13,
                               scenario, [](RuleBuilder& rule) { keep_result(rule, rule.vote_std(), 'f'); }});
    }
  }
}

}  // namespace

std::vector<RuleCase> rule_cases() {
  std::vector<RuleCase> cases;
  for (int code = 0; code < EGG_RULE_COUNT; ++code) add_cases(cases, static_cast<egg_rule_code>(code));
  add_vote_cases(cases, EGG_RULE_VOTE_I32);
  add_vote_cases(cases, EGG_RULE_VOTE_F32);
  add_masked_cases(cases);
  return cases;
}

}  // namespace eggroll
