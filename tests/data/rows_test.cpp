// Rows by the hash of the last tokens or words: known answers, and plans against a stream that is read token by token.
#include "data/rows.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "data/streams.h"

namespace eggroll::tests {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

const std::vector<egg_index> kWords = {{0, 1 << 16, 1}, {0, 1 << 20, 2}};
const std::vector<egg_index> kIndices = {{2, 64}, {1, 8}, {4, 1 << 20}, kWords[1], kWords[0]};

// The rows of the text's last token.
std::vector<uint32_t> rows_after(const std::vector<uint32_t>& text, const std::vector<egg_index>& indices = kIndices,
                                 std::optional<uint32_t> separator = std::nullopt) {
  std::vector<uint32_t> rows(indices.size());
  put_rows(
      indices, text.size(), separator, [&](uint32_t j) { return text[text.size() - 1 - j]; }, rows.data());
  return rows;
}

// From the hash in tests/noise's Python script: absorb(absorb(0, newest), the one before), modulo the rows.
TEST(Rows, KnownAnswers) {
  EXPECT_THAT(rows_after({97, 98}, {{2, 4096}}), ElementsAre(1600));
  EXPECT_THAT(rows_after({98, 97}, {{2, 4096}}), ElementsAre(1681));
  EXPECT_THAT(rows_after({0, 0}, {{2, 4096}}), ElementsAre(3247));
  EXPECT_THAT(rows_after({7, 7, 1, 2, 3}, {{3, 1 << 20}}), ElementsAre(283976));
  EXPECT_THAT(rows_after({255, 254, 253, 252}, {{4, 65536}}), ElementsAre(25620));
}

std::vector<uint32_t> rows_by_words(const std::string& text, std::optional<uint32_t> separator = std::nullopt) {
  return rows_after(
      {reinterpret_cast<const uint8_t*>(text.data()), reinterpret_cast<const uint8_t*>(text.data()) + text.size()},
      kWords, separator);
}

// From known_answers.py.
TEST(RowsByWords, KnownAnswers) {
  EXPECT_THAT(rows_by_words("it is"), ElementsAre(41820, 990141));
  EXPECT_THAT(rows_by_words("It is"), ElementsAre(41820, 973145));
  EXPECT_THAT(rows_by_words("it is."), ElementsAre(47958, 419860));
  EXPECT_THAT(rows_by_words("it was."), ElementsAre(47958, 226382));
  EXPECT_THAT(rows_by_words("was, it is"), ElementsAre(41820, 990141));
  EXPECT_THAT(rows_by_words("na\xc3\xafve @[`{\x7f caf\xc3\xa9"), ElementsAre(23433, 1020412));
  EXPECT_THAT(rows_by_words(std::string(30, 'z')), ElementsAre(60298, 726730));
  EXPECT_THAT(rows_by_words("a  12345678 z"), ElementsAre(9064, 829914));
}

TEST(RowsByWords, AWordTakes24LettersAndWhatIsBetweenWords8Bytes) {
  const auto words_of = [](size_t letters, size_t between, size_t before) {
    return rows_by_words(std::string(before, 'b') + std::string(between, '-') + std::string(letters, 'a'));
  };
  EXPECT_EQ(words_of(24, 3, 3)[0], words_of(25, 3, 3)[0]);
  EXPECT_NE(words_of(23, 3, 3)[0], words_of(24, 3, 3)[0]);
  EXPECT_EQ(words_of(2, 3, 24), words_of(2, 3, 25));
  EXPECT_NE(words_of(2, 3, 23)[1], words_of(2, 3, 24)[1]);
  EXPECT_NE(words_of(2, 8, 1)[1], words_of(2, 8, 2)[1]);
  EXPECT_EQ(words_of(2, 9, 1), words_of(2, 10, 2));  // the word before is too far away
  EXPECT_NE(words_of(2, 7, 0)[1], words_of(2, 8, 0)[1]);
}

TEST(RowsByWords, WhatCameBeforeASeparatorIsForgotten) {
  EXPECT_EQ(rows_by_words("one two", ' '), rows_by_words(" two"));  // the separator itself is read
  EXPECT_EQ(rows_by_words("one two ", ' '), rows_by_words(" "));
  EXPECT_EQ(rows_by_words("one two", 'e'), rows_by_words("e two"));
  EXPECT_EQ(rows_by_words("one two", 'w'), rows_by_words("wo"));
  EXPECT_NE(rows_by_words("one two")[1], rows_by_words(" two")[1]);
}

TEST(Rows, TooFewTokensHaveNone) {
  const std::vector<uint32_t> one = rows_after({5});
  EXPECT_EQ(one[0], EGG_NO_ROW);
  EXPECT_LT(one[1], 8U);
  EXPECT_EQ(one[2], EGG_NO_ROW);
  EXPECT_EQ(rows_after({9, 5})[1], one[1]);
  EXPECT_NE(rows_after({9, 5})[0], EGG_NO_ROW);
  EXPECT_EQ(rows_after({1, 9, 5})[2], EGG_NO_ROW);
}

TEST(Rows, WhatCameBeforeASeparatorIsForgotten) {
  EXPECT_EQ(rows_after({1, 2, 0, 3}, kIndices, 0)[2], EGG_NO_ROW);
  EXPECT_EQ(rows_after({1, 2, 0, 3}, kIndices, 0)[0], rows_after({0, 3})[0]);  // the separator itself is read
  EXPECT_EQ(rows_after({1, 2, 0}, kIndices, 0)[0], EGG_NO_ROW);
}

// Draws a text with separators now and then.
Tokens random_text(uint32_t size, uint32_t every) {
  std::vector<uint32_t> text(size);
  uint64_t state = 9;
  for (uint32_t& token : text) {
    state = egg_mix64(state + 1);
    token = state % every == 0 ? 0 : 1 + static_cast<uint32_t>(state >> 40) % 200;
  }
  return Tokens::own(std::move(text), "a");
}

// The tokens that each stream has read since its last reset, by the reading's own resets.
class Readers {
 public:
  void expect_rows_of(const BatchBuffer& batch) {
    texts_.resize(batch.streams);
    for (uint32_t s = 0; s < batch.streams; ++s) {
      for (uint32_t t = 0; t < batch.tokens; ++t) {
        const size_t slot = size_t{s} * batch.tokens + t;
        const uint32_t* rows = batch.rows.data() + slot * kIndices.size();
        const bool is_padding = batch.targets[slot] == EGG_NO_TARGET &&
                                std::all_of(rows, rows + kIndices.size(), [](uint32_t r) { return r == EGG_NO_ROW; });
        if (is_padding) continue;
        if (batch.resets[slot] != 0) texts_[s].clear();
        texts_[s].push_back(batch.inputs[slot]);
        ASSERT_THAT(std::vector<uint32_t>(rows, rows + kIndices.size()), ElementsAreArray(rows_after(texts_[s])));
      }
    }
  }

 private:
  std::vector<std::vector<uint32_t>> texts_;
};

void expect_rows_of_all(const HeldOutStreams& reading) {
  Readers readers;
  BatchBuffer batch;
  for (uint64_t i = 0; i < reading.batches(); ++i) {
    reading.fill(i, batch);
    ASSERT_NO_FATAL_FAILURE(readers.expect_rows_of(batch));
  }
}

Dataset text_with(uint32_t every) {
  Dataset dataset;
  dataset.train = random_text(149, every);
  dataset.valid = random_text(97, every);
  if (every < 1000) dataset.separator = 0;
  return dataset;
}

TEST(Rows, OfTrainingAreThoseOfAStreamThatGoesOn) {
  for (const uint32_t every : {7U, 1000000U}) {
    const Dataset dataset = text_with(every);
    for (const uint32_t tokens : {1U, 2U, 5U}) {
      const TrainStreams reading(dataset, 6, tokens, kIndices);
      Readers readers;
      BatchBuffer batch;
      for (uint64_t step = 0; step < 2 * reading.segments() + 3; ++step) {
        reading.fill(step, batch);
        ASSERT_NO_FATAL_FAILURE(readers.expect_rows_of(batch));
        BatchBuffer part;
        reading.fill(step, part, 2, 3);
        const size_t begin = size_t{2} * tokens * kIndices.size();
        ASSERT_THAT(part.rows, ElementsAreArray(batch.rows.data() + begin, part.rows.size()));
      }
    }
  }
}

TEST(Rows, OfRowsOfDataBeginWithEachRow) {
  Dataset dataset;
  dataset.train = random_text(60, 1000000);
  dataset.valid = random_text(60, 1000000);
  dataset.train_row = dataset.valid_row = 6;
  const TrainStreams reading(dataset, 3, 5, kIndices);
  BatchBuffer batch;
  Readers readers;
  for (uint64_t step = 0; step < 25; ++step) {
    reading.fill(step, batch);
    ASSERT_NO_FATAL_FAILURE(readers.expect_rows_of(batch));
  }
  expect_rows_of_all(HeldOutStreams(dataset, 4, 3, 0, kIndices));
}

TEST(Rows, OfAnEvaluationAreThoseOfAStreamThatGoesOn) {
  for (const uint32_t every : {7U, 1000000U}) {
    const Dataset dataset = text_with(every);
    for (const uint32_t warmup : {0U, 6U}) {
      expect_rows_of_all(HeldOutStreams(dataset, 5, 4, 0, kIndices, warmup));
    }
  }
}

// Each part of the streams is spread over the whole text, and no two begin at one place.
TEST(TrainStreamsParts, EachCoversTheText) {
  Dataset dataset;
  std::vector<uint32_t> places(1001);
  for (uint32_t i = 0; i < places.size(); ++i) places[i] = i;
  dataset.train = Tokens::own(std::move(places), "a");
  dataset.valid = random_text(9, 1000);
  const TrainStreams reading(dataset, 14, 2, {}, {4, 10});  // 500 segments
  BatchBuffer batch;
  reading.fill(0, batch);
  std::vector<uint32_t> begins;
  for (size_t s = 0; s < 14; ++s) begins.push_back(batch.inputs[2 * s]);
  EXPECT_THAT(begins, ElementsAre(0, 250, 500, 750, 50, 150, 250, 350, 450, 550, 650, 750, 850, 950));
}

}  // namespace
}  // namespace eggroll::tests
