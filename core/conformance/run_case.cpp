// The cases of single ops and rule ops as scenarios.
#include "conformance/cases.h"
#include "eggroll/spec.h"

namespace eggroll {
namespace {

struct Range {
  uint32_t first, count, members_per_stream;
};

struct Shape {
  uint32_t population;
  Range ranges[2];
  uint32_t streams;  // of inference
};

// Members come in pairs; vector units take 4, 8 or 16 pairs at a time and may have several such vectors in use. The
// number of shapes is prime, so that over the cases every shape comes with every size, rounding and noise.
constexpr Shape kShapes[] = {
    {12, {{0, 8, 4}, {8, 4, 4}}, 5},     {2, {{0, 2, 2}, {0, 2, 2}}, 1},        {34, {{0, 34, 2}, {2, 30, 6}}, 17},
    {66, {{0, 66, 22}, {14, 52, 4}}, 3}, {16, {{0, 16, 16}, {6, 10, 2}}, 16},   {130, {{0, 130, 26}, {62, 68, 34}}, 70},
    {6, {{0, 6, 6}, {4, 2, 2}}, 7},      {64, {{0, 64, 8}, {32, 32, 4}}, 64},   {30, {{0, 30, 10}, {28, 2, 2}}, 15},
    {10, {{2, 8, 6}, {0, 4, 8}}, 9},     {98, {{0, 98, 14}, {46, 52, 12}}, 31},
};

Action evaluate(uint64_t step, const Range& range) {
  return {.kind = ActionKind::kEvaluate,
          .step = step,
          .first = range.first,
          .count = range.count,
          .members_per_stream = range.members_per_stream,
          .tokens = 3};
}

Action of_members(ActionKind kind, uint32_t first, uint32_t count) {
  return {.kind = kind, .first = first, .count = count};
}

// The random numbers follow from the case's name.
Transcript run_named(const BackendInstance& backend, const Program& program, const Rule& rule, const std::string& name,
                     Scenario scenario, int threads) {
  scenario.seed = fnv1a(name);
  require_valid(program, rule, scenario);
  return run_scenario(backend, program, rule, scenario, {threads, 1});
}

}  // namespace

uint32_t shape_count() { return static_cast<uint32_t>(std::size(kShapes)); }

Scenario shaped_scenario(uint32_t number, const egg_noise& noise) {
  const Shape& shape = kShapes[number % std::size(kShapes)];
  Scenario scenario;
  scenario.noise = noise;
  scenario.population = shape.population;
  scenario.reset = 12;  // seldom: a state that was reset holds zeros from there on
  // The second range continues from the states that the first one left.
  for (const uint64_t step : {uint64_t{7}, uint64_t{1} << 40}) {
    for (const Range& range : shape.ranges) scenario.actions.push_back(evaluate(step, range));
    scenario.actions.push_back(of_members(ActionKind::kGetStates, 0, shape.population));
    scenario.actions.push_back(of_members(ActionKind::kSetStates, 0, shape.population));
  }
  scenario.actions.push_back({.kind = ActionKind::kInfer, .streams = shape.streams, .tokens = 3});
  scenario.actions.push_back(of_members(ActionKind::kSetStates, 1, shape.population - 1));
  scenario.actions.push_back({.kind = ActionKind::kUpdate, .step = 41});
  scenario.actions.push_back(evaluate(42, shape.ranges[1]));
  scenario.actions.push_back(of_members(ActionKind::kGetStates, shape.population / 2 - 1, shape.population / 2));
  return scenario;
}

void build_vote_rule(RuleBuilder& rule) {
  const Node vote = rule.vote_i32();
  const Node slot = rule.slot("vote", 'i');
  rule.set_slot(slot, vote);
  const Node negative = rule.op(EGG_RULE_ILT, {vote, rule.constant(0)});
  const Node positive = rule.op(EGG_RULE_ILT, {rule.constant(0), vote});
  rule.delta(rule.op(EGG_RULE_ISUB, {positive, negative}));
}

Transcript run_case(const BackendInstance& backend, const OpCase& test, int threads) {
  ProgramBuilder builder(test.vocab, 4, test.rounding, test.context);
  test.build(builder);
  const Program program(*builder.view());
  RuleBuilder rule_builder;
  build_vote_rule(rule_builder);
  const Rule rule(*rule_builder.view());
  return run_named(backend, program, rule, test.name, test.scenario, threads);
}

Transcript run_case(const BackendInstance& backend, const RuleCase& test, int threads) {
  ProgramBuilder builder(test.vocab, 4, EGG_ROUND_NEAREST);
  const Param table = builder.matrix("table", test.vocab, test.vocab, 16);
  const Param frozen = builder.vector("frozen", test.vocab, 0);
  builder.freeze(frozen);
  const Param bias = builder.vector("bias", test.vocab, 0);
  const Value once = builder.add("once", builder.embed("embedded", table), {}, frozen);
  builder.loss(builder.add("logits", once, {}, bias), 4096);
  const Program program(*builder.view());
  RuleBuilder rule_builder;
  test.build(rule_builder);
  const Rule rule(*rule_builder.view());
  return run_named(backend, program, rule, test.name, test.scenario, threads);
}

}  // namespace eggroll
