#include "monitor/votes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eggroll/rule_builder.h"
#include "eggroll/rule_parts.h"

namespace eggroll {
namespace {

// Adds up the squares of the votes, in variances of the null, and moves nothing.
Rule summing_rule() {
  RuleBuilder builder;
  const Node sum = builder.slot("squares", 'f');
  const Node vote = standard_vote(builder, builder.constant(0.0F));
  builder.set_slot(sum, builder.op(EGG_RULE_FADD, {sum, builder.op(EGG_RULE_FMUL, {vote, vote})}));
  builder.delta(builder.constant(0));
  return Rule(*builder.view());
}

// Pairs of even fitness whose vote would be spread as this one: fewer than there are where few have most of it.
double effective_pairs(const std::vector<int8_t>& fitness) {
  double squares = 0.0;
  double fourths = 0.0;
  for (const int8_t f : fitness) {
    const double square = f * f;
    squares += square;
    fourths += square * square;
  }
  return squares * squares / fourths;
}

// Variance, under the null, of the mean square of a tensor's votes over their variance, for gaussian noise (less for
// the others). A matrix's votes are sums over `draws` of f * A * B': the first term is their own variance, the second
// that of the draws' lengths, |A|^2 |B|^2.
double null_variance(const egg_param& param, double draws) {
  const double rows = param.rows;
  const double cols = param.cols;
  if (param.kind == EGG_PARAM_VECTOR) return (2.0 + 6.0 / draws) / rows;
  return 2.0 / (rows * cols) + (2.0 / rows + 2.0 / cols + 4.0 / (rows * cols)) / draws;
}

}  // namespace

std::optional<double> joint_deviations(const std::vector<std::optional<VoteSignal>>& signals) {
  double sum = 0.0;
  double count = 0.0;
  for (const std::optional<VoteSignal>& signal : signals) {
    if (!signal) continue;
    sum += signal->deviations;
    count += 1.0;
  }
  return count > 0.0 ? std::optional(sum / std::sqrt(count)) : std::nullopt;
}

VoteMeter::VoteMeter(const BackendInstance& backend, const Program& model, const egg_noise& noise, uint32_t population,
                     int32_t threads)
    : model_(model),
      noise_(noise),
      rule_(summing_rule()),
      session_(backend.open_session(egg_session_spec{sizeof(egg_session_spec), threads, &model.view(), &rule_.view(),
                                                     noise, population, 0, population, 0})) {}

void VoteMeter::add(uint64_t step, std::vector<int8_t> fitness, std::vector<float> stds) {
  steps_.push_back({step, std::move(fitness), std::move(stds)});
  if (steps_.size() > kVoteSteps) steps_.pop_front();
}

std::vector<std::optional<VoteSignal>> VoteMeter::measure() {
  const std::vector<egg_param>& params = model_.params();
  std::vector<float> sums;
  for (uint32_t i = 0; i < params.size(); ++i) {
    sums.assign(weight_count(params[i]), 0.0F);
    if (params[i].perturbed != 0) session_.set_slot(i, 0, sums.data());
  }
  double voted = 0.0;                            // steps in which some pair has a fitness
  std::vector<double> variances(params.size());  // of the sums over these steps
  std::vector<int64_t> changed(params.size());
  for (const Step& step : steps_) {
    if (std::all_of(step.fitness.begin(), step.fitness.end(), [](int8_t f) { return f == 0; })) continue;
    session_.update(egg_update{sizeof(egg_update), static_cast<uint32_t>(step.fitness.size()), step.number,
                               step.fitness.data(), nullptr, step.stds.data(), changed.data(), nullptr});
    voted += 1.0;
    const double pairs = effective_pairs(step.fitness);
    for (size_t i = 0; i < params.size(); ++i) {
      variances[i] += null_variance(params[i], pairs * (params[i].kind == EGG_PARAM_MATRIX ? noise_.rank : 1));
    }
  }
  std::vector<std::optional<VoteSignal>> signals(params.size());
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (params[i].perturbed == 0 || voted == 0.0) continue;
    sums.resize(weight_count(params[i]));
    session_.get_slot(i, 0, sums.data());
    const double mean_square =
        std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(sums.size()) / voted;
    signals[i] = VoteSignal{std::sqrt(mean_square), (mean_square - 1.0) * voted / std::sqrt(variances[i])};
  }
  return signals;
}

}  // namespace eggroll
