// Tests the running average of the weights: its arithmetic equals plain float32 and double, it changes nothing else,
// and a run reports, saves and resumes it bit by bit.
#include "train/average.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "program/average.h"
#include "record/metrics.h"
#include "train/evaluation.h"
#include "train/journal.h"
#include "train/rule_session.h"
#include "train/session_io.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class AverageArithmetic : public RuleSession {
 protected:
  // The part that is kept: 1/10 in the first step, then more, up to the share.
  static float kept_by_hand(double share, uint64_t step) {
    const double warm = (1.0 + static_cast<double>(step)) / (10.0 + static_cast<double>(step));
    return static_cast<float>(warm < share ? warm : share);
  }
};

// With these optimizers an average changes neither the weights nor the other slots.
TEST_F(AverageArithmetic, IsARunningMeanOfTheWeights) {
  const std::vector<std::vector<std::string>> optimizers = {
      {"optimizer=sign_es"},
      {"optimizer=sign_es", "optimizer.residual=0"},
      {"optimizer=es_sgd", "optimizer.learning_rate=21.7"},
      {"optimizer=es_adamw", "optimizer.learning_rate=40.0"},
  };
  for (const std::vector<std::string>& optimizer : optimizers) {
    for (const double share : {0.5, 0.9, 0.99999}) {
      const Learner plain = learner_with(optimizer);
      const Learner learner = learner_with(joined(optimizer, {fmt::format("optimizer.average={}", share)}));
      ASSERT_EQ(learner.average, share);
      const auto slots = static_cast<uint32_t>(plain.rule->slots().size());
      ASSERT_EQ(learner.rule->slots().size(), slots + 1U);
      BackendSession session = session_of(*learner.rule);
      BackendSession without = session_of(*plain.rule);
      std::vector<int8_t> weight = weights_near_bounds();
      session.set_weights(kWeight, weight.data());
      without.set_weights(kWeight, weight.data());
      std::vector<float> difference(kCount);
      std::vector<double> average(weight.begin(), weight.end());
      for (uint64_t step = 0; step < 40; ++step) {
        const std::vector<float> scalars = learner.scalars(step, {});
        ASSERT_EQ(scalars.back(), kept_by_hand(share, step));
        constexpr float kStd = 30000.5F;
        update(session, step / 10, fitness_, scalars, kStd);
        update(without, step / 10, fitness_, plain.scalars(step, {}), kStd);
        const std::vector<int8_t> moved = weights(session);
        ASSERT_EQ(moved, weights(without));
        for (uint32_t s = 0; s < slots; ++s) ASSERT_EQ(slot(session, s), slot(without, s));
        const auto kept = static_cast<double>(scalars.back());
        for (size_t i = 0; i < kCount; ++i) {
          difference[i] = scalars.back() * (difference[i] - static_cast<float>(moved[i] - weight[i]));
          average[i] += (1.0 - kept) * (moved[i] - average[i]);
          ASSERT_NEAR(moved[i] + static_cast<double>(difference[i]), average[i], 1e-3);
        }
        ASSERT_EQ(slot(session, slots), difference) << optimizer[0] << ", step " << step;
        weight = moved;
      }
    }
  }
}

// A delta whose int32 sum with the weight wraps round moves the weight to its bound, and the average follows.
TEST_F(AverageArithmetic, HugeDeltasDoNotWrap) {
  const std::vector<int8_t> near = {0, 127, -127, 1, -1, 126, -126, 50, -50};
  for (const int32_t delta : {INT32_MAX, INT32_MIN, INT32_MAX - 63, 254, -254, 255, 200, -200, 1, 0, 1 << 24}) {
    RuleBuilder builder;
    builder.delta(builder.constant(delta));
    const std::unique_ptr<Rule> rule = rule_with_average(*builder.view(), "the test");
    BackendSession session = session_of(*rule);
    session.set_weights(kWeight, near.data());
    update(session, 0, fitness_, {0.25F}, 1.0F);
    const std::vector<int8_t> moved = weights(session);
    const std::vector<float> differences = slot(session);
    for (size_t i = 0; i < kCount; ++i) {
      const int64_t target = std::clamp<int64_t>(int64_t{near[i]} + delta, -127, 127);
      ASSERT_EQ(moved[i], target) << delta;
      ASSERT_EQ(differences[i], 0.25F * static_cast<float>(near[i] - target)) << delta << " on " << int{near[i]};
    }
  }
}

class AverageRun : public SmallRunTest {
 protected:
  static ConfigNode config(const std::vector<std::string>& more = {}) {
    return small_config(joined(more, {"optimizer.average=0.8"}));
  }

  static std::vector<std::vector<int8_t>> fitness_in(const std::filesystem::path& folder) {
    JournalReader journal(RunFolder{folder}.journal());
    std::vector<std::vector<int8_t>> all;
    for (JournalEntry entry; journal.next(entry);) all.push_back(entry.fitness);
    return all;
  }

  static Checkpoint last_of(const std::filesystem::path& folder) { return load_checkpoint(*latest_checkpoint(folder)); }
};

TEST_F(AverageRun, ChangesNeitherWeightsNorTheirFigures) {
  const std::vector<std::vector<std::string>> settings = {
      {"optimizer=es_adamw", "optimizer.learning_rate=4.0", "optimizer.schedule.kind=plateau",
       "optimizer.schedule.plateau.patience=0", "optimizer.schedule.plateau.threshold=0.9"},
      {"optimizer.residual=0"},
      {"eval.tokens=99"}};
  for (const std::vector<std::string>& more : settings) {
    const std::filesystem::path with = fresh(more.front() + "with");
    const std::filesystem::path without = fresh(more.front() + "without");
    const RunRecord a = run_in(with, config(more));
    const RunRecord b = run_in(without, small_config(more));
    EXPECT_EQ(a.weights_sha256, b.weights_sha256);
    EXPECT_EQ(a.newest->bits_per_unit, b.newest->bits_per_unit);
    EXPECT_EQ(a.best->bits_per_unit, b.best->bits_per_unit);
    EXPECT_EQ(a.final->bits_per_unit, b.final->bits_per_unit);
    EXPECT_EQ(fitness_in(with), fitness_in(without));
    EXPECT_EQ(last_of(with).evaluations.size(), last_of(without).evaluations.size());
    ASSERT_TRUE(a.average && a.average->newest && a.average->final);
    EXPECT_NE(a.average->final->bits_per_unit, a.final->bits_per_unit);
    EXPECT_FALSE(b.average.has_value());
    const auto names = [](const std::filesystem::path& folder) { return read_file(RunFolder{folder}.metrics()); };
    EXPECT_THAT(names(without), testing::Not(HasSubstr("average")));
  }
}

// The test computes the figures in another way: it adds weight and slot of a checkpoint and evaluates the sum in a
// session of its own.
TEST_F(AverageRun, FiguresAreThoseOfTheAverage) {
  const std::filesystem::path folder = fresh("run");
  const ConfigNode settings = config({"optimizer=es_adamw", "optimizer.learning_rate=4.0"});  // its steps are large
  std::vector<double> shown;
  TrainHooks hooks;
  hooks.progress = [&](const Progress& progress) { shown.push_back(progress.average.value().bits_per_unit); };
  const RunRecord record = run_in(folder, settings, hooks);
  const auto lines = read_metrics(RunFolder{folder}.metrics());
  ASSERT_EQ(lines.size(), 7U);
  // the average still equals the weights
  EXPECT_EQ(lines[0].at("average_held_out_bits_per_unit"), lines[0].at("held_out_bits_per_unit"));
  eggroll::Setup setup(settings, built_plugins());
  BackendSession session = setup.learner.open_session();
  for (const uint64_t step : {2U, 4U, 6U}) {
    const Checkpoint saved = load_checkpoint(folder / "checkpoints" / fmt::format("step-{:08}", step));
    size_t moved = 0;
    for (uint32_t p = 0; p < saved.weights.size(); ++p) {
      std::vector<int8_t> average = saved.weights[p].data;
      for (const SlotTensor& slot : saved.slots) {
        if (slot.param != saved.weights[p].name || slot.slot != "average") continue;
        for (size_t i = 0; i < average.size(); ++i) {
          const double sum = average[i] + static_cast<double>(std::bit_cast<float>(slot.bits[i]));
          const double nearest = std::floor(std::fabs(sum) + 0.5);
          average[i] = static_cast<int8_t>(std::copysign(std::min(nearest, 127.0), sum));
          moved += average[i] != saved.weights[p].data[i] ? 1U : 0U;
        }
      }
      session.set_weights(p, average.data());
    }
    EXPECT_GT(moved, 0U);
    const auto bits_of = [&](const HeldOutStreams& streams) {
      return HeldOutEvaluator(session, setup.dataset, setup.learner.program->state_bytes())
          .run(streams, 0, streams.streams())
          .bits_per_unit();
    };
    const auto& line = lines[step];
    EXPECT_EQ(line.at("average_held_out_bits_per_unit").get<double>(), bits_of(setup.curve_streams));
    EXPECT_EQ(line.at("average_held_out_tokens"), line.at("held_out_tokens"));
    EXPECT_EQ(line.contains("average_final_bits_per_unit"), step == 6);
    EXPECT_EQ(shown[step - 1], bits_of(setup.curve_streams));
    EXPECT_EQ(line.at("scalars").at("average_kept").get<float>(), average_kept(0.8, step - 1));
    if (step < 6) continue;
    EXPECT_EQ(line.at("average_final_bits_per_unit").get<double>(), bits_of(setup.final_streams));
  }
  EXPECT_EQ(record.average->newest->bits_per_unit, shown.back());
  EXPECT_EQ(record.average->newest->step, 6U);
  EXPECT_EQ(record.average->final->bits_per_unit, lines[6].at("average_final_bits_per_unit").get<double>());
  EXPECT_EQ(record.average->final->tokens, record.final->tokens);
  EXPECT_EQ(record_to_json(read_record(RunFolder{folder}.record())), record_to_json(record));
}

TEST_F(AverageRun, AStoppedRunHasItsFinalNumbers) {
  const std::filesystem::path folder = fresh("stopped");
  const RunRecord stopped = run_in(folder, config({"stop.tokens=129", "eval.every=5"}));
  ASSERT_EQ(stopped.status, RunStatus::kStopped);
  ASSERT_TRUE(stopped.average && stopped.average->newest && stopped.average->final);
  EXPECT_EQ(stopped.average->newest->step, 2U);
  EXPECT_EQ(stopped.average->final->tokens, 98U);
  run_in(folder, config({"eval.every=5"}));
  run_in(fresh("whole"), config({"eval.every=5"}));
  expect_same_run(folder, folder_ / "whole");
}

// The test runs on every backend that can run here.
TEST_F(AverageRun, ThreadsAndBackendsChangeNothing) {
  for (const char* masked : {"votes.masked=false", "votes.masked=true"}) {
    const std::vector<std::string> model = {masked, "optimizer=es_adamw", "optimizer.learning_rate=4.0"};
    const std::filesystem::path whole = fresh(std::string(masked) + "whole");
    run_in(whole, config(model));
    size_t others = 0;
    for (const PluginFile& file : built_plugins().files()) {
      if (file.verdict != Verdict::kAccepted || file.kind != EGG_KIND_BACKEND) continue;
      const std::filesystem::path other = fresh(masked + file.name);
      run_in(other, config(joined(model, {"backend=" + file.name, "backend.threads=3"})));
      expect_same_run(other, whole);
      ++others;
    }
    EXPECT_GE(others, 1U);
  }
}

// Rows that no member reads keep their weights and slots; the average of the other rows goes on.
TEST_F(AverageRun, MaskedRowsThatNobodyReadsKeepTheirAverage) {
  const ConfigNode settings = config({"votes.masked=true", "dataset.vocab=64", "train.tokens=2", "train.steps=4"});
  const std::filesystem::path folder = fresh("masked");
  const RunRecord record = run_in(folder, settings);
  ASSERT_EQ(record.status, RunStatus::kCompleted);
  std::optional<Checkpoint> before;
  size_t kept = 0;
  for (const uint64_t step : {2U, 4U}) {
    Checkpoint now = load_checkpoint(folder / "checkpoints" / fmt::format("step-{:08}", step));
    for (size_t i = 0; before && i < now.slots.size(); ++i) {
      for (size_t k = 0; k < now.slots[i].bits.size(); ++k) {
        if (now.slots[i].slot == "average" && now.slots[i].bits[k] != 0 &&
            now.slots[i].bits[k] == before->slots[i].bits[k])
          ++kept;
      }
    }
    before = std::move(now);
  }
  EXPECT_GT(kept, 0U);
}

TEST_F(AverageRun, AnEvaluationOfTheAverageRestoresTheWeights) {
  const std::filesystem::path folder = fresh("run");
  run_in(folder, config());
  const Learner learner(config(), built_plugins());
  const Checkpoint saved = last_of(folder);
  BackendSession session = learner.open_session();
  restore_session(session, learner, saved);
  const std::string during =
      of_average(session, learner, [&] { return weights_sha256(read_weights(session, *learner.program)); });
  EXPECT_NE(during, weights_sha256(saved.weights));
  const Checkpoint after = captured(session, learner);
  EXPECT_EQ(weights_sha256(after.weights), weights_sha256(saved.weights));
  for (size_t i = 0; i < saved.slots.size(); ++i) EXPECT_EQ(after.slots[i].bits, saved.slots[i].bits);
  EXPECT_EQ(after.states, saved.states);
}

TEST_F(AverageRun, ASlotThatIsNoAverageIsRefused) {
  const Learner learner(config(), built_plugins());
  const egg_param& param = learner.program->params()[0];
  const auto slot = static_cast<uint32_t>(learner.rule->slots().size()) - 1;
  for (const float wrong : {254.5F, -1e30F, std::nanf("")}) {
    BackendSession session = learner.open_session();
    std::vector<float> values(weight_count(param));
    values[3] = wrong;
    session.set_slot(0, slot, values.data());
    EXPECT_EQ(message_of([&] { swap_in_average(session, learner); }),
              fmt::format("backend 'reference' holds {} at position 3 of the average of tensor '{}', expected a "
                          "difference of at most 254 from the weight; use another backend, or restore the checkpoint "
                          "from a copy",
                          wrong, param.name));
  }
}

TEST(AverageSetting, IsAShareOrNull) {
  const auto refusal = [](const std::string& value) {
    return message_of([&] { Learner(small_config({"optimizer.average=" + value}), built_plugins()); });
  };
  EXPECT_EQ(refusal("null"), "");
  EXPECT_EQ(refusal("0.5"), "");
  EXPECT_EQ(refusal("0.99999"), "");
  for (const char* wrong : {"0.49", "1", "0.999999", "-0.9"}) {
    EXPECT_THAT(refusal(wrong), HasSubstr("optimizer.average is " + std::string(wrong))) << wrong;
    EXPECT_THAT(refusal(wrong), HasSubstr("expected a number from 0.5 to 0.99999")) << wrong;
  }
  EXPECT_THAT(refusal("slow"), HasSubstr("optimizer.average is the text 'slow', expected a number"));
  EXPECT_THAT(refusal("true"), HasSubstr("optimizer.average is true, expected a number"));
  EXPECT_THAT(refusal("{share: 0.9}"), HasSubstr("missing key 'optimizer.average'"));
  EXPECT_FALSE(Learner(small_config(), built_plugins()).average.has_value());
  // A configuration that is older than the key does not hold it.
  EXPECT_FALSE(Learner(small_config({"~optimizer.average"}), built_plugins()).average.has_value());
}

}  // namespace
}  // namespace eggroll::test
