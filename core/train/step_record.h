// One step of a run as a value. The trainer makes it once; the stop rules, the run's record, metrics.jsonl, the
// progress and the monitor's table read it. Only metrics.jsonl needs it as JSON, and only a resumed run reads it back
// from there.
#ifndef EGGROLL_TRAIN_STEP_RECORD_H
#define EGGROLL_TRAIN_STEP_RECORD_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/report.h"
#include "record/record.h"

namespace eggroll {

// The numbers of a step of training.
struct StepNumbers {
  double bits_per_unit = 0.0;     // mean over the members, with perturbations
  double changed = 0.0;           // share of the perturbed parameters' weights that moved
  double changed_of_voted = 0.0;  // share of those that had votes
  uint64_t pairs_without_fitness = 0;
  std::vector<std::pair<std::string, float>> scalars;  // of the rule, in its order
  double forward_seconds = 0.0;
  // If several processes share the run.
  std::optional<double> gather_seconds;
  std::optional<double> update_seconds;
  double step_seconds = 0.0;  // without evaluations
};

// The numbers of a hook (train/hook.h) with their names, in its order.
using HookNumbers = std::vector<std::pair<std::string, double>>;

struct StepRecord {
  uint64_t step = 0;           // steps done
  uint64_t member_tokens = 0;  // of the run, by then
  uint64_t unique_tokens = 0;
  // Absent before the first step, and in the record of a stop, which repeats the last step.
  std::optional<StepNumbers> numbers;
  // Evaluations of the unperturbed model after the step: of the learning curve, and of the whole held-out part.
  std::optional<Evaluation> held_out;
  std::optional<Evaluation> final;
  // The same evaluations of the average of the weights, in a run with optimizer.average.
  std::optional<Evaluation> average_held_out;
  std::optional<Evaluation> average_final;
  std::optional<MonitorReport> monitor;
  std::optional<HookNumbers> hook;
};

// A line of metrics.jsonl.
nlohmann::ordered_json to_json(const StepRecord& record);

// What a resumed run needs of a line: tokens, evaluations, the monitor's verdicts and whether there was a hook; the
// rest stays empty. unit: of the dataset. Throws nlohmann's exceptions.
StepRecord step_record_from_json(const nlohmann::ordered_json& line, const std::string& unit);

}  // namespace eggroll

#endif
