// A search: rounds of points, each decided by the results of the rounds before it. search_settings.h describes its
// section of the configuration, search_log.h the file from which it goes on.
#ifndef EGGROLL_EXPERIMENT_SEARCH_H
#define EGGROLL_EXPERIMENT_SEARCH_H

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "eggroll/error.h"
#include "experiment/search_log.h"
#include "experiment/search_settings.h"
#include "experiment/sweep.h"

namespace eggroll {

// Points that may run at once.
struct SearchRound {
  Sweep sweep;
  std::string title;         // "8 of 16 trials, to step 250"
  std::vector<Trial> drawn;  // trials that the log does not have yet
  bool confirms = false;     // the settings that were found and the experiment's own, on fresh seeds
};

class Search {
 public:
  // Throws Error, also if the folder holds another search.
  Search(const ConfigSearch& search, std::vector<std::string> overrides, FindRun find);

  // The next round by the log; nothing once the search and its confirmation have ended. retry_failed: a confirmation
  // with failed runs has not ended. Throws Error, also if all trials failed.
  std::optional<SearchRound> next(bool retry_failed = false) const;
  // Whether nothing of the search is written yet.
  bool is_new() const { return log().trials().empty(); }
  // The experiment's own settings with each choice, and with each end of each interval, so that what cannot run is
  // found before the first trial.
  Sweep ends() const;
  // The points of all trials that the log has.
  Sweep known() const;
  // Writes down the round's trials and points; must be called before any of them runs.
  void begin(SearchRound& round) const;
  // Writes down the results of the round, and removes the checkpoints of trials that cannot go on any more. Returns
  // false if some of its points have not ended: run the round again.
  bool conclude(const SearchRound& round) const;
  // Lets trials that failed be tried again.
  void forget_failures() const;

  // How the command line narrows the search.
  const std::vector<std::string>& said() const { return chosen_.said(); }
  const SearchSettings& settings() const { return settings_; }
  const std::filesystem::path& folder() const { return frame_.folder; }

  // A line for each trial, the best first.
  struct Row {
    uint64_t trial;
    std::string settings;  // "model.width=32 optimizer.learning_rate=0.5"
    TrialResult last;
    uint64_t rung;
  };
  std::vector<Row> table() const;
  // The points of the confirmation. The search has ended.
  Sweep confirmation() const;
  // Whether the best settings are the experiment's own, so that nothing is to be confirmed.
  bool found_own() const;

 private:
  SearchLog log() const;
  void require_newest_log() const;
  std::optional<SearchRound> next_round(bool retry_failed) const;
  SearchRound round_of(const std::vector<Trial>& trials, const std::vector<uint64_t>& numbers, uint64_t rung,
                       uint64_t begun) const;
  std::vector<uint64_t> open_at(const std::vector<Trial>& trials, uint64_t rung, uint64_t begun) const;
  Error all_failed(const std::string& end) const;
  std::vector<Trial> draw(const std::vector<Trial>& trials) const;
  Spent spent(const Sweep& sweep) const;
  void drop_checkpoints(const std::vector<Trial>& trials) const;

  const ConfigSearch& search_;
  std::vector<std::string> overrides_;
  FindRun find_;
  ConfigNode base_;
  CommandLineValues chosen_;
  SearchSettings settings_;
  Sweep frame_;                         // without points
  nlohmann::ordered_json claims_;       // of the confirmation
  std::string own_hash_;                // of a run with the experiment's own settings
  std::string base_hash_;               // of all that the search does not vary
  mutable std::set<uint64_t> dropped_;  // trials whose checkpoints this process has removed
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace eggroll

#endif
