// metrics.jsonl: one JSON object a line, appended as the run goes. record/metric_keys.h lists the keys of a line.
//
// A line is that of a step: line 0 is the untrained model's, and each step adds one. A run that a stop rule ended has
// one more line, of its last step again; it goes when the run goes on. Every line ends with "crc", the CRC-32 of the
// text before it (record/seal.h).
//
// The first line has the schema. Version 0.2 wrote files of schema 1 without saying so; they are read too.
#ifndef EGGROLL_RECORD_METRICS_H
#define EGGROLL_RECORD_METRICS_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/metric_keys.h"
#include "record/record.h"
#include "system/files.h"

namespace eggroll {

inline constexpr int64_t kMetricsSchema = 1;

// The sentence that refuses a file of another schema.
std::string unknown_metrics_schema(const std::filesystem::path& path);

// The cure for a damaged line.
inline constexpr const char* kMetricsCure = "restore the file from a copy or delete the run's folder to start over";

class MetricsFile {
 public:
  // Opens or creates the file and cuts it back to the lines up to the first of step first_step - 1 (0: empties it), so
  // that a resumed run writes each line once. origin: the step of the first line. Throws, naming the line, if one
  // that stays is damaged or missing.
  MetricsFile(const std::filesystem::path& path, uint64_t first_step, uint64_t origin = 0);

  // The first line also gets the schema.
  void append(const nlohmann::ordered_json& line);
  void flush() { file_.flush(); }
  uint64_t size() const { return file_.size(); }

 private:
  AppendFile file_;
};

// Adds a member to the last line, which has an end, in a new file that takes the place of the old one.
void add_to_last_line(const std::filesystem::path& path, const char* key, const nlohmann::ordered_json& value);

// All lines, without schema and seals. A last line without its end, as a crash leaves it, is left out; any other damage
// throws, and so does another schema. The second takes the lines before the damage too.
std::vector<nlohmann::ordered_json> read_metrics(const std::filesystem::path& path);
void read_metrics(const std::filesystem::path& path, const std::function<void(nlohmann::ordered_json&&)>& take);

void put_evaluation(nlohmann::ordered_json& line, const EvaluationKeys& keys, const Evaluation& evaluation);

// The evaluation that put_evaluation has put into the line, if it has. unit: the dataset's.
std::optional<Evaluation> evaluation_in(const nlohmann::ordered_json& line, const EvaluationKeys& keys,
                                        const std::string& unit);

}  // namespace eggroll

#endif
