#include "train/voted_weights.h"

#include <atomic>

#include "eggroll/threads.h"

namespace eggroll {
namespace {

constexpr uint32_t kWord = 64;  // bits

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
    tables_.push_back({static_cast<uint64_t>(param.cols), voters.first_pair / in_stream,
                       (voters.first_pair + voters.pairs + in_stream - 1) / in_stream, rows_});
    rows_ += static_cast<uint64_t>(param.rows);
  }
}

uint64_t VotedWeights::count(const BatchBuffer& batch, Threads* threads) {
  if (tables_.empty()) return unmasked_;
  seen_.assign((rows_ + kWord - 1) / kWord, 0);
  std::atomic<uint64_t> weights = unmasked_;
  // A step of a GPU waits for this: a million streams read a dozen tables.
  const size_t fewest = kFewestElements / (8 * reads_.size());
  split(threads, batch.inputs.size(), fewest, [&](size_t begin, size_t end) {
    uint64_t found = 0;
    for (size_t place = begin; place < end; ++place) {
      const size_t stream = place / batch.tokens;
      for (const Read& read : reads_) {
        const Table& table = tables_[read.table];
        if (stream < table.first_stream || stream >= table.end_stream) continue;
        const size_t row_number = place * batch.indices + static_cast<size_t>(read.index) - 1;
        const uint32_t row = read.index == 0 ? batch.inputs[place] : batch.rows[row_number];
        if (row == EGG_NO_ROW) continue;
        const uint64_t number = table.first_row + row;
        const std::atomic_ref word(seen_[number / kWord]);
        const uint64_t bit = uint64_t{1} << (number % kWord);
        if ((word.load(std::memory_order_relaxed) & bit) != 0) continue;
        if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) found += table.cols;
      }
    }
    weights += found;
  });
  return weights;
}

}  // namespace eggroll
