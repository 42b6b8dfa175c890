// Makes random rules: a graph of rule ops over votes, weights, slots, scalars and constants.
#include <algorithm>
#include <bit>
#include <limits>

#include "conformance/draws.h"
#include "conformance/random_program.h"
#include "program/op_info.h"

namespace eggroll {
namespace {

constexpr uint32_t kRuleDraws = 2000000;  // stream of random numbers

class RuleGenerator {
 public:
  explicit RuleGenerator(uint64_t seed) : draws_(seed, kRuleDraws) { case_.scenario.seed = seed; }

  RandomCase go() {
    make_program();
    make_rule();
    make_scenario();
    return case_;
  }

 private:
  // logits = E[token] + bias; a state keeps W * logits: a square matrix, a vector and another matrix, one of them
  // frozen at times.
  void make_program() {
    static constexpr int32_t kSizes[] = {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 61, 64, 67};
    RandomProgram& program = case_.program;
    program.dims = {draws_.pick(kSizes), draws_.pick(kSizes) - 1};
    program.params = {{false, 0, 0, false}, {true, 0, -1, false}, {false, 1, 0, false}};
    if (draws_.one_in(2)) program.params[draws_.below(3)].frozen = true;
    program.values = {{0, false, false}, {0, false, false}, {1, false, false}, {1, true, false}};
    program.ops = {egg_op{EGG_OP_EMBED, 0, {-1, -1, -1}, {0, -1}, 0, -1, 0, 0},
                   egg_op{EGG_OP_ADD, 1, {0, -1, -1}, {-1, 1}, 0, -1, 0, 0},
                   egg_op{EGG_OP_LINEAR, 2, {1, -1, -1}, {2, -1}, 7, -1, 0, 0},
                   egg_op{EGG_OP_STORE, 3, {2, -1, -1}, {-1, -1}, 0, -1, 0, 0},
                   egg_op{EGG_OP_LOSS, -1, {1, -1, -1}, {-1, -1}, 4096, -1, 0, 0}};
  }

  void make_rule() {
    RandomRule& rule = case_.rule;
    const uint32_t slots = draws_.below(4);
    for (uint32_t i = 0; i < slots; ++i) rule.slots.push_back({draws_.one_in(2) ? 'i' : 'f', -1});
    rule.scalars = static_cast<int32_t>(draws_.below(4));
    const uint32_t nodes = 3 + draws_.below(30);
    for (uint32_t i = 0; i < nodes; ++i) {
      add_node(static_cast<egg_rule_code>(draws_.below(EGG_RULE_COUNT)));
    }
    rule.delta = operand('i');
    for (RandomRule::Slot& slot : rule.slots) slot.node = operand(slot.type);
  }

  void make_scenario() {
    static constexpr uint32_t kPopulations[] = {2, 6, 8, 16, 18, 32, 34, 66, 130, 258};
    Scenario& scenario = case_.scenario;
    egg_noise& noise = scenario.noise;
    noise.seed = draws_.wide();
    noise.source = draws_.one_in(2) ? EGG_NOISE_TABLE : EGG_NOISE_COUNTER;
    noise.table_log2 = noise.source == EGG_NOISE_TABLE ? 12 : 0;
    noise.distribution = static_cast<int32_t>(draws_.below(3));
    noise.rank = draws_.one_in(3) ? 2 + static_cast<int32_t>(draws_.below(4)) : 1;
    noise.sigma_shift = static_cast<int32_t>(draws_.below(6));
    noise.sigma_vector_shift = static_cast<int32_t>(draws_.below(6));
    scenario.population = draws_.pick(kPopulations);
    scenario.weights = draws_.one_in(4) ? Fill::kExtreme : Fill::kMixed;
    scenario.votes = draws_.one_in(4) ? (draws_.one_in(2) ? Votes::kZero : Votes::kOne) : Votes::kMixed;
    const uint32_t updates = 1 + draws_.below(3);
    for (uint32_t i = 0; i < updates; ++i) {
      const uint64_t step = draws_.one_in(4) ? draws_.wide() >> 1 : draws_.below(100);
      scenario.actions.push_back({.kind = ActionKind::kUpdate, .step = step});
    }
    // The weights are used once they have moved.
    scenario.actions.push_back({.kind = ActionKind::kInfer, .streams = 3, .tokens = 2});
  }

  // An earlier node of that type, often a late one; a constant if there is none.
  int32_t operand(char type) {
    std::vector<int32_t> known;
    for (size_t i = 0; i < types_.size(); ++i) {
      if (types_[i] == type) known.push_back(static_cast<int32_t>(i));
    }
    if (known.empty()) return push(type == 'i' ? EGG_RULE_CONST_I32 : EGG_RULE_CONST_F32, {}, type);
    const auto count = static_cast<uint32_t>(known.size());
    const uint32_t late = std::min(count, 4U);
    return known[draws_.one_in(2) ? draws_.below(count) : count - 1 - draws_.below(late)];
  }

  void add_node(egg_rule_code code) {
    const RuleOpInfo& info = kRuleOpInfo[static_cast<size_t>(code)];
    const RandomRule& rule = case_.rule;
    if (code == EGG_RULE_SLOT) {
      if (rule.slots.empty()) return;
      const uint32_t slot = draws_.below(static_cast<uint32_t>(rule.slots.size()));
      rule_node(push(code, {}, rule.slots[slot].type)).index = static_cast<int32_t>(slot);
      return;
    }
    if (code == EGG_RULE_SCALAR) {
      if (rule.scalars == 0) return;
      const uint32_t scalar = draws_.below(static_cast<uint32_t>(rule.scalars));
      rule_node(push(code, {}, 'f')).index = static_cast<int32_t>(scalar);
      return;
    }
    const char any = draws_.one_in(2) ? 'i' : 'f';
    std::vector<int32_t> in;
    for (const char type : info.operands) in.push_back(operand(type == 't' ? any : type));
    push(code, in, info.result == 't' ? any : info.result);
  }

  egg_rule_node& rule_node(int32_t id) { return case_.rule.nodes[static_cast<size_t>(id)]; }

  int32_t push(egg_rule_code code, const std::vector<int32_t>& in, char type) {
    static constexpr int32_t kIntegers[] = {
        0, 1, -1, 2, 127, -255, 65536, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()};
    static constexpr float kFloats[] = {0.0F,  -0.0F,  1.0F,          -1.0F,
                                        0.5F,  0.1F,   1e-41F,        1e-30F,
                                        3e38F, -3e38F, 2147483648.0F, std::numeric_limits<float>::infinity()};
    egg_rule_node node{code, {-1, -1, -1}, 0, 0, 0.0F};
    std::copy(in.begin(), in.end(), node.in);
    if (code == EGG_RULE_CONST_I32) node.integer = draws_.pick(kIntegers);
    if (code == EGG_RULE_CONST_F32) node.real = draws_.pick(kFloats);
    case_.rule.nodes.push_back(node);
    types_.push_back(type);
    return static_cast<int32_t>(types_.size()) - 1;
  }

  Draws draws_;
  RandomCase case_;
  std::vector<char> types_;  // of each node
};

}  // namespace

RandomCase random_rule_case(uint64_t seed) {
  RandomCase test = RuleGenerator(seed).go();
  require_valid(test);
  return test;
}

}  // namespace eggroll
