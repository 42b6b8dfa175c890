#include "damage/specimens.h"

#include <fmt/format.h>

#include <set>

namespace eggroll::test {
namespace {

using nlohmann::ordered_json;

bool depends_on_time(const std::string& key) {
  static const std::set<std::string> keys = {"crc",    "curve",   "forward_share",    "now", "resumes", "version",
                                             "unread", "written", "tokens_per_second"};
  return keys.contains(key) || key.find("seconds") != std::string::npos || key.ends_with("_utc");
}

// Which checkpoints are kept beside the newest may differ.
std::set<fs::path> names_in(const fs::path& folder) {
  std::set<fs::path> names;
  for (const fs::path& file : files_below(folder)) {
    if (!file.parent_path().filename().string().starts_with("step-")) names.insert(file);
  }
  return names;
}

constexpr const char* kSettings =
    "model: {vocab: 16, width: 8}\n"
    "train: {steps: 60, population: 16, members_per_stream: 2}\n"
    "eval: {every: 5, tokens: 256}\n"
    "checkpoint: {every: 5}\n"
    "dataset: {rows: 64, valid_rows: 8}\n";

}  // namespace

Damage::Damage() {
  std::string text;
  // No window of 64 bytes occurs twice, or the run would say so and every damage would seem to be told.
  for (int i = 0; text.size() < 20'000; ++i) text += fmt::format("It was day {} of a cold April. ", 7919 * (i + 13));
  write_plainly(folder_ / "text", text);
  write_own_sweep("four", "", kSettings,
                  "  question: Does width help?\n"
                  "  seeds: 2\n"
                  "  product:\n"
                  "    - model.width=8,12\n"
                  "  claims:\n"
                  "    - says: The wider model learns more\n"
                  "      compare: {axis: model.width, value: 12, with: 8}\n"
                  "      expect: lower\n");
  write_own_sweep("hunt", "", kSettings,
                  "  seeds: [100]\n"
                  "  search:\n"
                  "    params: [\"model.width=8,12,16\", \"noise.sigma_shift=int(interval(0, 4))\"]\n"
                  "    sampler: tpe\n"
                  "    trials: 4\n"
                  "    startup: 2\n"
                  "    halving: {from: 10, by: 3}\n"
                  "    confirm: 1\n");
}

Arguments Damage::gru() const {
  // Weights depend on evaluations too.
  return {"run",
          "experiment=plain",
          "dataset.path=" + (folder_ / "text").string(),
          "model.width=8",
          "optimizer=es_adamw",
          "optimizer.schedule.kind=plateau",
          "optimizer.schedule.plateau.patience=1",
          "train.population=16",
          "train.members_per_stream=8",
          "train.tokens=8",
          "train.steps=120",
          "checkpoint.every=10",
          "eval.every=5",
          "eval.tokens=256",
          "eval.streams=8",
          "backend=reference",
          "backend.threads=1"};
}

Arguments Damage::transformer() const {
  return {"run",
          "experiment=count",
          "model=int8nativeformer",
          "model.width=8",
          "model.head_width=8",
          "optimizer=es_sgd",
          "train.population=16",
          "train.tokens=8",
          "train.steps=80",
          "checkpoint.every=10",
          "eval.every=5",
          "eval.tokens=128",
          "eval.streams=8",
          "dataset.rows=64",
          "dataset.valid_rows=8",
          "monitor.every=20",
          "backend=reference",
          "backend.threads=1"};
}

Arguments Damage::small_sweep() const { return {"sweep", "experiment=four"}; }

Arguments Damage::small_search() const { return {"sweep", "experiment=hunt"}; }

Specimen Damage::make(const std::string& name, const Arguments& arguments, int signal) const {
  const bool is_sweep = arguments.front() == "sweep";
  Specimen specimen{name, work_ / name, {}, {}, is_sweep, signal == 0, {}};
  // The command may end before the signal arrives; then the next attempt begins.
  for (int attempt = 0; attempt < 20; ++attempt) {
    fs::remove_all(specimen.folder);
    fs::create_directories(specimen.folder);
    Process process(specimen.folder, with_own(arguments));
    const fs::path home = specimen.folder / "results" / (is_sweep ? "sweeps" : "runs");
    const auto is_half_way = [&]() -> bool {
      if (signal == 0 || !fs::exists(home)) return false;
      try {
        const std::vector<fs::path> runs = runs_below(home);
        return !runs.empty() && lines_in(runs.back()) > 33 && (!is_sweep || runs.size() > 1);
      } catch (const fs::filesystem_error&) {
        return false;  // a folder was removed meanwhile
      }
    };
    if (process.wait_until(is_half_way)) {
      process.signal(signal);
      // A sweep ends its points first at the second signal.
      if (is_sweep) process.signal(signal == SIGINT ? SIGTERM : signal);
    }
    const Result result = process.wait();
    const bool ended_so = signal == SIGKILL ? result.signal == SIGKILL
                          : signal == 0     ? result.exit_code == 0
                                            : result.exit_code > 128;
    if (!ended_so && signal == 0) ADD_FAILURE() << name << ": " << result.err;
    if (!ended_so) continue;
    specimen.target = fs::relative(fs::directory_iterator(home)->path(), specimen.folder);
    specimen.again = is_sweep ? arguments : Arguments{"resume", specimen.target};
    specimen.files = files_below(specimen.folder);
    return specimen;
  }
  throw Error(name + " always ends before it is stopped; make it longer");
}

void Damage::expect_undisturbed(const Specimen& undisturbed, const fs::path& folder) {
  EXPECT_EQ(names_in(folder), names_in(undisturbed.folder));
  for (const fs::path& whole : runs_below(undisturbed.folder)) {
    const fs::path run = folder / whole.lexically_relative(undisturbed.folder);
    SCOPED_TRACE(run);
    if (!fs::exists(run / "record.json")) {
      ADD_FAILURE() << "the record is missing";
      continue;
    }
    EXPECT_EQ(record_in(run).at("status"), record_in(whole).at("status"));
    EXPECT_EQ(record_in(run).at("weights_sha256"), record_in(whole).at("weights_sha256"));
    EXPECT_TRUE(newest_weights(run) == newest_weights(whole)) << "other weights in the newest checkpoint";
    EXPECT_TRUE(read_file(run / "journal.bin") == read_file(whole / "journal.bin")) << "another journal";
    EXPECT_EQ(figures_of_metrics(run), figures_of_metrics(whole));
  }
}

std::vector<fs::path> runs_below(const fs::path& folder) {
  std::vector<fs::path> runs;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "config.yaml") runs.push_back(entry.path().parent_path());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(folder));
  }
  std::sort(files.begin(), files.end());
  return files;
}

void erase_times(ordered_json& json) {
  if (json.is_object()) {
    if (json.contains("schema")) json.erase("sha256");  // the record's sha256 covers its times
    for (auto member = json.begin(); member != json.end();) {
      member = depends_on_time(member.key()) ? json.erase(member) : std::next(member);
    }
  }
  if (json.is_structured()) {
    for (ordered_json& part : json) erase_times(part);
  }
}

std::string bytes_of(const fs::path& file) { return fs::exists(file) ? read_file(file) : ""; }

std::string figures_of_record(const fs::path& run) {
  ordered_json record = ordered_json::parse(bytes_of(run / "record.json"), nullptr, false);
  if (record.is_discarded()) return "no JSON";
  erase_times(record);
  return record.dump();
}

std::string figures_of_metrics(const fs::path& run) {
  std::string figures;
  for (const std::string& text : lines_of(bytes_of(run / "metrics.jsonl"))) {
    ordered_json line = ordered_json::parse(text, nullptr, false);
    erase_times(line);
    figures += line.is_discarded() ? "no JSON\n" : line.dump() + "\n";
  }
  return figures;
}

std::string foreign_words(const std::string& text) {
  for (const char* words : {"what()", "std::", "[json.exception", "filesystem error", "yaml-cpp", "terminate called",
                            "basic_", "AddressSanitizer", "runtime error", "#0 0x", "Assertion"}) {
    if (text.find(words) != std::string::npos) return words;
  }
  return "";
}

std::string newest_weights(const fs::path& run) {
  fs::path newest;
  if (!fs::exists(run / "checkpoints")) return "";
  for (const auto& entry : fs::directory_iterator(run / "checkpoints")) newest = std::max(newest, entry.path());
  return bytes_of(newest / "model.safetensors");
}

}  // namespace eggroll::test
