// Compares two runs, or two sets of runs.
#ifndef EGGROLL_REPORT_COMPARE_H
#define EGGROLL_REPORT_COMPARE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "record/run_numbers.h"
#include "report/collection.h"
#include "report/statistics.h"

namespace eggroll {

struct ComparedSide {
  std::set<uint64_t> seeds;
  std::map<std::string, size_t> statuses;  // with the number of its runs
  size_t runs = 0;
};

// A key whose values are not the same on both sides.
struct Difference {
  struct Values {
    std::map<std::string, nlohmann::ordered_json> known;  // by their text
    size_t absent = 0;                                    // runs without the key
  };
  std::string key;  // "config.model.width", "commit", "device"
  Values a;
  Values b;
};

// Means over the seeds of the pairs that have the number.
struct ComparedNumber {
  std::string key;    // "bits"
  std::string title;  // "final bits"
  NumberUnit unit = NumberUnit::kBits;
  size_t pairs = 0;
  Mean a;
  Mean b;
  Mean difference;  // b minus a
};

struct RunComparison {
  ComparedSide a;
  ComparedSide b;
  std::vector<Difference> differences;  // of configuration, environment, data and plugins
  size_t copies = 0;                    // runs that repeat the configuration and seed of another of their side
  size_t unlike_copies = 0;
  size_t pairs = 0;
  std::vector<ComparedNumber> numbers;
  size_t known_weights = 0;  // pairs whose runs both say the sha256 of their weights
  size_t equal_weights = 0;
};

// In sets, two runs are a pair if they agree in the seed and in all settings that vary within a set. Runs of a side
// that agree in these count once. Throws if a side has no run.
RunComparison compare(const Collection& a, const Collection& b);

// A line for each difference.
std::vector<std::string> lines_of(const RunComparison& comparison);
nlohmann::ordered_json json_of(const RunComparison& comparison);

}  // namespace eggroll

#endif
