// Bits per byte are made of the same losses as bits per token, over exactly the bytes of the scored targets.
#include <gmock/gmock.h>

#include "data/baselines.h"
#include "eggroll/threads.h"
#include "record/metrics.h"
#include "train/evaluation.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

class UnitsTest : public ScratchTest {
 protected:
  // 700 tokens from 0 to 10, each of 1 to 6 bytes.
  UnitsTest() {
    write_plainly(folder_ / "tokens.bin", tokens_below_11(700));
    std::string vocabulary = "eggroll vocabulary 1\n";
    for (uint32_t token = 0; token < 11; ++token) {
      for (uint32_t i = 0; i < bytes_of(token); ++i) vocabulary += "61";
      vocabulary += '\n';
    }
    write_plainly(folder_ / "vocabulary.txt", vocabulary);
  }

  static uint64_t bytes_of(uint32_t token) { return 1 + token * token % 6; }

  ConfigNode config(const std::string& vocabulary, const std::vector<std::string>& more = {}) const {
    return small_config_of_tokens(folder_ / "tokens.bin",
                                  joined({"dataset.valid_fraction=0.3", "dataset.vocabulary=" + vocabulary,
                                          "train.steps=20", "eval.every=5", "eval.tokens=64", "eval.streams=3"},
                                         more));
  }
  RunRecord run(const std::string& name, const std::string& vocabulary) const {
    std::filesystem::create_directory(folder_ / name);
    return run_in(folder_ / name, config(vocabulary));
  }
  std::vector<nlohmann::ordered_json> metrics_of(const std::string& name) const {
    return read_metrics(RunFolder{folder_ / name}.metrics());
  }

  static uint64_t bytes_of(const BatchBuffer& batch) {
    uint64_t bytes = 0;
    for (const uint32_t target : batch.targets) bytes += target == EGG_NO_TARGET ? 0 : bytes_of(target);
    return bytes;
  }

  const std::string vocabulary_ = (folder_ / "vocabulary.txt").string();
};

TEST_F(UnitsTest, ATrainingStepIsMeasuredOverItsTargetsBytes) {
  const RunRecord tokens = run("tokens", "null");
  const RunRecord bytes = run("bytes", vocabulary_);
  EXPECT_EQ(bytes.weights_sha256, tokens.weights_sha256);
  EXPECT_EQ(bytes.unique_tokens, tokens.unique_tokens);
  EXPECT_EQ(bytes.member_tokens, tokens.member_tokens);
  const eggroll::Setup setup(config(vocabulary_), built_plugins());
  const auto per_token = metrics_of("tokens");
  const auto per_byte = metrics_of("bytes");
  ASSERT_EQ(per_byte.size(), 21U);
  BatchBuffer batch;
  for (uint64_t step = 1; step <= 20; ++step) {
    setup.streams.fill(step - 1, batch);
    // Four streams of eight tokens.
    EXPECT_DOUBLE_EQ(per_byte[step].at("train_bits_per_unit").get<double>() * static_cast<double>(bytes_of(batch)),
                     per_token[step].at("train_bits_per_unit").get<double>() * 32);
  }
}

TEST_F(UnitsTest, AnEvaluationIsMeasuredOverItsTargetsBytes) {
  const eggroll::Setup setup(config(vocabulary_), built_plugins());
  BackendSession session = setup.learner.open_session();
  for (const HeldOutStreams* plan : {&setup.curve_streams, &setup.final_streams}) {
    uint64_t bytes = 0;
    BatchBuffer batch;
    for (uint64_t i = 0; i < plan->batches(); ++i) {
      plan->fill(i, batch);
      bytes += bytes_of(batch);
    }
    const uint32_t state_bytes = setup.learner.program->state_bytes();
    const HeldOutSums held_out = HeldOutEvaluator(session, setup.dataset, state_bytes).run(*plan, 0, plan->streams());
    EXPECT_EQ(held_out.scored.tokens, plan == &setup.curve_streams ? 63U : 209U);
    EXPECT_EQ(held_out.scored.units, bytes);
    EXPECT_EQ(held_out.bits_per_unit(), static_cast<double>(held_out.loss_q16) / 65536.0 / static_cast<double>(bytes));
  }
}

// More states and tokens than a thread takes alone.
TEST_F(UnitsTest, SeveralThreadsMeasureTheSame) {
  Draws draws(8);
  std::string tokens;
  for (int i = 0; i < 320'000; ++i) tokens += static_cast<char>(draws.below(11));
  const std::string path = (folder_ / "many.bin").string();
  write_plainly(path, tokens);
  const eggroll::Setup setup(config(vocabulary_, {"dataset.path=" + path, "dataset.valid_fraction=0.5",
                                                  "model.width=16", "model.layers=1", "eval.streams=8300"}),
                             built_plugins());
  BackendSession session = setup.learner.open_session();
  Threads threads(3);
  const uint64_t state_bytes = setup.learner.program->state_bytes();
  const HeldOutStreams& streams = setup.final_streams;
  ASSERT_GT(streams.streams() * state_bytes, kFewestElements);
  ASSERT_GT(setup.dataset.valid.size(), kFewestElements);
  HeldOutEvaluator alone(session, setup.dataset, state_bytes);
  HeldOutEvaluator parted(session, setup.dataset, state_bytes, &threads);
  const HeldOutSums expected = alone.run(streams, 0, streams.streams());
  for (int times = 0; times < 2; ++times) {
    const HeldOutSums seen = parted.run(streams, 0, streams.streams());
    EXPECT_EQ(seen.loss_q16, expected.loss_q16);
    EXPECT_EQ(seen.scored.tokens, expected.scored.tokens);
    EXPECT_EQ(seen.scored.units, expected.scored.units);
  }
  EXPECT_EQ(parted.run(streams, 7, 900).loss_q16, alone.run(streams, 7, 900).loss_q16);
}

TEST_F(UnitsTest, TheRecordSaysWhatWasCounted) {
  const RunRecord record = run("bytes", vocabulary_);
  const eggroll::Setup setup(config(vocabulary_), built_plugins());
  uint64_t train = 0;
  uint64_t held_out = 0;
  for (uint64_t i = 0; i < 490; ++i) train += bytes_of(setup.dataset.train[i]);
  for (uint64_t i = 0; i < 210; ++i) held_out += bytes_of(setup.dataset.valid[i]);
  EXPECT_EQ(record.dataset->unit, "byte");
  EXPECT_EQ(record.dataset->sizes, (nlohmann::ordered_json{{"train", train}, {"held_out", held_out}}));
  ASSERT_TRUE(record.final && record.best);
  EXPECT_EQ(record.final->unit, "byte");
  EXPECT_EQ(record.final->tokens, 209U);
  EXPECT_EQ(record.final->bytes, held_out - bytes_of(setup.dataset.valid[0]));
  EXPECT_EQ(record.best->tokens, 63U);
  EXPECT_EQ(metrics_of("bytes")[20].at("final_bytes"), *record.final->bytes);
  EXPECT_EQ(metrics_of("bytes")[20].at("held_out_bytes"), *record.newest->bytes);
  EXPECT_EQ(*record.baselines.unigram, measure_baselines(setup.dataset).unigram);
  // 64 held-out tokens and the 400 that the model makes of them, each as its bytes.
  const std::string samples = read_file(RunFolder{folder_ / "bytes"}.samples());
  EXPECT_THAT(samples, testing::MatchesRegex("a*\n"));
  EXPECT_GT(samples.size(), 464U + 1);
  EXPECT_FALSE(run("tokens", "null").samples_file.has_value());
}

}  // namespace
}  // namespace eggroll::test
