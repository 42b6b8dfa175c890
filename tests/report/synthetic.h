// Synthetic runs: records and metrics with given figures, for tests of their readers.
#ifndef EGGROLL_TESTS_REPORT_SYNTHETIC_H
#define EGGROLL_TESTS_REPORT_SYNTHETIC_H

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "record/claim.h"
#include "record/record.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {

struct SyntheticRun {
  std::string sweep = "grid";  // "": a plain run; the axes change its configuration
  uint64_t point = 0;
  uint64_t seed = 0;
  std::optional<TrialRecord> trial;  // if the sweep is a search
  nlohmann::ordered_json axes = nlohmann::ordered_json::object();
  nlohmann::ordered_json claims = nlohmann::ordered_json::array();
  RunStatus status = RunStatus::kCompleted;
  std::string started = "2026-01-02T03:04:05Z";
  uint64_t steps = 100;
  uint64_t population = 512;
  double final_bits = 4.0;
  std::optional<double> average_bits;  // of the averaged weights, if the run has them
  double step_seconds = 0.01;
  double update_rate = 0.1;                    // at the end; falls from 1
  std::optional<double> update_rate_of_voted;  // the same in all steps; none: not in the lines
  uint64_t monitor_every = 0;                  // lines of metrics between two looks of the monitor; 0: no monitor
  std::optional<double> overlap;  // of 64-byte windows; with it the record also has the other facts of a text
  std::optional<double> score;    // a hook's, at the end; 1 less at earlier evaluations
};

inline constexpr uint64_t kSyntheticTokens = 32;  // tokens that a member reads per step
inline constexpr uint64_t kSyntheticEvalEvery = 10;

inline RunRecord synthetic_record(const SyntheticRun& run) {
  RunRecord record;
  record.name = run.sweep.empty() ? "plain" : run.sweep;
  record.status = run.status;
  record.started_utc = run.started;
  record.ended_utc = "2026-01-02T03:05:05Z";
  record.steps = run.steps;
  record.wall_seconds = 1.25 * run.step_seconds * static_cast<double>(run.steps);
  record.member_tokens = run.steps * run.population * kSyntheticTokens;
  record.unique_tokens = record.member_tokens / 2;
  record.config = {{"model", {{"name", "gru"}, {"width", 64}}},
                   {"optimizer", {{"name", "sign_es"}, {"residual", 0.0}}},
                   {"dataset", {{"name", "count"}, {"seed", run.seed}}},
                   {"noise", {{"rank", 1}}},
                   {"name", record.name},
                   {"seed", run.seed},
                   {"train", {{"steps", run.steps}, {"population", run.population}, {"tokens", kSyntheticTokens}}},
                   {"results", {{"dir", "results/runs"}}}};
  record.overrides = {"experiment=grid"};
  if (!run.sweep.empty()) record.overrides.emplace_back("~sweep");
  for (const auto& [axis, value] : run.axes.items()) {
    // A value that can be read as a number is a number, as in an override of `eggroll run`.
    const auto number = nlohmann::ordered_json::parse(axis_text(value), nullptr, false);
    record.config[nlohmann::ordered_json::json_pointer("/" + std::string(axis).replace(axis.find('.'), 1, "/"))] =
        number.is_number() ? number : value;
    record.overrides.push_back(axis + "=" + axis_text(value));
  }
  record.overrides.push_back("seed=" + std::to_string(run.seed));
  record.config_hash = sha256_hex(record.config.dump());
  record.command_line = {"eggroll", "run"};
  record.command_line.insert(record.command_line.end(), record.overrides.begin(), record.overrides.end());
  record.environment = {"0.1.0", "0123456789ab",        "GNU 12.2.0", "0.3", "0123456789abcdef",
                        "Linux", {"a processor", 2, {}}};
  record.plugins.push_back(
      {"backend", "avx2", "0.1.0", "GNU 12.2.0", std::string(64, '1'), "avx2.eggplugin", "it was named"});
  record.parameters = 24832;
  record.device = "a processor";
  record.plan = "tiles of 32 members";
  record.memory_bytes = 1024 * run.population;
  record.threads = 2;
  record.seed = run.seed;
  record.dataset =
      DatasetRecord{"count", std::string(64, '2'), "token", {{"train", 1000}}, {{"entropy_rate_bits", 0.5}}};
  record.baselines = {5.0, 4.5, 4.25};
  if (run.overlap) {
    record.baselines.xz = 4.0;
    record.baselines.kneser_ney = {{3, 3.5}, {4, 3.0}, {5, 3.25}};
    record.counting_seconds = 0.5;
    record.overlap = {{32, 0.75}, {64, *run.overlap}};
    record.checkpoint_bytes = 130'000;
  }
  if (run.status == RunStatus::kCompleted || run.status == RunStatus::kStopped) {
    record.newest = Evaluation{run.steps, run.final_bits, 1000, "token"};
    record.best = record.newest;
    record.final = record.newest;
    if (run.average_bits) {
      const Evaluation average{run.steps, *run.average_bits, 1000, "token"};
      record.average = AverageRecord{average, average};
    }
    record.weights_sha256 = std::string(64, '3');
  }
  if (run.status == RunStatus::kFailed) {
    record.error = "the process died";
    record.failure = Failure{Failure::Kind::kSignal, "SIGSEGV", {"step 3", "a <last> line"}};
  }
  if (run.status == RunStatus::kStopped) record.stopped_because = "the budget of 10 s was spent";
  if (!run.sweep.empty()) {
    record.sweep = SweepRecord{run.sweep, run.point, run.axes, "Which is best?", run.claims, run.trial};
  }
  record.metrics_file = "metrics.jsonl";
  return record;
}

// Held-out bits fall from final_bits + 4, and the update rate from 1, both as 1/step. The last line has the final
// figures.
inline std::string synthetic_metrics(const SyntheticRun& run) {
  const auto steps = static_cast<double>(run.steps);
  std::string text = sealed_line({{"step", 0},
                                  {"member_tokens", 0},
                                  {"unique_tokens", 0},
                                  {"held_out_bits_per_unit", run.final_bits + 4.0},
                                  {"held_out_tokens", 1000}}) +
                     "\n";
  for (uint64_t step = 1; step <= run.steps; ++step) {
    const double left = run.steps > 1 ? (steps / static_cast<double>(step) - 1.0) / (steps - 1.0) : 0.0;  // 1 to 0
    const double rate = run.update_rate + (1.0 - run.update_rate) * left;
    nlohmann::ordered_json line = {{"step", step},
                                   {"member_tokens", step * run.population * kSyntheticTokens},
                                   {"unique_tokens", step * run.population * kSyntheticTokens / 2},
                                   {"train_bits_per_unit", run.final_bits + 0.125 + 4.0 * left},
                                   {"changed", rate},
                                   {"pairs_without_fitness", 1},
                                   {"scalars", {{"threshold", 2.0 * (1.0 - left)}}},
                                   {"forward_seconds", 0.75 * run.step_seconds},
                                   {"step_seconds", run.step_seconds}};
    if (run.update_rate_of_voted) line["changed_of_voted"] = *run.update_rate_of_voted;
    if (step % kSyntheticEvalEvery == 0 || step == run.steps) {
      line["held_out_bits_per_unit"] = run.final_bits + 4.0 * left;
      line["held_out_tokens"] = 1000;
      if (run.score) line["hook"] = {{"score", *run.score - (step == run.steps ? 0.0 : 1.0)}};
    }
    if (run.monitor_every > 0 && step % run.monitor_every == 0) {
      const auto value = [](double saturated) {
        return nlohmann::ordered_json{
            {"op", "linear"},         {"mean", 0.1},   {"std", 30.0},     {"entropy_bits", 6.5},
            {"saturated", saturated}, {"zeros", 0.02}, {"constant", 0.25}};
      };
      const nlohmann::ordered_json tensor = {{"std", 20.0},
                                             {"saturated", 0.03},
                                             {"moved", rate},
                                             {"moved_since_start", 0.9},
                                             {"votes_over_null", 1.5},
                                             {"vote_deviations", 40.0}};
      line["monitor"] = {{"verdicts", {"head: 40 % of values at \u00b1127"}},
                         {"values", {{"embedded", value(0.01)}, {"head", value(0.4)}}},
                         {"heads", {{"mixed", {{{"entropy_bits", 2.5}, {"largest", 0.3}}}}}},
                         {"vote_steps", 64},
                         {"vote_deviations", 30.0},
                         {"tensors", {{"embedding", tensor}}}};
    }
    text += sealed_line(line) + "\n";
  }
  return text;
}

// Writes record.json and metrics.jsonl into the folder.
inline void write_synthetic_run(const std::filesystem::path& folder, const SyntheticRun& run) {
  std::filesystem::create_directories(folder);
  write_atomically(folder / "metrics.jsonl", synthetic_metrics(run));
  write_record(folder / "record.json", synthetic_record(run));
}

}  // namespace eggroll

#endif
