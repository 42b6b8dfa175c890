// A member's loss does not depend on the number of members on a GPU, although a tile that is alone on its
// multiprocessor runs in another kernel than two tiles that share one.
#include <gtest/gtest.h>

#include "gpu_test.h"
#include "learner.h"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kFew = 8192;  // a tile for each of 132 multiprocessors
constexpr uint32_t kMany = 4 * kFew;
constexpr uint32_t kGroup = 64;

class FusedShareTest : public GpuTest {
 protected:
  static Learner learner_of_population(uint32_t population) {
    return learner_of(
        {"model=gru", "model.width=256", "model.layers=6", "train.population=" + std::to_string(population)});
  }
  static std::unique_ptr<Session> open(const egg_session_spec& spec) {
    auto session = open_session(spec, {0});
    set_initial_weights(*session, *spec.program);
    return session;
  }
  // The losses of the first members, whose states begin at zero.
  static std::vector<int64_t> losses_of(Session& session, const egg_session_spec& spec, uint64_t step,
                                        uint32_t population) {
    constexpr uint32_t kTokens = 100;
    const uint32_t streams = population / kGroup;
    test::Draws draws(step);
    std::vector<uint32_t> inputs(size_t{streams} * kTokens);
    std::vector<uint32_t> targets(inputs.size());
    std::vector<uint8_t> resets(inputs.size());
    const auto vocab = static_cast<uint32_t>(spec.program->vocab);
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = draws.below(vocab);
      targets[i] = draws.below(vocab);
      resets[i] = i % kTokens == 0 || draws.below(50) == 0 ? 1 : 0;
    }
    std::vector<int64_t> losses(population);
    session.evaluate({sizeof(egg_evaluate), kGroup, step, 0, population,
                      egg_batch{streams, kTokens, inputs.data(), targets.data(), resets.data(), nullptr}, losses.data(),
                      nullptr});
    losses.resize(kFew);
    return losses;
  }
};

// The test repeats the step many times, because a race between warps shows only at some timings.
TEST_F(FusedShareTest, FewMembersLoseWhatTheyLoseAmongMany) {
  const Learner few_learner = learner_of_population(kFew);
  const Learner many_learner = learner_of_population(kMany);
  const egg_session_spec few_spec = few_learner.session_spec();
  const egg_session_spec many_spec = many_learner.session_spec();
  const auto few = open(few_spec);
  const auto many = open(many_spec);
  for (uint64_t step = 0; step < 20; ++step) {
    const std::vector<int64_t> expected = losses_of(*many, many_spec, step, kMany);
    for (int again = 0; again < 10; ++again) {
      EXPECT_EQ(losses_of(*few, few_spec, step, kFew), expected) << "step " << step << ", time " << again;
    }
  }
}

}  // namespace
}  // namespace eggroll::cuda
