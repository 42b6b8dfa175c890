// metrics.jsonl: one JSON object a line, appended as the run goes.
//
// Every line ends with "crc", the CRC-32 of what stands before it (record/seal.h); version 0.1 wrote lines without.
// Every line has "step", an unsigned integer: the number of steps done, one more than the line before. A run that a
// stop rule ended has one more line, of its last step again; it goes when the run goes on. curve.h also reads
// "member_tokens", "train_bits_per_unit" (mean over the members), "held_out_bits_per_unit" (unperturbed model) and
// "average_held_out_bits_per_unit" (the average of the weights, of a run with optimizer.average), each where present.
// "monitor", an object, is what the monitor saw after that step (monitor/report.h; its keys are in the README),
// "scalars" one of the optimizer's scalars by name; version 0.1 gave each a key of its own in the line.
#ifndef EGGROLL_RECORD_METRICS_H
#define EGGROLL_RECORD_METRICS_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/files.h"
#include "record/record.h"

namespace eggroll {

// The cure for a damaged line.
inline constexpr const char* kMetricsCure = "restore the file from a copy or delete the run's folder to start over";

class MetricsFile {
 public:
  // Opens or creates the file and cuts it back to the lines up to the first of step first_step - 1 (0: empties it), so
  // that a resumed run writes each line once. Throws, naming the line, where one that stays is damaged or missing.
  MetricsFile(const std::filesystem::path& path, uint64_t first_step);

  void append(const nlohmann::ordered_json& line);
  void flush() { file_.flush(); }
  uint64_t size() const { return file_.size(); }

 private:
  AppendFile file_;
};

// All lines, without their seals. A last line without its end, as a crash leaves it, is left out; any other damage
// throws. The second takes the lines before the damage too.
std::vector<nlohmann::ordered_json> read_metrics(const std::filesystem::path& path);
void read_metrics(const std::filesystem::path& path, const std::function<void(nlohmann::ordered_json&&)>& take);

// The keys of an evaluation in a line; `bytes` only where the dataset has a vocabulary.
struct EvaluationKeys {
  const char* bits;
  const char* tokens;
  const char* bytes;
};
// Keys of the learning curve: every evaluation reads the same tokens.
inline constexpr EvaluationKeys kHeldOutKeys{"held_out_bits_per_unit", "held_out_tokens", "held_out_bytes"};
// Keys of an evaluation of the whole held-out part, in the last line of a run that has ended.
inline constexpr EvaluationKeys kFinalKeys{"final_bits_per_unit", "final_tokens", "final_bytes"};

// The same of the average of the weights, beside those of the weights, where a run has one.
inline constexpr EvaluationKeys kAverageHeldOutKeys{"average_held_out_bits_per_unit", "average_held_out_tokens",
                                                    "average_held_out_bytes"};
inline constexpr EvaluationKeys kAverageFinalKeys{"average_final_bits_per_unit", "average_final_tokens",
                                                  "average_final_bytes"};

void put_evaluation(nlohmann::ordered_json& line, const EvaluationKeys& keys, const Evaluation& evaluation);

// What put_evaluation has put, if it has. unit: of the dataset.
std::optional<Evaluation> evaluation_in(const nlohmann::ordered_json& line, const EvaluationKeys& keys,
                                        const std::string& unit);

}  // namespace eggroll

#endif
