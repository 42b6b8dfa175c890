#include "train/voted_weights.h"

#include <atomic>

#include "eggroll/threads.h"

namespace eggroll {

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
    Table table{static_cast<uint64_t>(param.rows),
                static_cast<uint64_t>(param.cols),
                voters.first_pair / in_stream,
                (voters.first_pair + voters.pairs + in_stream - 1) / in_stream,
                {}};
    for (const egg_op& op : program.ops()) {
      if (op.code == EGG_OP_EMBED && op.param[0] == static_cast<int32_t>(i)) table.indices.push_back(op.attr);
    }
    tables_.push_back(std::move(table));
  }
}

uint64_t VotedWeights::count(const BatchBuffer& batch, Threads* threads) {
  uint64_t weights = unmasked_;
  for (const Table& table : tables_) weights += rows_read(table, batch, threads) * table.cols;
  return weights;
}

uint64_t VotedWeights::rows_read(const Table& table, const BatchBuffer& batch, Threads* threads) {
  constexpr uint32_t kWord = 64;
  seen_.assign((table.rows + kWord - 1) / kWord, 0);
  std::atomic<uint64_t> rows = 0;
  for (const int32_t index : table.indices) {
    const size_t stride = index == 0 ? 1 : batch.indices;
    const uint32_t* const first = index == 0 ? batch.inputs.data() : batch.rows.data() + (index - 1);
    const size_t before = size_t{table.first_stream} * batch.tokens;
    // A step of a GPU waits for this: a million streams read a dozen tables.
    split(threads, size_t{table.end_stream} * batch.tokens - before, kFewestElements / 8, [&](size_t begin, size_t end) {
      uint64_t found = 0;
      for (size_t i = before + begin; i < before + end; ++i) {
        const uint32_t row = first[i * stride];
        if (row == EGG_NO_ROW) continue;
        const std::atomic_ref word(seen_[row / kWord]);
        const uint64_t bit = uint64_t{1} << (row % kWord);
        if ((word.load(std::memory_order_relaxed) & bit) != 0) continue;
        found += (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0 ? 1U : 0U;
      }
      rows += found;
    });
  }
  return rows;
}

}  // namespace eggroll
