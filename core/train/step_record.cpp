#include "train/step_record.h"

#include <nlohmann/json.hpp>

#include "record/json.h"
#include "record/metrics.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

void put(ordered_json& line, const StepFigures& figures) {
  line[metric::kTrainBits] = figures.bits_per_unit;
  line[metric::kChanged] = figures.changed;
  line[metric::kChangedOfVoted] = figures.changed_of_voted;
  line[metric::kPairsWithoutFitness] = figures.pairs_without_fitness;
  for (const auto& [name, value] : figures.scalars) line[metric::kScalars][name] = value;
  line[metric::kForwardSeconds] = figures.forward_seconds;
  if (figures.gather_seconds) line[metric::kGatherSeconds] = *figures.gather_seconds;
  if (figures.update_seconds) line[metric::kUpdateSeconds] = *figures.update_seconds;
  line[metric::kStepSeconds] = figures.step_seconds;
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
  if (record.figures) put(line, *record.figures);
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
