// Makes the scenario of a random program: its noise, its members, the calls of its session.
#include <algorithm>

#include "conformance/draws.h"
#include "conformance/random_program.h"
#include "eggroll/arithmetic.h"
#include "eggroll/noise.h"

namespace eggroll {
namespace {

constexpr int64_t kMostWork = 3000000;   // multiply-adds of one call
constexpr int64_t kMostVotes = 8000000;  // products of one update

class ScenarioGenerator {
 public:
  ScenarioGenerator(RandomCase& test, Draws& draws) : test_(test), scenario_(test.scenario), draws_(draws) {}

  void go() {
    make_noise();
    make_scenario();
  }

 private:
  int64_t weights() const {
    const auto size = [&](int32_t dim) { return int64_t{test_.program.dims[static_cast<size_t>(dim)]}; };
    int64_t sum = 0;
    for (const RandomProgram::Param& p : test_.program.params) {
      const int64_t rows =
          p.index < 0 ? size(p.rows) : int64_t{1} << test_.program.indices[static_cast<size_t>(p.index)].log2_rows;
      sum += rows * (p.vector ? 1 : size(p.cols));
    }
    return sum;
  }

  void make_noise() {
    static constexpr int32_t kRanks[] = {1, 1, 1, 1, 2, 3, 4, 5, 7, 16, 64};
    egg_noise& noise = scenario_.noise;
    noise.seed = draws_.wide();
    noise.source = draws_.one_in(2) ? EGG_NOISE_TABLE : EGG_NOISE_COUNTER;
    noise.table_log2 = noise.source == EGG_NOISE_TABLE ? 12 + static_cast<int32_t>(draws_.below(3)) : 0;
    noise.distribution = static_cast<int32_t>(draws_.below(3));
    noise.rank = draws_.pick(kRanks);
    const int32_t least = std::max(0, EGG_LINEAR_GUARD_BITS - test_.program.fixed_point);
    noise.sigma_shift = draws_.one_in(4) ? least : random_shift(least);
    noise.sigma_vector_shift = draws_.one_in(4) ? 0 : random_shift(0);
  }

  // A shift that the configuration allows: at most 12.
  int32_t random_shift(int32_t least) {
    return std::min(12, least + static_cast<int32_t>(draws_.below(draws_.one_in(4) ? 13 : 6)));
  }

  uint32_t even(uint32_t low, uint32_t high) { return low + 2 * draws_.below((high - low) / 2 + 1); }

  uint64_t random_step() {
    static constexpr uint64_t kSteps[] = {
        0, 1, UINT64_C(0xFFFFFFFF), UINT64_C(0x100000000), UINT64_C(1) << 40, UINT64_C(1) << 63, EGG_STEP_DATA - 1};
    return draws_.one_in(3) ? draws_.pick(kSteps) : draws_.below(1000);
  }

  void make_scenario() {
    static constexpr uint32_t kPopulations[] = {2, 2, 4, 6, 8, 14, 16, 18, 30, 32, 34, 62, 64, 66, 96, 126, 128, 130};
    static constexpr Fill kFills[] = {Fill::kMixed,   Fill::kMixed,    Fill::kMixed,    Fill::kExtreme,
                                      Fill::kLargest, Fill::kSmallest, Fill::kNegative, Fill::kSmall,
                                      Fill::kTrained, Fill::kHalf,     Fill::kOutliers, Fill::kZero};
    scenario_.population = draws_.one_in(3) ? even(2, 150) : draws_.pick(kPopulations);
    while (weights() * scenario_.population / 2 * scenario_.noise.rank > kMostVotes) {
      if (scenario_.noise.rank > 5) {
        scenario_.noise.rank /= 2;
      } else {
        cut_largest_size(test_.program);
      }
    }
    scenario_.weights = draws_.one_in(2) ? Fill::kMixed : draws_.pick(kFills);
    scenario_.states = draws_.one_in(2) ? Fill::kMixed : draws_.pick(kFills);
    scenario_.votes = draws_.one_in(4) ? (draws_.one_in(2) ? Votes::kZero : Votes::kOne) : Votes::kMixed;
    scenario_.no_target = draws_.below(4) * 2;
    scenario_.reset = draws_.below(3) * 7;
    scenario_.masked = draws_.one_in(2);
    scenario_.split = draws_.one_in(3) ? 1 + draws_.below(1000) : 0;
    const uint32_t actions = 2 + draws_.below(6);
    for (uint32_t i = 0; i < actions; ++i) add_random_action();
    add_evaluate();
  }

  void add_random_action() {
    static constexpr ActionKind kKinds[] = {ActionKind::kEvaluate,  ActionKind::kEvaluate,  ActionKind::kUpdate,
                                            ActionKind::kUpdate,    ActionKind::kInfer,     ActionKind::kSetStates,
                                            ActionKind::kGetStates, ActionKind::kSetWeights};
    Action action{draws_.pick(kKinds)};
    switch (action.kind) {
      case ActionKind::kEvaluate:
        add_evaluate();
        return;
      case ActionKind::kUpdate:
        action.step = random_step();
        action.members_per_stream = draws_.one_in(3) ? 2 : even(2, std::max(2U, std::min(scenario_.population, 60U)));
        action.tokens = 1 + draws_.below(4);
        break;
      case ActionKind::kInfer:
        action.streams = 1 + draws_.below(draws_.one_in(2) ? 70 : 9);
        action.tokens = tokens_for(action.streams);
        action.logits = !draws_.one_in(3);
        break;
      case ActionKind::kSetStates:
      case ActionKind::kGetStates:
        action.first = draws_.below(scenario_.population);
        action.count = 1 + draws_.below(scenario_.population - action.first);
        break;
      case ActionKind::kSetWeights:
        break;
    }
    scenario_.actions.push_back(action);
  }

  void add_evaluate() {
    const uint32_t population = scenario_.population;
    Action action{ActionKind::kEvaluate};
    action.count = population;
    if (!draws_.one_in(3)) {
      action.first = even(0, population - 2);
      action.count = even(2, population - action.first);
    }
    action.members_per_stream = draws_.one_in(3) ? 2 : even(2, std::max(2U, std::min(action.count, 60U)));
    action.streams = draws_.one_in(8) ? 1 + draws_.below(3) : 0;
    action.tokens = tokens_for(action.count);
    // Often the previous call's step: a backend must not use what it keeps of that step for other members.
    action.step = draws_.one_in(3) ? last_step_ : random_step();
    last_step_ = action.step;
    scenario_.actions.push_back(action);
  }

  uint32_t tokens_for(uint32_t members) {
    const auto most =
        static_cast<uint32_t>(std::clamp<int64_t>(kMostWork / (macs_per_token(test_.program) * members), 1, 40));
    const auto context = static_cast<uint32_t>(test_.program.context);
    const uint32_t tokens = 1 + draws_.below(draws_.one_in(4) ? most : std::min(most, 5U));
    return context == 0 ? tokens : std::min(tokens, context);
  }

  RandomCase& test_;
  Scenario& scenario_;
  Draws& draws_;
  uint64_t last_step_ = 0;
};

}  // namespace

void make_random_scenario(RandomCase& test, Draws& draws) { ScenarioGenerator(test, draws).go(); }

}  // namespace eggroll
