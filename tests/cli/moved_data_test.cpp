// Runs whose data lie elsewhere than when they began, or that are resumed from another folder.
#include "cli/eggroll_command.h"
#include "record/record.h"

namespace eggroll::test {
namespace {

class MovedDataTest : public CliTest {
 protected:
  MovedDataTest() {
    write_plainly(work_ / "text", april_text());
    for (const char* folder : {"elsewhere", "moved"}) fs::create_directory(folder_ / folder);
  }

  static Arguments text_run(const Arguments& more = {}) {
    return text_run_with({"train.steps=300", "checkpoint.every=5", "eval.every=100", "eval.tokens=512"}, more);
  }
  // Resumes the run from another folder.
  Result resume(const Arguments& more = {}) const {
    return Process(folder_ / "elsewhere", command(joined({"resume", run_folder().string()}, more))).wait();
  }
};

TEST_F(MovedDataTest, ARunGoesOnFromAnyFolder) {
  const std::string digest = undisturbed(text_run());
  ASSERT_EQ(stopped(text_run({"plugins.path=[" EGGROLL_BIN_DIR "/plugins/../plugins]"}), 12).exit_code, 128 + SIGINT);
  EXPECT_THAT(read_file(run_folder() / "config.yaml"), HasSubstr("path: " + (work_ / "text").string() + "\n"));
  good(resume());
  expect_completed(run_folder(), digest);
  EXPECT_EQ(entries_in(folder_ / "elsewhere"), 0U);
}

TEST_F(MovedDataTest, ReplayNamesDataThatHaveChanged) {
  ASSERT_EQ(eggroll(text_run({"train.steps=5", "votes.masked=true"})).exit_code, 0);
  const std::string run = run_folder().string();
  EXPECT_THAT(eggroll({"replay", run}).out, HasSubstr("equal to the checkpoint"));
  std::string text = read_file(work_ / "text");
  text[99] = 'Z';
  write_plainly(work_ / "text", text);
  refuses({"replay", run}, {"the data are not those of the run in " + run, "restore the data"});
}

// Its settings do not fit this eggroll either, but the sentence must name the op set.
TEST_F(MovedDataTest, ARunWithOtherOpsIsRefused) {
  ASSERT_EQ(eggroll(text_run({"train.steps=5"})).exit_code, 0);
  RunRecord record = read_record(run_folder() / "record.json");
  record.environment.spec_hash = "0d1455ab2c42908c";
  record.environment.host_version = "0.1.0";
  write_record(run_folder() / "record.json", record);
  for (const char* command : {"resume", "replay", "sample"}) {
    Arguments all = {command, run_folder().string()};
    if (command == std::string("sample")) all.insert(all.end(), {"--prompt", "a"});
    const Result result = eggroll(all);
    EXPECT_NE(result.exit_code, 0) << command;
    EXPECT_THAT(result.err, HasSubstr("was made by eggroll 0.1.0 with another op set or noise")) << command;
  }
}

TEST_F(MovedDataTest, TheSamePathWrittenOtherwiseIsTheSameRun) {
  ASSERT_EQ(eggroll(text_run({"train.steps=5"})).exit_code, 0);
  for (const std::string& path : {(work_ / "text").string(), std::string("../here/./text")}) {
    EXPECT_THAT(eggroll(text_run({"train.steps=5", "dataset.path=" + path})).out, HasSubstr("finished already"));
  }
  // ~ is HOME, which no shell replaces behind a dotted key.
  const Arguments at_home =
      joined({"/usr/bin/env", "HOME=" + work_.string()}, command(text_run({"train.steps=5", "dataset.path=~/text"})));
  EXPECT_THAT(Process(work_, at_home).wait().out, HasSubstr("finished already"));
}

TEST_F(MovedDataTest, DataThatMovedAreNamedAndCompared) {
  const std::string digest = undisturbed(text_run());
  ASSERT_EQ(stopped(text_run(), 12).exit_code, 128 + SIGINT);
  fs::rename(work_ / "text", folder_ / "moved" / "renamed");
  write_plainly(folder_ / "moved" / "other", read_file(folder_ / "moved" / "renamed") + "!");
  const std::string config = read_file(run_folder() / "config.yaml");
  expect_one_sentence(resume(), {"config.yaml:", "dataset.path is '" + (work_ / "text").string() + "'",
                                 "which does not exist", "--data FILE"});
  expect_one_sentence(resume({"--data", "../moved/nothing"}),
                      {"/moved/nothing'", "which does not exist", "--data FILE"});
  expect_one_sentence(resume({"--data", "../moved/other"}), {"the data have changed since the run in ", "sha256"});
  expect_one_sentence(resume({"--data", "../moved/renamed", "--valid-data", "../moved/other"}),
                      {"--valid-data was given, and the run has no dataset.valid_path; leave it out"});
  EXPECT_EQ(read_file(run_folder() / "config.yaml"), config);
  good(resume({"--data", "../moved/renamed"}));
  expect_completed(run_folder(), digest);
  // The run has stored its data's new place, and the new path names the same run.
  EXPECT_THAT(resume().out, HasSubstr("finished already"));
  EXPECT_THAT(eggroll(text_run({"dataset.path=../moved/renamed"})).out, HasSubstr("finished already"));
}

TEST_F(MovedDataTest, ARunThatReadsNoFileTakesNone) {
  ASSERT_EQ(eggroll(tiny_run({"train.steps=1"})).exit_code, 0);
  expect_one_sentence(resume({"--data", "../here/text"}), {"--data was given, and the run has no dataset.path"});
}

TEST_F(MovedDataTest, AVocabularyThatMovedIsNamedToSample) {
  std::string vocabulary = "eggroll vocabulary 1\n";
  for (int byte = 0; byte < 256; ++byte)
    vocabulary += {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16], '\n'};
  write_plainly(work_ / "vocabulary", vocabulary);
  ASSERT_EQ(
      eggroll(text_run({"train.steps=1", "dataset=tokens", "dataset.dtype=uint8", "dataset.vocabulary=vocabulary"}))
          .exit_code,
      0);
  fs::rename(work_ / "vocabulary", folder_ / "moved" / "vocabulary");
  const Arguments sample = {"sample", run_folder().string(), "--count", "5", "--prompt", "It"};
  refuses(sample, {"dataset.vocabulary is '", "which does not exist", "--vocabulary FILE"});
  Arguments named = sample;
  named.insert(named.end(), {"--vocabulary", "../moved/vocabulary"});
  EXPECT_THAT(eggroll(named).out, StartsWith("It"));
  write_plainly(folder_ / "moved" / "vocabulary", vocabulary + "61\n");
  refuses(named, {"/moved/vocabulary' has changed since the run in "});
}

}  // namespace
}  // namespace eggroll::test
