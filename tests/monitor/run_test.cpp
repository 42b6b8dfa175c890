// The monitor within a run. It looks at the given steps; a run with it has the same results as a run without it; a
// resumed run and every backend give the same looks.
#include <gmock/gmock.h>

#include "conformance/built_backends.h"
#include "record/metrics.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;

using Overrides = std::vector<std::string>;

const Overrides kGru = {"model=gru", "model.layers=2"};
const Overrides kFormer = {"model=int8nativeformer", "model.head_width=4", "optimizer=es_adamw", "noise.rank=2"};

Overrides monitored(Overrides overrides, const Overrides& more = {"monitor.every=1"}) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

class MonitoredRun : public SmallRunTest {
 protected:
  // The monitor's looks by step, from the lines that hold one.
  static std::map<uint64_t, ordered_json> looks(const std::filesystem::path& folder) {
    std::map<uint64_t, ordered_json> seen;
    for (const ordered_json& line : read_metrics(RunFolder{folder}.metrics())) {
      if (line.contains("monitor")) seen[line.at("step")] = line.at("monitor");
    }
    return seen;
  }

  // The run's tensors by file.
  static std::map<std::string, std::string> tensors(const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "checkpoints")) {
      if (entry.path().extension() != ".safetensors") continue;
      files[std::filesystem::relative(entry.path(), folder)] = read_file(entry.path());
    }
    return files;
  }

  // The lines without clock times and without the monitor's looks.
  static std::vector<ordered_json> figures(const std::filesystem::path& folder) {
    std::vector<ordered_json> lines = read_metrics(RunFolder{folder}.metrics());
    for (ordered_json& line : lines) {
      for (const char* key : {"forward_seconds", "step_seconds", "monitor"}) line.erase(key);
    }
    return lines;
  }
};

TEST_F(MonitoredRun, LooksEveryFewStepsAndAtTheLast) {
  const std::filesystem::path folder = fresh("run");
  std::map<uint64_t, ordered_json> shown;
  TrainHooks hooks;
  hooks.progress = [&](const Progress& progress) {
    if (progress.done.monitor) shown[progress.done.step] = to_json(*progress.done.monitor);
  };
  const RunRecord record = run_in(folder, small_config(monitored(kFormer, {"monitor.every=4"})), hooks);
  const std::map<uint64_t, ordered_json> seen = looks(folder);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen, shown);
  EXPECT_EQ(seen.begin()->first, 4U);
  EXPECT_EQ(seen.rbegin()->first, 6U);

  const ordered_json& last = seen.at(6);
  EXPECT_EQ(record.verdicts.value().step, 6U);
  EXPECT_EQ(record.verdicts.value().texts, last.at("verdicts").get<std::vector<std::string>>());
  EXPECT_EQ(record_to_json(read_record(RunFolder{folder}.record())), record_to_json(record));
  EXPECT_EQ(last.at("vote_steps"), 6);
  EXPECT_TRUE(last.at("vote_deviations").is_number());
  EXPECT_EQ(last.at("heads").at("layer0.attention.mixed").size(), 2U);
  const ordered_json& value = last.at("values").at("layer0.mlp.up");
  EXPECT_EQ(value.at("op"), "linear");
  EXPECT_GT(value.at("entropy_bits"), 1.0);
  EXPECT_LT(value.at("entropy_bits"), 8.0);
  EXPECT_FALSE(last.at("values").contains("layer0.mlp.down"));  // wide
  const ordered_json& tensor = last.at("tensors").at("layer0.mlp.up.w");
  EXPECT_GT(tensor.at("std"), 0.0);
  EXPECT_GT(tensor.at("moved_since_start"), 0.0);
  EXPECT_GT(tensor.at("votes_over_null"), 0.5);
}

TEST_F(MonitoredRun, TheShareMovedIsThatOfTheMetrics) {
  const std::filesystem::path folder = fresh("run");
  const ConfigNode config = small_config(monitored(kGru));
  run_in(folder, config);
  const Learner learner(config, built_plugins());
  for (const ordered_json& line : read_metrics(RunFolder{folder}.metrics())) {
    if (line.at("step") == 0) continue;
    double moved = 0.0;
    for (const egg_param& param : learner.program->params()) {
      moved += line.at("monitor").at("tensors").at(param.name).at("moved").get<double>() *
               static_cast<double>(weight_count(param));
    }
    // Shares have four decimals.
    EXPECT_NEAR(moved / static_cast<double>(learner.program->weight_count()), line.at("changed").get<double>(), 1e-4);
  }
}

TEST_F(MonitoredRun, IsTheRunWithoutTheMonitor) {
  for (const Overrides& model : {kGru, kFormer}) {
    const std::filesystem::path plain = fresh("plain" + model.front());
    const std::filesystem::path watched = fresh("watched" + model.front());
    const RunRecord expected = run_in(plain, small_config(model));
    const RunRecord seen = run_in(watched, small_config(monitored(model)));
    EXPECT_EQ(looks(plain).size(), 0U);
    EXPECT_EQ(looks(watched).size(), 6U);
    EXPECT_FALSE(expected.verdicts.has_value());
    EXPECT_TRUE(seen.verdicts.has_value());
    EXPECT_EQ(seen.weights_sha256, expected.weights_sha256);
    EXPECT_EQ(seen.config_hash, expected.config_hash);
    EXPECT_EQ(read_file(RunFolder{watched}.journal()), read_file(RunFolder{plain}.journal()));
    EXPECT_EQ(tensors(watched), tensors(plain));
    EXPECT_EQ(tensors(plain).size(), 3U * 3U);
    EXPECT_EQ(figures(watched), figures(plain));
  }
}

TEST_F(MonitoredRun, ResumedAnywhereItSeesTheSame) {
  for (const Overrides& model : {kGru, kFormer}) {
    const ConfigNode config = small_config(monitored(model));
    const std::filesystem::path whole = fresh("whole" + model.front());
    run_in(whole, config);
    const std::map<uint64_t, ordered_json> expected = looks(whole);
    ASSERT_EQ(expected.size(), 6U);
    for (uint64_t step = 0; step < 6; ++step) {
      const std::filesystem::path folder = fresh("stopped" + std::to_string(step) + model.front());
      run_until(folder, config, step);
      const RunRecord resumed = run_in(folder, config);
      EXPECT_EQ(looks(folder), expected) << "stopped after " << step;
      EXPECT_EQ(resumed.verdicts.value().step, 6U);
    }
  }
}

// A run begins without the monitor and goes on with it: from there on its looks are those of a run with it from the
// start.
TEST_F(MonitoredRun, ItMayBeTurnedOnOnTheWay) {
  const std::filesystem::path whole = fresh("whole");
  run_in(whole, small_config(monitored(kGru)));
  const std::filesystem::path folder = fresh("run");
  run_until(folder, small_config(kGru), 3);
  run_in(folder, small_config(monitored(kGru)));
  std::map<uint64_t, ordered_json> expected = looks(whole);
  for (const uint64_t step : {1U, 2U, 3U}) expected.erase(step);
  EXPECT_EQ(looks(folder), expected);
}

class MonitorOn : public BuiltBackend {
 protected:
  static std::vector<ordered_json> looks(const ConfigNode& config) {
    eggroll::Setup setup(config, built_plugins());
    const ScratchFolder folder;
    std::vector<ordered_json> seen;
    TrainHooks hooks;
    hooks.progress = [&](const Progress& progress) {
      if (progress.done.monitor) seen.push_back(to_json(*progress.done.monitor));
    };
    Processes alone;
    TrainingLoop(setup, config, RunFolder{folder.path()}, Invocation{}, hooks, alone).run();
    return seen;
  }
};

TEST_P(MonitorOn, ItSeesTheSame) {
  for (const Overrides& model : {kGru, kFormer}) {
    const Overrides more = {"monitor.every=3", "train.population=48", "train.members_per_stream=16", "noise=table",
                            "noise.table_log2=14"};
    const std::vector<ordered_json> expected = looks(small_config(monitored(model, more)));
    EXPECT_EQ(expected.size(), 2U);
    EXPECT_EQ(looks(small_config(monitored(monitored(model, more), {"backend=" + GetParam()}))), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, MonitorOn, testing::ValuesIn(built_backends()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace eggroll::test
