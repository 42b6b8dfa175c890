// search.jsonl, in a sweep's folder: what a search drew and found. Whoever goes on with the search decides by this file
// alone, so that several runners agree and no decision is made twice.
//
// A sealed line (record/seal.h) for the search itself: {"schema", "search", "base", "claims", "lines"}, the last the
// number of the others, so that a file that was cut is found; then, in the order in which they were made, a line for
// each trial: {"trial", "draw", "unit"}; and for each of its results: {"trial",
// "rung", "figure", "steps"}.
#ifndef EGGROLL_EXPERIMENT_SEARCH_LOG_H
#define EGGROLL_EXPERIMENT_SEARCH_LOG_H

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace eggroll {

inline constexpr const char* kSearchLogName = "search.jsonl";

struct TrialResult {
  std::optional<double> score;  // the search's metric, the mean of the seeds; absent if a run failed or has none
  uint64_t steps = 0;           // done, of the seed that did the most
};

struct Trial {
  uint64_t draw = 0;                 // its number among all draws, of which some repeat an earlier trial
  std::vector<double> coordinates;   // where it lies, in [0, 1) for each setting
  std::vector<TrialResult> results;  // by rung
};

class SearchLog {
 public:
  // folder: the sweep's. search and base: what decides the trials, see SearchSettings::text, and the hash of all other
  // settings. claims: those of the confirmation now. Reads the file, if there is one. Throws Error if it is damaged,
  // or was written for another search or base.
  SearchLog(const std::filesystem::path& folder, nlohmann::ordered_json search, std::string base,
            nlohmann::ordered_json claims, size_t params);

  const std::vector<Trial>& trials() const { return trials_; }
  // The claims that the search began with.
  const nlohmann::ordered_json& claims() const { return head_.at("claims"); }

  // Changes reach the file only by write(). The caller must hold the sweep's lock and have opened the log under it.
  void add_trials(const std::vector<Trial>& drawn);
  void add_result(uint64_t trial, const TrialResult& result);
  // Takes back the results of trials that failed, so that they can be tried again.
  void forget_failures();
  void write() const;

 private:
  void read(const std::string& text);
  void read_line(const nlohmann::ordered_json& line, const std::string& what);
  size_t line_count() const;

  std::filesystem::path file_;
  nlohmann::ordered_json head_;
  size_t params_;
  std::vector<Trial> trials_;
  std::string lines_;  // all but the first
};

// Whether the log in this sweep's folder has the trial's result at the rung, so that no run of it may go back there.
bool is_judged(const std::filesystem::path& sweep, uint64_t trial, uint64_t rung);

}  // namespace eggroll

#endif
