// The section sweep.search: trials drawn from ranges of settings in place of a grid.
//
// clang-format off
//   sweep:
//     seeds: [100]        # the seeds of each trial; if absent, the configuration's seed
//     search:
//       params:           # overrides as in a grid, or intervals; a trial takes one value of each param
//         - "noise.sigma_shift=2,3,4"
//         - "model.width=range(16, 129, 16)"
//         - "optimizer.learning_rate=tag(log, interval(0.1, 10))"
//       sampler: tpe      # random, sobol or tpe; see sampler.h
//       trials: 16
//       metric: bits      # optional: bits, or another metric that a claim may name, such as hook.NAME
//       goal: lower       # optional: lower or higher
//       seed: 0           # optional, default 0: the seed of the draws
//       startup: 8        # optional, default 8, for tpe: the first trials, which are Sobol points
//       batch: 4          # optional, default 4, for tpe: trials that are drawn together and may run at once
//       halving: {from: 250, by: 3}  # optional: at 250 steps, at 750, ... only the best third of the trials goes on;
//                                    # {seconds: 20, by: 3}: at 20 s of wall time, at 60 s, ...
//       confirm: 5        # optional: seeds 0 to 4, or a list of seeds; no trial may have any of them
//     claims: [...]       # optional, needs confirm: the axis is `settings`, its values are `found` and `own`
//     budget, limits, question: as in a grid
// clang-format on
#ifndef EGGROLL_EXPERIMENT_SEARCH_SETTINGS_H
#define EGGROLL_EXPERIMENT_SEARCH_SETTINGS_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiment/sampler.h"
#include "experiment/search_log.h"
#include "experiment/space.h"

namespace eggroll {

// The axis of a confirmation and its two values: the settings that the search found, and the experiment's own.
inline constexpr const char* kSettingsAxis = "settings";
inline constexpr const char* kFound = "found";
inline constexpr const char* kOwn = "own";

// Successive halving (Jamieson and Talwalkar, 2016): rung r ends at from * by^r, and 1 / by of its trials go on.
struct Halving {
  std::optional<uint64_t> steps;  // one of these two
  std::optional<double> seconds;
  uint64_t by = 3;
};

struct SearchSettings {
  std::vector<SearchParam> params;
  SamplerKind sampler = SamplerKind::kTpe;
  uint64_t trials = 0;
  uint64_t seed = 0;
  uint64_t startup = 8;
  uint64_t batch = 4;
  std::string metric = "bits";  // see Claim::metric
  bool wants_higher = false;
  std::optional<Halving> halving;
  uint64_t steps = 0;             // of a whole run
  std::optional<double> seconds;  // the most that a whole run may take
  std::vector<uint64_t> seeds;    // of each trial
  std::vector<uint64_t> confirm;  // seeds; none: the best settings are not confirmed
  nlohmann::ordered_json text;    // what decides the trials and their scores, for the log

  // The cost of a score: the lower, the better.
  double cost(double score) const { return wants_higher ? -score : score; }
  // The number of rungs. begun: the number of trials, which is lower than `trials` if the ranges hold fewer settings.
  uint64_t rungs(uint64_t begun) const;
  // How many of the trials are to reach the rung; at least 1.
  uint64_t reach(uint64_t rung, uint64_t begun) const;
  // The trials that go to the rung: the best of those that reached the one before it and did not fail there.
  std::vector<uint64_t> reaching(const std::vector<Trial>& drawn, uint64_t rung, uint64_t begun) const;
  // The override that ends a run at the rung; none at the last rung, where the run ends by its own settings.
  std::vector<std::string> end_of(uint64_t rung, uint64_t begun) const;
  // "to step 250", "for 20 s", "to the end".
  std::string end_text(uint64_t rung, uint64_t begun) const;
  // The claim that the confirmation judges if the experiment states none.
  nlohmann::ordered_json default_claim() const;
};

bool is_search(const ConfigNode& config);

// config: a composed configuration with sweep.search. chosen: the keys that the command line sets. Throws Error with
// file and line.
SearchSettings read_search(const ConfigNode& config, const ConfigSearch& search, CommandLineValues& chosen);

}  // namespace eggroll

#endif
