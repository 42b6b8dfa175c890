#include "train/step_record.h"

#include <nlohmann/json.hpp>

#include "record/fields.h"
#include "record/metrics.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

void put(ordered_json& line, const StepNumbers& numbers) {
  line[metric::kTrainBits] = numbers.bits_per_unit;
  line[metric::kChanged] = numbers.changed;
  line[metric::kChangedOfVoted] = numbers.changed_of_voted;
  line[metric::kPairsWithoutFitness] = numbers.pairs_without_fitness;
  for (const auto& [name, value] : numbers.scalars) line[metric::kScalars][name] = value;
  line[metric::kForwardSeconds] = numbers.forward_seconds;
  if (numbers.gather_seconds) line[metric::kGatherSeconds] = *numbers.gather_seconds;
  if (numbers.update_seconds) line[metric::kUpdateSeconds] = *numbers.update_seconds;
  line[metric::kStepSeconds] = numbers.step_seconds;
}

void counters(auto&& list, Either<StepRecord> auto& record) {
  list(metric::kStep, record.step);
  list(metric::kMemberTokens, record.member_tokens);
  list(metric::kUniqueTokens, record.unique_tokens);
}

constexpr std::pair<EvaluationKeys, std::optional<Evaluation> StepRecord::*> kEvaluations[] = {
    {kHeldOutKeys, &StepRecord::held_out},
    {kAverageHeldOutKeys, &StepRecord::average_held_out},
    {kFinalKeys, &StepRecord::final},
    {kAverageFinalKeys, &StepRecord::average_final},
};

}  // namespace

ordered_json to_json(const StepRecord& record) {
  ordered_json line;
  counters(FieldWriter(line), record);
  if (record.numbers) put(line, *record.numbers);
  for (const auto& [keys, evaluation] : kEvaluations) {
    if (record.*evaluation) put_evaluation(line, keys, *(record.*evaluation));
  }
  if (record.monitor) line[metric::kMonitor] = to_json(*record.monitor);
  if (record.hook) line[metric::kHook] = field_json(*record.hook, metric::kHook);
  return line;
}

StepRecord step_record_from_json(const ordered_json& line, const std::string& unit) {
  StepRecord record;
  FieldReader list(line);
  counters(list, record);
  for (const auto& [keys, evaluation] : kEvaluations) record.*evaluation = evaluation_in(line, keys, unit);
  list(metric::kHook, record.hook, Key::kWhereKnown);
  if (!line.contains(metric::kMonitor)) return record;
  MonitorReport& monitor = record.monitor.emplace();
  monitor.step = record.step;
  line.at(metric::kMonitor).at(monitor_metric::kVerdicts).get_to(monitor.verdicts);
  return record;
}

}  // namespace eggroll
