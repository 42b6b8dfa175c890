#include "train/voted_weights.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "eggroll/threads.h"

namespace eggroll {
namespace {

constexpr uint32_t kWord = 64;      // bits
constexpr size_t kMostPieces = 16;  // of a batch

}  // namespace

VotedWeights::VotedWeights(const Learner& learner) {
  const Program& program = *learner.program;
  const uint32_t in_stream = learner.train.members_per_stream / 2;  // pairs
  for (uint32_t i = 0; i < program.params().size(); ++i) {
    const egg_param& param = program.params()[i];
    if (param.perturbed == 0) continue;
    perturbed_ += weight_count(param);
    const egg_voters& voters = learner.voters[i];
    if (voters.masked == 0) {
      unmasked_ += weight_count(param);
      continue;
    }
    for (const egg_op& op : program.ops()) {
      if (op.code == EGG_OP_EMBED && op.param[0] == static_cast<int32_t>(i)) {
        reads_.push_back({op.attr, static_cast<uint32_t>(tables_.size())});
      }
    }
    const uint64_t words = (static_cast<uint64_t>(param.rows) + kWord - 1) / kWord;
    tables_.push_back({static_cast<uint64_t>(param.cols), voters.first_pair / in_stream,
                       (voters.first_pair + voters.pairs + in_stream - 1) / in_stream, words_, words});
    words_ += words;
  }
}

void VotedWeights::mark(const BatchBuffer& batch, size_t begin, size_t end, uint64_t* seen) const {
  for (size_t place = begin; place < end; ++place) {
    const size_t stream = place / batch.tokens;
    for (const Read& read : reads_) {
      const Table& table = tables_[read.table];
      if (stream < table.first_stream || stream >= table.end_stream) continue;
      const size_t row_number = place * batch.indices + static_cast<size_t>(read.index) - 1;
      const uint32_t row = read.index == 0 ? batch.inputs[place] : batch.rows[row_number];
      if (row != EGG_NO_ROW) seen[table.first_word + row / kWord] |= uint64_t{1} << (row % kWord);
    }
  }
}

uint64_t VotedWeights::count(const BatchBuffer& batch, Threads* threads) {
  if (tables_.empty()) return unmasked_;
  const size_t places = batch.inputs.size();
  // Each piece has bits of its own, because threads that set the same bits wait for each other's caches. It reads more
  // places than it has words to clear and to add up.
  const size_t fewest = std::max<size_t>(kFewestElements, words_);
  const size_t pieces = std::clamp(places * reads_.size() / fewest, size_t{1}, kMostPieces);
  seen_.resize(pieces * words_);
  split(threads, pieces, 1, [&](size_t begin, size_t end) {
    for (size_t piece = begin; piece < end; ++piece) {
      uint64_t* const seen = seen_.data() + piece * words_;
      std::fill_n(seen, words_, uint64_t{0});
      mark(batch, places * piece / pieces, places * (piece + 1) / pieces, seen);
    }
  });
  std::atomic<uint64_t> weights = unmasked_;
  for (const Table& table : tables_) {
    split(threads, table.words, kFewestElements / (8 * pieces), [&](size_t begin, size_t end) {
      uint64_t rows = 0;
      for (size_t word = table.first_word + begin; word < table.first_word + end; ++word) {
        uint64_t seen = 0;
        for (size_t piece = 0; piece < pieces; ++piece) seen |= seen_[piece * words_ + word];
        rows += static_cast<uint64_t>(std::popcount(seen));
      }
      weights += rows * table.cols;
    });
  }
  return weights;
}

}  // namespace eggroll
