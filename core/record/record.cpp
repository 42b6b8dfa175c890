#include "record/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "record/json.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr std::array<const char*, 5> kStatusNames = {"running", "completed", "interrupted", "failed", "stopped"};
constexpr std::array<const char*, 4> kFailureNames = {"exit", "signal", "time", "memory"};

constexpr const char* kCure = "restore it from a copy or run its configuration again";

// JSON has no infinity, and a null would be read as "not known".
double finite(double value, const char* key) {
  if (!std::isfinite(value)) {
    throw Error(fmt::format("{} of the record is {}, expected a finite number; report this as a bug", key, value));
  }
  return value;
}

using eggroll::or_null;

ordered_json or_null(const std::optional<double>& value, const char* key) {
  return value ? ordered_json(finite(*value, key)) : ordered_json();
}

ordered_json or_null(const std::optional<Evaluation>& evaluation) {
  if (!evaluation) return nullptr;
  ordered_json json = {{"step", evaluation->step},
                       {"bits_per_unit", finite(evaluation->bits_per_unit, "bits_per_unit")},
                       {"tokens", evaluation->tokens},
                       {"unit", evaluation->unit}};
  if (evaluation->bytes) json["bytes"] = *evaluation->bytes;
  return json;
}

ordered_json or_null(const std::optional<DatasetRecord>& dataset) {
  if (!dataset) return nullptr;
  return {{"name", dataset->name},
          {"sha256", dataset->sha256},
          {"unit", dataset->unit},
          {"sizes", dataset->sizes},
          {"facts", dataset->facts}};
}

// Numbers by a count of bytes, which is a key as text.
ordered_json json_by_bytes(const std::map<uint32_t, double>& numbers, const char* name) {
  ordered_json json = ordered_json::object();
  for (const auto& [bytes, number] : numbers) json[std::to_string(bytes)] = finite(number, name);
  return json;
}

ordered_json plugins_to_json(const std::vector<PluginRecord>& plugins) {
  ordered_json list = ordered_json::array();
  for (const PluginRecord& plugin : plugins) {
    list.push_back({{"kind", plugin.kind},
                    {"name", plugin.name},
                    {"version", plugin.version},
                    {"build", plugin.build},
                    {"sha256", plugin.sha256},
                    {"file", plugin.file},
                    {"chosen_because", or_null(plugin.chosen_because)}});
  }
  return list;
}

ordered_json environment_to_json(const Environment& environment) {
  return {{"host_version", environment.host_version}, {"host_commit", environment.host_commit},
          {"compiler", environment.compiler},         {"abi", environment.abi},
          {"spec_hash", environment.spec_hash},       {"system", environment.system},
          {"cpu_model", environment.cpu.model},       {"cpu_cores", environment.cpu.cores},
          {"cpu_features", environment.cpu.features}};
}

template <class T>
std::optional<T> optional_of(const ordered_json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

std::optional<Evaluation> evaluation_of(const ordered_json& json) {
  if (json.is_null()) return std::nullopt;
  Evaluation evaluation{whole(json.at("step")), json.at("bits_per_unit"), whole(json.at("tokens")), json.at("unit")};
  if (json.contains("bytes")) evaluation.bytes = whole(json.at("bytes"));
  return evaluation;
}

std::optional<DatasetRecord> dataset_of(const ordered_json& json) {
  if (json.is_null()) return std::nullopt;
  return DatasetRecord{json.at("name"), json.at("sha256"), json.at("unit"), object_at(json, "sizes"),
                       object_at(json, "facts")};
}

Environment environment_of(const ordered_json& json) {
  return Environment{json.at("host_version"),
                     json.at("host_commit"),
                     json.at("compiler"),
                     json.at("abi"),
                     json.at("spec_hash"),
                     json.at("system"),
                     Cpu{json.at("cpu_model"), whole(json.at("cpu_cores")), json.at("cpu_features")}};
}

// The enumerator that has this name in the file.
template <class Enum, size_t n>
Enum named(const std::array<const char*, n>& names, const std::string& name, const char* key, const std::string& what) {
  for (size_t i = 0; i < n; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  throw Error(fmt::format("{} has the {} '{}', expected one of: {}; correct it or restore the record from a copy", what,
                          key, name, fmt::join(names, ", ")));
}

ordered_json to_json(const Failure& failure) {
  return {{"kind", kFailureNames[static_cast<size_t>(failure.kind)]}, {"detail", failure.detail}, {"log", failure.log}};
}

ordered_json to_json(const ProcessesRecord& processes) {
  ordered_json update{{"method", processes.update.method}, {"bytes_per_step", processes.update.bytes_per_step}};
  if (processes.update.rebuilt_seconds) update["rebuilt_seconds"] = *processes.update.rebuilt_seconds;
  if (processes.update.sharded_seconds) update["sharded_seconds"] = *processes.update.sharded_seconds;
  return {{"count", processes.count}, {"bytes_per_step", processes.bytes_per_step}, {"update", update}};
}

// Null is none.
std::map<uint32_t, double> by_bytes(const ordered_json& json, const char* name, const std::string& what) {
  std::map<uint32_t, double> numbers;
  if (json.is_null()) return numbers;
  for (const auto& [key, number] : json.get_ref<const ordered_json::object_t&>()) {
    uint32_t bytes = 0;
    const auto end = std::from_chars(key.data(), key.data() + key.size(), bytes);
    if (end.ec != std::errc() || end.ptr != key.data() + key.size() || bytes == 0) {
      throw Error(
          fmt::format("{} is damaged: {} has the key '{}', expected a count of bytes; {}", what, name, key, kCure));
    }
    numbers[bytes] = number.get<double>();
  }
  return numbers;
}

BaselineRecord baselines_of(const ordered_json& json, const std::string& what) {
  BaselineRecord baselines{optional_of<double>(json.at("unigram")), optional_of<double>(json.at("bigram")),
                           optional_of<double>(json.at("gzip"))};
  if (!json.contains("kneser_ney")) return baselines;  // of version 0.2
  baselines.xz = optional_of<double>(json.at("xz"));
  baselines.ppmd = optional_of<double>(json.at("ppmd"));
  baselines.kneser_ney = by_bytes(json["kneser_ney"], "kneser_ney", what);
  return baselines;
}

ProcessesRecord processes_of(const ordered_json& json) {
  const ordered_json& update = json.at("update");
  ProcessesRecord processes{whole(json.at("count")),
                            whole(json.at("bytes_per_step")),
                            {update.at("method"), whole(update.at("bytes_per_step")), {}, {}}};
  if (update.contains("rebuilt_seconds")) processes.update.rebuilt_seconds = update["rebuilt_seconds"].get<double>();
  if (update.contains("sharded_seconds")) processes.update.sharded_seconds = update["sharded_seconds"].get<double>();
  return processes;
}

Failure failure_of(const ordered_json& json, const std::string& what) {
  return Failure{named<Failure::Kind>(kFailureNames, json.at("kind"), "kind of failure", what), json.at("detail"),
                 json.at("log").get<std::vector<std::string>>()};
}

}  // namespace

std::optional<std::pair<uint32_t, double>> BaselineRecord::best_kneser_ney() const {
  const auto best = std::min_element(kneser_ney.begin(), kneser_ney.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == kneser_ney.end() ? std::nullopt : std::optional<std::pair<uint32_t, double>>(*best);
}

std::vector<std::pair<std::string, double>> BaselineRecord::named() const {
  std::vector<std::pair<std::string, double>> named;
  const auto add = [&](const std::string& name, const std::optional<double>& bits) {
    if (bits) named.emplace_back(name, *bits);
  };
  add("unigram", unigram);
  add("bigram", bigram);
  add("gzip", gzip);
  add("xz", xz);
  add("PPMd", ppmd);
  if (const auto best = best_kneser_ney()) add(fmt::format("Kneser-Ney of {} bytes", best->first), best->second);
  return named;
}

std::string baselines_line(const BaselineRecord& baselines) {
  std::string line = "on the same data:";
  const char* before = " ";
  for (const auto& [name, bits] : baselines.named()) {
    line += fmt::format("{}{} {:.3f}", before, name, bits);
    before = ", ";
  }
  return line;
}

std::optional<std::string> overlap_caution(const std::map<uint32_t, double>& overlap) {
  const auto telling = overlap.find(kTellingWindow);
  if (telling == overlap.end() || telling->second <= kMostOverlap) return std::nullopt;
  return fmt::format(
      "{:.1f} % of the held-out part's windows of {} bytes occur in the training part, expected at most {:g} %: "
      "held-out figures are lower than those of new text; split the data by distinct documents (docs/datasets.md)",
      100 * telling->second, kTellingWindow, 100 * kMostOverlap);
}

ordered_json overlap_to_json(const std::map<uint32_t, double>& overlap) {
  return overlap.empty() ? ordered_json() : json_by_bytes(overlap, "overlap");
}

ordered_json baselines_to_json(const BaselineRecord& baselines) {
  return {{"unigram", or_null(baselines.unigram, "unigram")},
          {"bigram", or_null(baselines.bigram, "bigram")},
          {"gzip", or_null(baselines.gzip, "gzip")},
          {"xz", or_null(baselines.xz, "xz")},
          {"ppmd", or_null(baselines.ppmd, "ppmd")},
          {"kneser_ney",
           baselines.kneser_ney.empty() ? ordered_json() : json_by_bytes(baselines.kneser_ney, "kneser_ney")}};
}

bool is_better(const TrialEnd& a, const TrialEnd& b, bool wants_higher) {
  if (a.score.has_value() != b.score.has_value()) return a.score.has_value();
  if (a.rung != b.rung) return a.rung > b.rung;
  return a.score && (wants_higher ? *a.score > *b.score : *a.score < *b.score);
}

ordered_json trial_to_json(const TrialRecord& trial) {
  return {{"trial", trial.trial},
          {"rung", trial.rung},
          {"metric", trial.metric},
          {"goal", trial.wants_higher ? "higher" : "lower"}};
}

TrialRecord trial_from_json(const ordered_json& json) {
  return {whole(json.at("trial")), whole(json.at("rung")), json.value("metric", "bits"),
          json.value("goal", "lower") == "higher"};
}

ordered_json sweep_to_json(const SweepRecord& sweep) {
  ordered_json json = {{"name", sweep.name},
                       {"point", sweep.point},
                       {"axes", sweep.axes},
                       {"question", or_null(sweep.question)},
                       {"claims", sweep.claims}};
  if (sweep.trial) json["search"] = trial_to_json(*sweep.trial);
  return json;
}

SweepRecord sweep_from_json(const ordered_json& json) {
  SweepRecord sweep{json.at("name"), whole(json.at("point")), object_at(json, "axes"),
                    optional_of<std::string>(json.at("question")), json.at("claims")};
  if (json.contains("search")) {
    sweep.trial = trial_from_json(object_at(json, "search"));
  }
  return sweep;
}

std::string status_name(RunStatus status) { return kStatusNames[static_cast<size_t>(status)]; }
std::vector<std::string> status_names() { return {kStatusNames.begin(), kStatusNames.end()}; }

ordered_json record_to_json(const RunRecord& record) {
  ordered_json json = {{"schema", kRecordSchema},
                       {"name", record.name},
                       {"status", status_name(record.status)},
                       {"error", or_null(record.error)},
                       {"started_utc", record.started_utc},
                       {"ended_utc", or_null(record.ended_utc)},
                       {"wall_seconds", finite(record.wall_seconds, "wall_seconds")},
                       {"resumes", record.resumes},
                       {"steps", record.steps},
                       {"member_tokens", record.member_tokens},
                       {"unique_tokens", record.unique_tokens},
                       {"newest", or_null(record.newest)},
                       {"best", or_null(record.best)},
                       {"final", or_null(record.final)},
                       {"baselines", baselines_to_json(record.baselines)},
                       {"counting_seconds", or_null(record.counting_seconds, "counting_seconds")},
                       {"overlap", overlap_to_json(record.overlap)},
                       {"weights_sha256", or_null(record.weights_sha256)},
                       {"files",
                        {{"metrics", or_null(record.metrics_file)},
                         {"curve", or_null(record.curve_file)},
                         {"samples", or_null(record.samples_file)}}},
                       {"seed", record.seed},
                       {"config_hash", record.config_hash},
                       {"config", record.config},
                       {"overrides", record.overrides},
                       {"command_line", record.command_line},
                       {"dataset", or_null(record.dataset)},
                       {"program_hash", or_null(record.program_hash)},
                       {"rule_hash", or_null(record.rule_hash)},
                       {"plugins", plugins_to_json(record.plugins)},
                       {"device", or_null(record.device)},
                       {"plan", or_null(record.plan)},
                       {"memory_bytes", or_null(record.memory_bytes)},
                       {"threads", record.threads},
                       {"environment", environment_to_json(record.environment)}};
  if (record.parameters) json["parameters"] = *record.parameters;
  if (record.checkpoint_bytes) json["checkpoint_bytes"] = *record.checkpoint_bytes;
  if (record.average) {
    json["average"] = {{"newest", or_null(record.average->newest)}, {"final", or_null(record.average->final)}};
  }
  if (record.failure) json["failure"] = to_json(*record.failure);
  if (record.stopped_because) json["stopped_because"] = *record.stopped_because;
  if (record.processes) json["processes"] = to_json(*record.processes);
  if (record.sweep) json["sweep"] = sweep_to_json(*record.sweep);
  if (record.verdicts) json["monitor"] = {{"step", record.verdicts->step}, {"verdicts", record.verdicts->texts}};
  if (record.summary) json["summary"] = summary_to_json(*record.summary);
  return json;
}

bool is_record(const ordered_json& json) {
  return json.is_object() && json.contains("schema") && json.contains("status") && json.contains("config_hash");
}

RunRecord record_from_json(const ordered_json& json, const std::string& what) try {
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_number_integer()) {
    throw Error(what + " is no record: expected a JSON object with a \"schema\"; give the path of a run's record.json");
  }
  if (json["schema"] != kRecordSchema) {
    throw Error(fmt::format("{} has schema {}, this eggroll reads schema {}; use the eggroll that wrote it", what,
                            json["schema"].dump(), kRecordSchema));
  }
  if (const Seal seal = seal_of(json); seal != Seal::kWhole) {
    throw Error(fmt::format("{} is damaged or was changed: {}; restore it from a copy or run its configuration again",
                            what, fault_of(seal)));
  }
  RunRecord record;
  record.name = json.at("name");
  record.status = named<RunStatus>(kStatusNames, json.at("status"), "status", what);
  record.error = optional_of<std::string>(json.at("error"));
  record.started_utc = json.at("started_utc");
  record.ended_utc = optional_of<std::string>(json.at("ended_utc"));
  record.wall_seconds = json.at("wall_seconds");
  record.resumes = whole(json.at("resumes"));
  record.steps = whole(json.at("steps"));
  record.member_tokens = whole(json.at("member_tokens"));
  record.unique_tokens = whole(json.at("unique_tokens"));
  record.newest = evaluation_of(json.at("newest"));
  record.best = evaluation_of(json.at("best"));
  record.final = evaluation_of(json.at("final"));
  record.baselines = baselines_of(json.at("baselines"), what);
  // Version 0.2 knew neither.
  if (json.contains("counting_seconds")) record.counting_seconds = optional_of<double>(json["counting_seconds"]);
  if (json.contains("overlap")) record.overlap = by_bytes(json["overlap"], "overlap", what);
  record.weights_sha256 = optional_of<std::string>(json.at("weights_sha256"));
  const ordered_json& files = json.at("files");
  record.metrics_file = optional_of<std::string>(files.at("metrics"));
  record.curve_file = optional_of<std::string>(files.at("curve"));
  record.samples_file = optional_of<std::string>(files.at("samples"));
  record.seed = whole(json.at("seed"));
  record.config_hash = json.at("config_hash");
  record.config = object_at(json, "config");
  record.overrides = json.at("overrides").get<std::vector<std::string>>();
  record.command_line = json.at("command_line").get<std::vector<std::string>>();
  record.dataset = dataset_of(json.at("dataset"));
  record.program_hash = optional_of<std::string>(json.at("program_hash"));
  record.rule_hash = optional_of<std::string>(json.at("rule_hash"));
  for (const ordered_json& plugin : json.at("plugins")) {
    record.plugins.push_back({plugin.at("kind"), plugin.at("name"), plugin.at("version"), plugin.at("build"),
                              plugin.at("sha256"), plugin.at("file"),
                              optional_of<std::string>(plugin.at("chosen_because"))});
  }
  record.device = optional_of<std::string>(json.at("device"));
  if (json.contains("plan")) {
    record.plan = optional_of<std::string>(json.at("plan"));
    if (!json.at("memory_bytes").is_null()) record.memory_bytes = whole(json.at("memory_bytes"));
  }
  record.threads = whole(json.at("threads"));
  record.environment = environment_of(json.at("environment"));
  if (json.contains("parameters")) record.parameters = whole(json["parameters"]);
  if (json.contains("checkpoint_bytes")) record.checkpoint_bytes = whole(json["checkpoint_bytes"]);
  if (json.contains("average")) {
    const ordered_json& average = json["average"];
    record.average = AverageRecord{evaluation_of(average.at("newest")), evaluation_of(average.at("final"))};
  }
  if (json.contains("failure")) record.failure = failure_of(json.at("failure"), what);
  if (json.contains("stopped_because")) record.stopped_because = json.at("stopped_because").get<std::string>();
  if (json.contains("processes")) record.processes = processes_of(json["processes"]);
  if (json.contains("sweep")) record.sweep = sweep_from_json(json.at("sweep"));
  if (json.contains("summary")) record.summary = summary_from_json(object_at(json, "summary"), what);
  if (json.contains("monitor")) {
    const ordered_json& monitor = json.at("monitor");
    record.verdicts = Verdicts{whole(monitor.at("step")), monitor.at("verdicts").get<std::vector<std::string>>()};
  }
  return record;
} catch (const nlohmann::json::exception& error) {
  throw damaged_json(error, what, kCure);
}

void write_record(const std::filesystem::path& path, const RunRecord& record) {
  const auto text_of = [](const ordered_json& json, int indent) {
    return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
  };
  ordered_json json = sealed(record_to_json(record));
  // On one line, and last: a line for each of its numbers would be most of the file. The order of the others stays, so
  // that the seal holds.
  ordered_json summary;
  if (json.contains("summary")) {
    summary = std::move(json["summary"]);
    json.erase("summary");
  }
  std::string text = text_of(json, 2);
  if (!summary.is_null()) text.replace(text.size() - 2, 2, ",\n  \"summary\": " + text_of(summary, -1) + "\n}");
  write_atomically(path, text + "\n");
}

RunRecord read_record(const std::filesystem::path& path) {
  return record_from_json(parse_json(read_bounded(path, kLargestJson), path.string(), kCure), path.string());
}

}  // namespace eggroll
