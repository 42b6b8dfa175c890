// Sampling: which token a temperature picks, that the seed decides, and what a prompt may hold.
#include "train/sample.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::Each;
using Tokens = std::vector<uint32_t>;

// A model whose logits are a table's row of the token read: sixteen logit steps are one bit.
class TableModel {
 public:
  explicit TableModel(const std::vector<std::vector<int8_t>>& rows) : machine_(small_config(), built_plugins()) {
    const auto vocab = static_cast<int32_t>(rows.size());
    ProgramBuilder builder(vocab, 4, EGG_ROUND_NEAREST);
    builder.loss(builder.embed("logits", builder.matrix("table", vocab, vocab, 0)), 4096);
    program_.emplace(*builder.view());
    RuleBuilder rule;
    rule.delta(rule.constant(0));
    rule_.emplace(*rule.view());
    session_.emplace(machine_.backend->open_session(
        egg_session_spec{sizeof(egg_session_spec), 1, &program_->view(), &rule_->view(), machine_.noise, 2, 0}));
    std::vector<int8_t> table;
    for (const auto& row : rows) table.insert(table.end(), row.begin(), row.end());
    session_->set_weights(0, table.data());
  }

  Tokens sample(const Tokens& prompt, uint32_t count, double temperature, uint64_t seed) {
    return eggroll::sample(*session_, *program_, prompt, SampleOptions{count, temperature, seed});
  }

 private:
  Machine machine_;
  std::optional<Program> program_;
  std::optional<Rule> rule_;
  std::optional<BackendSession> session_;
};

// Whatever was read: probabilities 1/7, 2/7 and 4/7.
TableModel constant_model() { return TableModel({{0, 16, 32}, {0, 16, 32}, {0, 16, 32}}); }

std::array<int, 3> counts_of(const Tokens& tokens) {
  std::array<int, 3> counts{};
  for (const uint32_t token : tokens) ++counts.at(token);
  return counts;
}

TEST(Sample, TemperatureZeroTakesTheLikeliestWhateverTheSeed) {
  TableModel cycle({{0, 9, 0}, {0, 0, 9}, {9, 0, 0}});
  for (const uint64_t seed : {0U, 1U, 99U}) {
    EXPECT_EQ(cycle.sample({0}, 7, 0.0, seed), (Tokens{1, 2, 0, 1, 2, 0, 1}));
    EXPECT_EQ(cycle.sample({0, 1, 1}, 4, 0.0, seed), (Tokens{2, 0, 1, 2}));  // goes on from the prompt's last token
  }
  TableModel tie({{5, 7, 7}, {5, 7, 7}, {5, 7, 7}});
  EXPECT_THAT(tie.sample({0}, 5, 0.0, 3), Each(1U));  // the first of equals
}

TEST(Sample, TheSeedDecides) {
  TableModel model = constant_model();
  const Tokens first = model.sample({0}, 200, 1.0, 1);
  EXPECT_EQ(model.sample({0}, 200, 1.0, 1), first);
  EXPECT_NE(model.sample({0}, 200, 1.0, 2), first);
  // A shorter text is the beginning of the longer one.
  EXPECT_EQ(model.sample({0}, 50, 1.0, 1), Tokens(first.begin(), first.begin() + 50));
  EXPECT_THAT(model.sample({0}, 0, 1.0, 1), testing::IsEmpty());
}

// 7000 draws: five standard deviations of the count are at most 5 * sqrt(7000 / 4) = 209.
TEST(Sample, TemperatureOneDrawsTheModelsProbabilities) {
  TableModel model = constant_model();
  const std::array<int, 3> counts = counts_of(model.sample({0}, 7000, 1.0, 5));
  EXPECT_NEAR(counts[0], 1000, 209);
  EXPECT_NEAR(counts[1], 2000, 209);
  EXPECT_NEAR(counts[2], 4000, 209);
}

TEST(Sample, TemperatureFlattensOrSharpens) {
  TableModel model = constant_model();
  // 2: odds 1, 2^0.5, 2 of 4.414.
  const std::array<int, 3> flat = counts_of(model.sample({0}, 7000, 2.0, 5));
  EXPECT_NEAR(flat[0], 1586, 209);
  EXPECT_NEAR(flat[1], 2243, 209);
  EXPECT_NEAR(flat[2], 3172, 209);
  // 0.5: odds 1, 4, 16 of 21.
  const std::array<int, 3> sharp = counts_of(model.sample({0}, 7000, 0.5, 5));
  EXPECT_NEAR(sharp[0], 333, 209);
  EXPECT_NEAR(sharp[1], 1333, 209);
  EXPECT_NEAR(sharp[2], 5333, 209);
  // Nearly 0 is as good as 0.
  EXPECT_THAT(model.sample({0}, 100, 0.01, 5), Each(2U));
}

// The GRU of the small run, whose state matters: a prompt read token by token leads to the same text.
TEST(Sample, TheStateFollowsPromptAndText) {
  const Machine machine(small_config(), built_plugins());
  BackendSession session = machine.open_session();
  const Tokens prompt = {3, 4, 5, 6};
  const Tokens text = sample(session, *machine.program, prompt, SampleOptions{40, 0.0, 0});
  // The text's own first half as part of the prompt gives its second half.
  Tokens longer = prompt;
  longer.insert(longer.end(), text.begin(), text.begin() + 20);
  EXPECT_EQ(sample(session, *machine.program, longer, SampleOptions{20, 0.0, 0}),
            Tokens(text.begin() + 20, text.end()));
  for (const uint32_t token : text) EXPECT_LT(token, 16U);
}

TEST(Sample, RefusesAPromptThatCannotBeRead) {
  TableModel model = constant_model();
  EXPECT_EQ(message_of([&] { model.sample({}, 3, 1.0, 0); }),
            "the prompt is empty, expected at least one token; give a longer prompt");
  EXPECT_EQ(message_of([&] {
              model.sample({0, 3, 1}, 3, 1.0, 0);
            }),
            "the prompt holds the token 3, expected less than the vocabulary 3; give another prompt");
}

}  // namespace
}  // namespace eggroll::test
