// Update rules of whole parameters, and of the rows of masked tables.
#include "rule.cuh"

#include "jobs.cuh"

namespace eggroll::cuda {
namespace {

constexpr size_t kMostSharedUnits = (size_t{48} << 10) / sizeof(uint4);

// The weights of thread number `number`, row by row.
struct Turn {
  uint32_t row;
  uint32_t column;

  __device__ Turn(size_t number, uint32_t cols)
      : row(static_cast<uint32_t>(number / in_row(cols))),
        column(static_cast<uint32_t>(number % in_row(cols)) * kWeights) {}

  __host__ __device__ static uint32_t in_row(uint32_t cols) { return divide_up(cols, kWeights); }
};

__device__ void read_votes(const long long* votes, Weights<long long>& weights) {
#pragma unroll
  for (uint32_t k = 0; k < kWeights; ++k) weights.votes[k] = k < weights.count ? votes[k] : 0;
}

template <bool kShared>
__global__ void __launch_bounds__(kRuleThreads) rule_kernel(const RuleArgs args) {
  const Values values = values_of<kShared>(args);
  for (uint32_t piece = blockIdx.x; piece < args.list.pieces; piece += gridDim.x) {
    const RuleJob& job = job_of(args.list, piece);
    const Turn turn(size_t{piece - job.first} * kRuleThreads + threadIdx.x, job.cols);
    Weights<long long> weights{};
    if (turn.row < job.rows) {
      const size_t before = size_t{turn.row} * job.cols;
      weights.find(job.weights + size_t{turn.row} * job.stride, turn.column, job.cols, job.slots + before);
      weights.vote_std = args.vote_stds[job.param];
      read_votes(job.votes + before + turn.column, weights);
    }
    add_moved(values.apply(weights, size_t{job.rows} * job.cols), args.changed + job.param);
  }
}

// The rows of masked tables whose votes were added up in memory.
template <bool kShared>
__global__ void __launch_bounds__(kRuleThreads) row_rule_kernel(const RuleArgs args) {
  const Values values = values_of<kShared>(args);
  for (uint32_t t = 0; t < args.table_count; ++t) {
    const RowTable& table = args.tables[t];
    const size_t count = size_t{*table.voted_count} * Turn::in_row(table.cols);
    uint32_t moved = 0;
    for (size_t first = size_t{blockIdx.x} * kRuleThreads; first < count; first += size_t{gridDim.x} * kRuleThreads) {
      Weights<long long> weights{};
      if (first + threadIdx.x < count) {
        const Turn turn(first + threadIdx.x, table.cols);
        const VotedRow voted = table.voted[turn.row];
        weights.find(table, voted.row, turn.column);
        weights.vote_std = voted.vote_std;
        read_votes(table.votes + size_t{voted.votes_row} * table.cols + turn.column, weights);
      }
      moved += values.apply(weights, size_t{table.rows} * table.cols);
    }
    add_moved(moved, args.changed + table.param);
  }
}

}  // namespace

size_t rule_scratch(uint32_t constants, uint32_t places) {
  const size_t units = value_units(constants, places);
  return units <= kMostSharedUnits ? 0 : kScratchBlocks * units * (sizeof(uint4) / sizeof(uint32_t));
}

uint32_t rule_pieces(uint32_t rows, uint32_t cols) {
  return static_cast<uint32_t>((size_t{rows} * Turn::in_row(cols) + kRuleThreads - 1) / kRuleThreads);
}

void launch_rule(const RuleArgs& args, cudaStream_t stream) {
  if (args.list.pieces > 0) {
    launch_with_rule(rule_kernel<true>, rule_kernel<false>, args, std::min(args.list.pieces, kMostRuleBlocks), stream,
                     args);
  }
  if (args.table_count > 0) {
    launch_with_rule(row_rule_kernel<true>, row_rule_kernel<false>, args, kMostRuleBlocks, stream, args);
  }
}

}  // namespace eggroll::cuda
