// Models that are broken on purpose are trained for some steps. The monitor names the broken part. known_runs_test.cpp
// has healthy and saturated models.
#include <gmock/gmock.h>

#include <functional>

#include "monitor/verdicts.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Overrides = std::vector<std::string>;
using Verdicts = std::vector<std::string>;

// A model's overrides, and names of values and tensors in its first layer.
struct Kind {
  std::string name;
  Overrides overrides;
  std::string weight;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

// A change of the model's program.
using Change = std::function<void(std::vector<egg_param>&, std::vector<egg_op>&)>;

class BrokenModels : public ScratchTest, public testing::WithParamInterface<Kind> {
 protected:
  // The verdicts at the last step; there are enough steps for every verdict except those on votes.
  Verdicts verdicts(const Overrides& more, const Change& change = {}) const {
    const Overrides common = {
        "backend=auto",   "model.layers=2",     "model.width=16",           "train.population=128",
        "train.steps=24", "monitor.every=1000", "dataset.valid_tokens=999", "checkpoint.every=24",
        "eval.every=24"};
    const ConfigNode config = small_config(joined(joined(GetParam().overrides, common), more));
    eggroll::Setup setup(config, built_plugins());
    if (change) {
      egg_program view = setup.learner.program->view();
      std::vector<egg_param> params = setup.learner.program->params();
      std::vector<egg_op> ops = setup.learner.program->ops();
      change(params, ops);
      view.params = params.data();
      view.ops = ops.data();
      setup.learner.program = std::make_unique<Program>(view);
    }
    Processes alone;
    return TrainingLoop(setup, config, RunFolder{folder_}, Invocation{}, TrainHooks{}, alone)
        .run()
        .verdicts.value()
        .texts;
  }
};

TEST_P(BrokenModels, ADeadLayer) {
  const Verdicts seen = verdicts({}, [&](std::vector<egg_param>& params, std::vector<egg_op>& ops) {
    for (egg_op& op : ops) {
      // The shift is so large that every product with the second layer's weights is 0.
      if (op.code == EGG_OP_LINEAR && std::string(params[static_cast<size_t>(op.param[0])].name).starts_with("layer1."))
        op.attr = 26;
    }
  });
  EXPECT_THAT(seen, SizeIs(testing::Ge(2)));
  EXPECT_THAT(seen, Each(AllOf(StartsWith("layer1."), HasSubstr(": dead, "))));
}

TEST_P(BrokenModels, AFrozenTensor) {
  const Verdicts seen = verdicts({}, [&](std::vector<egg_param>& params, std::vector<egg_op>&) {
    for (egg_param& param : params) param.perturbed = param.name == GetParam().weight ? 0 : 1;
  });
  EXPECT_THAT(seen, ElementsAre(GetParam().weight + ": never moves, because the model keeps it frozen"));
}

// The tensors are perturbed, but the optimizer moves nothing, so every tensor is named.
TEST_P(BrokenModels, AnOptimizerThatMovesNothing) {
  const Verdicts seen = verdicts({"optimizer=es_sgd", "optimizer.learning_rate=0.0"});
  EXPECT_THAT(seen,
              Contains(StartsWith(GetParam().weight + ": never moves, because all weights are those of 24 steps")));
  EXPECT_THAT(seen, Each(HasSubstr(": never moves, ")));
}

// Only one tensor is perturbed, and its perturbation is shifted out of every sum. So both members of a pair are the
// same model.
TEST_P(BrokenModels, NoVotes) {
  const Verdicts seen = verdicts({}, [&](std::vector<egg_param>& params, std::vector<egg_op>& ops) {
    for (egg_param& param : params) param.perturbed = param.name == GetParam().weight ? 1 : 0;
    for (egg_op& op : ops) {
      if (op.code == EGG_OP_LINEAR && params[static_cast<size_t>(op.param[0])].name == GetParam().weight) op.attr = 26;
    }
  });
  EXPECT_THAT(seen, Contains(StartsWith("there are no votes: for 24 steps")));
}

INSTANTIATE_TEST_SUITE_P(
    Every, BrokenModels,
    testing::Values(Kind{"gru", {"model=gru"}, "layer0.up.w"},
                    Kind{"int8nativeformer", {"model=int8nativeformer", "model.head_width=8"}, "layer0.mlp.up.w"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace eggroll::test
