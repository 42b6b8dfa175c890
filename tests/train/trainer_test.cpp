// The step loop on a run of milliseconds. Whole, failed or resumed, it leads to the same weights, and its files tell
// the same story.
#include "train/trainer.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "record/metrics.h"
#include "record/seal.h"
#include "train/evaluation.h"
#include "train/session_io.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

TEST_F(TrainerTest, ARecordTellsTheWholeRun) {
  const std::filesystem::path folder = fresh("whole");
  std::vector<uint64_t> reported;
  TrainHooks hooks;
  hooks.progress = [&](const Progress& progress) {
    reported.push_back(progress.done.step);
    EXPECT_EQ(progress.steps, 6U);
    EXPECT_EQ(progress.unit, "token");
    EXPECT_TRUE(progress.held_out.has_value());
    EXPECT_GT(progress.member_tokens_per_second, 0.0);
    EXPECT_GE(progress.seconds_left, 0.0);
  };
  const RunRecord record = run_in(folder, config_, hooks);
  EXPECT_EQ(reported, (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(record.status, RunStatus::kCompleted);
  EXPECT_EQ(record.steps, 6U);
  // Sixteen members in four streams read eight tokens per step, and all tokens are scored.
  EXPECT_EQ(record.member_tokens, 6U * 16U * 8U);
  EXPECT_EQ(record.unique_tokens, 6U * 4U * 8U);
  EXPECT_EQ(record.resumes, 0U);
  EXPECT_EQ(record.threads, 1U);
  EXPECT_FALSE(record.error.has_value());
  EXPECT_EQ(record_to_json(read_record(RunFolder{folder}.record())), record_to_json(record));
  EXPECT_EQ(steps_in(folder), all_steps_);

  const auto newest = latest_checkpoint(folder);
  ASSERT_TRUE(newest.has_value());
  const Checkpoint checkpoint = load_checkpoint(*newest);
  EXPECT_EQ(checkpoint.step, 6U);
  EXPECT_EQ(weights_sha256(checkpoint.weights), *record.weights_sha256);
}

TEST_F(TrainerTest, MetricsHoldWhatTheStepDid) {
  const std::filesystem::path folder = fresh("whole");
  const RunRecord record = run_in(folder, config_);
  const auto lines = read_metrics(RunFolder{folder}.metrics());
  ASSERT_EQ(lines.size(), 7U);
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("member_tokens").get<uint64_t>(), i * 16 * 8);
    EXPECT_EQ(lines[i].at("unique_tokens").get<uint64_t>(), i * 4 * 8);
    EXPECT_GT(lines[i].at("train_bits_per_unit").get<double>(), 0.0);
    const auto changed = lines[i].at("changed").get<double>();
    EXPECT_GE(changed, 0.0);
    EXPECT_LE(changed, 1.0);
    EXPECT_TRUE(lines[i].at("scalars").contains("threshold"));
    // Every second step and the last one are evaluated.
    EXPECT_EQ(lines[i].contains("held_out_bits_per_unit"), i % 2 == 0) << "step " << i;
  }
  EXPECT_EQ(lines[1].at("scalars").at("threshold").get<double>(), 0.0);
  EXPECT_GT(lines[1].at("changed").get<double>(), 0.5);  // at threshold 0 nearly every weight moves
  // Every evaluation of the curve scores 31 tokens, and the final one all 98 that have a token before them.
  EXPECT_EQ(lines[2].at("held_out_tokens").get<uint64_t>(), 31U);
  EXPECT_EQ(lines[6].at("held_out_tokens").get<uint64_t>(), 31U);
  EXPECT_EQ(lines[6].at("final_tokens").get<uint64_t>(), 98U);
  for (size_t i = 0; i < 6; ++i) EXPECT_FALSE(lines[i].contains("final_tokens"));
  ASSERT_TRUE(record.final.has_value());
  EXPECT_EQ(record.final->step, 6U);
  EXPECT_EQ(record.final->tokens, 98U);
  EXPECT_EQ(record.final->bits_per_unit, lines[6].at("final_bits_per_unit").get<double>());
  EXPECT_EQ(record.newest->step, 6U);
  EXPECT_EQ(record.newest->bits_per_unit, lines[6].at("held_out_bits_per_unit").get<double>());
  EXPECT_NE(record.newest->bits_per_unit, record.final->bits_per_unit);
  double best = 1e9;
  for (const auto& line : lines) {
    if (!line.contains("held_out_tokens")) continue;
    best = std::min(best, line.at("held_out_bits_per_unit").get<double>());
  }
  EXPECT_EQ(record.best->bits_per_unit, best);
}

// With many members the line of a step is written during the next update.
TEST_F(TrainerTest, ManyMembersLeaveEveryLine) {
  const std::vector<std::string> many = {"train.population=131072", "train.members_per_stream=8192",
                                         "train.tokens=1",          "checkpoint.every=100",
                                         "checkpoint.keep=1",       "eval.every=100"};
  const std::filesystem::path folder = fresh("signalled");
  run_until(folder, small_config(many), 3);
  EXPECT_EQ(steps_in(folder), (std::vector<uint64_t>{0, 1, 2, 3}));
  run_in(folder, small_config(many));
  EXPECT_EQ(steps_in(folder), all_steps_);
  const std::filesystem::path ruled = fresh("ruled");
  run_in(ruled, small_config(joined(many, {"stop.steps=2"})));
  EXPECT_EQ(steps_in(ruled), (std::vector<uint64_t>{0, 1, 2, 2})) << "the last one is that of the end";
}

TEST_F(TrainerTest, AWholeSampleIsTheFinalEvaluation) {
  const std::filesystem::path folder = fresh("whole");
  const RunRecord record = run_in(folder, small_config({"eval.tokens=99"}));
  EXPECT_EQ(record.newest->tokens, 98U);
  EXPECT_EQ(record.newest->bits_per_unit, record.final->bits_per_unit);
  const auto line = read_metrics(RunFolder{folder}.metrics()).back();
  EXPECT_EQ(line.at("held_out_bits_per_unit"), line.at("final_bits_per_unit"));
}

TEST_F(TrainerTest, AWarmupChangesTheEvaluationAlone) {
  const RunRecord cold = run_in(fresh("cold"), config_);
  const RunRecord warm = run_in(fresh("warm"), small_config({"eval.warmup=5"}));
  EXPECT_EQ(warm.weights_sha256, cold.weights_sha256);
  EXPECT_EQ(warm.final->tokens, 98U);
  EXPECT_EQ(warm.newest->tokens, 31U);
  EXPECT_NE(warm.final->bits_per_unit, cold.final->bits_per_unit);
}

TEST(SetupTest, AWarmupMustBeOfUse) {
  const auto error_with = [](std::vector<std::string> overrides) -> std::string {
    overrides.insert(overrides.end(), {"backend=reference", "eval.warmup=5"});
    try {
      const eggroll::Setup setup(repository_config(overrides), built_plugins());
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(error_with({"experiment=markov", "model=int8nativeformer"}),
              HasSubstr("eval.warmup is 5, but this model has no state that tokens before could fill, expected 0; set "
                        "eval.warmup=0"));
  EXPECT_THAT(error_with({"experiment=count"}),
              HasSubstr("eval.warmup is 5, but each row of this dataset begins with a zero state, expected 0; set "
                        "eval.warmup=0"));
}

// The held-out part is easy at its beginning and hard at its end, so a sample from its beginning would say nothing
// about the whole.
TEST_F(TrainerTest, TheCurveIsOfTheWholeHeldOutPart) {
  Draws draws(7);
  std::string hard;
  for (int i = 0; i < 4000; ++i) hard += static_cast<char>(draws.below(16));
  write_plainly(folder_ / "train.bin", std::string(8000, '\0') + hard);
  write_plainly(folder_ / "valid.bin", std::string(4000, '\0') + hard);
  const ConfigNode config = small_config_of_tokens(
      folder_ / "train.bin",
      {"dataset.valid_path=" + (folder_ / "valid.bin").string(), "model.vocab=16", "model.layers=1",
       "train.population=64", "train.members_per_stream=8", "train.tokens=16", "train.steps=60", "eval.every=20",
       "eval.tokens=800", "eval.streams=16", "noise.sigma_shift=3", "noise.sigma_vector_shift=3"});
  const std::filesystem::path folder = fresh("run");
  const RunRecord record = run_in(folder, config);
  ASSERT_TRUE(record.newest && record.final);
  EXPECT_EQ(record.newest->tokens, 799U);
  EXPECT_EQ(record.final->tokens, 7999U);
  EXPECT_NEAR(record.newest->bits_per_unit, record.final->bits_per_unit, 0.05 * record.final->bits_per_unit);

  // The same weights are evaluated on each half of the sample.
  eggroll::Setup setup(config, built_plugins());
  BackendSession session = setup.learner.open_session();
  restore_session(session, setup.learner, load_checkpoint(*latest_checkpoint(folder)));
  const uint32_t state_bytes = setup.learner.program->state_bytes();
  const auto bits_of = [&](uint32_t first, uint32_t count) {
    return HeldOutEvaluator(session, setup.dataset, state_bytes).run(setup.curve_streams, first, count).bits_per_unit();
  };
  EXPECT_EQ(bits_of(0, 16), record.newest->bits_per_unit);
  EXPECT_LT(bits_of(0, 8), 0.6 * record.final->bits_per_unit);
  EXPECT_GT(bits_of(8, 8), 1.4 * record.final->bits_per_unit);
}

// Damaged lines and entries after the newest checkpoint are made again, and the run says so.
TEST_F(TrainerTest, DamageBehindTheCheckpointIsToldAndDoneAgain) {
  for (const std::vector<std::string>& model :
       std::vector<std::vector<std::string>>{{"model=gru"}, {"model=egg_c", "model.layers=1"}}) {
    const ConfigNode config = small_config(joined(model, {"checkpoint.every=3"}));
    const RunRecord whole = run_in(fresh(model[0] + "whole"), config);
    for (const bool of_the_journal : {false, true}) {
      const RunFolder run{fresh(model[0] + (of_the_journal ? "journal" : "metrics"))};
      fail_at(run.path, config, 5);
      const std::filesystem::path file = of_the_journal ? run.journal() : run.metrics();
      std::string bytes = read_file(file);
      const size_t entry = 24 + 8 + 4;  // an entry with eight pairs
      const size_t at =
          of_the_journal ? 84 + 3 * entry + 30 : bytes.find("\"changed\"", bytes.find("{\"step\":4")) + 11;
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      write_plainly(file, bytes);
      std::vector<std::string> warnings;
      TrainHooks again;
      again.warn = [&](const std::string& text) { warnings.push_back(text); };
      EXPECT_EQ(run_in(run.path, config, again).weights_sha256, whole.weights_sha256);
      ASSERT_EQ(warnings.size(), 1U) << file;
      EXPECT_THAT(warnings[0], HasSubstr(file.string()));
      EXPECT_THAT(warnings[0], HasSubstr("the steps from there on are done again"));
      EXPECT_EQ(steps_in(run.path), all_steps_);
    }
  }
}

// Each file is whole, but the files do not belong to one run.
TEST_F(TrainerTest, FilesThatDisagreeAreRefused) {
  const RunFolder run{fresh("old")};
  run_until(run.path, config_, 5);
  const std::filesystem::path file = *latest_checkpoint(run.path) / "checkpoint.json";
  auto description = nlohmann::ordered_json::parse(read_file(file));
  const auto refusal_with = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    auto changed = description;
    change(changed);
    write_plainly(file, sealed(changed).dump(2));
    return message_of([&] { run_in(run.path, config_); });
  };
  EXPECT_THAT(refusal_with([](auto& json) { json["evaluations"][1]["loss_q16"] = 1; }),
              HasSubstr("journal.bin and the newest checkpoint disagree on the evaluation after 2 steps"));
  EXPECT_THAT(refusal_with([](auto& json) { json["counters"]["member_tokens"] = 1; }),
              HasSubstr("metrics.jsonl and the newest checkpoint disagree on the tokens after 5 steps"));
  EXPECT_EQ(refusal_with([](auto&) {}), "");
}

TEST_F(TrainerTest, FilesThatVanishEndTheRun) {
  for (const bool journal : {false, true}) {
    const RunFolder run{fresh(journal ? "journal" : "metrics")};
    TrainHooks hooks;
    hooks.progress = [&](const Progress& progress) {
      if (progress.done.step == 3) std::filesystem::remove(journal ? run.journal() : run.metrics());
    };
    EXPECT_THAT(
        message_of([&] { run_in(run.path, config_, hooks); }),
        HasSubstr((journal ? run.journal() : run.metrics()).string() + " was removed while it was being written"));
    EXPECT_EQ(read_record(run.record()).status, RunStatus::kFailed);
  }
}

// The record is lost, but the checkpoint knows the data's sha256.
TEST_F(TrainerTest, OtherDataAreRefusedWithoutARecord) {
  std::string text = tokens_below_11(700);
  write_plainly(folder_ / "tokens.bin", text);
  const ConfigNode config = small_config_of_tokens(folder_ / "tokens.bin");
  const RunFolder run{fresh("run")};
  run_until(run.path, config, 3);
  std::filesystem::remove(run.record());
  std::swap(text[0], text[1]);
  text[2] = text[2] == 1 ? '\2' : '\1';
  write_plainly(folder_ / "tokens.bin", text);
  EXPECT_THAT(message_of([&] { run_in(run.path, config); }), HasSubstr("the data have changed since the run in"));
}

// After every failure the record says `failed` and the reason. tests/train/goes_on_test.cpp resumes such runs.
TEST_F(TrainerTest, AFailedRunSaysWhy) {
  const auto error_after = [&](const std::string& name, const std::function<void()>& fail) {
    fail_at(fresh(name), config_, 3, fail);
    return read_record(RunFolder{folder_ / name}.record()).error.value_or("");
  };
  EXPECT_EQ(error_after("full", [] { throw Error("the disk is full; free some space"); }),
            "the disk is full; free some space");
  EXPECT_EQ(error_after("other", [] { throw std::runtime_error("cannot write to file"); }),
            "an unexpected error occurred (cannot write to file); report this as a bug");
}

// A run that is killed between its last checkpoint and its record has only to write the record when it is resumed.
TEST_F(TrainerTest, KilledAtItsVeryEndItIsCompletedByTheNext) {
  const std::filesystem::path folder = fresh("run");
  const RunRecord whole = run_in(folder, config_);
  RunRecord running = whole;
  running.status = RunStatus::kRunning;
  running.ended_utc.reset();
  for (const bool record_is_there : {true, false}) {
    std::filesystem::remove(RunFolder{folder}.record());
    if (record_is_there) write_record(RunFolder{folder}.record(), running);
    run_in(folder, config_);
    const RunRecord again = read_record(RunFolder{folder}.record());
    EXPECT_EQ(again.status, RunStatus::kCompleted);
    EXPECT_EQ(again.steps, 6U);
    EXPECT_EQ(again.weights_sha256, whole.weights_sha256);
    EXPECT_EQ(again.member_tokens, whole.member_tokens);
    EXPECT_EQ(again.final->bits_per_unit, whole.final->bits_per_unit);
    EXPECT_EQ(again.newest->bits_per_unit, whole.newest->bits_per_unit);
    EXPECT_GT(again.wall_seconds, 0.0);
    EXPECT_EQ(steps_in(folder), all_steps_);
  }
}

// While a run goes on its record says so, and a killed process leaves this record.
TEST_F(TrainerTest, TheRecordIsThereFromTheStart) {
  const std::filesystem::path folder = fresh("running");
  TrainHooks hooks;
  std::vector<RunStatus> seen;
  hooks.progress = [&](const Progress&) { seen.push_back(read_record(RunFolder{folder}.record()).status); };
  run_in(folder, config_, hooks);
  EXPECT_EQ(seen, std::vector<RunStatus>(6, RunStatus::kRunning));
}

TEST_F(TrainerTest, ThreadsChangeNothing) {
  const RunRecord one = run_in(fresh("one"), config_);
  const RunRecord three = run_in(fresh("three"), small_config({"backend.threads=3"}));
  EXPECT_EQ(one.weights_sha256, three.weights_sha256);
  EXPECT_EQ(one.final->bits_per_unit, three.final->bits_per_unit);
  EXPECT_EQ(three.threads, 3U);
  EXPECT_EQ(one.config_hash, three.config_hash);
}

TEST_F(TrainerTest, TheSeedChangesEverything) {
  const RunRecord zero = run_in(fresh("zero"), config_);
  const RunRecord one = run_in(fresh("one"), small_config({"seed=1"}));
  EXPECT_NE(zero.weights_sha256, one.weights_sha256);
  EXPECT_NE(zero.dataset->sha256, one.dataset->sha256);
}

TEST_F(TrainerTest, ACheckpointOfAnotherRunIsRefused) {
  const std::filesystem::path folder = fresh("run");
  run_until(folder, config_, 3);
  const std::string before = read_file(RunFolder{folder}.record());
  EXPECT_THAT(message_of([&] { run_in(folder, small_config({"seed=1"})); }),
              HasSubstr("was made with another configuration"));
  EXPECT_THAT(message_of([&] { run_in(folder, small_config({"model.width=12"})); }),
              HasSubstr("was made with another model program"));
  EXPECT_THAT(message_of([&] { run_in(folder, small_config({"optimizer.residual=0"})); }),
              HasSubstr("was made with another update rule"));
  EXPECT_EQ(read_file(RunFolder{folder}.record()), before);
}

}  // namespace
}  // namespace eggroll::test
