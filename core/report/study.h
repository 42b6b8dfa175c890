// The runs of a collection as studies: those of one sweep, or plain runs on the same data, with the axes they vary.
#ifndef EGGROLL_REPORT_STUDY_H
#define EGGROLL_REPORT_STUDY_H

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/run_numbers.h"
#include "report/collection.h"
#include "report/statistics.h"

namespace eggroll {

struct Axis {
  std::string name;
  std::vector<std::string> values;  // numbers in order, else as they were met
  std::vector<std::string> alike;   // configuration keys that vary as this axis does
};

struct StudyRun {
  const CollectedRun* run = nullptr;
  size_t number = 0;                // in the whole collection, from 1
  std::vector<std::string> values;  // of the study's axes, in their order
};

// Runs that differ in the seed alone.
struct Configuration {
  std::vector<std::string> values;
  std::vector<const StudyRun*> runs;  // by seed
};

// A claim that the sweep states now, or once did.
struct StudyClaim {
  nlohmann::ordered_json claim;
  bool is_current = true;
  std::optional<Lateness> late;  // where runs began before it was stated
};

struct Study {
  std::string name;
  bool of_sweep = false;
  bool of_search = false;  // its runs are trials
  std::optional<std::string> question;
  std::vector<StudyClaim> claims;   // those stated before the runs first
  std::optional<uint64_t> planned;  // points
  std::vector<Axis> axes;           // of two values at least
  std::vector<StudyRun> runs;       // one for each configuration and seed: what counts
  std::vector<StudyRun> copies;     // of these; see report/copies.h
  size_t unlike_copies = 0;         // configurations and seeds whose runs differ in steps or bits

  // The runs that count and their copies, by number.
  std::vector<const StudyRun*> all_runs() const;
  // "rank=4 width=32": the last part of each axis' name, if no other axis has the same.
  std::string label(const std::vector<std::string>& values) const;
  // "4"; for an axis that changes several keys "rank=4 sigma_shift=6".
  std::string value_text(size_t axis, const std::string& value) const;
  // The two texts above, as figures and sentences write them: "rank 4, width 32"; "131,072", "rank 4, sigma shift 6".
  std::string spoken_label(const std::vector<std::string>& values) const;
  std::string spoken_value(size_t axis, const std::string& value) const;
  // In the order of their values.
  std::vector<Configuration> configurations() const;
};

// Stands for the value of an axis that a run lacks.
inline constexpr const char* kNoValue = "-";

// Runs are numbered from 1 in the order of the collection, which must outlive the studies. Plain runs form one study
// for each dataset. Its axes are what their overrides set and what else tells them apart, except what repeats the seed.
std::vector<Study> studies_of(const Collection& collection);

// Dotted keys and their values; a list is one value.
std::vector<std::pair<std::string, nlohmann::ordered_json>> config_leaves(const nlohmann::ordered_json& config);
// The same with the values as text.
std::vector<std::pair<std::string, std::string>> config_values(const nlohmann::ordered_json& config);

// A number of a section of the configuration; absent if there is none.
std::optional<double> config_number(const RunRecord& record, const char* section, const char* key);

// The data for training and for evaluation, whatever the seed: "text shakespeare.txt".
std::string data_of(const RunRecord& record);

// Whether some of its runs keep an average of their weights.
bool has_average(const Study& study);

// As metric_of() in record/run_numbers.h.
std::optional<double> metric_of(const CollectedRun& run, const std::string& metric);

// Two runs of one seed that differ only in one axis. difference: the metric at the value minus the metric at `with`.
struct RunPair {
  const StudyRun* of_value = nullptr;
  const StudyRun* with = nullptr;
  double difference = 0.0;
  double ratio = 0.0;
};
std::vector<RunPair> pairs_of(const std::vector<const StudyRun*>& runs, size_t axis, const std::string& value,
                              const std::string& with, const std::string& metric);
std::vector<OfSeed> differences_of(const std::vector<RunPair>& pairs);

}  // namespace eggroll

#endif
