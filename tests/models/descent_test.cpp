// The vote points downhill: for every tensor of a small model, votes correlate positively with the negative
// finite-difference gradient of the loss, by more than chance.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "eggroll/rule_builder.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

constexpr uint32_t kPopulation = 4096;
constexpr uint32_t kTokens = 24;
constexpr uint64_t kSteps = 4;  // each with fresh noise
constexpr int kDifference = 6;  // added to and subtracted from the int8 weight

Fitness zscore() {
  const egg_setting items[] = {{"name", EGG_SETTING_TEXT, 0, 0, 0.0, "zscore"},
                               {"clip", EGG_SETTING_REAL, 0, 0, 2.0, nullptr}};
  const egg_settings view{sizeof(egg_settings), 2, items};
  Settings settings(&view);
  return Fitness(settings);
}

const std::vector<std::string> kGru = {"model=gru"};
const std::vector<std::string> kFormer = {"model=int8nativeformer", "model.head_width=4"};

ConfigNode small(const std::vector<std::string>& model) {
  std::vector<std::string> overrides = {"model.width=8", "model.vocab=7", "train.population=4096",
                                        "train.members_per_stream=2"};
  overrides.insert(overrides.end(), model.begin(), model.end());
  return repository_config(overrides);
}

// A small model with one perturbed tensor, because noise of other tensors would hide its signal. The rule keeps the
// vote in a slot and moves no weight.
class OneTensorModel {
 public:
  OneTensorModel(const std::vector<std::string>& model, uint32_t tensor)
      : learner_(small(model), built_plugins()), tensor_(tensor) {
    RuleBuilder builder;
    builder.set_slot(builder.slot("vote", 'f'), builder.vote_f32());
    builder.delta(builder.constant(0));
    rule_.emplace(*builder.view());
    params_ = learner_.program->params();
    for (uint32_t i = 0; i < params_.size(); ++i) params_[i].perturbed = i == tensor ? 1 : 0;
    egg_program view = learner_.program->view();
    view.params = params_.data();
    program_.emplace(view);
    session_.emplace(
        learner_.backend->open_session(egg_session_spec{sizeof(egg_session_spec), 0, &program_->view(), &rule_->view(),
                                                        learner_.noise, kPopulation, 0, kPopulation, 0, nullptr}));
    Draws draws(101);
    for (uint32_t i = 0; i < params_.size(); ++i) {
      std::vector<int8_t> weights(weight_count(params_[i]));
      for (int8_t& weight : weights) {
        const bool vector = params_[i].kind == EGG_PARAM_VECTOR;
        weight = static_cast<int8_t>(vector ? params_[i].init_value : static_cast<int32_t>(draws.below(61)) - 30);
      }
      session_->set_weights(i, weights.data());
      if (i == tensor) weights_ = weights;
    }
  }

  const egg_param& param() const { return params_[tensor_]; }

  // The gradient of the unperturbed loss, by central differences.
  std::vector<double> gradient(const TestStream& stream) {
    std::vector<double> result;
    for (size_t w = 0; w < weights_.size(); ++w) {
      result.push_back(loss_with(stream, w, kDifference) - loss_with(stream, w, -kDifference));
    }
    session_->set_weights(tensor_, weights_.data());
    return result;
  }

  // Votes in standard deviations of the null, summed over steps; every member reads the same tokens from a zero state.
  std::vector<double> votes(const TestStream& stream) {
    const Fitness fitness = zscore();
    const std::vector<int8_t> zero(size_t{kPopulation} * program_->state_bytes());
    std::vector<double> sum(weights_.size());
    for (uint64_t step = 0; step < kSteps; ++step) {
      session_->set_states(0, kPopulation, zero.data());
      std::vector<int64_t> losses(kPopulation);
      session_->evaluate(egg_evaluate{sizeof(egg_evaluate), kPopulation, step, 0, kPopulation, stream.batch(),
                                      losses.data(), nullptr});
      const std::vector<int8_t> worth = fitness.of(losses);
      const std::vector<float> stds = vote_stds(worth, params_, learner_.noise);
      std::vector<int64_t> changed(params_.size());
      session_->update(egg_update{sizeof(egg_update),
                                  kPopulation / 2,
                                  step,
                                  worth.data(),
                                  nullptr,
                                  stds.data(),
                                  changed.data(),
                                  nullptr,
                                  {},
                                  2,
                                  0});
      std::vector<float> z(weights_.size());
      session_->get_slot(tensor_, 0, z.data());
      for (size_t w = 0; w < z.size(); ++w) sum[w] += z[w] / stds[tensor_];
    }
    return sum;
  }

 private:
  double loss_with(const TestStream& stream, size_t w, int change) {
    std::vector<int8_t> moved = weights_;
    moved[w] = static_cast<int8_t>(moved[w] + change);
    session_->set_weights(tensor_, moved.data());
    std::vector<int8_t> states(program_->state_bytes());
    int64_t loss = 0;
    session_->infer(egg_infer{sizeof(egg_infer), 0, stream.batch(), states.data(), &loss, nullptr});
    return static_cast<double>(loss);
  }

  Learner learner_;
  uint32_t tensor_;
  std::vector<egg_param> params_;
  std::optional<Rule> rule_;
  std::optional<Program> program_;
  std::optional<BackendSession> session_;
  std::vector<int8_t> weights_;
};

void expect_descent(const std::vector<std::string>& config, uint32_t tensor) {
  OneTensorModel model(config, tensor);
  Draws draws(7);
  const TestStream stream(draws, kTokens, 7);
  const std::vector<double> gradient = model.gradient(stream);
  const std::vector<double> vote = model.votes(stream);
  double product = 0.0;
  double gradient_square = 0.0;
  for (size_t w = 0; w < vote.size(); ++w) {
    product -= vote[w] * gradient[w];  // the gradient is negated, because a positive vote raises the weight
    gradient_square += gradient[w] * gradient[w];
  }
  ASSERT_GT(gradient_square, 0.0) << model.param().name;
  // If the votes were noise, this number would be standard normal, and above 3.72 once in 10,000 times.
  EXPECT_GT(product / std::sqrt(static_cast<double>(kSteps) * gradient_square), 3.72) << model.param().name;
}

constexpr uint32_t kGruTensors = 13;
constexpr uint32_t kFormerTensors = 22;

class GruDescent : public testing::TestWithParam<uint32_t> {};
TEST_P(GruDescent, TheVoteCorrelatesWithTheGradient) { expect_descent(kGru, GetParam()); }
INSTANTIATE_TEST_SUITE_P(EveryTensor, GruDescent, testing::Range(uint32_t{0}, kGruTensors));

class FormerDescent : public testing::TestWithParam<uint32_t> {};
TEST_P(FormerDescent, TheVoteCorrelatesWithTheGradient) { expect_descent(kFormer, GetParam()); }
INSTANTIATE_TEST_SUITE_P(EveryTensor, FormerDescent, testing::Range(uint32_t{0}, kFormerTensors));

TEST(DescentTest, CoversEveryTensor) {
  EXPECT_EQ(Learner(small(kGru), built_plugins()).program->params().size(), kGruTensors);
  EXPECT_EQ(Learner(small(kFormer), built_plugins()).program->params().size(), kFormerTensors);
}

}  // namespace
}  // namespace eggroll::test
