// Which tokens each stream reads at each step of training, and in an evaluation of the held-out part.
#ifndef EGGROLL_DATA_STREAMS_H
#define EGGROLL_DATA_STREAMS_H

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

  // Makes every place padding: token 0, not scored, no reset, no rows.
  void clear(uint32_t new_streams, uint32_t new_tokens, uint32_t new_indices = 0);
  // Makes room; what the places hold is undefined.
  void resize(uint32_t new_streams, uint32_t new_tokens, uint32_t new_indices);

  // Valid until the buffer changes.
  egg_batch view() const {
    return egg_batch{streams, tokens, inputs.data(), targets.data(), resets.data(), rows.data()};
  }
};

// The scored part of a batch.
struct Scored {
  uint64_t tokens = 0;
  uint64_t units = 0;  // the dataset's: bytes that these tokens stand for, or the tokens themselves
};
// Counts the streams from first_stream on.
Scored count_scored(const BatchBuffer& batch, const Dataset& dataset, uint32_t first_stream = 0,
                    Threads* threads = nullptr);

// For training. A contiguous text is cut into segments of `tokens` inputs. Stream s begins at segment s * segments /
// streams, reads on from step to step, and goes from the text's end to its beginning, where it is reset. In a dataset
// of rows, stream s reads row (s * rows / streams + step) mod rows. If the streams come in parts, the streams of each
// part are spread over the whole text: in part c of p, stream i of n begins at segment (i * segments + c * segments /
// p) / n.
class TrainStreams {
 public:
  // streams and tokens at least 1. Error (keys in full, "train.tokens"): the training part is too short for one
  // segment, or tokens is not the rows' length.
  // indices: the program's; they outlive the streams. parts: streams of each part, none: all are one.
  TrainStreams(const Dataset& dataset, uint32_t streams, uint32_t tokens, std::span<const egg_index> indices = {},
               std::vector<uint32_t> parts = {});

  // The number of segments, or rows: after as many steps every stream is back where it began.
  uint64_t segments() const { return segments_; }

  // A pure function of the step, which any thread may call. The second version fills only streams [first, first +
  // count), on these threads or on the caller's.
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

// Evaluation. Each token of the held-out part, or of a sample of it, is scored once; the first token of a text and of
// each row is read but not scored. Stream s of S begins at s / S of the part, with a zero state, and reads 1 / S of the
// sample. The lengths of streams differ by one token (or row) at most. With a warmup, a stream of a text begins this
// many tokens earlier, or at the text's beginning, and does not score them.
class HeldOutStreams {
 public:
  // streams and tokens: at least 1. limit: the tokens of the sample, at least 2. The sample of a text scores limit - 1
  // of them; a sample of rows holds all rows that limit tokens touch. With 0, or a limit that leaves out less than one
  // token (or row) of each stream, the whole held-out part is read. indices: the program's; they outlive the streams.
  // warmup: tokens; rows have none, for each begins with a zero state.
  HeldOutStreams(const Dataset& dataset, uint32_t streams, uint32_t tokens, uint64_t limit,
                 std::span<const egg_index> indices = {}, uint32_t warmup = 0);

  uint32_t streams() const { return streams_; }  // as asked for, or fewer if some would have nothing to score
  bool covers_all() const { return units_ == all_units_; }
  uint64_t batches() const { return batches_; }

  // Batches come in order from 0 to batches() - 1, and the state goes on from one to the next. The last has no more
  // tokens than the longest stream has left. The second fills streams [first, first + count) alone.
  void fill(uint64_t index, BatchBuffer& batch) const { fill(index, batch, 0, streams_); }
  void fill(uint64_t index, BatchBuffer& batch, uint32_t first, uint32_t count, Threads* threads = nullptr) const;

 private:
  void fill_streams(uint64_t index, BatchBuffer& batch, uint32_t first, size_t begin, size_t end) const;

  Tokens valid_;
  std::optional<uint32_t> separator_;
  uint64_t row_;
  uint64_t unit_;       // scored tokens of the smallest part that streams do not share: 1, or a row's
  uint64_t all_units_;  // tokens, or rows, of the held-out part
  uint64_t units_;      // of the sample
  uint32_t warmup_;
  uint32_t streams_;
  uint32_t tokens_;   // that a batch has of each stream; the last batch may have fewer
  uint64_t longest_;  // tokens of the longest stream, its warmup among them
  uint64_t batches_;
  std::span<const egg_index> indices_;
};

}  // namespace eggroll

#endif
