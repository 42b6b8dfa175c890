// The random cases are the same on every machine and of every kind, and a failing one becomes a small one that its seed
// brings back.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "built_backends.h"
#include "conformance/check_plugin.h"
#include "conformance/random_program.h"
#include "eggroll/noise.h"
#include "program/op_info.h"

namespace eggroll::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::vector<RandomCase> cases_of_check(RandomCase (*make)(uint64_t)) {
  const RandomCases random;
  std::vector<RandomCase> cases;
  for (uint64_t i = 0; i < random.count; ++i) cases.push_back(make(random.seed + i));
  return cases;
}

// Counts the cases of a check that have each feature.
class Features {
 public:
  void operator()(const std::string& name, bool yes) { counts_[name] += yes ? size_t{1} : size_t{0}; }
  void expect_all() const {
    EXPECT_FALSE(counts_.empty());
    for (const auto& [name, count] : counts_) EXPECT_GT(count, 0U) << name;
  }

 private:
  std::map<std::string, size_t> counts_;
};

TEST(RandomCases, FollowFromTheirSeed) {
  for (RandomCase (*make)(uint64_t) : {&random_program_case, &random_rule_case}) {
    std::set<std::string> texts;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const std::string once = text(make(seed));
      EXPECT_EQ(text(make(seed)), once);
      texts.insert(once);
    }
    EXPECT_EQ(texts.size(), 50U);
  }
}

// So a seed that fails on one machine can be examined on another.
TEST(RandomCases, AreTheSameOnEveryMachine) { EXPECT_EQ(random_cases_hash(), kept_hash(kRandomCases)); }

TEST(RandomPrograms, ReachEveryOpAndItsForms) {
  Features count;
  for (const OpSignature& info : kOpSignatures) count(info.name, false);
  for (const RandomCase& test : cases_of_check(&random_program_case)) {
    const RandomProgram& program = test.program;
    count("floor", program.rounding == EGG_ROUND_FLOOR);
    count("nearest", program.rounding == EGG_ROUND_NEAREST);
    count("vocabulary over 256", program.dims[0] > 256);
    count("vocabulary of 2 to 4", program.dims[0] <= 4);
    count("no states",
          std::none_of(program.values.begin(), program.values.end(), [](const auto& v) { return v.state; }));
    for (const egg_op& op : program.ops) {
      const OpSignature& info = signature_of(op.code);
      count(info.name, true);
      if (op.code == EGG_OP_L1_NORM) count("division " + std::to_string(op.attr), true);
      const int32_t size = op.out < 0
                               ? program.dims[0]
                               : program.dims[static_cast<size_t>(program.values[static_cast<size_t>(op.out)].dim)];
      count(std::string(info.name) + (size % 4 == 0 ? " of whole lanes" : " of a lane in part"), true);
      if (info.optional_params > 0)
        count(std::string(info.name) + (op.param[1] < 0 ? " without bias" : " with bias"), true);
      for (int k = 0; k < 2; ++k) {
        if (op.param[k] < 0) continue;
        const bool frozen = program.params[static_cast<size_t>(op.param[k])].frozen;
        count(std::string(info.name) + (k == 0 ? ", weight " : ", bias ") + (frozen ? "frozen" : "perturbed"), true);
      }
      count("a linear without shift", op.code == EGG_OP_LINEAR && op.attr == 0);
      count("a linear with the largest shift", op.code == EGG_OP_LINEAR && op.attr > 20);
      count("an op that reads a value twice", op.in[0] >= 0 && (op.in[0] == op.in[1] || op.in[0] == op.in[2]));
      count("an add of one value", op.code == EGG_OP_ADD && op.in[1] < 0);
      const auto wide = [&](int32_t id) { return id >= 0 && program.values[static_cast<size_t>(id)].wide; };
      const bool reads = wide(op.in[0]) || wide(op.in[1]);
      if (reads || wide(op.out)) {
        count(std::string(info.name) + (reads ? " of wide values" : " of int8") + (wide(op.out) ? ", wide" : ""), true);
      }
      count("several heads", op.head > 1);
      count("a softmax", op.code == EGG_OP_ATTENTION && op.mode == EGG_WEIGHT_SOFTMAX);
      count("a sigmoid", op.code == EGG_OP_ATTENTION && op.mode == EGG_WEIGHT_SIGMOID);
    }
  }
  count.expect_all();
}

// Parameters and values that more than one op uses, states around their stores.
TEST(RandomPrograms, ShareValuesAndParameters) {
  Features count;
  for (const RandomCase& test : cases_of_check(&random_program_case)) {
    std::map<int32_t, std::set<int32_t>> codes_of_param;
    std::map<int32_t, int> uses_of_param;
    std::map<int32_t, int> readers;
    std::set<int32_t> stored;
    for (const egg_op& op : test.program.ops) {
      for (const int32_t id : op.param) {
        if (id < 0) continue;
        codes_of_param[id].insert(op.code);
        ++uses_of_param[id];
      }
      for (const int32_t id : std::set<int32_t>(std::begin(op.in), std::end(op.in))) {
        if (id < 0) continue;
        ++readers[id];
        const bool state = test.program.values[static_cast<size_t>(id)].state;
        count("a state read after its store", stored.count(id) > 0);
        count("a state stored into another", op.code == EGG_OP_STORE && state && id != op.out);
        count("a state stored into itself", op.code == EGG_OP_STORE && id == op.out);
        count("logits from a state", op.code == EGG_OP_LOSS && state);
      }
      if (op.code == EGG_OP_STORE) stored.insert(op.out);
    }
    for (const auto& [id, codes] : codes_of_param) {
      count("a tied head", codes.count(EGG_OP_EMBED) > 0 && codes.count(EGG_OP_LINEAR) > 0);
      count("a vector of two ops", test.program.params[static_cast<size_t>(id)].vector && codes.size() > 1);
      count("a parameter of two linear ops",
            codes.size() == 1 && codes.count(EGG_OP_LINEAR) > 0 && uses_of_param[id] > 1);
    }
    for (const auto& [id, count_of_readers] : readers) {
      const bool state = test.program.values[static_cast<size_t>(id)].state;
      count(state ? "a state of several readers" : "a value of several readers", count_of_readers > 1);
    }
  }
  count.expect_all();
}

// Whether a draw for this parameter passes the end of its half of the noise table.
bool wraps(const RandomCase& test, uint32_t param, uint64_t step) {
  const egg_noise& noise = test.scenario.noise;
  const RandomProgram::Param& p = test.program.params[param];
  if (noise.source != EGG_NOISE_TABLE || p.frozen) return false;
  const auto rows = static_cast<uint32_t>(test.program.dims[static_cast<size_t>(p.rows)]);
  const uint32_t half = UINT32_C(1) << (noise.table_log2 - 1);
  for (uint32_t pair = 0; pair < test.scenario.population / 2; ++pair) {
    const uint64_t key = egg_noise_key(noise.seed, step, pair, param, EGG_SIDE_A, 0);
    if (egg_noise_table_index(key, EGG_SIDE_A, 0, noise.table_log2) + rows > half) return true;
  }
  return false;
}

TEST(RandomPrograms, MeetEveryKindOfNoise) {
  Features count;
  for (const RandomCase& test : cases_of_check(&random_program_case)) {
    const egg_noise& noise = test.scenario.noise;
    for (const int32_t rank : {1, 2, 3, 4, 5, 64}) count("rank " + std::to_string(rank), noise.rank == rank);
    for (int32_t d = 0; d < 3; ++d) count("distribution " + std::to_string(d), noise.distribution == d);
    count("counter", noise.source == EGG_NOISE_COUNTER);
    count("x*B is not shifted", test.program.fixed_point + noise.sigma_shift == EGG_LINEAR_GUARD_BITS);
    count("vectors are not shifted", test.program.fixed_point + noise.sigma_vector_shift == 0);
    count("fixed point over 8", test.program.fixed_point > 8);
    count("perturbations shifted out", test.program.fixed_point + noise.sigma_shift > 16);
    count("vectors' perturbations shifted out", test.program.fixed_point + noise.sigma_vector_shift > 16);
    count("more than 2048 draws", noise.rank * static_cast<int32_t>(test.scenario.population / 2) > 2048);
    for (const Action& action : test.scenario.actions) {
      if (action.kind != ActionKind::kEvaluate) continue;
      bool any = false;
      for (uint32_t p = 0; p < test.program.params.size(); ++p) any |= wraps(test, p, action.step);
      count("the end of a noise table", any);
    }
  }
  count.expect_all();
}

void count_evaluate(const Action& action, const Scenario& scenario, Features& count) {
  constexpr uint32_t kTile = 16;  // members; no vector unit takes fewer at a time, except one that takes 8
  const uint32_t end = action.first + action.count;
  count("a range that begins within a tile", action.first % kTile != 0);
  count("a range that ends within a tile", end % kTile != 0 && end < scenario.population);
  count("a range within one tile", action.first % kTile != 0 && action.first / kTile == (end - 1) / kTile);
  count("several tiles of 64", action.count > 64);
  count("whole tiles of 64", action.count % 64 == 0);
  count("a stream across tiles", action.members_per_stream % kTile != 0 && action.count > 64);
  count("a stream of more than 16", action.members_per_stream > kTile && action.count > action.members_per_stream);
  count("a stream in part", action.count % action.members_per_stream != 0 && action.count > action.members_per_stream);
  count("one stream for all", action.members_per_stream >= action.count && action.count > 2);
  count("streams that nobody reads", action.streams > 0);
  count("many tokens", action.tokens > 16);
  count("one token", action.tokens == 1);
  count("a step beyond 32 bits", action.step > UINT32_MAX);
  count("a step beyond 63 bits", action.step >> 63 != 0);
  count("step 0", action.step == 0);
}

TEST(RandomPrograms, MeetEveryShapeOfAPopulation) {
  Features count;
  for (const RandomCase& test : cases_of_check(&random_program_case)) {
    const Scenario& scenario = test.scenario;
    count("one pair", scenario.population == 2);
    for (const uint32_t lanes : {4U, 8U, 16U, 32U}) {
      const uint32_t pairs = scenario.population / 2;
      const std::string name = std::to_string(lanes);
      count("a lane more than " + name, pairs % lanes == 1 && pairs > lanes);
      count("a lane less than " + name, pairs % lanes == lanes - 1);
      count("lanes of " + name, pairs % lanes == 0);
    }
    for (const Fill fill : {Fill::kMixed, Fill::kExtreme, Fill::kLargest, Fill::kSmallest, Fill::kNegative}) {
      count("weights " + std::to_string(static_cast<int>(fill)), scenario.weights == fill);
      count("states " + std::to_string(static_cast<int>(fill)), scenario.states == fill);
    }
    for (const Votes votes : {Votes::kMixed, Votes::kZero, Votes::kOne}) {
      count("fitness " + std::to_string(static_cast<int>(votes)), scenario.votes == votes);
    }
    count("resets", scenario.reset > 0);
    count("no resets", scenario.reset == 0);
    count("tokens without target", scenario.no_target > 0);
    count("a target for every token", scenario.no_target == 0);
    std::set<ActionKind> before;
    std::set<uint64_t> steps;
    for (const Action& action : scenario.actions) {
      if (action.kind == ActionKind::kEvaluate) {
        count_evaluate(action, scenario, count);
        count("evaluated after an update", before.count(ActionKind::kUpdate) > 0);
        count("evaluated after new weights", before.count(ActionKind::kSetWeights) > 0);
        count("evaluated after new states", before.count(ActionKind::kSetStates) > 0);
        count("evaluated twice at a step", !steps.insert(action.step).second);
      }
      if (action.kind == ActionKind::kInfer) {
        count("more streams than members", action.streams > scenario.population);
        count("streams of a tile in part", action.streams % 16 != 0 && action.streams > 16);
        count("one stream", action.streams == 1);
        count("logits", action.logits);
        count("no logits", !action.logits);
        count("inferred after an update", before.count(ActionKind::kUpdate) > 0);
      }
      count("states of an odd member read", action.kind == ActionKind::kGetStates && action.first % 2 == 1);
      count("states of an odd member set", action.kind == ActionKind::kSetStates && action.first % 2 == 1);
      count("updated twice", action.kind == ActionKind::kUpdate && before.count(ActionKind::kUpdate) > 0);
      before.insert(action.kind);
    }
  }
  count.expect_all();
}

TEST(RandomRules, ReachEveryOpAndType) {
  Features count;
  for (const RuleOpInfo& info : kRuleOpInfo) count(info.name, false);
  for (const RandomCase& test : cases_of_check(&random_rule_case)) {
    const RandomRule& rule = test.rule;
    const std::vector<char> types = rule_types(make_rule(rule)->view());
    for (size_t i = 0; i < rule.nodes.size(); ++i) {
      const egg_rule_node& node = rule.nodes[i];
      count(kRuleOpInfo[static_cast<size_t>(node.code)].name, true);
      if (node.code == EGG_RULE_SELECT) count(std::string("select ") + types[i], true);
      count("an op that reads a node twice", node.in[0] >= 0 && node.in[0] == node.in[1]);
    }
    for (const RandomRule::Slot& slot : rule.slots) count(std::string("slot ") + slot.type, true);
    count("no slots", rule.slots.empty());
    count("three slots", rule.slots.size() == 3);
    count("several scalars", rule.scalars > 1);
    count("several updates", test.scenario.actions.size() > 2);
    count("one pair", test.scenario.population == 2);
    count("129 pairs", test.scenario.population == 258);
    count("no fitness", test.scenario.votes == Votes::kZero);
    count("a frozen parameter",
          std::any_of(test.program.params.begin(), test.program.params.end(), [](const auto& p) { return p.frozen; }));
    for (const RandomProgram::Param& p : test.program.params) {
      const int32_t weights = test.program.dims[static_cast<size_t>(p.rows)] *
                              (p.vector ? 1 : test.program.dims[static_cast<size_t>(p.cols)]);
      count("weights that fill no block", weights % 16 != 0 && weights > 16);
      count("weights that fill blocks", weights % 64 == 0);
      count("fewer weights than lanes", weights < 4);
    }
  }
  count.expect_all();
}

// ---- Planted faults ----

class PlantedInBackend : public testing::Test {
 protected:
  // The only failing check of a backend whose fault shows in one op alone.
  Check failing_check(const BackendInstance& faulty, const std::string& what, const RandomCases& random) const {
    for (const Check& check : check_random(faulty, &reference_, random)) {
      if (check.what == what) {
        EXPECT_FALSE(check.failures.empty()) << what << " found nothing";
        return check;
      }
    }
    ADD_FAILURE() << "there is no check of " << what;
    return Check{};
  }

  // The printed seed alone repeats the failure, cut down to the same case.
  void expect_repeats(const BackendInstance& faulty, const Check& check) const {
    ASSERT_FALSE(check.failures.empty());
    std::smatch seed;
    ASSERT_TRUE(std::regex_search(check.failures[0], seed, std::regex("--seed ([0-9]+) --cases 1\\)")));
    const Check again = failing_check(faulty, check.what, RandomCases{std::stoull(seed[1]), 1});
    ASSERT_FALSE(again.failures.empty());
    EXPECT_EQ(again.failures[0], check.failures[0]);
  }

  static size_t lines_with(const std::string& text, const std::string& start) {
    std::istringstream lines(text);
    size_t count = 0;
    for (std::string line; std::getline(lines, line);) count += line.rfind(start, 0) == 0 ? size_t{1} : size_t{0};
    return count;
  }

  Registry registry_{{PluginFolder{FAULTY_DIR, "the test"}}};
  BackendInstance reference_{built_plugins().choose(EGG_KIND_BACKEND, "reference"), kNoSettings};
};

// A loss that is wrong in a tile that is not full, under a norm over a size that leaves lanes empty.
TEST_F(PlantedInBackend, AFaultOfOneOpIsCutDownToThatOp) {
  const BackendInstance faulty(registry_.choose(EGG_KIND_BACKEND, "faulty_norm"), kNoSettings);
  const Check check = failing_check(faulty, "random programs", RandomCases{});
  expect_repeats(faulty, check);
  for (const std::string& failure : check.failures) {
    EXPECT_THAT(failure, HasSubstr("l1_norm("));
    EXPECT_LE(lines_with(failure, "op "), 5U) << failure;
    EXPECT_EQ(lines_with(failure, "action "), 1U) << failure;
    EXPECT_THAT(failure, ContainsRegex("\npopulation 2; "));
    EXPECT_THAT(failure, ContainsRegex("\naction 0: evaluate members 0 to 1, step 0, 2 members a stream, 1 tokens\n"));
    EXPECT_THAT(failure, HasSubstr("rank 1,"));
  }
}

TEST_F(PlantedInBackend, AFaultOfARuleOpIsCutDownToThatOp) {
  const BackendInstance faulty(registry_.choose(EGG_KIND_BACKEND, "faulty_sqrt"), kNoSettings);
  const Check check = failing_check(faulty, "random rules", RandomCases{});
  expect_repeats(faulty, check);
  for (const std::string& failure : check.failures) {
    EXPECT_EQ(lines_with(failure, "action "), 0U) << failure;
    EXPECT_LE(lines_with(failure, "node "), 4U) << failure;
    EXPECT_LE(lines_with(failure, "op "), 4U) << failure;
    EXPECT_THAT(failure, HasSubstr(" = fsqrt "));
  }
}

// A case stays as it is if no cut leaves one that fails.
TEST(Shrinking, KeepsACaseThatOnlyFailsWhole) {
  const RandomCase test = random_program_case(3);
  const std::string whole = text(test);
  EXPECT_EQ(text(shrink(test, [&](const RandomCase& smaller) { return text(smaller) == whole; })), whole);
}

// The case is cut down to the smallest program that the host accepts.
TEST(Shrinking, LeavesNextToNothingWhereEverythingFails) {
  for (uint64_t seed = 1; seed < 30; ++seed) {
    const RandomCase small = shrink(random_program_case(seed), [](const RandomCase&) { return true; });
    EXPECT_LE(small.program.ops.size(), 5U) << text(small);
    EXPECT_EQ(small.program.dims[0], 2);
    EXPECT_TRUE(std::all_of(small.program.dims.begin() + 1, small.program.dims.end(), [](int32_t n) { return n == 1; }))
        << text(small);
    EXPECT_EQ(small.scenario.population, 2U);
    EXPECT_TRUE(small.scenario.actions.empty());
    EXPECT_EQ(small.rule.nodes.size(), 1U) << text(small);
  }
}

}  // namespace
}  // namespace eggroll::test
