// Programs of sizes that backends treat specially: long and wide programs, heads of several kinds. On every backend
// that can run here, the weights after each step must equal the reference's.
#include <gtest/gtest.h>

#include "built_backends.h"
#include "conformance/trajectory.h"

namespace eggroll::test {
namespace {

const std::vector<Trajectory>& sizes() {
  const auto sized = [](std::string name, std::vector<std::string> overrides) {
    overrides.insert(
        overrides.begin(),
        {"name=sizes", "dataset=markov", "dataset.vocab=53", "dataset.tokens=4000", "dataset.valid_tokens=80",
         "eval.tokens=64", "eval.streams=2", "train.steps=20", "train.population=6", "train.members_per_stream=2",
         "train.tokens=3", "noise.sigma_shift=2", "optimizer.schedule.inverse_time.decay=5", "backend=reference"});
    return Trajectory{std::move(name), std::move(overrides)};
  };
  static const std::vector<Trajectory> all = {
      sized("more ops than fit a launch's arguments", {"model=gru", "model.width=12", "model.layers=16"}),
      sized("one tile at a time", {"model=gru", "model.width=300", "model.layers=1", "train.tokens=1"}),
      sized("inputs too wide to lie on chip", {"model=gru", "model.width=192", "model.layers=1", "model.mlp_ratio=20",
                                               "train.population=2", "train.tokens=1"}),
      sized("a GRU of one block of 64 channels", {"model=gru", "model.width=48", "train.population=66"}),
      sized("a GRU of two blocks",
            {"model=gru", "model.width=120", "model.layers=3", "model.vocab=300", "train.population=66"}),
      sized("a GRU of three blocks and an odd number between its linears",
            {"model=gru", "model.width=180", "model.layers=2", "model.mlp_ratio=1", "model.vocab=61"}),
      sized("a GRU of four blocks, with one state",
            {"model=gru", "model.width=256", "model.layers=1", "model.mlp_ratio=2", "train.tokens=5"}),
      sized("two heads of five units each",
            {"model=int8nativeformer", "model.width=160", "model.head_width=80", "train.tokens=9"}),
      sized("five heads of one unit",
            {"model=int8nativeformer", "model.width=80", "model.head_width=16", "train.tokens=9"}),
      sized("weights of attention above int16",
            {"model=int8nativeformer", "model.width=64", "model.attention.softmax.scale=17", "train.tokens=9"}),
  };
  return all;
}

std::vector<std::string> other_backends() {
  std::vector<std::string> names = built_backends();
  std::erase(names, "reference");
  return names;
}

class SizesOnEveryBackend : public BuiltBackend {};

TEST_P(SizesOnEveryBackend, GiveTheReferencesWeights) {
  const ChosenPlugin reference = built_plugins().choose(EGG_KIND_BACKEND, "reference");
  for (const Trajectory& size : sizes()) {
    const std::vector<std::string> expected = weights_after_each_step(size, kConfigs, built_plugins(), reference);
    EXPECT_NE(expected.front(), expected.back()) << size.name << ": no weight moved";
    EXPECT_EQ(weights_after_each_step(size, kConfigs, built_plugins(), chosen()), expected) << size.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Built, SizesOnEveryBackend, testing::ValuesIn(other_backends()),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace eggroll::test
