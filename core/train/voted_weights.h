// Counts the weights that a step may move. With votes.masked, a table's rows that no voter read stay as they are.
#ifndef EGGROLL_TRAIN_VOTED_WEIGHTS_H
#define EGGROLL_TRAIN_VOTED_WEIGHTS_H

#include <cstdint>
#include <vector>

#include "data/streams.h"
#include "train/setup.h"

namespace eggroll {

class VotedWeights {
 public:
  // learner must outlive this.
  explicit VotedWeights(const Learner& learner);

  uint64_t perturbed() const { return perturbed_; }  // weights of all perturbed tensors

  // The number of weights with votes in a step: in a masked table those of rows that its voters read, in any other
  // perturbed tensor all. batch: what all members read; empty without masks. threads: null for the caller's alone.
  uint64_t count(const BatchBuffer& batch, Threads* threads = nullptr);

 private:
  // Sets the bits of the rows that these places of the batch read.
  void mark(const BatchBuffer& batch, size_t begin, size_t end, uint64_t* seen) const;

  // A masked table. Its voters are the members of streams [first_stream, end_stream).
  struct Table {
    uint64_t cols;
    uint32_t first_stream;
    uint32_t end_stream;
    uint64_t first_word;  // of its bits, after those of other tables
    uint64_t words;
  };
  struct Read {
    int32_t index;  // how an embed looks up a row: see egg_op's attr
    uint32_t table;
  };

  uint64_t perturbed_ = 0;
  uint64_t unmasked_ = 0;  // weights of the perturbed tensors that are not masked
  std::vector<Table> tables_;
  std::vector<Read> reads_;
  uint64_t words_ = 0;          // of all tables
  std::vector<uint64_t> seen_;  // a bit for each row, for each piece of a batch
};

}  // namespace eggroll

#endif
