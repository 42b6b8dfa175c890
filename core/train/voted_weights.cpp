#include "train/voted_weights.h"

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

uint64_t VotedWeights::count(const BatchBuffer& batch) {
  uint64_t weights = unmasked_;
  for (const Table& table : tables_) weights += rows_read(table, batch) * table.cols;
  return weights;
}

uint64_t VotedWeights::rows_read(const Table& table, const BatchBuffer& batch) {
  constexpr uint32_t kWord = 64;
  seen_.assign((table.rows + kWord - 1) / kWord, 0);
  uint64_t rows = 0;
  for (const int32_t index : table.indices) {
    const size_t stride = index == 0 ? 1 : batch.indices;
    const uint32_t* const first = index == 0 ? batch.inputs.data() : batch.rows.data() + (index - 1);
    const uint32_t* const end = first + size_t{table.end_stream} * batch.tokens * stride;
    for (const uint32_t* row = first + size_t{table.first_stream} * batch.tokens * stride; row < end; row += stride) {
      if (*row == EGG_NO_ROW) continue;
      uint64_t& word = seen_[*row / kWord];
      const uint64_t bit = uint64_t{1} << (*row % kWord);
      rows += (word & bit) == 0 ? 1 : 0;
      word |= bit;
    }
  }
  return rows;
}

}  // namespace eggroll
