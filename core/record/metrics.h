// metrics.jsonl: one JSON object a line, appended as the run goes.
//
// Every line has "step", an unsigned integer that never decreases. curve.h also reads "member_tokens",
// "train_bits_per_unit" (mean over the members) and "held_out_bits_per_unit" (unperturbed model), each where present.
// "monitor", an object, is what the monitor saw after that step (monitor/report.h; its keys are in the README).
#ifndef EGGROLL_RECORD_METRICS_H
#define EGGROLL_RECORD_METRICS_H

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "record/files.h"

namespace eggroll {

class MetricsFile {
 public:
  // Opens or creates the file and cuts it back to the lines whose step is below first_step (0: empties it), so that
  // a resumed run writes each line once. Throws, naming the line, where one that stays is damaged.
  MetricsFile(const std::filesystem::path& path, uint64_t first_step);

  void append(const nlohmann::ordered_json& line);
  void flush() { file_.flush(); }
  uint64_t size() const { return file_.size(); }

 private:
  AppendFile file_;
};

// All lines. A last line without its end, as a crash leaves it, is left out; any other damage throws.
std::vector<nlohmann::ordered_json> read_metrics(const std::filesystem::path& path);

}  // namespace eggroll

#endif
