// The plans: what each stream reads at each step, where its state resets, and that an evaluation misses nothing.
#include "data/streams.h"

#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "helpers.h"

namespace eggroll::tests {
namespace {

using testing::Each;
using testing::ElementsAre;

// Token i of each part is i, so that a batch shows the positions it was read from.
Tokens positions(uint64_t size) {
  std::vector<uint32_t> values(size);
  std::iota(values.begin(), values.end(), 0U);
  return Tokens::own(std::move(values), "a");
}

Dataset text_of(uint64_t train, uint64_t valid = 2) {
  Dataset dataset;
  dataset.train = positions(train);
  dataset.valid = positions(valid);
  return dataset;
}

Dataset rows_of(uint64_t train_rows, uint64_t train_row, uint64_t valid_rows = 1, uint64_t valid_row = 2) {
  Dataset dataset = text_of(train_rows * train_row, valid_rows * valid_row);
  dataset.train_row = train_row;
  dataset.valid_row = valid_row;
  return dataset;
}

template <class Streams>
BatchBuffer filled(const Streams& reading, uint64_t step) {
  BatchBuffer batch;
  reading.fill(step, batch);
  return batch;
}

bool same(const BatchBuffer& a, const BatchBuffer& b) {
  return a.inputs == b.inputs && a.targets == b.targets && a.resets == b.resets;
}

TEST(BatchBuffer, ItsViewShowsIt) {
  BatchBuffer batch;
  batch.clear(2, 3);
  const egg_batch view = batch.view();
  EXPECT_EQ(view.streams, 2U);
  EXPECT_EQ(view.tokens, 3U);
  EXPECT_EQ(view.inputs, batch.inputs.data());
  EXPECT_EQ(view.targets, batch.targets.data());
  EXPECT_EQ(view.resets, batch.resets.data());
  EXPECT_EQ(batch.inputs.size(), 6U);
  EXPECT_THAT(batch.targets, Each(EGG_NO_TARGET));
}

TEST(TrainStreams, EachStreamReadsTheSegmentsFromItsOwnPlace) {
  const TrainStreams reading(text_of(14), 2, 3);  // (14 - 1) / 3 = 4 segments: streams begin at 0 and 2
  EXPECT_EQ(reading.segments(), 4U);
  const BatchBuffer first = filled(reading, 0);
  EXPECT_THAT(first.inputs, ElementsAre(0, 1, 2, 6, 7, 8));
  EXPECT_THAT(first.targets, ElementsAre(1, 2, 3, 7, 8, 9));
  EXPECT_THAT(first.resets, ElementsAre(1, 0, 0, 1, 0, 0));
  const BatchBuffer second = filled(reading, 1);
  EXPECT_THAT(second.inputs, ElementsAre(3, 4, 5, 9, 10, 11));
  EXPECT_THAT(second.targets, ElementsAre(4, 5, 6, 10, 11, 12));
  EXPECT_THAT(second.resets, Each(0));
  const BatchBuffer wrapped = filled(reading, 2);
  EXPECT_THAT(wrapped.inputs, ElementsAre(6, 7, 8, 0, 1, 2));
  EXPECT_THAT(wrapped.resets, ElementsAre(0, 0, 0, 1, 0, 0));
}

TEST(TrainStreams, ASegmentHasATargetForItsLastInput) {
  EXPECT_EQ(TrainStreams(text_of(12), 1, 3).segments(), 3U);
  const TrainStreams reading(text_of(13), 1, 3);
  EXPECT_EQ(reading.segments(), 4U);
  EXPECT_THAT(filled(reading, 3).targets, ElementsAre(10, 11, 12));
}

TEST(TrainStreams, EachStreamReadsTheWholeTextInOrder) {
  const uint32_t streams = 5;
  const uint32_t tokens = 4;
  const TrainStreams reading(text_of(47), streams, tokens);  // 11 segments, token 45 and 46 are beyond them
  ASSERT_EQ(reading.segments(), 11U);
  for (uint32_t s = 0; s < streams; ++s) {
    std::vector<int> reads(45);
    uint32_t last = 0;
    for (uint64_t step = 0; step < reading.segments(); ++step) {
      const BatchBuffer batch = filled(reading, step);
      for (uint32_t t = 0; t < tokens; ++t) {
        const size_t slot = size_t{s} * tokens + t;
        const uint32_t at = batch.inputs[slot];
        ++reads[at];
        ASSERT_EQ(batch.targets[slot], at + 1);
        const bool begins = step == 0 && t == 0;
        // The next token of the text, or the first one once more with a zeroed state.
        if (!begins) {
          ASSERT_EQ(at, batch.resets[slot] != 0 ? 0 : last + 1);
        }
        if (begins || at == 0) {
          ASSERT_EQ(batch.resets[slot], 1);
        }
        last = at;
      }
    }
    EXPECT_EQ(std::count(reads.begin(), reads.begin() + 44, 1), 44) << s;
    EXPECT_TRUE(same(filled(reading, 3 + reading.segments()), filled(reading, 3))) << s;
  }
}

TEST(TrainStreams, ResetsBeforeEachSeparator) {
  Dataset dataset = text_of(2);
  dataset.train = Tokens::own(std::vector<uint8_t>{9, 1, 2, 9, 3, 9, 9, 4, 5}, "a");
  dataset.separator = 9;
  const TrainStreams reading(dataset, 1, 4);
  EXPECT_THAT(filled(reading, 0).resets, ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(filled(reading, 1).resets, ElementsAre(0, 1, 1, 0));
  dataset.separator = std::nullopt;
  EXPECT_THAT(filled(TrainStreams(dataset, 1, 4), 1).resets, Each(0));
}

TEST(TrainStreams, AStepDependsOnNothingBeforeIt) {
  const Dataset dataset = text_of(1001);
  const TrainStreams reading(dataset, 7, 8);
  std::vector<BatchBuffer> forward;
  for (uint64_t step = 0; step < 300; ++step) forward.push_back(filled(reading, step));
  BatchBuffer reused;
  reused.clear(90, 90);
  for (uint64_t step = 300; step-- > 0;) {
    reading.fill(step, reused);
    ASSERT_TRUE(same(reused, forward[step])) << step;
    ASSERT_TRUE(same(filled(TrainStreams(dataset, 7, 8), step), forward[step])) << step;
  }
}

TEST(TrainStreams, FillsFromSeveralThreads) {
  const TrainStreams reading(text_of(1001), 7, 8);
  const BatchBuffer expected = filled(reading, 11);
  BatchBuffer other;
  std::thread thread([&] { reading.fill(11, other); });
  const BatchBuffer mine = filled(reading, 11);
  thread.join();
  EXPECT_TRUE(same(mine, expected));
  EXPECT_TRUE(same(other, expected));
}

TEST(TrainStreams, FarStepsDoNotOverflow) {
  const TrainStreams reading(text_of(14), 2, 3);
  const uint64_t far = UINT64_C(1) << 63;  // a multiple of the 4 segments
  BatchBuffer expected = filled(reading, 4);
  EXPECT_TRUE(same(filled(reading, far), expected));
}

TEST(TrainStreams, SeveralStreamsShareASegmentIfThereAreFewSegments) {
  const BatchBuffer batch = filled(TrainStreams(text_of(5), 4, 2), 1);  // segments 0 and 1; streams at 0, 0, 1, 1
  EXPECT_THAT(batch.inputs, ElementsAre(2, 3, 2, 3, 0, 1, 0, 1));
  EXPECT_THAT(batch.resets, ElementsAre(0, 0, 0, 0, 1, 0, 1, 0));
}

TEST(TrainStreams, EachStreamReadsOneRowPerStepFromAReset) {
  const TrainStreams reading(rows_of(5, 4), 2, 3);  // streams begin at rows 0 and 2
  EXPECT_EQ(reading.segments(), 5U);
  const BatchBuffer first = filled(reading, 0);
  EXPECT_THAT(first.inputs, ElementsAre(0, 1, 2, 8, 9, 10));
  EXPECT_THAT(first.targets, ElementsAre(1, 2, 3, 9, 10, 11));
  const BatchBuffer later = filled(reading, 3);
  EXPECT_THAT(later.inputs, ElementsAre(12, 13, 14, 0, 1, 2));
  EXPECT_THAT(later.resets, ElementsAre(1, 0, 0, 1, 0, 0));
}

TEST(TrainStreams, Refusals) {
  EXPECT_NO_THROW(TrainStreams(text_of(33), 1, 32));
  EXPECT_EQ(error_of([] { TrainStreams(text_of(32), 1, 32); }),
            "train.tokens: the training part of 'a' holds 32 tokens, expected at least 33 (train.tokens + 1); use more "
            "data or set train.tokens=31");
  EXPECT_EQ(error_of([] { TrainStreams(rows_of(5, 4), 1, 4); }),
            "train.tokens: train.tokens is 4, but a row of a has 3 tokens to read, expected as many; set "
            "train.tokens=3");
}

// Counts how often an evaluation scores each position of the held-out part, and checks every batch on the way.
std::vector<int> scores(const Dataset& dataset, const HeldOutStreams& reading, uint32_t tokens) {
  std::vector<int> scored(dataset.valid.size());
  std::vector<uint64_t> next(reading.streams());  // the input that each stream reads next if its state is not reset
  bool last_is_used = false;
  for (uint64_t index = 0; index < reading.batches(); ++index) {
    const BatchBuffer batch = filled(reading, index);
    EXPECT_EQ(batch.streams, reading.streams());
    EXPECT_LE(batch.tokens, tokens);
    EXPECT_TRUE(batch.tokens == tokens || index + 1 == reading.batches());
    last_is_used = false;
    for (uint32_t s = 0; s < batch.streams; ++s) {
      bool ended = false;
      for (uint32_t t = 0; t < batch.tokens; ++t) {
        const size_t slot = size_t{s} * batch.tokens + t;
        const uint32_t target = batch.targets[slot];
        if (target == EGG_NO_TARGET) {
          EXPECT_EQ(batch.inputs[slot], 0U);
          EXPECT_EQ(batch.resets[slot], 0);
          ended = true;
          continue;
        }
        EXPECT_FALSE(ended) << "padding stands at the tail alone";
        EXPECT_EQ(target, batch.inputs[slot] + 1);
        if (index == 0 && t == 0) {
          EXPECT_EQ(batch.resets[slot], 1);
        }
        if (batch.resets[slot] == 0) {
          EXPECT_EQ(batch.inputs[slot], next[s]);
        }
        next[s] = batch.inputs[slot] + 1;
        ++scored[target];
        last_is_used = true;
      }
    }
  }
  EXPECT_TRUE(last_is_used) << "the last batch is empty";
  return scored;
}

TEST(HeldOutStreams, ScoresEveryTargetOnce) {
  for (const uint64_t size : {2U, 3U, 17U, 64U, 65U, 100U}) {
    const Dataset dataset = text_of(2, size);
    for (const uint32_t streams : {1U, 2U, 3U, 7U, 200U}) {
      for (const uint32_t tokens : {1U, 3U, 8U, 16U, 64U}) {
        for (const uint64_t limit : {uint64_t{0}, uint64_t{2}, size / 2 + 2, size, size + 5}) {
          const uint64_t covered = limit == 0 ? size : std::min(limit, size);
          const HeldOutStreams spread(dataset, streams, tokens, limit);
          const std::vector<int> scored = scores(dataset, spread, tokens);
          ASSERT_EQ(scored[0], 0);
          ASSERT_EQ(*std::max_element(scored.begin(), scored.end()), 1) << size << " " << streams << " " << limit;
          // All is scored if the limit leaves out fewer tokens than there are streams, else exactly the limit.
          const uint64_t all = std::accumulate(scored.begin(), scored.end(), uint64_t{0}, [](uint64_t sum, int count) {
            return sum + static_cast<uint64_t>(count);
          });
          ASSERT_EQ(all, spread.covers_all() ? size - 1 : covered - 1);
          ASSERT_EQ(spread.streams(), std::min<uint64_t>(streams, all));
          ASSERT_TRUE(spread.covers_all() || covered < size);
          ASSERT_TRUE(!spread.covers_all() || size - covered < std::min<uint64_t>(streams, covered - 1));
        }
      }
    }
  }
}

TEST(HeldOutStreams, ScoresEveryTargetOfWholeRowsOnce) {
  for (const uint64_t row : {2U, 5U, 9U}) {
    const uint64_t rows = 11;
    const Dataset dataset = rows_of(1, 2, rows, row);
    for (const uint32_t streams : {1U, 2U, 4U, 11U, 50U}) {
      for (const uint32_t tokens : {1U, 3U, 8U}) {
        for (const uint64_t limit : {uint64_t{0}, uint64_t{2}, row, row + 1, rows * row, rows * row + 1}) {
          const uint64_t covered = limit == 0 ? rows : std::min(rows, (limit + row - 1) / row);
          const HeldOutStreams spread(dataset, streams, tokens, limit);
          const std::vector<int> scored = scores(dataset, spread, tokens);
          uint64_t whole_rows = 0;
          for (uint64_t i = 0; i < rows * row; i += row) {
            ASSERT_EQ(scored[i], 0);
            for (uint64_t j = 2; j < row; ++j) ASSERT_EQ(scored[i + j], scored[i + 1]) << row << " " << streams;
            ASSERT_LE(scored[i + 1], 1);
            whole_rows += static_cast<uint64_t>(scored[i + 1]);
          }
          ASSERT_EQ(whole_rows, spread.covers_all() ? rows : covered);
        }
      }
    }
  }
}

TEST(HeldOutStreams, ASampleIsSpreadEvenlyOverThePart) {
  const HeldOutStreams reading(text_of(2, 101), 4, 3,
                               10);  // 9 of 100 targets: 2, 2, 2 and 3, a quarter of the text apart
  EXPECT_FALSE(reading.covers_all());
  EXPECT_EQ(reading.batches(), 1U);
  BatchBuffer batch = filled(reading, 0);
  EXPECT_THAT(batch.inputs, ElementsAre(0, 1, 0, 25, 26, 0, 50, 51, 0, 75, 76, 77));
  EXPECT_THAT(batch.targets,
              ElementsAre(1, 2, EGG_NO_TARGET, 26, 27, EGG_NO_TARGET, 51, 52, EGG_NO_TARGET, 76, 77, 78));
  const HeldOutStreams rows(rows_of(1, 2, 10, 3), 2, 2, 6);  // two of ten rows
  EXPECT_THAT(filled(rows, 0).inputs, ElementsAre(0, 1, 15, 16));
}

TEST(HeldOutStreams, StreamsDifferByOneToken) {
  const HeldOutStreams reading(text_of(2, 12), 3, 2, 0);  // 11 targets: 3, 4 and 4
  EXPECT_EQ(reading.streams(), 3U);
  EXPECT_EQ(reading.batches(), 2U);
  BatchBuffer batch = filled(reading, 0);
  EXPECT_THAT(batch.inputs, ElementsAre(0, 1, 3, 4, 7, 8));
  EXPECT_THAT(batch.targets, ElementsAre(1, 2, 4, 5, 8, 9));
  EXPECT_THAT(batch.resets, ElementsAre(1, 0, 1, 0, 1, 0));
  reading.fill(1, batch);
  EXPECT_THAT(batch.inputs, ElementsAre(2, 0, 5, 6, 9, 10));
  EXPECT_THAT(batch.targets, ElementsAre(3, EGG_NO_TARGET, 6, 7, 10, 11));
  EXPECT_THAT(batch.resets, Each(0));
}

TEST(HeldOutStreams, RowsResetWhereTheyBegin) {
  const HeldOutStreams reading(rows_of(1, 2, 3, 3), 1, 4, 0);  // inputs 0 1 | 3 4 | 6 7
  EXPECT_EQ(reading.batches(), 2U);
  BatchBuffer batch = filled(reading, 0);
  EXPECT_THAT(batch.inputs, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(batch.targets, ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(batch.resets, ElementsAre(1, 0, 1, 0));
  reading.fill(1, batch);
  EXPECT_THAT(batch.inputs, ElementsAre(6, 7));
  EXPECT_THAT(batch.targets, ElementsAre(7, 8));
  EXPECT_THAT(batch.resets, ElementsAre(1, 0));
}

TEST(HeldOutStreams, AWarmupIsReadAndNotScored) {
  const HeldOutStreams reading(text_of(2, 12), 3, 4, 0, {}, 2);  // 11 targets: 3, 4 and 4
  EXPECT_EQ(reading.batches(), 2U);
  BatchBuffer batch = filled(reading, 0);
  EXPECT_THAT(batch.inputs, ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(batch.targets, ElementsAre(1, 2, 3, EGG_NO_TARGET,  // nothing lies before the text
                                         EGG_NO_TARGET, EGG_NO_TARGET, 4, 5, EGG_NO_TARGET, EGG_NO_TARGET, 8, 9));
  EXPECT_THAT(batch.resets, ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0));
  reading.fill(1, batch);
  EXPECT_EQ(batch.tokens, 2U);  // no stream has more left
  EXPECT_THAT(batch.inputs, ElementsAre(0, 0, 5, 6, 9, 10));
  EXPECT_THAT(batch.targets, ElementsAre(EGG_NO_TARGET, EGG_NO_TARGET, 6, 7, 10, 11));
}

TEST(HeldOutStreams, AWarmupChangesNoTargetThatIsScored) {
  for (const uint64_t size : {2U, 3U, 17U, 100U}) {
    const Dataset dataset = text_of(2, size);
    for (const uint32_t streams : {1U, 3U, 7U}) {
      for (const uint32_t warmup : {1U, 5U, 200U}) {
        for (const uint64_t limit : {uint64_t{0}, size / 2 + 2}) {
          const auto scored = [&](uint32_t tokens_before) {
            const HeldOutStreams reading(dataset, streams, 4, limit, {}, tokens_before);
            std::vector<uint32_t> targets;
            for (uint64_t i = 0; i < reading.batches(); ++i) {
              for (const uint32_t target : filled(reading, i).targets) {
                if (target != EGG_NO_TARGET) targets.push_back(target);
              }
            }
            std::sort(targets.begin(), targets.end());
            return targets;
          };
          ASSERT_EQ(scored(warmup), scored(0)) << size << " " << streams << " " << warmup << " " << limit;
        }
      }
    }
  }
}

TEST(HeldOutStreams, ResetsBeforeEachSeparator) {
  Dataset dataset = text_of(2);
  dataset.valid = Tokens::own(std::vector<uint16_t>{1, 2, 300, 3, 300, 4}, "a");
  dataset.separator = 300;
  EXPECT_THAT(filled(HeldOutStreams(dataset, 1, 5, 0), 0).resets, ElementsAre(1, 0, 1, 0, 1));
}

}  // namespace
}  // namespace eggroll::tests
