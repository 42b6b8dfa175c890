// A results folder with runs of known figures, and requests for it.
#ifndef EGGROLL_TESTS_SERVE_RESULTS_H
#define EGGROLL_TESTS_SERVE_RESULTS_H

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "record/run_lock.h"
#include "record/scratch.h"
#include "record/seal.h"
#include "report/synthetic.h"

namespace eggroll::test {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

class ResultsTest : public ScratchTest {
 protected:
  ResultsTest() { fs::create_directory(results_); }

  // A point of the sweep "grid", in the folder sweeps/grid/points/NAME.
  std::string add_point(const std::string& name, const SyntheticRun& run) const {
    const std::string folder = "sweeps/grid/points/" + name;
    write_synthetic_run(results_ / folder, run);
    return folder;
  }

  // Four runs: two values of the axis, two seeds. The population of 2048 is half a bit better, and seed 1 is a quarter
  // of a bit worse.
  void add_grid() const {
    for (const uint64_t population : {512U, 2048U}) {
      for (const uint64_t seed : {0U, 1U}) {
        SyntheticRun run;
        run.axes = {{"train.population", std::to_string(population)}};
        run.population = population;
        run.seed = seed;
        run.final_bits = (population == 512 ? 3.5 : 3.0) + 0.25 * static_cast<double>(seed);
        add_point(std::to_string(population) + "-" + std::to_string(seed), run);
      }
    }
  }

  // A run of the grid that has made 20 of its 100 steps.
  std::string add_running() const {
    SyntheticRun run;
    run.axes = {{"train.population", "2048"}};
    run.population = 2048;
    run.seed = 2;
    run.steps = 20;
    run.status = RunStatus::kRunning;
    const std::string folder = add_point("2048-2", run);
    at_work_.emplace_back(results_ / folder);
    return folder;
  }
  void kill_running() const { at_work_.clear(); }

  void append_evaluation(const std::string& folder, uint64_t step, double bits) const {
    std::ofstream file(results_ / folder / "metrics.jsonl", std::ios::binary | std::ios::app);
    file << sealed_line({{"step", step},
                         {"member_tokens", step * 2048 * kSyntheticTokens},
                         {"train_bits_per_unit", bits + 0.125},
                         {"step_seconds", 0.01},
                         {"held_out_bits_per_unit", bits}})
         << "\n";
  }

  // Writes the grid's sweep.json with these members.
  void write_sweep_file(const ordered_json& members) const {
    ordered_json sweep = {
        {"name", "grid"}, {"claims", ordered_json::array()}, {"axes", ordered_json::object()}, {"points", 0}};
    sweep.update(members);
    write_plainly(results_ / "sweeps/grid/sweep.json", sealed(sweep).dump());
  }

  static ordered_json run_in(const ordered_json& reply, const std::string& folder) {
    for (const ordered_json& run : reply.at("runs")) {
      if (run.at("folder") == folder) return run;
    }
    ADD_FAILURE() << folder << " is not in " << reply.dump();
    return nullptr;
  }
  static std::vector<std::string> folders_in(const ordered_json& reply) {
    std::vector<std::string> folders;
    for (const ordered_json& run : reply.at("runs")) folders.push_back(run.at("folder"));
    return folders;
  }

  const fs::path results_ = folder_ / "results";

 private:
  mutable std::vector<RunLock> at_work_;
};

}  // namespace eggroll::test

#endif
