// Golden trajectories: on every backend that can run here, the weights after each step are those kept in the tree.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "built_backends.h"
#include "conformance/trajectory.h"

namespace eggroll::test {
namespace {

const ConfigSearch kConfigs{{EGGROLL_SOURCE_DIR "/configs"}};

class TrajectoryOfEveryBackend : public BuiltBackend {};

TEST_P(TrajectoryOfEveryBackend, IsTheGoldenOne) {
  expect_passed(check_trajectories(kConfigs, built_plugins(), chosen()));
}

INSTANTIATE_TEST_SUITE_P(Built, TrajectoryOfEveryBackend, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return backend.param; });

// A preset without a trajectory is a promise without a proof.
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

// Weights that stood still would agree on any backend.
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
