// What a run finds out of its text beside the training, and when its record has it.
#include "train/text_measurement.h"

#include <gmock/gmock.h>

#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TextMeasurementTest : public SmallRunTest {
 protected:
  // Bytes without an order, the last `copied` of which are those that the text begins with. A fifth is held out.
  ConfigNode config(size_t copied, const std::vector<std::string>& more = {}) const {
    std::string text;
    Draws draws(7);
    for (size_t i = 0; i < 5000; ++i) text += static_cast<char>(draws.below(256));
    text.replace(5000 - copied, copied, text, 0, copied);
    write_plainly(folder_ / "text", text);
    const std::vector<std::string> held_out = {"dataset=text",         "dataset.path=" + (folder_ / "text").string(),
                                               "model.vocab=256",      "dataset.valid_fraction=0.2",
                                               "train.steps=4",        "eval.every=4",
                                               "eval.tokens=64",       "eval.streams=2",
                                               "model.logit_tables=[]"};
    return repository_config(joined(joined(kSmall, held_out), more));
  }

  static TextFigures figures_of(const ConfigNode& config) {
    const eggroll::Setup setup(config, built_plugins());
    const std::atomic<bool> stop{false};
    return *measure_text(setup.dataset, stop);
  }

  RunRecord run(const std::filesystem::path& folder, const ConfigNode& config) {
    TrainHooks hooks;
    hooks.warn = [&](const std::string& text) { warnings_.push_back(text); };
    return run_in(folder, config, hooks);
  }

  std::vector<std::string> warnings_;
};

TEST_F(TextMeasurementTest, ARecordHasTheFigures) {
  const RunRecord record = run(fresh("run"), config(0));
  const TextFigures expected = figures_of(config(0));
  EXPECT_EQ(record.baselines.kneser_ney, expected.kneser_ney);
  EXPECT_EQ(record.baselines.xz, expected.xz);
  EXPECT_EQ(record.baselines.ppmd, expected.ppmd);
  EXPECT_TRUE(record.counting_seconds.has_value());
  EXPECT_EQ(record.overlap, (std::map<uint32_t, double>{{32, 0.0}, {64, 0.0}, {128, 0.0}}));
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(record_to_json(read_record(RunFolder{folder_ / "run"}.record())), record_to_json(record));
}

TEST_F(TextMeasurementTest, AHeldOutPartThatStandsInTheTrainingPartIsAWarning) {
  const RunRecord record = run(fresh("run"), config(500));
  EXPECT_EQ(record.overlap.at(64), (500.0 - 63) / (1000.0 - 63));
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("46.6 % of the held-out part's windows of 64 bytes occur in the training "
                                    "part, expected at most 2 %")));
  EXPECT_THAT(warnings_.at(0), HasSubstr("split the data by distinct documents"));
}

TEST_F(TextMeasurementTest, ARunThatGoesOnKeepsThem) {
  const std::filesystem::path folder = fresh("run");
  run_until(folder, config(0), 2);
  const std::filesystem::path file = RunFolder{folder}.record();
  RunRecord record = read_record(file);
  // As if they had been measured by then, which depends on the machine, and to other values.
  record.baselines.kneser_ney = {{3, 1.25}};
  record.counting_seconds = 17.0;
  record.overlap = {{64, 0.5}};
  write_record(file, record);
  const RunRecord whole = run(folder, config(0));
  EXPECT_EQ(whole.status, RunStatus::kCompleted);
  EXPECT_EQ(whole.baselines.kneser_ney, record.baselines.kneser_ney);
  EXPECT_EQ(whole.counting_seconds, 17.0);
  EXPECT_EQ(whole.overlap, record.overlap);
  EXPECT_THAT(warnings_, IsEmpty()) << "it was said when they were measured";
}

TEST_F(TextMeasurementTest, ARunThatWasInterruptedBeforeMeasuresOnceMore) {
  const std::filesystem::path folder = fresh("run");
  run_until(folder, config(0), 2);
  const std::filesystem::path file = RunFolder{folder}.record();
  RunRecord record = read_record(file);
  record.baselines.kneser_ney = {};
  record.counting_seconds.reset();
  record.overlap = {};
  write_record(file, record);
  EXPECT_EQ(run(folder, config(0)).baselines.kneser_ney, figures_of(config(0)).kneser_ney);
}

TEST_F(TextMeasurementTest, OneThatIsToStopGivesNoFigures) {
  const eggroll::Setup setup(config(0), built_plugins());
  RunRecord record;
  const std::atomic<bool> stop{true};
  {
    TextMeasurement measurement(setup.dataset, RunFolder{folder_}, record, [](const std::string&) {});
  }  // ends it
  EXPECT_EQ(record.counting_seconds, std::nullopt);
  TextMeasurement measurement(setup.dataset, RunFolder{folder_}, record, [](const std::string&) {});
  measurement.wait(nullptr);
  EXPECT_TRUE(record.counting_seconds.has_value());
  measurement.wait(&stop);  // there is nothing to wait for
  measurement.take();
}

TEST_F(TextMeasurementTest, APointTakesThoseOfAnotherWithTheSameData) {
  const eggroll::Setup setup(config(0), built_plugins());
  fresh("sweep");
  RunRecord other = run(fresh("sweep/1"), config(0));
  other.sweep = SweepRecord{};
  other.counting_seconds = 17.0;  // so that it can be told from one that is measured
  RunRecord point = other;
  point.baselines = {};
  point.counting_seconds.reset();
  point.overlap = {};
  const auto seconds_beside = [&](const RunRecord& beside, RunRecord own) {
    write_record(RunFolder{folder_ / "sweep" / "1"}.record(), beside);
    TextMeasurement measurement(setup.dataset, RunFolder{folder_ / "sweep" / "2"}, own, [](const std::string&) {});
    measurement.wait(nullptr);
    EXPECT_EQ(own.baselines.kneser_ney, figures_of(config(0)).kneser_ney);
    EXPECT_EQ(own.overlap, other.overlap);
    return own.counting_seconds;
  };
  EXPECT_EQ(seconds_beside(other, point), 17.0);
  RunRecord changed = other;
  changed.dataset->sha256 = std::string(64, 'a');
  EXPECT_NE(seconds_beside(changed, point), 17.0);
  changed = other;
  changed.counting_seconds.reset();  // it has not measured yet
  EXPECT_NE(seconds_beside(changed, point), 17.0);
  point.sweep.reset();  // a run of its own
  EXPECT_NE(seconds_beside(other, point), 17.0);
  write_plainly(RunFolder{folder_ / "sweep" / "1"}.record(), "{");
  point.sweep = SweepRecord{};
  TextMeasurement measurement(setup.dataset, RunFolder{folder_ / "sweep" / "2"}, point, [](const std::string&) {});
  measurement.wait(nullptr);
  EXPECT_EQ(point.baselines.kneser_ney, figures_of(config(0)).kneser_ney);
}

TEST_F(TextMeasurementTest, RowsHaveNone) {
  const RunRecord record =
      run(fresh("run"), repository_config({"experiment=count", "dataset.rows=4", "model.width=8", "train.population=16",
                                           "train.steps=2", "backend=reference", "backend.threads=1"}));
  EXPECT_TRUE(record.baselines.unigram.has_value());
  EXPECT_THAT(record.baselines.kneser_ney, IsEmpty());
  EXPECT_EQ(record.counting_seconds, std::nullopt);
  EXPECT_THAT(record.overlap, IsEmpty());
}

TEST_F(TextMeasurementTest, ACheckpointIsAsLargeAsTheRecordSays) {
  const std::filesystem::path folder = fresh("run");
  const RunRecord record = run(folder, config(0, {"optimizer.average=0.9"}));
  const Checkpoint checkpoint = load_checkpoint(*latest_checkpoint(folder));
  uint64_t bytes = checkpoint.states.size();
  uint64_t weights = 0;
  for (const WeightTensor& tensor : checkpoint.weights) weights += tensor.data.size();
  for (const SlotTensor& slot : checkpoint.slots) bytes += 4 * slot.bits.size();
  EXPECT_EQ(record.parameters, weights);
  EXPECT_EQ(record.checkpoint_bytes, bytes + weights);
  EXPECT_GT(bytes, 8 * weights) << "two slots a weight";
}

}  // namespace
}  // namespace eggroll::test
