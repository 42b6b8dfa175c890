// Runs that begin with a checkpoint of another run: with its weights, or from its step on.
#include "train/beginning.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "train/identity.h"
#include "train/journal.h"
#include "train/run.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BeginningTest : public SmallRunTest {
 protected:
  BeginningTest() { source_ = run("source", small_config()).record; }

  std::string source(const std::string& checkpoint) const {
    return fmt::format("init.from=\"{}{}\"", (folder_ / "source").string(), checkpoint);
  }
  static ConfigNode config_of(const std::vector<std::string>& overrides) {
    return with_beginning(small_config(overrides), run_at);
  }
  RunResult run(const std::string& name, const ConfigNode& config, const RunHooks& hooks = {}) const {
    return run_in_folder(
        config, [&](const ConfigNode&) { return folder_ / name; }, built_plugins(), Invocation{}, hooks);
  }
  // Stops after this many steps.
  RunResult run_until(const std::string& name, const ConfigNode& config, uint64_t step) const {
    std::atomic<bool> stop{step == 0};
    RunHooks hooks;
    hooks.train.progress = [&](const Progress& progress) { stop = progress.done.step >= step; };
    hooks.train.stop = &stop;
    return run(name, config, hooks);
  }
  std::string refusal(const std::vector<std::string>& overrides) {
    return message_of([&] { run(fmt::format("refused-{}", ++refused_), config_of(overrides)); });
  }

  RunRecord source_;
  int refused_ = 0;
};

TEST_F(BeginningTest, AForkWithoutChangesEndsAtTheSameWeights) {
  for (const std::string checkpoint : {"@2", "@4"}) {
    const ConfigNode config = config_of({source(checkpoint), "init.continue=true"});
    const RunRecord record = run("fork" + checkpoint, config).record;
    EXPECT_EQ(record.weights_sha256, source_.weights_sha256);
    EXPECT_EQ(record.member_tokens, source_.member_tokens);
    EXPECT_EQ(record.final->bits_per_unit, source_.final->bits_per_unit);
    EXPECT_NE(record.config_hash, source_.config_hash);
    EXPECT_EQ(replayed_sha256(folder_ / ("fork" + checkpoint), config), *source_.weights_sha256);
  }
  EXPECT_THAT(steps_in(folder_ / "fork@4"), ElementsAre(4, 5, 6));
}

TEST_F(BeginningTest, AForkGoesOnUnderOtherSettingsWholeOrResumed) {
  const ConfigNode config = config_of({source("@4"), "init.continue=true", "train.steps=9", "train.population=32",
                                       "optimizer=es_adamw", "fitness=sign"});
  std::vector<std::string> warnings;
  RunHooks hooks;
  hooks.train.warn = [&](const std::string& text) { warnings.push_back(text); };
  const std::string whole = *run("whole", config, hooks).record.weights_sha256;
  EXPECT_THAT(warnings, Contains("the members' states begin with zeros, because they read other tokens"));
  EXPECT_THAT(warnings, Contains(HasSubstr("begins with zeros")));
  EXPECT_THAT(steps_in(folder_ / "whole"), ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_EQ(replayed_sha256(folder_ / "whole", config), whole);
  for (const uint64_t step : {5U, 6U, 8U}) run_until("parts", config, step);
  std::filesystem::remove_all(folder_ / "source");  // the run has its own copy
  EXPECT_EQ(*run("parts", config).record.weights_sha256, whole);
  EXPECT_EQ(steps_in(folder_ / "parts"), steps_in(folder_ / "whole"));
  EXPECT_EQ(replayed_sha256(folder_ / "parts", config), whole);
  EXPECT_EQ(message_of([&] { replayed_sha256(folder_ / "parts", config, 3); }),
            "3 steps are asked for, and this run begins at step 4; replay the run that it goes on from");
}

// Schedules follow evaluations: those before the fork too, and none that a run that did not stop would not have made.
TEST_F(BeginningTest, AForkFollowsTheSameScheduleAsTheOtherRun) {
  const std::vector<std::string> plateau = {"optimizer.schedule.kind=plateau", "optimizer.schedule.plateau.patience=1",
                                            "optimizer.schedule.plateau.cooldown=0", "train.steps=40", "eval.every=7"};
  const RunRecord whole = run("plateau", small_config(plateau)).record;
  for (const int step : {2, 14, 20, 36}) {
    std::vector<std::string> overrides = plateau;
    overrides.push_back(fmt::format("init.from={}@{}", (folder_ / "plateau").string(), step));
    overrides.emplace_back("init.continue=true");
    const ConfigNode config = config_of(overrides);
    const std::string name = fmt::format("plateau-{}", step);
    EXPECT_EQ(run(name, config).record.weights_sha256, whole.weights_sha256) << "from step " << step;
    EXPECT_EQ(replayed_sha256(folder_ / name, config), *whole.weights_sha256);
  }
}

TEST_F(BeginningTest, StatesAndEvaluationsOfOtherTokensAreLeftBehind) {
  const auto warnings_of = [&](const std::string& change) {
    std::vector<std::string> warnings;
    RunHooks hooks;
    hooks.train.warn = [&](const std::string& text) { warnings.push_back(text); };
    const ConfigNode config = config_of({source("@4"), "init.continue=true", change});
    run(fmt::format("other-{}", ++refused_), config, hooks);
    return warnings;
  };
  const std::string states = "the members' states begin with zeros, because they read other tokens";
  EXPECT_THAT(warnings_of("train.tokens=4"), ElementsAre(states));
  EXPECT_THAT(warnings_of("train.members_per_stream=8"), ElementsAre(states));
  EXPECT_THAT(warnings_of("eval.tokens=40"),
              ElementsAre("the other run's evaluations are left behind, because eval has other settings"));
  EXPECT_THAT(warnings_of("eval.streams=2"), testing::SizeIs(1));
  EXPECT_THAT(warnings_of("fitness=sign"), testing::IsEmpty());
  EXPECT_THAT(warnings_of("eval.every=3"), testing::IsEmpty());
}

TEST_F(BeginningTest, TheFirstStepsAreDoneAgainWhereNoCheckpointWasSaved) {
  const ConfigNode config = config_of({source("@4"), "init.continue=true", "train.steps=9", "checkpoint.every=100"});
  const std::string whole = *run("whole", config).record.weights_sha256;
  run_until("parts", config, 6);
  std::filesystem::remove_all(folder_ / "parts" / "checkpoints");
  EXPECT_EQ(*run("parts", config).record.weights_sha256, whole);
  EXPECT_EQ(steps_in(folder_ / "parts"), steps_in(folder_ / "whole"));
  EXPECT_EQ(replayed_sha256(folder_ / "parts", config), whole);
}

TEST_F(BeginningTest, ARunBeginsWithTheWeightsAlone) {
  const ConfigNode config = config_of({source("@4"), "optimizer=es_adamw", "train.population=32", "seed=5"});
  run_until("run", config, 0);
  const Checkpoint first = load_checkpoint(*latest_checkpoint(folder_ / "run"));
  const Checkpoint taken = load_checkpoint(checkpoint_after(folder_ / "source", 4));
  EXPECT_EQ(first.step, 0U);
  EXPECT_EQ(weights_sha256(first.weights), weights_sha256(taken.weights));
  EXPECT_EQ(first.counters.at("member_tokens"), 0);
  const std::string whole = *run("run", config).record.weights_sha256;
  EXPECT_EQ(steps_in(folder_ / "run"), (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(replayed_sha256(folder_ / "run", config), whole);
}

TEST_F(BeginningTest, TheNewestOrTheBestCheckpointIsMeant) {
  const auto from = [&](const std::string& checkpoint) {
    return config_of({source(checkpoint)}).at("init.from").text();
  };
  EXPECT_THAT(from(""), HasSubstr("/source@6"));
  EXPECT_EQ(from("@last"), from(""));
  EXPECT_EQ(from("@best"),
            fmt::format("{}@{}", (folder_ / "source").string(), best_checkpoint(folder_ / "source")->step));
}

TEST_F(BeginningTest, TheHashIsOfWhatIsTaken) {
  std::filesystem::copy(folder_ / "source", folder_ / "elsewhere", std::filesystem::copy_options::recursive);
  const ConfigNode config = config_of({source("@4")});
  const ConfigNode moved = config_of({fmt::format("init.from={}@4", (folder_ / "elsewhere").string())});
  EXPECT_NE(config.at("init.from").text(), moved.at("init.from").text());
  EXPECT_EQ(run_hash(config), run_hash(moved));
  EXPECT_NE(run_hash(config), run_hash(config_of({source("@2")})));
  EXPECT_NE(run_hash(config), run_hash(config_of({source("@4"), "init.continue=true"})));
  EXPECT_EQ(run_hash(small_config()), run_hash(small_config({"~init"})));
  EXPECT_EQ(with_beginning(config, run_at), config) << "it is looked for once";
  EXPECT_EQ(config.at("init.run").text(), source_.config_hash);
}

TEST_F(BeginningTest, RefusesWhatItCannotBeginWith) {
  EXPECT_THAT(refusal({"init.from=nowhere"}), HasSubstr("init.from: nowhere is no run, expected its folder"));
  EXPECT_THAT(refusal({source("@3")}), HasSubstr("keeps no checkpoint after 3 steps, expected one of: 2, 4, 6"));
  EXPECT_THAT(refusal({source("@newest")}),
              HasSubstr("the checkpoint that it names is 'newest', expected end, last, best or a number of steps"));
  EXPECT_THAT(refusal({source(""), "model.width=16"}), HasSubstr("' is ("));
  EXPECT_THAT(refusal({source(""), "model.layers=2"}), HasSubstr("which this model has"));
  EXPECT_THAT(refusal({source("@4"), "init.continue=true", "train.steps=4"}),
              HasSubstr("train.steps is 4, and the run goes on from step 4, expected more"));
  EXPECT_THAT(refusal({source("@4"), "init.continue=true", "dataset.tokens=998"}), HasSubstr("with other data"));
  EXPECT_THAT(refusal({"init.continue=true"}), HasSubstr("init.from names no run to go on from"));
}

TEST_F(BeginningTest, ARefusedRunLeavesNoFolder) {
  refusal({source(""), "model.width=16"});
  refusal({source("@4"), "init.continue=true", "dataset.tokens=998"});
  const auto model = checkpoint_after(folder_ / "source", 4) / "model.safetensors";
  const std::string whole = read_file(model);
  const ConfigNode config = config_of({source("@4")});
  write_plainly(model, whole.substr(0, whole.size() - 1));
  EXPECT_THAT(message_of([&] { run("damaged", config); }), HasSubstr("source/checkpoints/step-00000004 is damaged"));
  for (const char* name : {"refused-1", "refused-2", "damaged"}) EXPECT_FALSE(is_there(folder_ / name)) << name;
  write_plainly(model, whole);
  run("damaged", config);
}

TEST_F(BeginningTest, ARunGoesOnWithoutWhatItBeganWith) {
  const ConfigNode config = config_of({source("@4"), "init.continue=true", "train.steps=9"});
  const std::string whole = *run("whole", config).record.weights_sha256;
  run_until("run", config, 7);
  std::filesystem::remove_all(folder_ / "source");
  std::filesystem::remove_all(folder_ / "run" / "initial");
  EXPECT_EQ(*run("run", config).record.weights_sha256, whole);
  EXPECT_THAT(message_of([&] { replayed_sha256(folder_ / "run", config); }),
              testing::AllOf(HasSubstr("initial is damaged"), HasSubstr("restore that folder from a copy")));
}

// A checkpoint from elsewhere may hold anything.
TEST_F(BeginningTest, RefusesStatesOfOtherMembers) {
  const Learner learner(small_config(), built_plugins());
  BackendSession session = learner.open_session();
  Checkpoint beginning = load_checkpoint(checkpoint_after(folder_ / "source", 4));
  begin_session(session, learner, beginning);
  beginning.states.resize(beginning.states.size() / 2);
  EXPECT_THAT(message_of([&] { begin_session(session, learner, beginning); }),
              HasSubstr("the states in the checkpoint"));
  beginning.states.resize(4096);
  beginning.state_bytes = 4096 / beginning.population;
  EXPECT_THAT(message_of([&] { begin_session(session, learner, beginning); }), HasSubstr("expected 16 with 8"));
}

TEST_F(BeginningTest, RefusesADamagedBeginning) {
  const ConfigNode config = config_of({source("@4")});
  run_until("run", config, 2);
  const RunFolder folder{folder_ / "run"};
  const auto model = folder.path / "initial" / "model.safetensors";
  const std::string whole = read_file(model);
  std::string damaged = whole;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  std::filesystem::remove(model);  // a link to the source's
  write_plainly(model, damaged);
  EXPECT_THAT(message_of([&] { replayed_sha256(folder_ / "run", config); }),
              HasSubstr("initial is damaged: the sha256 of model"));
  std::filesystem::remove_all(folder.path / "initial");
  std::filesystem::copy(checkpoint_after(folder_ / "source", 2), folder.path / "initial");
  EXPECT_THAT(message_of([&] { replayed_sha256(folder_ / "run", config); }),
              HasSubstr("initial is not what this run began with"));
}

// The journal of a run that goes on begins at its first step.
TEST_F(BeginningTest, AJournalOfAnotherFirstStepIsRefused) {
  const ConfigNode config = config_of({source("@4"), "init.continue=true"});
  run("run", config);
  JournalReader reader(RunFolder{folder_ / "run"}.journal());
  JournalEntry entry;
  EXPECT_THAT(message_of([&] { reader.next(entry); }), HasSubstr("it has step 4 where step 0 belongs"));
}

}  // namespace
}  // namespace eggroll::test
