// The vote points downhill: for every tensor of a small GRU, its correlation with the finite-difference gradient of the
// loss is positive beyond chance.
#include <gtest/gtest.h>

#include <cmath>

#include "support/host.h"

namespace eggroll::test {
namespace {

constexpr uint32_t kPopulation = 8192;
constexpr uint32_t kTokens = 24;
constexpr int kDifference = 3;  // weights move by so many LSB either way

// Rule: keep the vote, move nothing.
class DescentTest : public testing::Test {
 protected:
  DescentTest()
      : machine_(repository_config({"model.width=8", "model.vocab=7", "noise.sigma_shift=3",
                                    "noise.sigma_vector_shift=3", "train.population=8192", "train.group=2"}),
                 built_plugins()) {
    RuleBuilder builder;
    builder.set_slot(builder.slot("vote", 'f'), builder.vote_f32());
    builder.delta(builder.constant(0));
    rule_.emplace(*builder.view());
  }

  int64_t unperturbed_loss(BackendSession& session, const TestStream& stream) {
    std::vector<int8_t> states(machine_.program->state_bytes());
    int64_t loss = 0;
    session.infer(egg_infer{sizeof(egg_infer), 0, stream.batch(), states.data(), &loss, nullptr});
    return loss;
  }

  Machine machine_;
  std::optional<Rule> rule_;
};

TEST_F(DescentTest, TheVoteCorrelatesWithTheGradientOfEveryTensor) {
  BackendSession session = machine_.backend->open_session(egg_session_spec{
      sizeof(egg_session_spec), 0, &machine_.program->view(), &rule_->view(), machine_.noise, kPopulation, 0});
  const std::vector<egg_param>& params = machine_.program->params();
  Draws draws(101);
  std::vector<std::vector<int8_t>> weights;
  for (uint32_t i = 0; i < params.size(); ++i) {
    weights.emplace_back(weight_count(params[i]));
    for (int8_t& weight : weights.back()) {
      weight = static_cast<int8_t>(params[i].kind == EGG_PARAM_VECTOR ? params[i].init_value
                                                                      : static_cast<int32_t>(draws.below(41)) - 20);
    }
    session.set_weights(i, weights.back().data());
  }
  const TestStream stream(draws, kTokens, 7);

  // Gradient of the unperturbed loss by central differences.
  std::vector<std::vector<double>> gradient(params.size());
  for (uint32_t i = 0; i < params.size(); ++i) {
    for (size_t w = 0; w < weights[i].size(); ++w) {
      std::vector<int8_t> moved = weights[i];
      moved[w] = static_cast<int8_t>(weights[i][w] + kDifference);
      session.set_weights(i, moved.data());
      const int64_t up = unperturbed_loss(session, stream);
      moved[w] = static_cast<int8_t>(weights[i][w] - kDifference);
      session.set_weights(i, moved.data());
      gradient[i].push_back(static_cast<double>(up - unperturbed_loss(session, stream)));
    }
    session.set_weights(i, weights[i].data());
  }

  // Votes summed over a few steps, each with fresh noise; every member reads the same tokens from a zero state.
  std::vector<std::vector<double>> vote(params.size());
  for (uint32_t i = 0; i < params.size(); ++i) vote[i].resize(weights[i].size());
  const Fitness fitness = [] {
    const egg_setting items[] = {{"name", EGG_SETTING_TEXT, 0, 0, 0.0, "zscore"},
                                 {"clip", EGG_SETTING_REAL, 0, 0, 2.0, nullptr}};
    const egg_settings view{sizeof(egg_settings), 2, items};
    Settings settings(&view);
    return Fitness(settings);
  }();
  const std::vector<int8_t> zero(size_t{kPopulation} * machine_.program->state_bytes());
  for (uint64_t step = 0; step < 4; ++step) {
    session.set_states(0, kPopulation, zero.data());
    std::vector<int64_t> losses(kPopulation);
    session.evaluate(
        egg_evaluate{sizeof(egg_evaluate), kPopulation, step, 0, kPopulation, stream.batch(), losses.data()});
    const std::vector<int8_t> worth = fitness.of(losses);
    std::vector<float> stds;
    for (const egg_param& param : params) stds.push_back(vote_std(worth, param, machine_.noise));
    std::vector<int64_t> changed(params.size());
    session.update(
        egg_update{sizeof(egg_update), kPopulation / 2, step, worth.data(), nullptr, stds.data(), changed.data()});
    for (uint32_t i = 0; i < params.size(); ++i) {
      std::vector<float> z(weights[i].size());
      session.get_slot(i, 0, z.data());
      for (size_t w = 0; w < z.size(); ++w) vote[i][w] += z[w] / stds[i];
    }
  }

  for (uint32_t i = 0; i < params.size(); ++i) {
    double product = 0.0;
    double gradient_square = 0.0;
    double vote_square = 0.0;
    for (size_t w = 0; w < vote[i].size(); ++w) {
      product -= vote[i][w] * gradient[i][w];  // a positive vote raises the weight, against the gradient
      gradient_square += gradient[i][w] * gradient[i][w];
      vote_square += vote[i][w] * vote[i][w];
    }
    ASSERT_GT(gradient_square, 0.0) << params[i].name;
    // Were the vote noise, product over its standard deviation would be standard normal: beyond 3.1 in 1 of 1000.
    const double null_deviation = std::sqrt(4.0 * gradient_square);
    EXPECT_GT(product / null_deviation, 3.1) << params[i].name;
    EXPECT_GT(product / std::sqrt(gradient_square * vote_square), 0.0) << params[i].name;
  }
}

}  // namespace
}  // namespace eggroll::test
