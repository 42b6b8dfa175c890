// Runs whose state is known, and what the monitor may say of each: runs that learn, that are perturbed too little or
// too much, that have too few members, and whose values are saturated or dead.
#include <gmock/gmock.h>

#include "eggroll/noise_source.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using Words = std::vector<std::string>;

// Parts of verdicts.
const std::string kNoise = "votes are mostly noise: ";
const std::string kNone = "there are no votes: ";
const std::string kNextToNone = "there are next to no votes: ";
const std::string kMore = "perturb more (lower ";
const std::string kLess = "perturb less (raise ";
const std::string kMembers = "use more members";
const std::string kRate = "learning rate";
const std::string kDeadValue = ": dead, because ";
const std::string kSaturatedValue = " % of values at ±127";

struct KnownRun {
  std::string name;
  Words overrides;
  Words says;   // each in some verdict; none: there are no verdicts
  Words never;  // each in no verdict
  bool is_dead = false;
  std::string saturated = "";  // the value that a verdict says is saturated
};

void PrintTo(const KnownRun& run, std::ostream* out) { *out << run.name; }

class KnownRuns : public ScratchTest, public testing::WithParamInterface<KnownRun> {
 protected:
  // 20,000 of eight words, drawn.
  void write_text() const {
    const Words words = {"ant ", "badger ", "cat ", "dog ", "elephant ", "fox ", "goose ", "hen "};
    Draws draws(1);
    std::string text;
    for (int i = 0; i < 20000; ++i) text += words[draws.below(8)];
    write_plainly(folder_ / "words.txt", text);
  }

  Words verdicts() const {
    write_text();
    Words overrides = GetParam().overrides;
    overrides.insert(overrides.end(),
                     {"backend=auto", "train.steps=70", "eval.every=70", "monitor.every=70", "checkpoint.every=1000"});
    for (std::string& text : overrides) {
      if (text == "dataset.path=WORDS") text = "dataset.path=" + (folder_ / "words.txt").string();
    }
    const ConfigNode config = compose(ConfigSearch{{EGGROLL_SOURCE_DIR "/configs"}}, overrides);
    eggroll::Setup setup(config, built_plugins());
    std::unique_ptr<Program> alive;  // the streams read its indices
    if (GetParam().is_dead) alive = kill_layer(setup);
    Processes alone;
    std::filesystem::create_directory(folder_ / "run");
    return TrainingLoop(setup, config, RunFolder{folder_ / "run"}, Invocation{}, TrainHooks{}, alone)
        .run()
        .verdicts.value()
        .texts;
  }

 private:
  // Every product with a weight of the first layer is shifted out. Returns the program as it was.
  static std::unique_ptr<Program> kill_layer(eggroll::Setup& setup) {
    egg_program view = setup.learner.program->view();
    std::vector<egg_op> ops = setup.learner.program->ops();
    for (egg_op& op : ops) {
      if (op.code != EGG_OP_LINEAR) continue;
      const std::string name = setup.learner.program->params()[static_cast<size_t>(op.param[0])].name;
      if (name.starts_with("layer0.")) op.attr = 26;
    }
    view.ops = ops.data();
    return std::exchange(setup.learner.program, std::make_unique<Program>(view));
  }
};

TEST_P(KnownRuns, AreJudgedRightly) {
  const Words seen = verdicts();
  const std::string all = testing::PrintToString(seen);
  const auto is_said = [&](const std::string& part) {
    return std::any_of(seen.begin(), seen.end(),
                       [&](const std::string& verdict) { return verdict.find(part) != std::string::npos; });
  };
  for (const std::string& part : GetParam().says) EXPECT_TRUE(is_said(part)) << part << "; said: " << all;
  for (const std::string& part : GetParam().never) EXPECT_FALSE(is_said(part)) << part << "; said: " << all;
  if (!GetParam().saturated.empty()) {
    EXPECT_THAT(seen, testing::Contains(testing::AllOf(testing::StartsWith(GetParam().saturated + ": "),
                                                       testing::HasSubstr(kSaturatedValue))));
  }
  if (GetParam().says.empty() && GetParam().never.empty()) {
    EXPECT_TRUE(seen.empty()) << all;
  }
  const bool is_alone = !seen.empty() && (seen[0].starts_with(kNone) || seen[0].starts_with(kNextToNone));
  if (is_alone) {
    EXPECT_EQ(seen.size(), 1U) << all;
  }
}

Words shifts(int shift) {
  Words overrides;
  for (const char* name : {"sigma_shift", "sigma_vector_shift"}) {
    overrides.push_back("noise." + std::string(name) + "=" + std::to_string(shift));
  }
  return overrides;
}

const Words kPlainGru = {"experiment=count", "model=gru", "model.width=32"};
const Words kPlainFormer = {"experiment=count", "model=int8nativeformer", "model.width=32", "model.head_width=8"};
const Words kTablesOfGru = {"model=gru_tables", "model.width=16", "dataset.path=WORDS", "train.population=4096"};
const Words kTablesOfFormer = {"model=int8nativeformer",
                               "model.width=16",
                               "model.head_width=8",
                               "model.context_tables=[{tokens: 2, rows: 4096}]",
                               "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 4096}]",
                               "dataset.path=WORDS",
                               "train.population=8192"};
const Words kSaturating = {"model.gain=127", "model.init_std=32"};

INSTANTIATE_TEST_SUITE_P(
    Every, KnownRuns,
    testing::Values(
        KnownRun{"gru_learns", kPlainGru, {}, {}}, KnownRun{"former_learns", kPlainFormer, {}, {}},
        KnownRun{"gru_tables_learns", kTablesOfGru, {}, {}},
        KnownRun{"former_tables_learns", joined(kTablesOfFormer, {"train.population=32768"}), {}, {}},

        KnownRun{"gru_perturbed_too_little", joined(kPlainGru, shifts(10)), {kNoise, kMore}, {kLess, kRate}},
        KnownRun{"former_perturbed_too_little", joined(kPlainFormer, shifts(10)), {kNoise, kMore}, {kLess, kRate}},
        KnownRun{"gru_tables_perturbed_too_little", joined(kTablesOfGru, shifts(7)), {" votes: for ", kMore}, {kRate}},
        KnownRun{"former_tables_perturbed_too_little",
                 joined(joined(kTablesOfFormer, shifts(7)), {"train.population=1024"}),
                 {kNoise, kMembers},
                 {kLess, kRate}},
        KnownRun{"gru_tables_perturbed_by_nothing", joined(kTablesOfGru, shifts(12)), {kNone, kMore}, {kRate}},

        KnownRun{"gru_perturbed_too_much", joined(kPlainGru, shifts(0)), {}, {kMore, kRate}},
        KnownRun{"former_perturbed_too_much", joined(kPlainFormer, shifts(0)), {kNoise, kLess}, {kMore, kRate}},
        KnownRun{"gru_tables_perturbed_too_much", joined(kTablesOfGru, shifts(0)), {}, {kMore, kRate}},
        KnownRun{"former_tables_perturbed_too_much", joined(kTablesOfFormer, shifts(0)), {}, {kMore, kRate}},

        KnownRun{"gru_starved", joined(kPlainGru, {"train.population=8"}), {kNoise, kMembers}, {kRate}},
        KnownRun{"former_starved", joined(kPlainFormer, {"train.population=8"}), {kNoise, kMembers}, {kRate}},
        KnownRun{"gru_tables_starved", joined(kTablesOfGru, {"train.population=64"}), {kNoise, kMembers}, {kRate}},
        KnownRun{
            "former_tables_starved", joined(kTablesOfFormer, {"train.population=64"}), {kNoise, kMembers}, {kRate}},

        KnownRun{"gru_saturated", joined(kPlainGru, kSaturating), {}, {kDeadValue, kRate}, false, "layer0.norm1"},
        KnownRun{"former_saturated",
                 joined(kPlainFormer, kSaturating),
                 {},
                 {kDeadValue, kRate},
                 false,
                 "layer0.attention.norm"},
        KnownRun{"gru_tables_saturated", joined(kTablesOfGru, kSaturating), {kSaturatedValue}, {kDeadValue, kRate}},
        KnownRun{
            "former_tables_saturated", joined(kTablesOfFormer, kSaturating), {kSaturatedValue}, {kDeadValue, kRate}},

        KnownRun{"gru_dead", kPlainGru, {"layer0.forget.from_x: dead, because "}, {kNone, kNextToNone}, true},
        KnownRun{"former_dead", kPlainFormer, {"layer0.", kDeadValue}, {kNone, kNextToNone}, true},
        KnownRun{"gru_tables_dead", kTablesOfGru, {"layer0.forget.from_x: dead, because "}, {kNone, kNextToNone}, true},
        KnownRun{"former_tables_dead", kTablesOfFormer, {"layer0.", kDeadValue}, {kNone, kNextToNone}, true}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace eggroll::test
