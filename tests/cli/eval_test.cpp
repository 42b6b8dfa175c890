// Measures a run's model on its own held-out part and on other texts.
#include "cli/eggroll_command.h"
#include "record/record.h"
#include "record/seal.h"

namespace eggroll::test {
namespace {

using nlohmann::ordered_json;

class EvalTest : public CliTest {
 protected:
  EvalTest() {
    write_plainly(work_ / "text", april_text());
    std::string other;
    while (other.size() < 700)
      other += "The clocks were bright that day, and it was striking in April, thirteen cold days on. ";
    write_plainly(work_ / "other", other.substr(0, 700));
  }
  static Arguments text_run(const Arguments& more = {}) {
    return text_run_with({"train.steps=20", "checkpoint.every=10", "eval.every=10", "eval.tokens=256", "eval.streams=4",
                          "optimizer.average=0.9"},
                         more);
  }
  void begin() const { ASSERT_EQ(eggroll(text_run()).exit_code, 0); }
  // The record that eval prints.
  ordered_json evaluation(const Arguments& more = {}) const {
    const ordered_json record =
        ordered_json::parse(good(eggroll(joined({"eval", run_folder().string(), "--json"}, more))).out);
    EXPECT_EQ(seal_of(record), Seal::kWhole);
    return record;
  }

  static Arguments tiny_text_run_from(const fs::path& run) {
    return text_run_with({"train.steps=1", "train.population=64", "eval.tokens=256", "eval.streams=4",
                          "init.from=" + run.string(), "results.dir=begun"},
                         {});
  }

  int runs_begun_ = 0;
  std::string said_;  // by the newest step_of
};

TEST_F(EvalTest, OfTheRunsOwnPartIsTheRecordsFinalFigure) {
  begin();
  const RunRecord run = read_record(run_folder() / "record.json");
  const ordered_json weights = evaluation();
  EXPECT_EQ(weights.at("bits_per_unit").get<double>(), run.final->bits_per_unit);
  EXPECT_EQ(weights.at("tokens").get<uint64_t>(), run.final->tokens);
  EXPECT_EQ(weights.at("weights_sha256").get<std::string>(), *run.weights_sha256);
  EXPECT_EQ(weights.at("step").get<uint64_t>(), 20U);
  EXPECT_EQ(weights.at("baselines").at("gzip").get<double>(), *run.baselines.gzip);
  EXPECT_TRUE(weights.at("data").at("file").is_null());
  const ordered_json average = evaluation({"--weights", "average"});
  EXPECT_EQ(average.at("bits_per_unit").get<double>(), run.average->final->bits_per_unit);
  EXPECT_NE(average.at("bits_per_unit"), weights.at("bits_per_unit"));
  EXPECT_NE(average.at("weights_sha256"), weights.at("weights_sha256"));
}

// A run that holds out another text has the same weights, for it trains on the same.
TEST_F(EvalTest, OfAnotherTextIsTheFigureOfARunThatHeldItOut) {
  write_plainly(work_ / "train", april_text(3600));
  const Arguments with_other = {"dataset.path=train", "dataset.valid_path=other", "results.dir=beside"};
  ASSERT_EQ(eggroll(text_run(with_other)).exit_code, 0);
  const fs::path beside = (*fs::directory_iterator(work_ / "beside")).path();
  const RunRecord expected = read_record(beside / "record.json");
  begin();
  const ordered_json record = evaluation({"--data", "other"});
  EXPECT_EQ(record.at("weights_sha256").get<std::string>(), *expected.weights_sha256);
  EXPECT_EQ(record.at("tokens").get<uint64_t>(), 699U);
  EXPECT_EQ(record.at("bits_per_unit").get<double>(), expected.final->bits_per_unit);
  EXPECT_EQ(record.at("data").at("sha256").get<std::string>(), sha256_hex(read_file(work_ / "other")));
  // Unigram and bigram count the run's training data, even if they are measured on other data.
  EXPECT_EQ(record.at("baselines").at("bigram").get<double>(), *expected.baselines.bigram);
}

TEST_F(EvalTest, OfTheTestSplitIsTheFigureOfThatText) {
  ASSERT_EQ(eggroll(text_run({"dataset.test_path=other"})).exit_code, 0);
  const ordered_json test = evaluation({"--test"});
  EXPECT_EQ(test.at("split"), "test");
  EXPECT_EQ(test.at("data").at("file"), (work_ / "other").string());
  const ordered_json other = evaluation({"--data", "other"});
  EXPECT_EQ(other.at("split"), "other");
  EXPECT_EQ(other.at("bits_per_unit"), test.at("bits_per_unit"));
  EXPECT_EQ(evaluation().at("split"), "held_out");
  EXPECT_EQ(entries_in(run_folder() / "evaluations"), 3U) << "no evaluation takes the place of that of the test split";
  EXPECT_THAT(eggroll({"eval", run_folder().string(), "--test"}).out,
              HasSubstr(" bits per byte on the test split " + (work_ / "other").string() + " (699 tokens)"));
  refuses({"eval", run_folder().string(), "--test", "--data", "other"},
          {"--test and --data were given, expected one of them"});
}

// Training writes the same bytes with any test split, and with a missing one.
TEST_F(EvalTest, NothingElseReadsTheTestSplit) {
  begin();
  const RunRecord without = read_record(run_folder() / "record.json");
  fs::remove_all(work_ / "results");
  ASSERT_EQ(eggroll(text_run({"dataset.test_path=nowhere/*.txt", "stop.steps=10"})).exit_code, 0);
  const std::string run = run_folder().string();
  ASSERT_EQ(eggroll(text_run({"dataset.test_path=nothing"})).exit_code, 0);
  EXPECT_EQ(run_folder().string(), run) << "the run goes on, whatever its test split";
  const RunRecord with = read_record(run_folder() / "record.json");
  EXPECT_EQ(with.config_hash, without.config_hash);
  EXPECT_EQ(with.weights_sha256, without.weights_sha256);
  EXPECT_EQ(with.dataset->sha256, without.dataset->sha256);
  for (const char* command : {"resume", "replay", "eval", "sample"}) {
    EXPECT_EQ(eggroll({command, run}).exit_code, 0) << command;
  }
  ASSERT_EQ(eggroll({"fork", run + "@10", "optimizer.alpha=0.5"}).exit_code, 0);
  refuses({"eval", run, "--test"}, {"dataset.test_path is '", "nothing', which does not exist", "--data FILE"});
}

TEST_F(EvalTest, RefusesATestSplitThatIsNone) {
  begin();
  const std::string run = run_folder().string();
  refuses({"eval", run, "--test"}, {"has no test split (dataset.test_path)", "--data FILE"});
  refuses(text_run({"dataset.test_path=text"}),
          {"test_path is '", "which is dataset.path too", "set dataset.test_path=null"});
  // Runs that are older than the test split have such a configuration.
  std::string config = read_file(run_folder() / "config.yaml");
  for (const char* line : {"# sha256", "  test_path:"}) {
    const size_t at = config.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    config.erase(at, config.find('\n', at) + 1 - at);
  }
  write_plainly(run_folder() / "config.yaml", config);
  refuses({"eval", run, "--test"}, {"has no test split (dataset.test_path)"});
  EXPECT_EQ(evaluation().at("step").get<uint64_t>(), 20U);
}

TEST_F(EvalTest, SeveralFilesAreMeasuredByAPattern) {
  begin();
  const std::string all = read_file(work_ / "other");
  write_plainly(work_ / "part-1", all.substr(0, 300));
  write_plainly(work_ / "part-2", all.substr(300));
  EXPECT_EQ(evaluation({"--data", "part-*"}).at("bits_per_unit"), evaluation({"--data", "other"}).at("bits_per_unit"));
  refuses({"eval", run_folder().string(), "--data", "no-*"},
          {"eggroll: --data is '", "no-*', which matches no file", "correct the path"});
}

TEST_F(EvalTest, EachCheckpointThatIsKeptCanBeMeasured) {
  begin();
  const ordered_json early = evaluation({"--checkpoint", "10"});
  EXPECT_EQ(early.at("step").get<uint64_t>(), 10U);
  EXPECT_NE(early.at("bits_per_unit"), evaluation().at("bits_per_unit"));
  EXPECT_EQ(entries_in(run_folder() / "evaluations"), 2U);
  evaluation();
  EXPECT_EQ(entries_in(run_folder() / "evaluations"), 2U) << "the same evaluation has one record";
  const std::string run = run_folder().string();
  refuses({"eval", run, "--checkpoint", "7"},
          {"keeps no checkpoint after 7 steps", "expected one of: 10, 20", "checkpoint.keep"});
  refuses({"eval", run, "--checkpoint", "newest"},
          {"--checkpoint is 'newest'", "expected end, last, best or a number of steps"});
  const auto sampled = [&](const std::string& step) {
    return eggroll({"sample", run, "--count", "30", "--checkpoint", step}).out;
  };
  EXPECT_EQ(sampled("20"), sampled("last"));
  EXPECT_NE(sampled("10"), sampled("last"));
}

// Every third letter of the held-out text is one that the run never reads, so that more steps soon make it worse.
TEST_F(EvalTest, TheBestCheckpointIsKeptAndMeasured) {
  std::string other = read_file(work_ / "other");
  for (size_t i = 0; i < other.size(); i += 3) other[i] = 'Z';
  write_plainly(work_ / "other", other);
  const auto run_with = [&](const Arguments& more) {
    good(
        eggroll(text_run_with({"dataset.valid_path=other", "train.steps=60", "train.population=64", "optimizer.alpha=1",
                               "eval.every=5", "eval.tokens=256", "eval.streams=4", "checkpoint.every=1000",
                               "checkpoint.keep=1", "results.dir=runs/" + std::to_string(runs_begun_)},
                              more)));
    return fs::directory_iterator(work_ / "runs" / std::to_string(runs_begun_++))->path();
  };
  const auto step_of = [&](const fs::path& run, const std::string& checkpoint) {
    const Result result = good(eggroll({"eval", run.string(), "--json", "--checkpoint", checkpoint}));
    said_ = result.err;
    return ordered_json::parse(result.out).at("step").get<uint64_t>();
  };
  // Patience asks for it.
  const fs::path stopped = run_with({"stop.patience=2"});
  const RunRecord record = read_record(stopped / "record.json");
  ASSERT_EQ(record.status, RunStatus::kStopped);
  ASSERT_EQ(record.best->step + 10, record.newest->step);
  EXPECT_EQ(entries_in(stopped / "checkpoints"), 2U);
  EXPECT_EQ(step_of(stopped, "last"), record.newest->step);
  EXPECT_EQ(step_of(stopped, "best"), record.best->step);
  EXPECT_EQ(said_, "");
  // The run has ended with it, and so it is what everything takes.
  EXPECT_EQ(record.final->step, record.best->step);
  EXPECT_EQ(step_of(stopped, "end"), record.best->step);
  const ordered_json evaluated = ordered_json::parse(good(eggroll({"eval", stopped.string(), "--json"})).out);
  EXPECT_EQ(evaluated.at("bits_per_unit").get<double>(), record.final->bits_per_unit);
  EXPECT_EQ(evaluated.at("weights_sha256").get<std::string>(), *record.weights_sha256);
  const auto sampled = [&](const std::string& checkpoint) {
    return eggroll({"sample", stopped.string(), "--count", "30", "--checkpoint", checkpoint}).out;
  };
  EXPECT_EQ(eggroll({"sample", stopped.string(), "--count", "30"}).out, sampled("best"));
  EXPECT_NE(sampled("last"), sampled("best"));
  EXPECT_THAT(eggroll({"replay", stopped.string()}).out,
              HasSubstr("equal to the checkpoint " + stopped.string() + "/checkpoints/step-000000"));
  const Result begun = eggroll(tiny_text_run_from(stopped));
  EXPECT_THAT(begun.out, HasSubstr("begins with the weights of " + (work_ / stopped).string() + "@" +
                                   std::to_string(record.best->step) + "\n"))
      << begun.err;
  // Where nobody does, the best of those that are kept is named as such.
  const fs::path whole = run_with({"train.steps=" + std::to_string(record.newest->step)});
  EXPECT_EQ(entries_in(whole / "checkpoints"), 1U);
  EXPECT_EQ(step_of(whole, "best"), record.newest->step);
  EXPECT_THAT(said_, HasSubstr("the best evaluation was after " + std::to_string(record.best->step) + " steps"));
  EXPECT_EQ(entries_in(run_with({"stop.patience=2", "checkpoint.best=false"}) / "checkpoints"), 1U);
}

TEST_F(EvalTest, SaysWhatItFound) {
  begin();
  const Result result = good(eggroll({"eval", run_folder().string(), "--data", "other"}));
  EXPECT_THAT(result.out, HasSubstr(" bits per byte on other (699 tokens), weights after 20 steps\n"));
  EXPECT_THAT(result.out, HasSubstr("on the same data: unigram "));
  EXPECT_THAT(result.out, HasSubstr("/evaluations/step-00000020-"));
}

TEST_F(EvalTest, RefusesWhatItCannotMeasure) {
  begin();
  const std::string run = run_folder().string();
  refuses({"eval", run, "--data", "nothing"},
          {"--data is 'nothing', which does not exist", "expected a file that can be read"});
  fs::create_directory_symlink(work_, run_folder() / "evaluations");
  refuses({"eval", run}, {"evaluations is a link", "remove the link"});
  fs::remove(run_folder() / "evaluations");
  fs::rename(work_ / "text", work_ / "moved");
  refuses({"eval", run}, {"dataset.path is '", "which does not exist", "--train-data FILE"});
  EXPECT_EQ(evaluation({"--train-data", "moved"}).at("step").get<uint64_t>(), 20U);
  // Other bytes than those of the run.
  refuses({"eval", run, "--train-data", "other"}, {"the data are not those of the run in ", "--train-data"});
  refuses({"eval", run, "--data", "moved", "--train-data", "other"},
          {"the data are not those of the run in ", "--train-data"});
  refuses({"eval", run, "--train-data", "moved", "--data", work_.string()},
          {"which is no file or empty", "expected a file with at least 2 tokens"});
  EXPECT_EQ(entries_in(run_folder() / "evaluations"), 1U);
  // The user did not set dataset.valid_path.
  write_plainly(work_ / "short", "x");
  write_plainly(work_ / "void", "");
  for (const auto& [pattern, problem] : {std::pair{"short", "too short"}, {"vo*", "which is empty"}}) {
    const Result result = eggroll({"eval", run, "--train-data", "moved", "--data", pattern});
    expect_one_sentence(result, {"eggroll: --data is '", problem});
    EXPECT_THAT(result.err, Not(HasSubstr("valid_path")));
  }
}

TEST_F(EvalTest, AGeneratedDatasetHasNoOtherText) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  refuses({"eval", run_folder().string(), "--data", "other"},
          {"--data was given", "reads no file", "leave --data out"});
  refuses({"eval", run_folder().string(), "--test"}, {"--test was given", "reads no file", "leave --test out"});
  EXPECT_EQ(evaluation().at("data").at("unit").get<std::string>(), "token");
}

}  // namespace
}  // namespace eggroll::test
