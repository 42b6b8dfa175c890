// count and markov: known answers (known_answers.py), and what each promises.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "data/datasets/markov.h"
#include "helpers.h"

namespace eggroll::tests {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<uint32_t> first(const Tokens& tokens, uint64_t n) { return list_of(tokens.part(0, n)); }

Dataset count_dataset(int64_t vocab, int64_t length, int64_t rows, int64_t valid_rows, uint64_t seed) {
  return Options("count")
      .set("vocab", vocab)
      .set("length", length)
      .set("rows", rows)
      .set("valid_rows", valid_rows)
      .set("seed", seed)
      .open();
}

Dataset markov_dataset(int64_t vocab, int64_t sharpness, int64_t tokens, int64_t valid_tokens, uint64_t seed) {
  return Options("markov")
      .set("vocab", vocab)
      .set("sharpness", sharpness)
      .set("tokens", tokens)
      .set("valid_tokens", valid_tokens)
      .set("seed", seed)
      .open();
}

TEST(Count, KnownAnswers) {
  const Dataset dataset = count_dataset(16, 8, 100, 10, 7);
  EXPECT_THAT(first(dataset.train, 18), ElementsAre(10, 11, 12, 13, 14, 15, 0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14));
  EXPECT_THAT(first(dataset.valid, 17), ElementsAre(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(dataset.train_row, 9U);
  EXPECT_EQ(dataset.valid_row, 17U);
  EXPECT_EQ(dataset.vocab_needed, 16U);
  EXPECT_EQ(dataset.unit, "token");
  EXPECT_EQ(dataset.facts.dump(),
            R"({"train_tokens":900,"valid_tokens":170,"held_out_phases":4,"entropy_rate_bits":0.0})");
}

TEST(Count, SmallVocabulariesHoldOutByLengthAlone) {
  const Dataset dataset = count_dataset(3, 4, 6, 2, 0);
  EXPECT_THAT(list_of(dataset.train),
              ElementsAre(1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0, 1, 2, 0, 1, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2));
  EXPECT_THAT(list_of(dataset.valid), ElementsAre(2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1));
}

TEST(Count, WideVocabulariesTakeTwoBytes) {
  const Dataset dataset = count_dataset(1000, 4, 5, 2, 1);
  EXPECT_EQ(dataset.train.width(), 2U);
  EXPECT_THAT(first(dataset.train, 10), ElementsAre(892, 893, 894, 895, 896, 753, 754, 755, 756, 757));
  EXPECT_THAT(first(dataset.valid, 9), ElementsAre(572, 573, 574, 575, 576, 577, 578, 579, 580));
}

TEST(Count, HashedThroughItsOptions) {
  EXPECT_EQ(count_dataset(16, 8, 100, 10, 7).sha256,
            "048bab82b141ef12a77d568d16b1a7e010d14adf6cd3e43c4eef1ac639dd39de");
  EXPECT_NE(count_dataset(16, 8, 100, 10, 8).sha256, count_dataset(16, 8, 100, 10, 7).sha256);
  EXPECT_EQ(count_dataset(1000, 4, 5, 2, 1).sha256, "9623c92d7504df3572fbb66dc0806ad4644a9958f08cfbd376f0b31e80ec0557");
}

TEST(Count, NoPhaseIsBothTrainedAndHeldOut) {
  for (const uint32_t vocab : {4U, 5U, 16U, 257U}) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const Dataset dataset = count_dataset(vocab, 3, 4000, 2000, seed);
      std::set<uint32_t> trained;
      std::set<uint32_t> held_out;
      for (uint64_t r = 0; r < 4000; ++r) trained.insert(dataset.train[r * dataset.train_row]);
      for (uint64_t r = 0; r < 2000; ++r) held_out.insert(dataset.valid[r * dataset.valid_row]);
      ASSERT_EQ(held_out.size(), vocab / 4);
      ASSERT_EQ(trained.size(), vocab - vocab / 4);
      for (const uint32_t phase : held_out) ASSERT_EQ(trained.count(phase), 0U);
    }
  }
}

TEST(Count, EachTokenFollowsTheOneBefore) {
  const Dataset dataset = count_dataset(16, 40, 20, 10, 3);
  for (const auto& [tokens, row] :
       {std::pair{&dataset.train, dataset.train_row}, {&dataset.valid, dataset.valid_row}}) {
    for (uint64_t i = 1; i < tokens->size(); ++i) {
      if (i % row != 0) {
        ASSERT_EQ((*tokens)[i], ((*tokens)[i - 1] + 1) % 16);
      }
    }
  }
}

TEST(Count, RefusesWhatDoesNotFit) {
  const auto refusal = [](const char* key, int64_t value) {
    return error_of([&] { Options("count").set("length", 32).set("seed", 0).set(key, value).open(); });
  };
  EXPECT_EQ(refusal("vocab", 1), "vocab: vocab is 1, expected an integer from 2 to 65536");
  EXPECT_EQ(refusal("length", 0), "length: length is 0, expected an integer from 1 to 268435456");
  EXPECT_EQ(refusal("rows", 0), "rows: rows is 0, expected an integer from 1 to 536870912");
  EXPECT_EQ(refusal("seed", -1), "seed: seed is -1, expected an integer of at least 0");
  EXPECT_EQ(refusal("rows", 32537632),
            "rows: rows is 32537632 rows of 33 tokens, expected at most 1073741824 tokens in all; set "
            "dataset.rows to 32537631 or less");
  EXPECT_EQ(refusal("valid_rows", 16519105),
            "valid_rows: valid_rows is 16519105 rows of 65 tokens, expected at most 1073741824 tokens in "
            "all; set dataset.valid_rows to 16519104 or less");
  EXPECT_EQ(error_of([] { Options("count").set("seed", 0).open(); }),
            "length: length is the text '${train.tokens}', expected an integer from 1 to 268435456");
}

TEST(Markov, KnownAnswers) {
  const MarkovChain chain = random_chain(8, 4, 7);
  EXPECT_THAT(std::vector<uint32_t>(chain.weights.begin(), chain.weights.begin() + 8),
              ElementsAre(3141, 5722, 28857, 1793, 1034, 250, 14, 24725));
  const Dataset dataset = markov_dataset(8, 4, 1000, 500, 7);
  EXPECT_THAT(first(dataset.train, 16), ElementsAre(4, 1, 6, 0, 2, 5, 3, 1, 6, 3, 5, 3, 1, 5, 1, 6));
  EXPECT_THAT(first(dataset.valid, 16), ElementsAre(0, 7, 3, 5, 3, 1, 6, 3, 5, 1, 5, 7, 4, 3, 5, 3));
  EXPECT_EQ(dataset.train.size(), 1000U);
  EXPECT_EQ(dataset.valid.size(), 500U);
  EXPECT_EQ(dataset.train_row, 0U);
  EXPECT_EQ(dataset.vocab_needed, 8U);
  EXPECT_NEAR(dataset.facts["entropy_rate_bits"].get<double>(), 1.776807724836, 1e-11);
  EXPECT_NEAR(dataset.facts["valid_cross_entropy_bits"].get<double>(), 1.912154270421, 1e-11);
  EXPECT_EQ(dataset.sha256, "1d286e96c867ce17854b4935b6d6df48532739b12be7545b9313c6c232018c2f");
}

TEST(Markov, RowsSumTo65536AndReachEveryToken) {
  for (const auto& [vocab, sharpness] : {std::pair{2U, 1U}, {16U, 4U}, {16U, 64U}, {1000U, 2U}, {1024U, 64U}}) {
    const MarkovChain chain = random_chain(vocab, sharpness, 3);
    for (size_t row = 0; row < vocab; ++row) {
      uint32_t sum = 0;
      for (size_t column = 0; column < vocab; ++column) {
        ASSERT_GE(chain.weights[row * vocab + column], 1U);
        sum += chain.weights[row * vocab + column];
      }
      ASSERT_EQ(sum, 65536U);
    }
  }
}

TEST(Markov, EntropyRatesKnownByHand) {
  // Stationary shares 2/3 and 1/3.
  const double expected = 2.0 / 3.0 * (0.75 * std::log2(4.0 / 3.0) + 0.25 * 2.0) + 1.0 / 3.0;
  EXPECT_NEAR(entropy_rate_bits({2, {49152, 16384, 32768, 32768}}), expected, 1e-14);
  EXPECT_NEAR(entropy_rate_bits({4, std::vector<uint32_t>(16, 16384)}), 2.0, 1e-14);
}

TEST(Markov, TheHeldOutPartIsAsHardAsTheChain) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const Dataset dataset = markov_dataset(16, 4, 2, 1000000, seed);
    // The standard error is about 0.002, because the standard deviation of one token's code length is near 2 bits.
    EXPECT_NEAR(dataset.facts["valid_cross_entropy_bits"].get<double>(),
                dataset.facts["entropy_rate_bits"].get<double>(), 0.01);
  }
}

// A chi-square over the transitions from all 8 tokens shows that the sampling follows the table.
TEST(Markov, TransitionsFollowTheTable) {
  const uint32_t vocab = 8;
  const MarkovChain chain = random_chain(vocab, 2, 5);
  const Dataset dataset = markov_dataset(vocab, 2, 1000000, 2, 5);
  std::vector<double> seen(size_t{vocab} * vocab);
  std::vector<double> followed(vocab);
  for (uint64_t i = 1; i < dataset.train.size(); ++i) {
    ++seen[dataset.train[i - 1] * vocab + dataset.train[i]];
    ++followed[dataset.train[i - 1]];
  }
  double chi_square = 0.0;
  for (size_t i = 0; i < seen.size(); ++i) {
    const double expected = followed[i / vocab] * chain.weights[i] / 65536.0;
    chi_square += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  // 56 degrees of freedom: mean 56, standard deviation 10.6.
  EXPECT_LT(chi_square, 56.0 + 4 * 10.6);
  EXPECT_GT(chi_square, 56.0 - 4 * 10.6);
}

TEST(Markov, RefusesWhatDoesNotFit) {
  const auto refusal = [](const char* key, int64_t value) {
    return error_of([&] { Options("markov").set("seed", 0).set(key, value).open(); });
  };
  EXPECT_EQ(refusal("vocab", 1025), "vocab: vocab is 1025, expected an integer from 2 to 1024");
  EXPECT_EQ(refusal("sharpness", 0), "sharpness: sharpness is 0, expected an integer from 1 to 64");
  EXPECT_EQ(refusal("tokens", 1), "tokens: tokens is 1, expected an integer from 2 to 1073741824");
  EXPECT_EQ(refusal("valid_tokens", 1), "valid_tokens: valid_tokens is 1, expected an integer from 2 to 1073741824");
}

}  // namespace
}  // namespace eggroll::tests
