// Sampling: a temperature decides which token is drawn, the seed decides the draws, and bad prompts are refused.
#include "train/sample.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "data/rows.h"
#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::Each;
using Tokens = std::vector<uint32_t>;

// A model that a test has written, with weights of its choice for each parameter.
class OwnModel {
 public:
  OwnModel(ProgramBuilder& builder, const std::vector<std::vector<int8_t>>& weights)
      : learner_(small_config(), built_plugins()), program_(*builder.view()) {
    RuleBuilder rule;
    rule.delta(rule.constant(0));
    rule_.emplace(*rule.view());
    session_.emplace(learner_.backend->open_session(egg_session_spec{
        sizeof(egg_session_spec), 1, &program_.view(), &rule_->view(), learner_.noise, 2, 0, 2, 0, nullptr}));
    for (uint32_t i = 0; i < weights.size(); ++i) session_->set_weights(i, weights[i].data());
  }

  Tokens sample(const Tokens& prompt, const SampleOptions& options) {
    return eggroll::sample(*session_, program_, prompt, options);
  }
  Tokens sample(const Tokens& prompt, uint32_t count, double temperature, uint64_t seed) {
    return sample(prompt, SampleOptions{count, temperature, seed});
  }

 private:
  Learner learner_;
  Program program_;
  std::optional<Rule> rule_;
  std::optional<BackendSession> session_;
};

// A model whose logits are the table's row for the token that was read. Sixteen logit steps are one bit.
OwnModel table_model(const std::vector<std::vector<int8_t>>& rows) {
  const auto vocab = static_cast<int32_t>(rows.size());
  ProgramBuilder builder(vocab, 4, EGG_ROUND_NEAREST);
  builder.loss(builder.embed("logits", builder.matrix("table", vocab, vocab, 0)), 4096);
  std::vector<int8_t> table;
  for (const auto& row : rows) table.insert(table.end(), row.begin(), row.end());
  return OwnModel(builder, {table});
}

// A model whose state sums the embeddings of all tokens, so that every token matters for all later ones.
OwnModel summing_model(int32_t context) {
  const int32_t vocab = 16;
  const int32_t width = 8;
  ProgramBuilder builder(vocab, 4, EGG_ROUND_NEAREST, context);
  const Param embedding = builder.matrix("embedding", vocab, width, 0);
  const Param head = builder.matrix("head", vocab, width, 0);
  const Value sum = builder.state("sum", width);
  const Value next = builder.add("next", builder.embed("token", embedding), sum);
  builder.store(sum, next);
  builder.loss(builder.linear("logits", next, head, 5), 4096);
  Draws draws(3);
  std::vector<std::vector<int8_t>> weights(2, std::vector<int8_t>(vocab * width));
  for (auto& matrix : weights) {
    for (int8_t& weight : matrix) weight = static_cast<int8_t>(draws.weight() / 8);
  }
  return OwnModel(builder, weights);
}

// A model whose probabilities are 1/7, 2/7 and 4/7 after every token.
OwnModel constant_model() { return table_model({{0, 16, 32}, {0, 16, 32}, {0, 16, 32}}); }

std::array<int, 3> counts_of(const Tokens& tokens) {
  std::array<int, 3> counts{};
  for (const uint32_t token : tokens) ++counts.at(token);
  return counts;
}

TEST(Sample, TemperatureZeroTakesTheLikeliestWhateverTheSeed) {
  OwnModel cycle = table_model({{0, 9, 0}, {0, 0, 9}, {9, 0, 0}});
  for (const uint64_t seed : {0U, 1U, 99U}) {
    EXPECT_EQ(cycle.sample({0}, 7, 0.0, seed), (Tokens{1, 2, 0, 1, 2, 0, 1}));
    EXPECT_EQ(cycle.sample({0, 1, 1}, 4, 0.0, seed), (Tokens{2, 0, 1, 2}));  // goes on from the prompt's last token
  }
  OwnModel tie = table_model({{5, 7, 7}, {5, 7, 7}, {5, 7, 7}});
  EXPECT_THAT(tie.sample({0}, 5, 0.0, 3), Each(1U));  // the first of equally likely tokens
}

TEST(Sample, TheSeedDecides) {
  OwnModel model = constant_model();
  const Tokens first = model.sample({0}, 200, 1.0, 1);
  EXPECT_EQ(model.sample({0}, 200, 1.0, 1), first);
  EXPECT_NE(model.sample({0}, 200, 1.0, 2), first);
  // A shorter text is the beginning of the longer one.
  EXPECT_EQ(model.sample({0}, 50, 1.0, 1), Tokens(first.begin(), first.begin() + 50));
  EXPECT_THAT(model.sample({0}, 0, 1.0, 1), testing::IsEmpty());
}

// 7000 draws: five standard deviations of the count are at most 5 * sqrt(7000 / 4) = 209.
TEST(Sample, TemperatureOneDrawsTheModelsProbabilities) {
  OwnModel model = constant_model();
  const std::array<int, 3> counts = counts_of(model.sample({0}, 7000, 1.0, 5));
  EXPECT_NEAR(counts[0], 1000, 209);
  EXPECT_NEAR(counts[1], 2000, 209);
  EXPECT_NEAR(counts[2], 4000, 209);
}

TEST(Sample, TemperatureFlattensOrSharpens) {
  OwnModel model = constant_model();
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
  // A temperature of nearly 0 gives the same text as 0.
  EXPECT_THAT(model.sample({0}, 100, 0.01, 5), Each(2U));
}

TEST(Sample, TopKDrawsFromTheLikeliest) {
  OwnModel model = constant_model();
  const auto with = [&](uint32_t top_k, double top_p) {
    SampleOptions options{7000, 1.0, 5};
    options.top_k = top_k;
    options.top_p = top_p;
    return model.sample({0}, options);
  };
  const Tokens all = with(0, 1.0);
  EXPECT_EQ(with(3, 1.0), all);
  EXPECT_EQ(with(99, 1.0), all);
  EXPECT_THAT(with(1, 1.0), Each(2U));
  const std::array<int, 3> two = counts_of(with(2, 1.0));  // odds 2 and 4 of 6
  EXPECT_EQ(two[0], 0);
  EXPECT_NEAR(two[1], 2333, 209);
  // Probabilities are 4/7, 2/7 and 1/7: the first alone has 0.571, the first two 0.857.
  EXPECT_THAT(with(0, 0.5), Each(2U));
  EXPECT_THAT(with(0, 0.571), Each(2U));
  EXPECT_EQ(with(0, 0.572), with(2, 1.0));
  EXPECT_EQ(with(0, 0.857), with(2, 1.0));
  EXPECT_EQ(with(0, 0.858), all);
  EXPECT_EQ(with(2, 0.66), with(1, 1.0));  // of the two that are left the first has 0.667
  OwnModel tie = table_model({{5, 7, 7}, {5, 7, 7}, {5, 7, 7}});
  SampleOptions first{100, 1.0, 3};
  first.top_k = 1;
  EXPECT_THAT(tie.sample({0}, first), Each(1U));
}

// The draws of a sample are words of the noise, so a seed gives the same text everywhere.
TEST(Sample, IsAFunctionOfSeedAndNumber) {
  OwnModel model = constant_model();
  SampleOptions options{200, 1.0, 5};
  const Tokens first = model.sample({0}, options);
  const uint64_t key = egg_noise_key(5, EGG_STEP_DATA, 0, 0, 0, 0);
  for (uint32_t i = 0; i < 200; ++i) {
    // The likeliest token has the first four of seven equal parts.
    const uint64_t part = uint64_t{egg_noise_word(key, i)} * 7 >> 32;
    EXPECT_EQ(first[i], part < 4 ? 2U : part < 6 ? 1U : 0U) << i;
  }
  options.number = 1;
  EXPECT_NE(model.sample({0}, options), first);
}

// The small run's GRU, whose state matters, goes on from a prompt as from its own text.
TEST(Sample, TheStateFollowsPromptAndText) {
  const Learner learner(small_config(), built_plugins());
  BackendSession session = learner.open_session();
  const Tokens prompt = {3, 4, 5, 6};
  const Tokens text = sample(session, *learner.program, prompt, SampleOptions{40, 0.0, 0});
  // The text's own first half as part of the prompt gives its second half.
  Tokens longer = prompt;
  longer.insert(longer.end(), text.begin(), text.begin() + 20);
  EXPECT_EQ(sample(session, *learner.program, longer, SampleOptions{20, 0.0, 0}),
            Tokens(text.begin() + 20, text.end()));
  for (const uint32_t token : text) EXPECT_LT(token, 16U);
}

// In a model with a context, a token depends only on the last tokens of the context, and on no state from before them.
TEST(Sample, AContextIsReadAnewForEachToken) {
  const Tokens prompt = {3, 14, 15, 9, 2, 6, 5};
  OwnModel all = summing_model(0);
  OwnModel few = summing_model(3);
  const Tokens made = few.sample(prompt, 30, 0.0, 0);
  EXPECT_NE(all.sample(prompt, 30, 0.0, 0), made);
  Tokens text = prompt;
  for (const uint32_t token : made) {
    EXPECT_EQ(all.sample(Tokens(text.end() - 3, text.end()), 1, 0.0, 0), Tokens{token});
    text.push_back(token);
  }
  // The context holds this whole text.
  EXPECT_EQ(summing_model(7).sample(prompt, 1, 0.0, 0), all.sample(prompt, 1, 0.0, 0));
  EXPECT_EQ(summing_model(100).sample(prompt, 30, 0.0, 0), all.sample(prompt, 30, 0.0, 0));
  // The draws of a seed are those of a model without a context.
  EXPECT_EQ(summing_model(100).sample(prompt, 30, 1.0, 4), all.sample(prompt, 30, 1.0, 4));
}

// Here the next word depends on the last two, so only a table whose rows belong to two words can spell the text.
TEST(Sample, ReadsRowsByWords) {
  constexpr size_t kRows = 1024;
  const std::string text = "abc a ab abc a ab abc a ab abc";
  ProgramBuilder builder(256, 4, EGG_ROUND_NEAREST);
  const egg_index index{0, kRows, 2};
  builder.loss(builder.embed("logits", builder.matrix("table", kRows, 256, 0), builder.index_by_words(2, kRows)), 4096);
  std::vector<int8_t> table(kRows * 256);
  for (uint64_t end = 5; end < text.size(); ++end) {
    uint32_t row = 0;
    put_rows(
        {&index, 1}, end, std::nullopt, [&](uint32_t j) { return static_cast<uint8_t>(text[end - 1 - j]); }, &row);
    table[row * 256 + static_cast<uint8_t>(text[end])] = 100;
  }
  const Tokens tokens(text.begin(), text.end());
  EXPECT_EQ(OwnModel(builder, {table}).sample(Tokens(tokens.begin(), tokens.begin() + 5), 25, 0.0, 0),
            Tokens(tokens.begin() + 5, tokens.end()));
}

TEST(Sample, RefusesAPromptThatCannotBeRead) {
  OwnModel model = constant_model();
  EXPECT_EQ(message_of([&] { model.sample({}, 3, 1.0, 0); }),
            "the prompt is empty, expected at least one token; give a longer prompt");
  EXPECT_EQ(message_of([&] {
              model.sample({0, 3, 1}, 3, 1.0, 0);
            }),
            "the prompt holds the token 3, expected a token below the vocabulary's size 3; give another prompt");
}

}  // namespace
}  // namespace eggroll::test
