// What `eggroll check` promises of trajectories, whose weights after each step are kept in the tree. That they hold on
// every backend is the test plugin.backend.NAME.check of each.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "built_backends.h"
#include "conformance/trajectory.h"

namespace eggroll::test {
namespace {

class TrajectoryOfEveryBackend : public BuiltBackend {};

// On every backend more members take more memory, and a refusal names a population that is accepted.
TEST_P(TrajectoryOfEveryBackend, MemoryGrowsWithThePopulation) {
  Learner learner(repository_config({"model=gru", "model.width=512", "model.layers=6", "backend=" + GetParam()}),
                  built_plugins());
  const uint64_t state_bytes = learner.program->state_bytes();
  learner.train.population = 1 << 15;
  const uint64_t memory = learner.plan_session().memory;
  EXPECT_GE(memory, (uint64_t{1} << 15) * state_bytes);
  learner.train.population = 1 << 16;
  EXPECT_GE(learner.plan_session().memory, memory + (uint64_t{1} << 15) * state_bytes);

  learner.train.population = UINT32_MAX - 1;
  std::string refusal;
  try {
    learner.plan_session();
    FAIL() << "this machine has " << memory_text(uint64_t{UINT32_MAX} * state_bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), EGG_ERROR_MEMORY) << error.what();
    refusal = error.what();
  }
  const std::string words = "; use at most ";
  ASSERT_NE(refusal.find(words), std::string::npos) << refusal;
  learner.train.population = static_cast<uint32_t>(std::stoul(refusal.substr(refusal.find(words) + words.size())));
  EXPECT_EQ(learner.train.population % 2, 0U);
  EXPECT_NO_THROW(learner.plan_session()) << refusal;
  // The population is so far above the limit that memory which other processes free meanwhile does not matter.
  learner.train.population += learner.train.population / 10 / 2 * 2;
  EXPECT_THROW(learner.plan_session(), Error) << refusal;
}

INSTANTIATE_TEST_SUITE_P(Built, TrajectoryOfEveryBackend, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return backend.param; });

TEST(Trajectories, FindABackendWhosePlanSaysNothing) {
  const Registry faulty({PluginFolder{FAULTY_DIR, "the test"}});
  const Check check = check_plans(kConfigs, built_plugins(), faulty.choose(EGG_KIND_BACKEND, "faulty_plan"));
  EXPECT_EQ(check.failures.size(), check.cases);
  EXPECT_FALSE(check.passed());
}

// Every preset has a trajectory, because a preset without one is a promise without proof.
TEST(Trajectories, CoverEveryModelAndOptimizer) {
  for (const char* group : {"model", "optimizer"}) {
    for (const auto& entry : std::filesystem::directory_iterator(EGGROLL_SOURCE_DIR "/configs/" + std::string(group))) {
      const std::string option = std::string(group) + "=" + entry.path().stem().string();
      size_t found = 0;
      for (const Trajectory& trajectory : trajectories()) {
        found += static_cast<size_t>(std::count(trajectory.overrides.begin(), trajectory.overrides.end(), option));
      }
      EXPECT_GT(found, 0U) << option;
    }
  }
}

// The weights must move, because weights that stand still agree on any backend.
TEST(Trajectories, MoveAtEveryStep) {
  const ChosenPlugin reference = built_plugins().choose(EGG_KIND_BACKEND, "reference");
  for (const Trajectory& trajectory : trajectories()) {
    const std::vector<std::string> hashes = weights_after_each_step(trajectory, kConfigs, built_plugins(), reference);
    EXPECT_EQ(hashes.size(), kTrajectorySteps);
    EXPECT_EQ(std::set<std::string>(hashes.begin(), hashes.end()).size(), hashes.size()) << trajectory.name;
  }
}

}  // namespace
}  // namespace eggroll::test
