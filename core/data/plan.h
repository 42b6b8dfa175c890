// Which tokens each stream reads at each step of training, and in an evaluation of the held-out part.
#ifndef EGGROLL_DATA_PLAN_H
#define EGGROLL_DATA_PLAN_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "eggroll/plugin.h"

namespace eggroll {

class Threads;

// Owns what an egg_batch points to, row-major (streams, tokens).
struct BatchBuffer {
  uint32_t streams = 0;
  uint32_t tokens = 0;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> targets;
  std::vector<uint8_t> resets;
  uint32_t indices = 0;
  std::vector<uint32_t> rows;  // (streams, tokens, indices)

  // Every slot becomes padding: token 0, not scored, no reset, no rows.
  void clear(uint32_t new_streams, uint32_t new_tokens, uint32_t new_indices = 0);
  // Makes room; what the slots hold is anything.
  void resize(uint32_t new_streams, uint32_t new_tokens, uint32_t new_indices);

  // Valid until the buffer changes.
  egg_batch view() const {
    return egg_batch{streams, tokens, inputs.data(), targets.data(), resets.data(), rows.data()};
  }
};

// What of a batch is scored.
struct Scored {
  uint64_t tokens = 0;
  uint64_t units = 0;  // the dataset's: bytes that these tokens stand for, or the tokens themselves
};
// From a stream on.
Scored count_scored(const BatchBuffer& batch, const Dataset& dataset, uint32_t first_stream = 0);

// Training. A contiguous text is cut into segments of `tokens` inputs; stream s begins at segment s * segments /
// streams and walks on through the text, round its end. Of rows, stream s reads row (s * rows / streams + step) mod
// rows. Where the streams come in parts, those of each part are spread over the whole text: stream i of the n of part
// c of p begins at segment (i * segments + c * segments / p) / n.
class DataPlan {
 public:
  // streams and tokens at least 1. Error (keys in full, "train.tokens"): the training part is too short for one
  // segment, or tokens is not the rows' length.
  // indices: the program's; they outlive the plan. parts: streams of each part, none: all are one.
  DataPlan(const Dataset& dataset, uint32_t streams, uint32_t tokens, std::span<const egg_index> indices = {},
           std::vector<uint32_t> parts = {});

  // Segments, or rows: after this number of steps every stream is back where it began.
  uint64_t segments() const { return segments_; }

  // A pure function of the step; from any thread. The second: streams [first, first + count) alone, on these threads or
  // on the caller's.
  void fill(uint64_t step, BatchBuffer& batch) const { fill(step, batch, 0, streams_); }
  void fill(uint64_t step, BatchBuffer& batch, uint32_t first, uint32_t count, Threads* threads = nullptr) const;

 private:
  uint64_t first_segment(uint64_t stream) const;
  void fill_streams(uint64_t step, BatchBuffer& batch, uint32_t first, size_t begin, size_t end) const;

  Tokens train_;
  std::optional<uint32_t> separator_;
  uint64_t row_;
  uint32_t streams_;
  uint32_t tokens_;
  uint64_t segments_;
  std::span<const egg_index> indices_;
  std::vector<uint32_t> parts_;
};

// What an evaluation of less than the whole held-out part reads of it.
enum class HeldOutSample {
  kSpread,  // parts at equal distances over all of it
  kPrefix,  // its beginning: version 0.1 read this, and a run that it began goes on with it
};

// Evaluation. Of the whole held-out part, or of a sample of it, each token is scored once. The first token of a text
// and of each row is read and not scored. Stream s of S begins at s / S of the part, with a zero state, and reads 1 / S
// of the sample; streams differ in length by one token (or row) at most.
class EvalPlan {
 public:
  // streams and tokens at least 1. limit: tokens of the sample, at least 2; the sample of a text scores limit - 1 of
  // them, of rows it holds the whole rows that limit tokens touch. 0, or a limit that leaves out less than one token
  // (or row) of each stream: the whole held-out part.
  // indices: the program's; they outlive the plan.
  EvalPlan(const Dataset& dataset, uint32_t streams, uint32_t tokens, uint64_t limit,
           HeldOutSample sample = HeldOutSample::kSpread, std::span<const egg_index> indices = {});

  uint32_t streams() const { return streams_; }  // as asked for, or as many as have something to score
  bool covers_all() const { return units_ == all_units_; }
  uint64_t batches() const { return batches_; }

  // Batches in order 0 to batches() - 1, the state carried over from one to the next. The second: streams
  // [first, first + count) alone.
  void fill(uint64_t index, BatchBuffer& batch) const { fill(index, batch, 0, streams_); }
  void fill(uint64_t index, BatchBuffer& batch, uint32_t first, uint32_t count) const;

 private:
  Tokens valid_;
  std::optional<uint32_t> separator_;
  uint64_t row_;
  uint64_t unit_;       // scored tokens of what a stream holds whole: 1, or a row's
  uint64_t all_units_;  // tokens, or rows, of the held-out part
  uint64_t units_;      // of the sample
  uint64_t span_;       // units over which the streams' beginnings are spread
  uint32_t streams_;
  uint32_t tokens_;
  uint64_t batches_;
  std::span<const egg_index> indices_;
};

}  // namespace eggroll

#endif
