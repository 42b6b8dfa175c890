#include "monitor/votes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eggroll/noise.h"
#include "eggroll/rule_builder.h"
#include "eggroll/rule_parts.h"
#include "monitor/monitor.h"

namespace eggroll {
namespace {

enum Slot : uint32_t { kSquares, kSquaresByChance, kSlots };

// Votes beyond this many standard deviations of the null are counted. A signal that widens all votes and one that moves
// a few far out both show there.
constexpr float kFar = 2.5F;

// The signs of the fitness of a step's pairs: their own, or those of one of two coins.
enum class Signs { kOwn, kChance, kOtherChance };

// Scalars of the rule: what a vote's square adds to either slot.
struct Shares {
  float own;
  float by_chance;
};
constexpr Shares shares_of(Signs signs) { return signs == Signs::kOwn ? Shares{1.0F, 0.0F} : Shares{0.0F, 0.5F}; }

// Adds up the squares of the votes, in variances of the null, and changes a weight where its vote is far out, so that
// an update counts such votes.
Rule counting_rule() {
  RuleBuilder builder;
  const Node zero = builder.constant(0.0F);
  const Node vote = standard_vote(builder, zero);
  const Node square = builder.op(EGG_RULE_FMUL, {vote, vote});
  for (const char* name : {"own", "by_chance"}) {  // as in Shares and Slot
    const Node slot = builder.slot(name, 'f');
    const Node part = builder.op(EGG_RULE_FMUL, {builder.scalar(name), square});
    builder.set_slot(slot, builder.op(EGG_RULE_FADD, {slot, part}));
  }
  const Node nothing = builder.constant(0);
  const Node is_far = builder.op(EGG_RULE_FLT, {builder.constant(kFar), builder.op(EGG_RULE_FABS, {vote})});
  const Node is_high = builder.op(EGG_RULE_ILT, {nothing, builder.weight()});
  const Node change = builder.op(EGG_RULE_SELECT, {is_high, builder.constant(-1), builder.constant(1)});
  builder.delta(builder.op(EGG_RULE_SELECT, {is_far, change, nothing}));
  return Rule(*builder.view());
}

std::vector<int8_t> with_signs(std::vector<int8_t> fitness, uint64_t step, Signs signs) {
  if (signs == Signs::kOwn) return fitness;
  const uint64_t key = egg_absorb(static_cast<uint64_t>(signs), step);
  for (size_t pair = 0; pair < fitness.size(); ++pair) {
    if ((egg_absorb(key, pair) & 1) != 0) fitness[pair] = static_cast<int8_t>(-fitness[pair]);
  }
  return fitness;
}

// By step.
struct Counts {
  std::vector<double> own;
  std::vector<double> chance;
  std::vector<double> other_chance;
};

// The variance of `own` minus the mean of the two counts by chance, from the difference of these two. The variance of a
// count of one, 1, is added, because there may be few counts.
double variance_of(const Counts& counts) {
  double squares = 0.0;
  for (size_t k = 0; k < counts.own.size(); ++k) {
    const double difference = counts.chance[k] - counts.other_chance[k];
    squares += difference * difference;
  }
  return 0.75 * squares + 1.0;
}

double deviations_of(const Counts& counts) {
  double sum = 0.0;
  for (size_t k = 0; k < counts.own.size(); ++k) {
    sum += counts.own[k] - 0.5 * (counts.chance[k] + counts.other_chance[k]);
  }
  return sum / std::sqrt(variance_of(counts));
}

}  // namespace

VoteMeter::VoteMeter(const MonitoredRun& run)
    : model_(run.program),
      members_per_stream_(run.members_per_stream),
      rule_(counting_rule()),
      session_(run.backend.open_session(egg_session_spec{sizeof(egg_session_spec), run.threads, &model_.view(),
                                                         &rule_.view(), run.noise, run.population, 0, run.population, 0,
                                                         run.voters.empty() ? nullptr : run.voters.data()})) {}

void VoteMeter::add(VotedStep step) {
  steps_.push_back(std::move(step));
  if (steps_.size() > kVoteSteps) steps_.pop_front();
}

std::vector<int64_t> VoteMeter::count_far(const VotedStep& step, const std::vector<int8_t>& fitness,
                                          const float* scalars) {
  std::vector<int64_t> far(model_.params().size());
  session_.update(egg_update{sizeof(egg_update), static_cast<uint32_t>(fitness.size()), step.number, fitness.data(),
                             scalars, step.stds.data(), far.data(), nullptr, step.batch.view(), members_per_stream_,
                             0});
  return far;
}

double VoteMeter::sum_of_slot(uint32_t param, uint32_t slot) {
  std::vector<float> cells(weight_count(model_.params()[param]));
  session_.get_slot(param, slot, cells.data());
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

double VoteMeter::share_without_fitness() const {
  double without = 0.0;
  double pairs = 0.0;
  for (const VotedStep& step : steps_) {
    without += static_cast<double>(std::count(step.fitness.begin(), step.fitness.end(), int8_t{0}));
    pairs += static_cast<double>(step.fitness.size());
  }
  return pairs == 0.0 ? 0.0 : without / pairs;
}

VoteSignals VoteMeter::measure() {
  const std::vector<egg_param>& params = model_.params();
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (params[i].perturbed == 0) continue;
    const std::vector<float> zeros(weight_count(params[i]));
    for (uint32_t slot = 0; slot < kSlots; ++slot) session_.set_slot(i, slot, zeros.data());
  }
  std::vector<Counts> counts(params.size());
  for (const VotedStep& step : steps_) {
    const auto count = [&](Signs signs, std::vector<double> Counts::*column) {
      const Shares shares = shares_of(signs);
      const float scalars[] = {shares.own, shares.by_chance};
      const std::vector<int64_t> far = count_far(step, with_signs(step.fitness, step.number, signs), scalars);
      for (size_t i = 0; i < far.size(); ++i) (counts[i].*column).push_back(static_cast<double>(far[i]));
    };
    count(Signs::kOwn, &Counts::own);
    count(Signs::kChance, &Counts::chance);
    count(Signs::kOtherChance, &Counts::other_chance);
  }
  VoteSignals signals;
  signals.pairs_without_fitness = share_without_fitness();
  Counts together{std::vector<double>(steps()), std::vector<double>(steps()), std::vector<double>(steps())};
  for (uint32_t i = 0; i < params.size(); ++i) {
    signals.tensors.emplace_back();
    if (params[i].perturbed == 0) continue;
    const double own = sum_of_slot(i, kSquares);
    const double by_chance = sum_of_slot(i, kSquaresByChance);
    if (own == 0.0 || by_chance == 0.0) continue;
    signals.tensors[i] = VoteSignal{std::sqrt(own / by_chance), deviations_of(counts[i])};
    // Each tensor weighs as much as any other.
    const double scale = std::sqrt(variance_of(counts[i]));
    for (const auto column : {&Counts::own, &Counts::chance, &Counts::other_chance}) {
      for (size_t k = 0; k < steps(); ++k) (together.*column)[k] += (counts[i].*column)[k] / scale;
    }
    signals.deviations = 0.0;
  }
  if (signals.deviations) signals.deviations = deviations_of(together);
  return signals;
}

}  // namespace eggroll
