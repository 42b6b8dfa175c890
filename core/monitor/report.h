// The monitor's look after one step: numbers, and the verdicts that follow from them.
#ifndef EGGROLL_MONITOR_REPORT_H
#define EGGROLL_MONITOR_REPORT_H

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "monitor/statistics.h"
#include "monitor/votes.h"

namespace eggroll {

// An int8 value over the probe batch, with the program's names.
struct ValueReport {
  std::string name;
  std::string op;     // that makes it; store for a state
  int32_t value = 0;  // its number in the program
  Spread spread;
  double constant = 0.0;  // share of channels that are the same for every token
};

struct HeadReport {
  std::string name;  // of the attention's value
  size_t head = 0;
  HeadSpread spread;
};

struct TensorReport {
  std::string name;
  bool perturbed = true;
  Spread spread;                   // of the weights
  double moved = 0.0;              // share, in the last step
  double moved_since_start = 0.0;  // share that is not what it was at first
  std::optional<VoteSignal> votes;
};

struct MonitorReport {
  uint64_t step = 0;                      // steps done
  size_t vote_steps = 0;                  // whose votes were looked at
  std::optional<double> vote_deviations;  // of all tensors together
  double pairs_without_fitness = 0.0;     // share, in the steps whose votes were looked at
  // How many more bits per unit the perturbed members need, in the last step, than the model needs on held-out data.
  std::optional<double> cost_of_noise;
  std::vector<ValueReport> values;
  std::vector<HeadReport> heads;
  std::vector<TensorReport> tensors;
  std::vector<std::string> verdicts;
};

// The object "monitor" of a line of metrics.jsonl, without the step. Reals have four decimals.
nlohmann::ordered_json to_json(const MonitorReport& report);

}  // namespace eggroll

#endif
