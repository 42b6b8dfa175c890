// What an entry of model.context_tables and model.logit_tables may say.
#include <gtest/gtest.h>

#include "record/scratch.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

// What follows the place of the fault and the model's name.
std::string refusal_of_tables(const std::string& list, const std::string& vocab = "model.vocab=256") {
  const std::string text = message_of([&] {
    Learner(repository_config({"model.logit_tables=" + list, vocab}), built_plugins());
  });
  const std::string before = "command line 'model.logit_tables=" + list + "': model 'gru': ";
  return text.starts_with(before) ? text.substr(before.size()) : text;
}

TEST(ContextTables, AreOfTokensOrOfWords) {
  EXPECT_EQ(refusal_of_tables("[{tokens: 1}, {tokens: 16, rows: 2}, {words: 1, rows: 32}, {words: 2, rows: 16}]"), "");
  EXPECT_EQ(refusal_of_tables("[{tokens: 1}, {tokens: 2, words: 1, rows: 32}]"),
            "model.logit_tables.1 has both tokens and words, expected one of the two; remove one");
  EXPECT_EQ(refusal_of_tables("[{rows: 32}]"),
            "model.logit_tables.0 has neither tokens nor words, expected one of the two; add one");
  EXPECT_EQ(refusal_of_tables("[{words: 3, rows: 32}]"),
            "model.logit_tables.0.words is 3, expected an integer from 1 to 2");
  EXPECT_EQ(refusal_of_tables("[{tokens: 17, rows: 32}]"),
            "model.logit_tables.0.tokens is 17, expected an integer from 1 to 16");
  EXPECT_EQ(refusal_of_tables("[{words: 1, rows: 33}]"),
            "model.logit_tables.0.rows is 33, expected a power of two; use 32 or 64");
  EXPECT_EQ(refusal_of_tables("[{words: 1}]"),
            "missing key 'model.logit_tables.0.rows', expected an integer from 2 to 16777216; add it");
}

// Words are found in bytes.
TEST(ContextTables, OfWordsNeedBytes) {
  EXPECT_EQ(
      refusal_of_tables("[{words: 1, rows: 32}]", "model.vocab=257"),
      "model.logit_tables.0.words is set for a vocabulary of 257, expected one of 256, where a token is a byte; give "
      "the entry tokens in place of words");
}

}  // namespace
}  // namespace eggroll::test
