// Points handed to other machines: an element reads the point as it was launched.
#include "experiment/submission.h"

#include <gmock/gmock.h>

#include "experiment/own_folder.h"
#include "record/record_fields.h"
#include "system/files.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SubmissionTest : public OwnFolderTest {
 protected:
  SubmissionTest() {
    write_experiment(
        "grid",
        "defaults:\n  - override launcher: slurm\n  - _self_\nname: grid\n"
        "sweep: {question: 'Why?', product: [\"train.population=64,128\"], limits: {seconds: 2.5, memory_gib: "
        "1}, budget: {steps: 7}}\n");
  }
  Sweep compose_grid(const std::vector<std::string>& more = {}) const {
    return compose_sweep(search_, overrides("grid", more));
  }
};

TEST_F(SubmissionTest, AnElementReadsItsPoint) {
  Sweep sweep = compose_grid();
  write_sweep(sweep);
  const std::string id =
      write_submission(sweep, {{&sweep.points[1], std::nullopt}, {&sweep.points[0], std::nullopt}}, "frozen");
  const std::filesystem::path folder = submission_folder(sweep, id);
  EXPECT_THAT(submitted_hashes(folder), ElementsAre(sweep.points[1].hash, sweep.points[0].hash));
  for (const std::filesystem::path& given : {folder, folder / ""}) {
    const Element element = read_element(given, 0);
    ASSERT_EQ(element.sweep.points.size(), 1U);
    const SweepPoint& point = element.sweep.points[0];
    EXPECT_EQ(point.hash, sweep.points[1].hash);
    EXPECT_EQ(point.index, sweep.points[1].index);
    EXPECT_EQ(point.config, sweep.points[1].config);
    EXPECT_EQ(point.overrides, sweep.points[1].overrides);
    EXPECT_EQ(element.sweep.folder_of(point).path, sweep.folder_of(sweep.points[1]).path);
    EXPECT_EQ(field_json(element.sweep.record_of(point), ""), field_json(sweep.record_of(sweep.points[1]), ""));
    EXPECT_EQ(element.sweep.grid.limits.seconds, 2.5);
    EXPECT_EQ(element.sweep.grid.limits.memory_bytes, uint64_t{1} << 30);
    EXPECT_FALSE(element.sweep.grid.budget.steps.has_value());
    EXPECT_EQ(element.options.plugins, "frozen");
    EXPECT_FALSE(element.options.retry_failed);
  }
}

TEST_F(SubmissionTest, OnlyTheFailureThatWasThereIsTriedAgain) {
  Sweep sweep = compose_grid();
  write_sweep(sweep);
  const RunFolder run = sweep.folder_of(sweep.points[0]);
  std::filesystem::create_directories(run.path);
  write_plainly(run.record(), "one failure");
  const std::string id = write_submission(sweep, {{&sweep.points[0], sha256_file(run.record())}}, "frozen");
  EXPECT_TRUE(read_element(submission_folder(sweep, id), 0).options.retry_failed);
  write_plainly(run.record(), "another");
  EXPECT_FALSE(read_element(submission_folder(sweep, id), 0).options.retry_failed);
}

TEST_F(SubmissionTest, AnotherFolderAndDamageAreNamed) {
  Sweep sweep = compose_grid();
  write_sweep(sweep);
  EXPECT_THAT(message_of([&] { read_element(sweep.folder, 0); }),
              HasSubstr("holds no elements.jsonl, expected a folder"));
  const std::string id = write_submission(sweep, {{&sweep.points[0], std::nullopt}}, "frozen");
  const std::filesystem::path folder = submission_folder(sweep, id);
  EXPECT_THAT(message_of([&] { read_element(folder, 1); }), HasSubstr("has no element 1, expected one of 0 to 0"));
  write_plainly(folder / "elements.jsonl", "{\n{}\n");
  EXPECT_THAT(message_of([&] { read_element(folder, 0); }),
              AllOf(HasSubstr("line 1 of "),
                    HasSubstr("elements.jsonl is damaged, expected a JSON object; run its sweep again")));
}

TEST_F(SubmissionTest, APointIsTheSameWhoeverLaunchesIt) {
  const Sweep local = compose_grid({"launcher=local"});
  const Sweep slurm = compose_grid({"launcher.partition=low", "launcher.at_once=3"});
  EXPECT_EQ(local.launcher.at("name").text(), "local");
  EXPECT_EQ(slurm.launcher.at("partition").text(), "low");
  EXPECT_EQ(local.points[0].hash, slurm.points[0].hash);
  EXPECT_EQ(local.points[0].config, slurm.points[0].config);
  EXPECT_EQ(local.points[0].overrides, slurm.points[0].overrides);
  EXPECT_EQ(local.points[0].config.find("launcher"), nullptr);
}

}  // namespace
}  // namespace eggroll::test
