// Records of runs, whole in every field that tests look at.
#ifndef EGGROLL_TESTS_RECORD_RECORD_SAMPLES_H
#define EGGROLL_TESTS_RECORD_RECORD_SAMPLES_H

#include <limits>
#include <string>

#include "record/record.h"

namespace eggroll {

inline RunRecord completed_record() {
  RunRecord record;
  record.name = "shakespeare";
  record.status = RunStatus::kCompleted;
  record.started_utc = "2025-01-31T10:00:00Z";
  record.ended_utc = "2025-01-31T10:05:00Z";
  record.wall_seconds = 299.5;
  record.resumes = 1;
  record.config_hash = std::string(64, 'c');
  record.config = {{"seed", 3}, {"model", {{"name", "gru"}, {"layers", 1}}}};
  record.overrides = {"seed=3"};
  record.command_line = {"eggroll", "run", "seed=3"};
  record.environment = capture_environment();
  record.environment.host_commit = "0123456789ab-dirty";
  record.plugins = {
      {"backend", "reference", "1.0.0", "GNU 12", std::string(64, 'b'), "reference.eggplugin", "highest score, 1"},
      {"model", "gru", "1.0.0", "GNU 12", std::string(64, 'd'), "gru.eggplugin", std::nullopt},
      {"optimizer", "sign_es", "1.0.0", "GNU 12", std::string(64, 'e'), "sign_es.eggplugin", std::nullopt}};
  record.program_hash = std::string(16, '1');
  record.rule_hash = std::string(16, '2');
  record.device = "cpu";
  record.plan = "scalar, 2 threads";
  record.memory_bytes = 5'000'000'000;
  record.threads = 2;
  record.seed = std::numeric_limits<uint64_t>::max();
  record.dataset = DatasetRecord{
      "text", std::string(64, 'f'), "byte", {{"train", 1000}, {"held_out", 100}}, {{"path", "shakespeare.txt"}}};
  record.baselines = {4.8, 3.5, std::nullopt, std::nullopt, 2.5, {{1, 3.5}, {5, 2.25}, {7, 2.5}}};
  record.counting_seconds = 0.25;
  record.overlap = {{32, 0.0625}, {64, 0.0}};
  record.parameters = 5'000'000'000;
  record.checkpoint_bytes = 130'000;
  record.steps = 800;
  record.member_tokens = 26'000'000;
  record.unique_tokens = 1'600'000;
  record.newest = Evaluation{800, 4.2, 32768, "byte"};
  record.best = Evaluation{700, 4.0999999999999996, 32768, "byte"};
  record.final = Evaluation{800, 4.125, 90000, "byte", 120000};
  record.weights_sha256 = std::string(64, '0');
  record.metrics_file = "metrics.jsonl";
  record.curve_file = "curve.png";
  return record;
}

// A run that failed before it had read its dataset.
inline RunRecord failed_record() {
  RunRecord record;
  record.name = "text";
  record.status = RunStatus::kFailed;
  record.error = "cannot read a.txt: No such file or directory; check the path";
  record.started_utc = "2025-01-31T10:00:00Z";
  record.ended_utc = "2025-01-31T10:00:00Z";
  record.config_hash = std::string(64, 'c');
  record.environment = capture_environment();
  record.environment.host_commit = "unknown";
  return record;
}

// The record of a sweep's point whose process died.
inline RunRecord crashed_record() {
  RunRecord record = failed_record();
  record.error = "the process ended by SIGSEGV";
  record.failure = Failure{Failure::Kind::kSignal, "SIGSEGV", {"backend avx2", "step 1/10"}};
  SweepRecord sweep{"widths", 3, {{"model.width", "32"}, {"size", {{"train.tokens", "8"}}}}, "How wide?", {}};
  sweep.claims.push_back({{"axis", "model.width"}});
  record.sweep = sweep;
  return record;
}

// A record with a summary whose numbers need all their digits.
inline RunRecord summarized_record() {
  RunRecord record = completed_record();
  RunMetrics metrics;
  metrics.lines = 3;
  metrics.last_step = 800;
  metrics.held_out = {{0, 0.0, 0.0, 8.0}, {800, 26e6, 0.1 + 0.2, 1.0 / 3.0}};
  metrics.training = {{800, 26e6, 1e-17, 4.0999999999999996}};
  metrics.update_rate = Phases{1.0, 0.1, 5e-324, 0.30000000000000004};
  metrics.update_rate_of_voted = Phases{1.0, 0.2, 0.1, 0.7000000000000001};
  metrics.step_seconds = Quantiles{0.01, 0.011, 1.7976931348623157e308};
  metrics.steps_total_seconds = 299.4;
  metrics.late = {{"changed", 0.1}, {"a.b/c", -0.0}};
  metrics.monitor = MonitorSummary{700, NamedShare{"head", 0.4}, std::nullopt, std::nullopt, 40.5, {"a verdict"}};
  metrics.hook = {{"score", 0.1 + 0.7}, {"_b", -5e-324}};
  record.summary = metrics;
  return record;
}

inline RunRecord averaged_record() {
  RunRecord record = completed_record();
  record.average =
      AverageRecord{Evaluation{800, 4.0999999999999996, 32768, "byte"}, Evaluation{800, 4.0, 90000, "byte", 120000}};
  return record;
}

inline RunRecord stopped_record() {
  RunRecord record = completed_record();
  record.status = RunStatus::kStopped;
  record.stopped_because = "stop.tokens is 10 and 16 member tokens were read";
  return record;
}

// One that has every key.
inline RunRecord full_record() {
  RunRecord record = averaged_record();
  record.summary = summarized_record().summary;
  record.summary->threshold = Phases{0.0, 1.0, 2.0, 1.5};
  record.summary->monitor->most_saturated_tensor = NamedShare{"embedding", 0.1};
  record.summary->monitor->most_constant_value = NamedShare{"head", 0.2};
  record.failure = crashed_record().failure;
  record.stopped_because = stopped_record().stopped_because;
  record.sweep = crashed_record().sweep;
  record.sweep->trial = TrialRecord{3, 1};
  record.processes = ProcessesRecord{4, 100, {"sharded", 200, 0.5, 0.25}};
  record.verdicts = Verdicts{700, {"a verdict"}};
  record.newest->bytes = record.best->bytes = record.average->newest->bytes = 40000;
  return record;
}

}  // namespace eggroll

#endif
