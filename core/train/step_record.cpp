#include "train/step_record.h"

#include <nlohmann/json.hpp>

#include "record/json.h"
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

}  // namespace

ordered_json to_json(const HookNumbers& numbers) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, value] : numbers) json[name] = value;
  return json;
}

ordered_json to_json(const StepRecord& record) {
  ordered_json line = {{metric::kStep, record.step},
                       {metric::kMemberTokens, record.member_tokens},
                       {metric::kUniqueTokens, record.unique_tokens}};
  if (record.numbers) put(line, *record.numbers);
  if (record.held_out) put_evaluation(line, kHeldOutKeys, *record.held_out);
  if (record.average_held_out) put_evaluation(line, kAverageHeldOutKeys, *record.average_held_out);
  if (record.final) put_evaluation(line, kFinalKeys, *record.final);
  if (record.average_final) put_evaluation(line, kAverageFinalKeys, *record.average_final);
  if (record.monitor) line[metric::kMonitor] = to_json(*record.monitor);
  if (record.hook) line[metric::kHook] = to_json(*record.hook);
  return line;
}

StepRecord step_record_from_json(const ordered_json& line, const std::string& unit) {
  StepRecord record;
  record.step = whole(line.at(metric::kStep));
  record.member_tokens = whole(line.at(metric::kMemberTokens));
  record.unique_tokens = whole(line.at(metric::kUniqueTokens));
  record.held_out = evaluation_in(line, kHeldOutKeys, unit);
  record.final = evaluation_in(line, kFinalKeys, unit);
  record.average_held_out = evaluation_in(line, kAverageHeldOutKeys, unit);
  record.average_final = evaluation_in(line, kAverageFinalKeys, unit);
  if (line.contains(metric::kHook)) {
    HookNumbers& hook = record.hook.emplace();
    for (const auto& [name, value] : object_at(line, metric::kHook).items())
      hook.emplace_back(name, value.get<double>());
  }
  if (!line.contains(metric::kMonitor)) return record;
  MonitorReport& monitor = record.monitor.emplace();
  monitor.step = record.step;
  line.at(metric::kMonitor).at(monitor_metric::kVerdicts).get_to(monitor.verdicts);
  return record;
}

}  // namespace eggroll
