// All run records at or below some folders, each with a summary of its metrics.
#ifndef EGGROLL_REPORT_COLLECTION_H
#define EGGROLL_REPORT_COLLECTION_H

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/record.h"
#include "record/run_metrics.h"
#include "record/stated_claims.h"

namespace eggroll {

struct CollectedRun {
  std::string name;  // its path below the folder that was given
  std::filesystem::path record_file;
  std::optional<std::filesystem::path> metrics_file;
  RunRecord record;         // its status: see was_killed
  bool was_killed = false;  // the record says that the run is running, but no process runs it: kInterrupted here
  RunMetrics metrics;       // the record's summary, else read from the file; without lines if there is neither
};

// A sweep.json: the planned points.
struct CollectedSweep {
  std::filesystem::path folder;
  std::string name;
  std::optional<std::string> question;
  nlohmann::ordered_json claims = nlohmann::ordered_json::array();
  std::vector<StatedClaim> stated;                                 // of claims.jsonl
  nlohmann::ordered_json axes = nlohmann::ordered_json::object();  // each with the list of its values
  uint64_t points = 0;
};

// A run's folder that has no record yet: its process has just begun, or died before the first one.
struct UnrecordedRun {
  std::string name;  // as CollectedRun has it
  std::filesystem::path folder;
};

struct Collection {
  std::vector<CollectedRun> runs;  // by name, numbers in it by their value
  std::vector<UnrecordedRun> unrecorded;
  std::vector<CollectedSweep> sweeps;
  std::vector<std::string> problems;  // sentences: what was damaged, missing and left out
  size_t other_files = 0;             // *.json that hold neither a record nor a sweep
};

// The files to read: record.json of run folders, and records in files *.json of any other name, which stand alone.
struct RecordFiles {
  std::vector<std::filesystem::path> records;
  std::vector<std::filesystem::path> sweeps;
  std::vector<std::filesystem::path> runs;        // folders that are a run's, with a record or without
  std::vector<std::filesystem::path> unrecorded;  // those of them without a record and without a line of metrics
  std::vector<std::filesystem::path> unread;      // folders that cannot be read, which are among the problems too
  std::vector<std::string> problems;
};

// Finds records at or below the paths (folders or files), each once. Skips folders of checkpoints, of evaluations and
// of frozen plugins, and what eggroll rm has not fully removed. Throws if a path does not exist.
RecordFiles find_records(const std::vector<std::filesystem::path>& paths);

// The metrics.jsonl to read: only those without a summary in the record, or all, so that any damage is found.
enum class MetricsFiles { kUnsummarized, kAll };

// Whether the record says that its run is running, but no process runs it: it was killed, and can go on. A record that
// stands alone is believed.
bool was_killed(const RunRecord& record, const std::filesystem::path& file);
inline constexpr const char* kWhyKilled =
    "its process died and left no reason; it can continue from its last checkpoint";

// Reads one run. Throws if the record is damaged; nullopt if the file is JSON of something else.
std::optional<CollectedRun> read_collected_run(const std::filesystem::path& record, std::vector<std::string>& problems,
                                               MetricsFiles files = MetricsFiles::kUnsummarized);

// The least that metrics.jsonl must hold according to the record.
struct KnownLines {
  uint64_t lines = 0;
  uint64_t last_step = 0;
};
KnownLines known_lines(const RunRecord& record);
// The problem, if the file holds less. metrics: what was read of the file.
std::optional<std::string> missing_lines(const std::filesystem::path& file, const RunMetrics& metrics,
                                         const KnownLines& known);

// Reads records on all processors. Throws if a path does not exist; everything else that is wrong becomes a problem.
Collection collect(const std::vector<std::filesystem::path>& paths, MetricsFiles metrics = MetricsFiles::kUnsummarized);

}  // namespace eggroll

#endif
