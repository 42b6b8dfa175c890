#include "train/held_out.h"

#include <fmt/format.h>

#include "record/metrics.h"
#include "train/average.h"
#include "train/session_io.h"

namespace eggroll {

HeldOutFigures::HeldOutFigures(const Setup& setup, BackendSession& session, Members& members, Updates& updates,
                               const RunFolder& folder, RunRecord& record)
    : setup_(setup), session_(session), members_(members), updates_(updates), folder_(folder), record_(record) {
  if (setup.learner.average) record_.average.emplace();
}

void HeldOutFigures::learn(const std::optional<egg_evaluation>& evaluation) {
  const bool is_new = evaluation && (evaluations_.empty() || evaluations_.back().step < evaluation->step);
  if (is_new) evaluations_.push_back(*evaluation);
}

std::optional<egg_evaluation> HeldOutFigures::made_after(uint64_t step) const {
  if (evaluations_.empty() || evaluations_.back().step != step) return std::nullopt;
  return evaluations_.back();
}

void HeldOutFigures::add_to_curve(StepRecord& step, bool is_last, bool counts) {
  const Measured sample = measure(setup_.curve_streams);
  if (counts) evaluations_.push_back({step.step, sample.weights.loss_q16, sample.weights.scored.tokens});
  add_sample(step, sample);
  if (is_last) add_final(step, sample);
}

void HeldOutFigures::add_end(StepRecord& step) {
  std::optional<Measured> sample;
  if (!record_.newest || record_.newest->step != step.step) {
    add_sample(step, sample.emplace(measure(setup_.curve_streams)));
  }
  add_final(step, sample);
}

void HeldOutFigures::apply(const StepRecord& step) {
  if (step.held_out) apply_newest(*step.held_out);
  if (step.final) record_.final = step.final;
  if (!record_.average) return;
  if (step.average_held_out) record_.average->newest = step.average_held_out;
  if (step.average_final) record_.average->final = step.average_final;
}

void HeldOutFigures::require_agreement(const StepRecord& step) const {
  if (!step.held_out) return;
  for (const egg_evaluation& known : evaluations_) {
    if (known.step != step.step) continue;
    const HeldOutSums exact{known.loss, {known.tokens, step.held_out->bytes.value_or(known.tokens)}};
    const bool agree = known.tokens == step.held_out->tokens && exact.bits_per_unit() == step.held_out->bits_per_unit;
    if (!agree) throw disagreement("evaluation", step.step);
  }
}

Error HeldOutFigures::disagreement(const char* what, uint64_t step) const {
  return Error(
      fmt::format("{} and the newest checkpoint disagree on the {} after {} steps, so that one of them is "
                  "damaged; {}, or delete that checkpoint and run again to go on from the one before it",
                  folder_.metrics().string(), what, step, kMetricsCure));
}

HeldOutFigures::Measured HeldOutFigures::measure(const HeldOutStreams& streams) {
  Measured measured{members_.evaluate(streams), std::nullopt};
  if (!setup_.learner.average) return measured;
  updates_.share_slots(static_cast<uint32_t>(setup_.learner.rule->slots().size()) - 1);
  measured.average = of_average(session_, setup_.learner, [&] { return members_.evaluate(streams); });
  return measured;
}

Evaluation HeldOutFigures::evaluation_of(const HeldOutSums& held_out, uint64_t step) const {
  Evaluation evaluation{step, held_out.bits_per_unit(), held_out.scored.tokens, setup_.dataset.unit};
  if (setup_.dataset.vocabulary) evaluation.bytes = held_out.scored.units;
  return evaluation;
}

void HeldOutFigures::add_sample(StepRecord& step, const Measured& sample) {
  require_sound(session_, setup_.learner, step.step);
  step.held_out = evaluation_of(sample.weights, step.step);
  if (sample.average) step.average_held_out = evaluation_of(*sample.average, step.step);
}

// The whole held-out part. sample: the evaluation of the curve after the same step, if there is one at hand.
void HeldOutFigures::add_final(StepRecord& step, const std::optional<Measured>& sample) {
  const bool is_whole = sample && setup_.curve_streams.covers_all();
  const Measured whole = is_whole ? *sample : measure(setup_.final_streams);
  step.final = evaluation_of(whole.weights, step.step);
  if (whole.average) step.average_final = evaluation_of(*whole.average, step.step);
}

void HeldOutFigures::apply_newest(const Evaluation& evaluation) {
  record_.newest = evaluation;
  if (!record_.best || evaluation.bits_per_unit < record_.best->bits_per_unit) {
    record_.best = evaluation;
    since_best_ = 0;
  } else {
    ++since_best_;
  }
}

}  // namespace eggroll
