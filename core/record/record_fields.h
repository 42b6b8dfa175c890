// The fields of record.json, in its order. record_test compares them with results/records.schema.json.
#ifndef EGGROLL_RECORD_RECORD_FIELDS_H
#define EGGROLL_RECORD_RECORD_FIELDS_H

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "record/fields.h"
#include "record/record.h"

namespace eggroll {

inline constexpr std::array<const char*, 5> kStatusNames = {"running", "completed", "interrupted", "failed", "stopped"};
inline constexpr std::array<const char*, 4> kFailureNames = {"exit", "signal", "time", "memory"};
inline constexpr std::array<const char*, 2> kGoalNames = {"lower", "higher"};

// Numbers by a count of bytes, which is a key as text. Null is none.
template <class Numbers>
struct ByBytes {
  explicit ByBytes(Numbers& all) : numbers(all) {}

  nlohmann::ordered_json written(const char* key) const {
    nlohmann::ordered_json json;
    for (const auto& [bytes, number] : numbers) json[std::to_string(bytes)] = finite_number(number, key);
    return json;
  }
  void read(const nlohmann::ordered_json& json) const {
    if (json.is_null()) return;
    for (const auto& [key, number] : json.get_ref<const nlohmann::ordered_json::object_t&>()) {
      uint32_t bytes = 0;
      const char* end = key.data() + key.size();
      const auto [stop, failure] = std::from_chars(key.data(), end, bytes);
      if (failure != std::errc() || stop != end || bytes == 0) {
        refuse_value(fmt::format("a count of bytes is expected, but a key is '{}'", key));
      }
      numbers[bytes] = number.template get<double>();
    }
  }

  Numbers& numbers;
};

void fields(auto& list, Either<PluginRecord> auto& plugin) {
  list("kind", plugin.kind);
  list("name", plugin.name);
  list("version", plugin.version);
  list("build", plugin.build);
  list("sha256", plugin.sha256);
  list("file", plugin.file);
  list("chosen_because", plugin.chosen_because);
}

void fields(auto& list, Either<DatasetRecord> auto& dataset) {
  list("name", dataset.name);
  list("sha256", dataset.sha256);
  list("unit", dataset.unit);
  list("sizes", dataset.sizes);
  list("facts", dataset.facts);
}

void fields(auto& list, Either<BaselineRecord> auto& baselines) {
  list("unigram", baselines.unigram);
  list("bigram", baselines.bigram);
  list("gzip", baselines.gzip);
  list("xz", baselines.xz, Key::kLater);
  list("ppmd", baselines.ppmd, Key::kLater);
  list("kneser_ney", ByBytes{baselines.kneser_ney}, Key::kLater);
}

void fields(auto& list, Either<Evaluation> auto& evaluation) {
  list("step", evaluation.step);
  list("bits_per_unit", evaluation.bits_per_unit);
  list("tokens", evaluation.tokens);
  list("unit", evaluation.unit);
  list("bytes", evaluation.bytes, Key::kWhereKnown);
}

void fields(auto& list, Either<AverageRecord> auto& average) {
  list("newest", average.newest);
  list("final", average.final);
}

void fields(auto& list, Either<Verdicts> auto& verdicts) {
  list("step", verdicts.step);
  list("verdicts", verdicts.texts);
}

void fields(auto& list, Either<Failure> auto& failure) {
  list("kind", Named{failure.kind, kFailureNames});
  list("detail", failure.detail);
  list("log", failure.log);
}

void fields(auto& list, Either<TrialRecord> auto& trial) {
  list("trial", trial.trial);
  list("rung", trial.rung);
  list("metric", trial.metric, Key::kLater);
  list("goal", Named{trial.wants_higher, kGoalNames}, Key::kLater);
}

void fields(auto& list, Either<SweepRecord> auto& sweep) {
  list("name", sweep.name);
  list("point", sweep.point);
  list("axes", sweep.axes);
  list("question", sweep.question);
  list("claims", sweep.claims);
  list("search", sweep.trial, Key::kWhereKnown);
}

void fields(auto& list, Either<UpdateRecord> auto& update) {
  list("method", update.method);
  list("bytes_per_step", update.bytes_per_step);
  list("rebuilt_seconds", update.rebuilt_seconds, Key::kWhereKnown);
  list("sharded_seconds", update.sharded_seconds, Key::kWhereKnown);
}

void fields(auto& list, Either<ProcessesRecord> auto& processes) {
  list("count", processes.count);
  list("bytes_per_step", processes.bytes_per_step);
  list("update", processes.update);
}

void fields(auto& list, Either<Environment> auto& environment) {
  list("host_version", environment.host_version);
  list("host_commit", environment.host_commit);
  list("compiler", environment.compiler);
  list("abi", environment.abi);
  list("spec_hash", environment.spec_hash);
  list("system", environment.system);
  list("cpu_model", environment.cpu.model);
  list("cpu_cores", environment.cpu.cores);
  list("cpu_features", environment.cpu.features);
}

// One member of all points. The step's, which comes first, says how many there are.
template <class Member>
void column(auto& list, const char* key, auto& points, Member CurvePoint::*member) {
  std::vector<Member> values;
  for (const CurvePoint& point : points) values.push_back(point.*member);
  list(key, values);
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(points)>>) {
    if (std::integral<Member>) points.resize(values.size());
    if (points.size() != values.size()) refuse_value("the columns are not equally long");
    for (size_t i = 0; i < values.size(); ++i) points[i].*member = values[i];
  }
}

// A column for each member: the names are written once.
void fields(auto& list, Either<std::vector<CurvePoint>> auto& points) {
  column(list, "step", points, &CurvePoint::step);
  column(list, "member_tokens", points, &CurvePoint::member_tokens);
  column(list, "seconds", points, &CurvePoint::seconds);
  column(list, "bits", points, &CurvePoint::bits);
}

auto numbers_of(Either<Phases> auto& phases) { return std::tie(phases.start, phases.middle, phases.end, phases.late); }
auto numbers_of(Either<Quantiles> auto& quantiles) { return std::tie(quantiles.p5, quantiles.median, quantiles.p95); }

void fields(auto& list, Either<NamedShare> auto& most) {
  list("name", most.name);
  list("share", most.share);
}

void fields(auto& list, Either<MonitorSummary> auto& monitor) {
  list("step", monitor.step);
  list("most_saturated_value", monitor.most_saturated_value);
  list("most_saturated_tensor", monitor.most_saturated_tensor);
  list("most_constant_value", monitor.most_constant_value);
  list("vote_deviations", monitor.vote_deviations);
  list("verdicts", monitor.verdicts);
}

void fields(auto& list, Either<RunMetrics> auto& metrics) {
  list("lines", metrics.lines);
  list("last_step", metrics.last_step);
  list("held_out", metrics.held_out);
  list("training", metrics.training);
  list("update_rate", metrics.update_rate);
  list("threshold", metrics.threshold);
  list("step_seconds", metrics.step_seconds);
  list("steps_total_seconds", metrics.steps_total_seconds);
  list("forward_share", metrics.forward_share);
  list("tokens_per_second", metrics.tokens_per_second);
  list("most_pairs_without_fitness", metrics.most_pairs_without_fitness);
  list("late", metrics.late);
  list("monitor", metrics.monitor);
  list("update_rate_of_voted", metrics.update_rate_of_voted, Key::kWhereKnown);
  list("hook", metrics.hook, Key::kWhereKnown);
}

void fields(auto& list, Either<RunRecord> auto& record) {
  list("name", record.name);
  list("status", Named{record.status, kStatusNames});
  list("error", record.error);
  list("started_utc", record.started_utc);
  list("ended_utc", record.ended_utc);
  list("wall_seconds", record.wall_seconds);
  list("resumes", record.resumes);
  list("steps", record.steps);
  list("member_tokens", record.member_tokens);
  list("unique_tokens", record.unique_tokens);
  list("newest", record.newest);
  list("best", record.best);
  list("final", record.final);
  list("baselines", record.baselines);
  list("counting_seconds", record.counting_seconds, Key::kLater);
  list("overlap", ByBytes{record.overlap}, Key::kLater);
  list("weights_sha256", record.weights_sha256);
  list.object("files", [&](auto&& files) {
    files("metrics", record.metrics_file);
    files("curve", record.curve_file);
    files("samples", record.samples_file);
  });
  list("seed", record.seed);
  list("config_hash", record.config_hash);
  list("config", record.config);
  list("overrides", record.overrides);
  list("command_line", record.command_line);
  list("dataset", record.dataset);
  list("program_hash", record.program_hash);
  list("rule_hash", record.rule_hash);
  list("plugins", record.plugins);
  list("device", record.device);
  list("plan", record.plan, Key::kLater);
  list("memory_bytes", record.memory_bytes, Key::kLater);
  list("threads", record.threads);
  list("environment", record.environment);
  list("parameters", record.parameters, Key::kWhereKnown);
  list("checkpoint_bytes", record.checkpoint_bytes, Key::kWhereKnown);
  list("average", record.average, Key::kWhereKnown);
  list("failure", record.failure, Key::kWhereKnown);
  list("stopped_because", record.stopped_because, Key::kWhereKnown);
  list("processes", record.processes, Key::kWhereKnown);
  list("sweep", record.sweep, Key::kWhereKnown);
  list("monitor", record.verdicts, Key::kWhereKnown);
  list("summary", record.summary, Key::kWhereKnown);
}

}  // namespace eggroll

#endif
