// `eggroll sweep` as its users meet it: experiments and options of the test's own over the repository's.
#ifndef EGGROLL_TESTS_EXPERIMENT_SWEEP_COMMAND_H
#define EGGROLL_TESTS_EXPERIMENT_SWEEP_COMMAND_H

#include <cstdlib>
#include <map>
#include <random>

#include "cli/eggroll_command.h"

namespace eggroll::test {

class SweepCommandTest : public CliTest {
 protected:
  SweepCommandTest() {
    scratch_.put("configs/optimizer/unruly.yaml", "name: unruly\ndoes: nothing\n");
    // Drawing its curve takes a third of the time of a run this short, and no test of a sweep looks at a picture.
    fs::create_directories(folder_ / "bin");
    fs::create_symlink("/bin/true", folder_ / "bin" / "gnuplot");
    ::setenv("PATH", ((folder_ / "bin").string() + ":" + path_).c_str(), 1);
  }
  ~SweepCommandTest() override { ::setenv("PATH", path_.c_str(), 1); }

  // experiments/NAME.yaml: runs of about a tenth of a second, and the grid, whose lines are indented by two.
  void write_experiment(const std::string& name, const std::string& grid, const std::string& more = "") const {
    write_own_sweep(name, "  - plain\n",
                    "model: {vocab: 16, width: 16}\n"
                    "train: {steps: 40, population: 32, members_per_stream: 2}\n"
                    "eval: {every: 10, tokens: 512}\n"
                    "checkpoint: {every: 5}\n"
                    "dataset: {rows: 256, valid_rows: 8}\n"
                    "plugins: {path: [" EGGROLL_UNRULY "]}\n" +
                        more,
                    grid);
  }

  Result sweep(const std::string& name, const Arguments& more = {}) const {
    return own(joined({"sweep", "experiment=" + name}, more));
  }
  Result list_points(const std::string& name, const Arguments& more = {}) const {
    return own(joined({"points", "experiment=" + name}, more));
  }

  fs::path points(const std::string& name, const std::string& results = "results/sweeps") const {
    return work_ / results / name / "points";
  }
  // The only point whose folder's name holds the text.
  fs::path point(const std::string& name, const std::string& text) const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(points(name))) {
      if (entry.path().filename().string().find(text) == std::string::npos) continue;
      EXPECT_TRUE(found.empty()) << found << " and " << entry.path();
      found = entry.path();
    }
    return found;
  }
  // Weights by the name of the point's folder.
  std::map<std::string, std::string> weights(const std::string& name,
                                             const std::string& results = "results/sweeps") const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(points(name, results))) {
      all[entry.path().filename()] = record_in(entry.path()).at("weights_sha256");
    }
    return all;
  }
  // The bytes of the finished points' records.
  std::map<std::string, std::string> finished_records(const std::string& name) const {
    std::map<std::string, std::string> all;
    if (!fs::exists(points(name))) return all;
    for (const auto& entry : fs::directory_iterator(points(name))) {
      const fs::path record = entry.path() / "record.json";
      if (fs::exists(record) && record_in(entry.path()).at("status") == "completed") {
        all[entry.path().filename()] = read_file(record);
      }
    }
    return all;
  }

 private:
  std::string path_ = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "/usr/bin:/bin";
};

}  // namespace eggroll::test

#endif
