#include "monitor/votes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eggroll/row_voters.h"
#include "eggroll/rule_builder.h"
#include "eggroll/rule_parts.h"
#include "monitor/monitor.h"

namespace eggroll {
namespace {

enum Slot : uint32_t { kSquares, kCount };

// Adds up the squares of the votes, in variances of the null, and how many there are, and moves nothing.
Rule summing_rule() {
  RuleBuilder builder;
  const Node sum = builder.slot("squares", 'f');
  const Node count = builder.slot("count", 'f');
  const Node zero = builder.constant(0.0F);
  const Node vote = standard_vote(builder, zero);
  const Node one =
      builder.op(EGG_RULE_SELECT, {builder.op(EGG_RULE_FLT, {zero, builder.vote_std()}), builder.constant(1.0F), zero});
  builder.set_slot(sum, builder.op(EGG_RULE_FADD, {sum, builder.op(EGG_RULE_FMUL, {vote, vote})}));
  builder.set_slot(count, builder.op(EGG_RULE_FADD, {count, one}));
  builder.delta(builder.constant(0));
  return Rule(*builder.view());
}

// The number of pairs of equal fitness whose vote would be spread like this one. It is below the number of pairs where
// few of them have most of the fitness.
class EffectivePairs {
 public:
  void add(const int8_t* fitness, uint32_t count) {
    for (uint32_t k = 0; k < count; ++k) {
      const double square = fitness[k] * fitness[k];
      squares_ += square;
      fourths_ += square * square;
    }
  }
  double count() const { return fourths_ > 0.0 ? squares_ * squares_ / fourths_ : 0.0; }

 private:
  double squares_ = 0.0;
  double fourths_ = 0.0;
};

// Variance, under the null, of the mean square of a tensor's votes over their variance, for gaussian noise (less for
// the others). A matrix's votes are sums over `draws` of f * A * B': the first term is their own variance, the second
// that of the draws' lengths, |A|^2 |B|^2.
double null_variance(const egg_param& param, double rows, double draws) {
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

VoteMeter::VoteMeter(const MonitoredRun& run)
    : model_(run.program),
      noise_(run.noise),
      members_per_stream_(run.members_per_stream),
      rule_(summing_rule()),
      spec_{sizeof(egg_session_spec),
            run.threads,
            &model_.view(),
            &rule_.view(),
            noise_,
            run.population,
            0,
            run.population,
            0,
            run.voters.empty() ? nullptr : run.voters.data()},
      session_(run.backend.open_session(spec_)) {}

void VoteMeter::add(VotedStep step) {
  steps_.push_back(std::move(step));
  if (steps_.size() > kVoteSteps) steps_.pop_front();
}

// The rows of a masked table are taken as independent: their pairs differ for the most part.
VoteMeter::Null VoteMeter::null_of(uint32_t param, const egg_update& update) const {
  const egg_param& p = model_.params()[param];
  const double ranks = p.kind == EGG_PARAM_MATRIX ? noise_.rank : 1;
  const egg_voters voters = voters_of(spec_, param);
  if (voters.masked == 0) {
    EffectivePairs pairs;
    pairs.add(update.fitness + voters.first_pair, voters.pairs);
    if (pairs.count() == 0.0) return {};
    return {null_variance(p, p.rows, pairs.count() * ranks), 1.0};
  }
  RowVoters rows;
  rows.find(spec_, param, update);
  Null null;
  for (size_t i = 0; i < rows.size(); ++i) {
    EffectivePairs pairs;
    for (size_t k = rows.rows()[i].first_voters; k < rows.rows()[i + 1].first_voters; ++k) {
      const RowVoters::Pairs& of_stream = rows.voters()[k];
      pairs.add(update.fitness + of_stream.begin, of_stream.end - of_stream.begin);
    }
    null.variance += null_variance(p, 1.0, pairs.count() * ranks);
    null.means += 1.0;
  }
  return null;
}

std::vector<std::optional<VoteSignal>> VoteMeter::measure() {
  const std::vector<egg_param>& params = model_.params();
  std::vector<float> cells;
  for (uint32_t i = 0; i < params.size(); ++i) {
    cells.assign(weight_count(params[i]), 0.0F);
    if (params[i].perturbed == 0) continue;
    session_.set_slot(i, kSquares, cells.data());
    session_.set_slot(i, kCount, cells.data());
  }
  std::vector<Null> nulls(params.size());  // of all steps
  std::vector<int64_t> changed(params.size());
  for (const VotedStep& step : steps_) {
    const egg_update update{sizeof(egg_update),
                            static_cast<uint32_t>(step.fitness.size()),
                            step.number,
                            step.fitness.data(),
                            nullptr,
                            step.stds.data(),
                            changed.data(),
                            nullptr,
                            step.batch.view(),
                            members_per_stream_,
                            0};
    session_.update(update);
    for (uint32_t i = 0; i < params.size(); ++i) {
      if (params[i].perturbed == 0) continue;
      const Null of_step = null_of(i, update);
      nulls[i].variance += of_step.variance;
      nulls[i].means += of_step.means;
    }
  }
  std::vector<std::optional<VoteSignal>> signals(params.size());
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (nulls[i].means == 0.0) continue;
    cells.resize(weight_count(params[i]));
    session_.get_slot(i, kSquares, cells.data());
    const double squares = std::accumulate(cells.begin(), cells.end(), 0.0);
    session_.get_slot(i, kCount, cells.data());
    const double mean_square = squares / std::accumulate(cells.begin(), cells.end(), 0.0);
    signals[i] =
        VoteSignal{std::sqrt(mean_square), (mean_square - 1.0) * nulls[i].means / std::sqrt(nulls[i].variance)};
  }
  return signals;
}

}  // namespace eggroll
