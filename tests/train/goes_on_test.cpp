// Configurations and endings: a run that ends before its last step, in whatever way, goes on to the very run that never
// ended, and its journal gives its weights again.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <stdexcept>

#include "train/small_run.h"

namespace eggroll::test {

namespace fs = std::filesystem;

void SmallRunTest::expect_goes_on(const std::vector<std::string>& settings, bool at_every_step) {
  struct Ending {
    std::string name;
    RunStatus status;  // of the record that it leaves
    uint64_t steps;    // done by then
    std::function<void(const fs::path& folder)> run;
    uint64_t resumes = 1;  // once it has gone on
  };
  const ConfigNode config = small_config(settings);
  std::vector<Ending> endings = {{"rule", RunStatus::kStopped, 3, [&](const fs::path& folder) {
                                    run_in(folder, small_config(joined(settings, {"stop.steps=3"})));
                                  }}};
  if (at_every_step) {
    endings.push_back({"unexpected", RunStatus::kFailed, 3, [&](const fs::path& folder) {
                         fail_at(folder, config, 3, [] { throw std::runtime_error("cannot write to file"); });
                       }});
    endings.push_back({"often", RunStatus::kInterrupted, 5,
                       [&](const fs::path& folder) {
                         for (uint64_t step = 1; step < 6; ++step) run_until(folder, config, step);
                       },
                       5});
  }
  for (const uint64_t step : at_every_step ? std::vector<uint64_t>{0, 1, 2, 3, 4, 5} : std::vector<uint64_t>{3}) {
    endings.push_back({fmt::format("stopped{}", step), RunStatus::kInterrupted, step,
                       [&, step](const fs::path& folder) { run_until(folder, config, step); }});
    endings.push_back({fmt::format("failed{}", step + 1), RunStatus::kFailed, step + 1,
                       [&, step](const fs::path& folder) { fail_at(folder, config, step + 1); }});
  }
  const fs::path whole = fresh("whole");
  const RunRecord record = run_in(whole, config);
  EXPECT_EQ(replayed_sha256(whole, config), *record.weights_sha256);
  EXPECT_EQ(steps_in(whole), (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6}));
  for (const Ending& ending : endings) {
    SCOPED_TRACE(ending.name);
    const fs::path folder = fresh(ending.name);
    ending.run(folder);
    const RunRecord ended = read_record(RunFolder{folder}.record());
    EXPECT_EQ(ended.status, ending.status);
    EXPECT_EQ(ended.steps, ending.steps);
    EXPECT_TRUE(ended.ended_utc.has_value());
    EXPECT_EQ(ended.error.has_value(), ending.status == RunStatus::kFailed);
    if (ending.status != RunStatus::kFailed) {
      const Checkpoint saved = load_checkpoint(*latest_checkpoint(folder));
      EXPECT_EQ(saved.step, ending.steps);
      EXPECT_EQ(weights_sha256(saved.weights), ended.weights_sha256);
    }
    const RunRecord resumed = run_in(folder, config);
    EXPECT_EQ(resumed.resumes, ending.resumes);
    EXPECT_EQ(resumed.started_utc, ended.started_utc);
    expect_same_run(folder, whole);
  }
  for (const fs::path& path : paths_in(whole / "checkpoints")) {
    const Checkpoint saved = load_checkpoint(path);
    EXPECT_EQ(replayed_sha256(whole, config, saved.step), weights_sha256(saved.weights)) << saved.step;
    ASSERT_EQ(saved.evaluations.size(), saved.step / 2 + 1);
    EXPECT_EQ(saved.evaluations.back().step, saved.step / 2 * 2);
    EXPECT_EQ(saved.evaluations.back().tokens, 31U);
  }
  for (const fs::path& path : paths_in(folder_)) fs::remove_all(path);
}

namespace {

struct Configuration {
  const char* name;
  std::vector<std::string> settings;
  bool at_every_step = false;
};

void PrintTo(const Configuration& configuration, std::ostream* out) { *out << configuration.name; }

class GoesOn : public SmallRunTest, public testing::WithParamInterface<Configuration> {};

TEST_P(GoesOn, ToTheSameRunHoweverItEnds) { expect_goes_on(GetParam().settings, GetParam().at_every_step); }

// Each setting differs from the default, so that the test fails if a resumed run loses one. A model without states goes
// on by its journal.
INSTANTIATE_TEST_SUITE_P(
    Configurations, GoesOn,
    testing::Values(
        Configuration{"Plain", {}, true}, Configuration{"Table", {"noise=table", "noise.table_log2=12"}},
        Configuration{"Rank", {"noise.rank=3"}}, Configuration{"Rademacher", {"noise.distribution=rademacher"}},
        Configuration{"NoResidual", {"optimizer.residual=0"}},
        Configuration{"AdamW", {"optimizer=es_adamw", "optimizer.weight_decay=0.01"}},
        Configuration{"Sgd", {"optimizer=es_sgd"}},
        Configuration{"Plateau",
                      {"optimizer.schedule.kind=plateau", "optimizer.schedule.plateau.patience=0",
                       "optimizer.schedule.plateau.threshold=0.9"}},
        // Each evaluation but the first, over two steps, halves the learning rate.
        Configuration{"AdamWOnAPlateau",
                      {"optimizer=es_adamw", "optimizer.learning_rate=4.0", "optimizer.schedule.kind=plateau",
                       "optimizer.schedule.plateau.factor=0.5", "optimizer.schedule.plateau.patience=0",
                       "optimizer.schedule.plateau.cooldown=0", "optimizer.schedule.plateau.threshold=0.9"},
                      true},
        Configuration{"CenteredRank", {"fitness=centered_rank"}}, Configuration{"Difference", {"fitness=difference"}},
        Configuration{"Sign", {"fitness=sign", "train.members_per_stream=16"}},
        Configuration{"TiedHead", {"model.layers=2", "model.tied_head=true"}},
        Configuration{"EggC", {"model=egg_c", "model.layers=1"}},
        Configuration{"Average", {"optimizer.average=0.8", "checkpoint.every=3"}, true},
        Configuration{"AverageOfATransformer",
                      {"model=int8nativeformer", "model.head_width=4", "optimizer.average=0.8", "checkpoint.every=3"},
                      true}),
    [](const testing::TestParamInfo<Configuration>& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace eggroll::test
