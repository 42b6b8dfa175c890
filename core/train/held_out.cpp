#include "train/held_out.h"

#include <fmt/format.h>

#include "record/metrics.h"
#include "train/average.h"
#include "train/weights.h"

namespace eggroll {

HeldOutFigures::HeldOutFigures(const Setup& setup, BackendSession& session, Members& members, Updates& updates,
                               const RunFolder& folder, RunRecord& record)
    : setup_(setup), session_(session), members_(members), updates_(updates), folder_(folder), record_(record) {
  if (setup.machine.average) record_.average.emplace();
}

void HeldOutFigures::learn(const std::optional<egg_evaluation>& evaluation) {
  const bool is_new = evaluation && (evaluations_.empty() || evaluations_.back().step < evaluation->step);
  if (is_new) evaluations_.push_back(*evaluation);
}

std::optional<egg_evaluation> HeldOutFigures::made_after(uint64_t step) const {
  if (evaluations_.empty() || evaluations_.back().step != step) return std::nullopt;
  return evaluations_.back();
}

void HeldOutFigures::add_to_curve(nlohmann::ordered_json& line, uint64_t step, bool is_last) {
  const Measured sample = measure(setup_.eval_plan);
  evaluations_.push_back({step, sample.weights.loss_q16, sample.weights.scored.tokens});
  add_sample(line, sample, step);
  if (is_last) add_final(line, sample, step);
}

void HeldOutFigures::add_end(nlohmann::ordered_json& line, uint64_t step) {
  std::optional<Measured> sample;
  if (!record_.newest || record_.newest->step != step) {
    add_sample(line, sample.emplace(measure(setup_.eval_plan)), step);
  }
  add_final(line, sample, step);
}

void HeldOutFigures::note(const nlohmann::ordered_json& line) {
  const std::string& unit = setup_.dataset.unit;
  const bool is_last = line.at("step") == setup_.machine.train.steps;
  const std::optional<Evaluation> held_out = evaluation_in(line, kHeldOutKeys, unit);
  if (held_out) require_same_loss(*held_out);
  // Where version 0.1 ended or was stopped it read the whole held-out part, and gave it the curve's keys.
  if (held_out && (!record_.newest || held_out->tokens == record_.newest->tokens)) note_newest(*held_out);
  if (is_last) record_.final = evaluation_in(line, kFinalKeys, unit);
  if (!record_.average) return;
  if (const auto average = evaluation_in(line, kAverageHeldOutKeys, unit)) record_.average->newest = average;
  if (is_last) record_.average->final = evaluation_in(line, kAverageFinalKeys, unit);
}

Error HeldOutFigures::disagreement(const char* what, uint64_t step) const {
  return Error(
      fmt::format("{} and the newest checkpoint disagree on the {} after {} steps, so that one of them is "
                  "damaged; {}, or delete that checkpoint and run again to go on from the one before it",
                  folder_.metrics().string(), what, step, kMetricsCure));
}

HeldOutFigures::Measured HeldOutFigures::measure(const EvalPlan& plan) {
  Measured measured{members_.evaluate(plan), std::nullopt};
  if (!setup_.machine.average) return measured;
  updates_.share_slots(static_cast<uint32_t>(setup_.machine.rule->slots().size()) - 1);
  measured.average = of_average(session_, setup_.machine, [&] { return members_.evaluate(plan); });
  return measured;
}

Evaluation HeldOutFigures::evaluation_of(const HeldOut& held_out, uint64_t step) const {
  Evaluation evaluation{step, held_out.bits_per_unit(), held_out.scored.tokens, setup_.dataset.unit};
  if (setup_.dataset.vocabulary) evaluation.bytes = held_out.scored.units;
  return evaluation;
}

void HeldOutFigures::add_sample(nlohmann::ordered_json& line, const Measured& sample, uint64_t step) {
  require_sound(session_, setup_.machine, step);
  const Evaluation evaluation = evaluation_of(sample.weights, step);
  put_evaluation(line, kHeldOutKeys, evaluation);
  note_newest(evaluation);
  if (!sample.average) return;
  record_.average->newest = evaluation_of(*sample.average, step);
  put_evaluation(line, kAverageHeldOutKeys, *record_.average->newest);
}

// The whole held-out part. sample: the evaluation of the curve after the same step, if there is one at hand.
void HeldOutFigures::add_final(nlohmann::ordered_json& line, const std::optional<Measured>& sample, uint64_t step) {
  const bool is_whole = sample && setup_.eval_plan.covers_all();
  const Measured whole = is_whole ? *sample : measure(setup_.final_plan);
  record_.final = evaluation_of(whole.weights, step);
  put_evaluation(line, kFinalKeys, *record_.final);
  if (!whole.average) return;
  record_.average->final = evaluation_of(*whole.average, step);
  put_evaluation(line, kAverageFinalKeys, *record_.average->final);
}

void HeldOutFigures::note_newest(const Evaluation& evaluation) {
  record_.newest = evaluation;
  if (!record_.best || evaluation.bits_per_unit < record_.best->bits_per_unit) {
    record_.best = evaluation;
    since_best_ = 0;
  } else {
    ++since_best_;
  }
}

void HeldOutFigures::require_same_loss(const Evaluation& evaluation) const {
  for (const egg_evaluation& known : evaluations_) {
    if (known.step != evaluation.step || known.tokens != evaluation.tokens) continue;
    const HeldOut exact{known.loss, {known.tokens, evaluation.bytes.value_or(known.tokens)}};
    if (exact.bits_per_unit() != evaluation.bits_per_unit) throw disagreement("evaluation", evaluation.step);
  }
}

}  // namespace eggroll
