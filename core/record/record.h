// record.json: all facts of one run, sealed (record/seal.h). record/record_fields.h has its keys.
#ifndef EGGROLL_RECORD_RECORD_H
#define EGGROLL_RECORD_RECORD_H

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/environment.h"
#include "record/run_metrics.h"

namespace eggroll {

inline constexpr int32_t kRecordSchema = 2;

enum class RunStatus {
  kRunning,
  kCompleted,
  kInterrupted,  // saved; goes on from where it was
  kFailed,
  kStopped,  // before its last step, for RunRecord::stopped_because
};

struct PluginRecord {
  std::string kind;  // backend, model, optimizer or processes
  std::string name;
  std::string version;
  std::string build;
  std::string sha256;                         // of the plugin's file
  std::string file;                           // its name without folders
  std::optional<std::string> chosen_because;  // the backend alone
};

struct DatasetRecord {
  std::string name;
  std::string sha256;
  std::string unit;  // "byte" or "token": what bits_per_unit and the baselines count
  // Named counts of units ("train", "held_out").
  nlohmann::ordered_json sizes = nlohmann::ordered_json::object();
  // Other facts that the dataset knows of itself (an entropy rate, say).
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
};

// Bits per unit of simple models on the held-out data; absent if one does not apply. data/baselines.h and
// data/text_figures.h say what they are.
struct BaselineRecord {
  std::optional<double> unigram;
  std::optional<double> bigram;
  std::optional<double> gzip;
  std::optional<double> xz = std::nullopt;
  std::optional<double> ppmd = std::nullopt;
  std::map<uint32_t, double> kneser_ney = {};  // by bytes of context

  // The bytes of context that need the fewest bits, and these.
  std::optional<std::pair<uint32_t, double>> best_kneser_ney() const;
  // The known baselines by the names that people read; of the counted ones only the best.
  std::vector<std::pair<std::string, double>> named() const;
};

// The unperturbed model on held-out data, after this many steps.
struct Evaluation {
  uint64_t step = 0;
  double bits_per_unit = 0.0;
  uint64_t tokens = 0;  // scored
  std::string unit;
  std::optional<uint64_t> bytes = std::nullopt;  // that the scored tokens stand for, if there is a vocabulary
};

// Evaluations of the average of the weights: those of the same name in the record, made at the same time.
struct AverageRecord {
  std::optional<Evaluation> newest;
  std::optional<Evaluation> final;
};

// The monitor's verdicts after this many steps: sentences that name a value or tensor of the program.
struct Verdicts {
  uint64_t step = 0;
  std::vector<std::string> texts;
};

// How a process of a sweep ended, if it ended without writing a record.
struct Failure {
  enum class Kind { kExit, kSignal, kTime, kMemory };  // the last two: its limit was reached, and it was killed
  Kind kind = Kind::kExit;
  std::string detail;            // "exit code 1", "SIGSEGV", "more than 60 s", "more than 4.0 GiB"
  std::vector<std::string> log;  // its last lines
};

// Which trial of a search a run is, how often the search has let it go on, and what it wants of its trials.
struct TrialRecord {
  uint64_t trial = 0;  // from 0
  uint64_t rung = 0;   // from 0
  std::string metric = "bits";
  bool wants_higher = false;
};

// The result of a trial at the last rung that it reached.
struct TrialEnd {
  uint64_t rung = 0;
  std::optional<double> score;  // none: it failed there
};
// The order of trials: those that did not fail first, then those that came further, then by their score.
bool is_better(const TrialEnd& a, const TrialEnd& b, bool wants_higher);

// The place of a run in a sweep, and what the sweep asks (see experiment/grid.h).
struct SweepRecord {
  std::string name;
  uint64_t point = 0;  // its index, from 0
  // Axis to value, a value the text of an override or, of an axis that changes several keys, an object of such texts.
  nlohmann::ordered_json axes = nlohmann::ordered_json::object();
  std::optional<std::string> question;
  nlohmann::ordered_json claims = nlohmann::ordered_json::array();
  std::optional<TrialRecord> trial = std::nullopt;  // where the sweep is a search
};

// How several processes update their weights.
struct UpdateRecord {
  std::string method;           // rebuilt or sharded
  uint64_t bytes_per_step = 0;  // that a process sends of them, the most
  // Seconds of a step by each method, if both were tried.
  std::optional<double> rebuilt_seconds;
  std::optional<double> sharded_seconds;
};

// Describes how several processes share a run.
struct ProcessesRecord {
  uint32_t count = 0;
  uint64_t bytes_per_step = 0;  // of fitness that a process sends; the largest share's
  UpdateRecord update;
};

// Facts that a run never learned because it failed early are absent, and null in the file.
struct RunRecord {
  std::string name;
  RunStatus status = RunStatus::kRunning;
  std::optional<std::string> error;            // the sentence; with kFailed alone
  std::optional<Failure> failure;              // with kFailed, of a process that died
  std::optional<std::string> stopped_because;  // "stop.bits is 3.5, held-out bits are 3.4871"; with kStopped alone
  std::optional<SweepRecord> sweep;
  std::string started_utc;
  std::optional<std::string> ended_utc;
  double wall_seconds = 0.0;  // from setup to this record, summed over resumes
  uint64_t resumes = 0;

  std::string config_hash;
  nlohmann::ordered_json config = nlohmann::ordered_json::object();  // resolved
  std::vector<std::string> overrides;
  std::vector<std::string> command_line;

  Environment environment;
  std::vector<PluginRecord> plugins;
  std::optional<std::string> program_hash;
  std::optional<std::string> rule_hash;
  std::optional<uint64_t> parameters;  // weights of the model; older records do not say it
  // The size of a checkpoint's tensors; records of version 0.2 do not say it.
  std::optional<uint64_t> checkpoint_bytes;
  // The training session: what computes, how, and the bytes it takes of its device. Records from before ABI 0.3 have
  // only the first.
  std::optional<std::string> device;
  std::optional<std::string> plan;
  std::optional<uint64_t> memory_bytes;
  uint32_t threads = 0;
  std::optional<ProcessesRecord> processes;
  uint64_t seed = 0;

  std::optional<DatasetRecord> dataset;
  BaselineRecord baselines;
  std::optional<double> counting_seconds;  // of processor time that baselines.kneser_ney took
  // The share of the held-out part's windows that occur in the training part, by bytes of the window.
  std::map<uint32_t, double> overlap;

  uint64_t steps = 0;  // done
  uint64_t member_tokens = 0;
  uint64_t unique_tokens = 0;  // stream tokens: that streams have read, each once for all members of its stream
  // Evaluations of the learning curve, which all read the same held-out tokens.
  std::optional<Evaluation> newest;
  std::optional<Evaluation> best;
  // The evaluation of the whole held-out part after the last step; only with kCompleted and kStopped.
  std::optional<Evaluation> final;
  std::optional<AverageRecord> average;  // of a run with optimizer.average; all the others are of the weights
  std::optional<Verdicts> verdicts;      // the newest, of a run with a monitor
  std::optional<std::string> weights_sha256;

  // A report's part of metrics.jsonl, once the run has ended, so that the record alone is enough for a report.
  std::optional<RunMetrics> summary;

  // File names in the run's folder.
  std::optional<std::string> metrics_file;
  std::optional<std::string> curve_file;
  std::optional<std::string> samples_file;
};

// "on the same data: unigram 4.870, bigram 3.770".
std::string baselines_line(const BaselineRecord& baselines);

// A window of this size is longer than what texts say alike by custom (a licence's line, say). In held-out English
// without a common document 0.6 % of such windows repeated training text, with copies of half its documents 47 %.
inline constexpr uint32_t kTellingWindow = 64;  // bytes
inline constexpr double kMostOverlap = 0.02;

// A sentence if a larger share of the held-out part occurs in the training part.
std::optional<std::string> overlap_caution(const std::map<uint32_t, double>& overlap);

nlohmann::ordered_json record_to_json(const RunRecord& record);

// "completed".
std::string status_name(RunStatus status);
std::vector<std::string> status_names();  // all of them

// Whether the JSON says that it is a record; record_from_json() says whether it is a whole one.
bool is_record(const nlohmann::ordered_json& json);

// json: sealed (record/seal.h). what names the record in errors: another schema, a missing or broken seal, a missing or
// mistyped key.
RunRecord record_from_json(const nlohmann::ordered_json& json, const std::string& what);

// Atomically. Bytes that are no UTF-8 (a file name on the command line, say) become U+FFFD.
void write_record(const std::filesystem::path& path, const RunRecord& record);
RunRecord read_record(const std::filesystem::path& path);

}  // namespace eggroll

#endif
