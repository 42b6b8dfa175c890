// A sweep of synthetic runs and the findings that are written of it.
#ifndef EGGROLL_TESTS_REPORT_FINDINGS_FIXTURE_H
#define EGGROLL_TESTS_REPORT_FINDINGS_FIXTURE_H

#include <gmock/gmock.h>

#include "record/run_lock.h"
#include "record/scratch.h"
#include "record/seal.h"
#include "report/findings.h"
#include "report/synthetic.h"

namespace eggroll {

namespace fs = std::filesystem;

class FindingsTest : public ScratchTest {
 protected:
  // Three ranks of a perturbation with three seeds: ranks 4 and 8 are not told apart, rank 1 is behind; and a point for
  // each way to end.
  void write_sweep() {
    const nlohmann::ordered_json claims = {{{"says", "Rank 4 beats rank 1."},
                                            {"compare", {{"axis", "noise.rank"}, {"value", 4}, {"with", 1}}},
                                            {"expect", "lower"}},
                                           {{"says", "Rank 8 beats rank 4."},
                                            {"compare", {{"axis", "noise.rank"}, {"value", 8}, {"with", 4}}},
                                            {"expect", "lower"}},
                                           {{"says", "Rank 1 beats rank 8."},
                                            {"compare", {{"axis", "noise.rank"}, {"value", 1}, {"with", 8}}},
                                            {"expect", "lower"}}};
    const std::map<int, std::vector<double>> bits = {
        {1, {4.5, 4.52, 4.51}}, {4, {4.0, 4.1, 4.05}}, {8, {4.02, 4.04, 4.11}}};
    SyntheticRun run;
    run.claims = claims;
    run.monitor_every = 50;
    for (const auto& [rank, of_seeds] : bits) {
      for (uint64_t seed = 0; seed < 3; ++seed) {
        run.axes = {{"noise.rank", std::to_string(rank)}};
        run.seed = seed;
        run.final_bits = of_seeds[seed];
        write_synthetic_run(results_ / "points" / std::to_string(run.point++), run);
      }
    }
    run.seed = 3;
    for (const RunStatus status :
         {RunStatus::kFailed, RunStatus::kInterrupted, RunStatus::kRunning, RunStatus::kStopped}) {
      run.axes = {{"noise.rank", std::to_string(16 + static_cast<int>(status))}};
      run.status = status;
      const fs::path folder = results_ / "points" / std::to_string(run.point++);
      write_synthetic_run(folder, run);
      if (status == RunStatus::kRunning) at_work_.emplace(folder);
    }
    const nlohmann::ordered_json sweep = {{"name", "grid"},     {"question", "Which rank?"},
                                          {"claims", claims},   {"axes", {{"noise.rank", {"1", "4", "8"}}}},
                                          {"seeds", {0, 1, 2}}, {"points", 15}};
    write_plainly(results_ / "sweep.json", sealed(sweep).dump());
  }

  FindingsSummary write() { return write_findings(collect({results_}), "ranks", out_); }
  std::string markdown() const { return read_file(out_ / "findings.md"); }
  std::string page() const { return read_file(out_ / "findings.html"); }

  std::optional<RunLock> at_work_;  // of the run that is running
  const fs::path results_ = folder_ / "results";
  const fs::path out_ = folder_ / "out";
};

}  // namespace eggroll

#endif
