// Votes on the rows of masked tables: a warp takes some pairs of a stream, finds the rows that its window reads, each
// once, and adds to each row's votes what the pairs have for it. Sums are of whole numbers, so that their order says
// nothing.
#include <algorithm>

#include "device.h"
#include "draw.cuh"
#include "update.h"
#include "words.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 128;
constexpr uint32_t kWarps = kThreads / 32;
constexpr uint32_t kAll = 0xffffffffu;
constexpr uint32_t kRows = 8;          // that are worked on at once, in registers
constexpr uint32_t kColumns = 2 * 32;  // likewise: a lane has columns l and l + 32
constexpr uint32_t kMostPairs = 64;    // that a warp takes
// 64 * 64 * 127 * 46 * 46 < 2^31: what a warp's sums hold, for up to 64 ranks.

// Pairs of one stream, numbered from the launch's first on.
struct Pairs {
  uint32_t begin;
  uint32_t end;
};

// One warp's work on one job.
struct RowVotes {
  const RowVoteArgs& args;
  const RowVoteJob& job;
  uint32_t stream;
  Pairs pairs;
  uint32_t* ids;  // (32) in shared memory

  __device__ static uint32_t lane() { return threadIdx.x % 32; }

  // The place of a byte of the layout, and where that lies in a pair's noise.
  __device__ uint32_t place(uint32_t at) const {
    return args.places == nullptr ? at : args.places[at / kBlock].first * kBlock + at % kBlock;
  }
  __device__ const int8_t* noise(uint32_t pair, uint32_t place) const {
    return args.noise + pair / kTilePairs * args.tile_bytes + noise_place(pair % kTilePairs, place);
  }

  // Row number i of those that the stream reads of a table, of all its readers, one after the other.
  __device__ uint32_t row(const RowTable& table, uint32_t i) const {
    const uint32_t row_of = args.readers[table.first_reader + i / args.tokens];
    const size_t entry = size_t{stream - args.first_stream} * args.tokens + i % args.tokens;
    return row_of == 0 ? args.inputs[entry] : args.row_numbers[entry * args.index_count + row_of - 1];
  }

  // body(number) for each 32 reads of a table, once that number of rows, which were not read before, is in ids.
  template <class Body>
  __device__ void each_rows(const RowTable& table, Body&& body) const {
    const uint32_t reads = table.reader_count * args.tokens;
    for (uint32_t first = 0; first < reads; first += 32) {
      const uint32_t own = first + lane();
      const uint32_t id = own < reads ? row(table, own) : EGG_NO_ROW;
      bool is_new = __ffs(static_cast<int>(__match_any_sync(kAll, id))) == static_cast<int>(lane()) + 1;
      is_new = is_new && id != EGG_NO_ROW;
      for (uint32_t i = 0; i < first && __any_sync(kAll, is_new); ++i) is_new = is_new && row(table, i) != id;
      const uint32_t all_new = __ballot_sync(kAll, is_new);
      __syncwarp();  // all have read the ids before
      if (is_new) ids[__popc(all_new & ((1u << lane()) - 1))] = id;
      __syncwarp();
      body(static_cast<uint32_t>(__popc(all_new)));
    }
  }

  __device__ void run() const {
    for (uint32_t c = 0; c < job.cols; c += kColumns) {
      int32_t joint_sums[2] = {0, 0};
      if (job.joint != 0) add_joint(c, joint_sums);
      for (uint32_t t = 0; t < job.table_count; ++t) {
        const RowTable& table = args.tables[job.first_table + t];
        each_rows(table, [&](uint32_t count) {
          if (c == 0 && lane() < count) atomicAdd(table.counts + ids[lane()], 0ull + pairs.end - pairs.begin);
          if (job.joint != 0) {
            for (uint32_t r = 0; r < count; ++r) add_votes(table, ids[r], c, joint_sums);
          } else {
            for (uint32_t r = 0; r < count; r += kRows) add_rows(table, ids + r, min(count - r, kRows), c);
          }
        });
      }
    }
  }

  __device__ void add_votes(const RowTable& table, uint32_t id, uint32_t first_column, const int32_t (&sums)[2]) const {
    auto* votes = reinterpret_cast<unsigned long long*>(table.votes) + size_t{id} * job.cols;
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half) {
      const uint32_t column = first_column + 32 * half + lane();
      if (column < job.cols)
        atomicAdd(votes + column, static_cast<unsigned long long>(static_cast<long long>(sums[half])));
    }
  }

  // What the pairs have for any row of tables that share a perturbation.
  __device__ void add_joint(uint32_t first_column, int32_t (&sums)[2]) const {
    for (uint32_t rank = 0; rank < args.ranks; ++rank) {
      const uint32_t b_at = place(job.b_offset + rank * job.b_stride + first_column);
#pragma unroll 4
      for (uint32_t p = pairs.begin; p < pairs.end; ++p) {
        const int8_t* b = noise(p, b_at) + lane();
        const int32_t f = args.fitness[p];
        sums[0] += f * __ldg(b);
        sums[1] += f * __ldg(b + 32);
      }
    }
    sums[0] *= EGG_JOINT_A;
    sums[1] *= EGG_JOINT_A;
  }

  // Adds the votes of up to kRows rows, in columns from `first_column` on.
  __device__ void add_rows(const RowTable& table, const uint32_t* rows, uint32_t count, uint32_t first_column) const {
    int32_t sums[kRows][2] = {};
    // Lanes make the products of f and A: of 2^shift rows, at least as many as there are, for 32 / 2^shift pairs.
    const uint32_t shift = count <= 1 ? 0 : count <= 2 ? 1 : count <= 4 ? 2 : 3;
    const uint32_t at_once = 32 >> shift;
    const uint32_t own_row = lane() & ((1u << shift) - 1);
    const uint32_t id = own_row < count ? rows[own_row] : 0;
    for (uint32_t rank = 0; rank < args.ranks; ++rank) {
      const uint32_t key_at = place(job.key_offset + rank * kKeyBytes);
      const uint32_t b_at = place(job.b_offset + rank * job.b_stride + first_column);
      for (uint32_t first = pairs.begin; first < pairs.end; first += at_once) {
        const uint32_t own_pair = first + (lane() >> shift);
        int32_t own = 0;
        if (own_pair < pairs.end && own_row < count) {
          const auto* key = reinterpret_cast<const unsigned long long*>(noise(own_pair, key_at));
          own = args.fitness[own_pair] * draw_of(args.values, __ldg(key), EGG_SIDE_A, id);
        }
        const uint32_t here = min(at_once, pairs.end - first);
#pragma unroll 4
        for (uint32_t p = 0; p < here; ++p) {
          const int8_t* b = noise(first + p, b_at) + lane();
          const int32_t left = __ldg(b);
          const int32_t right = __ldg(b + 32);
#pragma unroll
          for (uint32_t r = 0; r < kRows; ++r) {
            if (r >= count) break;
            const int32_t fa = __shfl_sync(kAll, own, static_cast<int>((p << shift) + r));
            sums[r][0] += fa * left;
            sums[r][1] += fa * right;
          }
        }
      }
    }
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      if (r < count) add_votes(table, rows[r], first_column, sums[r]);
    }
  }
};

// Blocks of x: a warp takes some pairs of a stream; of y: jobs.
__global__ void __launch_bounds__(kThreads) row_votes_kernel(const RowVoteArgs args) {
  __shared__ uint32_t ids[kWarps][32];
  const RowVoteJob& job = args.jobs[blockIdx.y];
  const uint32_t parts = divide_up(args.stream_pairs, kMostPairs);
  const uint32_t items = args.streams * parts;
  // Pairs as numbered in the population.
  const uint32_t first = max(args.first_pair, job.first_voter);
  const uint32_t last = min(args.first_pair + args.pairs, job.first_voter + job.voters);
  for (uint32_t item = blockIdx.x * kWarps + threadIdx.x / 32; item < items; item += gridDim.x * kWarps) {
    const uint32_t stream = args.first_stream + item / parts;
    const uint32_t whole_begin = stream * args.stream_pairs + item % parts * kMostPairs;
    const uint32_t whole_end = min(whole_begin + kMostPairs, (stream + 1) * args.stream_pairs);
    const uint32_t begin = max(whole_begin, first);
    const uint32_t end = min(whole_end, last);
    if (begin >= end) continue;
    RowVotes{args, job, stream, {begin - args.first_pair, end - args.first_pair}, ids[threadIdx.x / 32]}.run();
  }
}

// A warp looks at 32 rows at a time.
__global__ void __launch_bounds__(kThreads)
    find_rows_kernel(const RowTable* tables, const double* variances, uint32_t ranks) {
  const RowTable& table = tables[blockIdx.y];
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t first = (blockIdx.x * kWarps + threadIdx.x / 32) * 32; first < table.rows;
       first += gridDim.x * kThreads) {
    const unsigned long long count = first + lane < table.rows ? table.all_counts[first + lane] : 0;
    const uint32_t voted = __ballot_sync(kAll, count > 0);
    if (voted == 0) continue;
    uint32_t at = 0;
    if (lane == 0) at = atomicAdd(table.voted_count, static_cast<uint32_t>(__popc(voted)));
    at = __shfl_sync(kAll, at, 0) + static_cast<uint32_t>(__popc(voted & ((1u << lane) - 1)));
    // row_vote_std of row_voters.h.
    const double variance = __dmul_rn(static_cast<double>(count * ranks), variances[blockIdx.y]);
    if (count > 0) table.voted[at] = {first + lane, __double2float_rn(__dsqrt_rn(variance))};
  }
}

// A warp clears a row.
__global__ void __launch_bounds__(kThreads) clear_rows_kernel(const RowTable* tables) {
  const RowTable& table = tables[blockIdx.y];
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t count = *table.voted_count;
  for (uint32_t i = blockIdx.x * kWarps + threadIdx.x / 32; i < count; i += gridDim.x * kWarps) {
    const uint32_t row = table.voted[i].row;
    if (lane == 0) table.counts[row] = 0;
    for (uint32_t c = lane; c < table.cols; c += 32) table.votes[size_t{row} * table.cols + c] = 0;
  }
}

// A warp adds up a row.
__global__ void __launch_bounds__(kThreads) sum_rows_kernel(const RowTable* tables, const VoteParts parts) {
  const RowTable& table = tables[blockIdx.y];
  const auto first = static_cast<size_t>(table.all_votes - parts.votes);
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t count = *table.voted_count;
  for (uint32_t i = blockIdx.x * kWarps + threadIdx.x / 32; i < count; i += gridDim.x * kWarps) {
    const size_t row = first + size_t{table.voted[i].row} * table.cols;
    for (uint32_t c = lane; c < table.cols; c += 32) {
      long long sum = 0;
      for (uint32_t p = 0; p < parts.count; ++p) sum += parts.parts[p][row + c];
      parts.votes[row + c] = sum;
    }
  }
}

constexpr uint32_t kMostBlocks = 132 * 16;

dim3 blocks_for(uint32_t warps, uint32_t jobs) { return {std::clamp(divide_up(warps, kWarps), 1U, kMostBlocks), jobs}; }

}  // namespace

void launch_row_votes(const RowVoteArgs& args, cudaStream_t stream) {
  if (args.job_count == 0 || args.streams == 0) return;
  const uint32_t items = args.streams * divide_up(args.stream_pairs, kMostPairs);
  row_votes_kernel<<<blocks_for(items, args.job_count), kThreads, 0, stream>>>(args);
  check_launch("gather votes");
}

void launch_find_rows(const RowTables& tables, const double* variances, uint32_t ranks, cudaStream_t stream) {
  if (tables.count == 0) return;
  const dim3 blocks = blocks_for(divide_up(tables.most_rows, 32), tables.count);
  find_rows_kernel<<<blocks, kThreads, 0, stream>>>(tables.tables, variances, ranks);
  check_launch("find rows with votes");
}

void launch_sum_row_votes(const RowTables& tables, const VoteParts& parts, cudaStream_t stream) {
  if (tables.count == 0) return;
  sum_rows_kernel<<<blocks_for(tables.most_rows, tables.count), kThreads, 0, stream>>>(tables.tables, parts);
  check_launch("add up votes");
}

void launch_clear_rows(const RowTables& tables, cudaStream_t stream) {
  if (tables.count == 0) return;
  clear_rows_kernel<<<blocks_for(tables.most_rows, tables.count), kThreads, 0, stream>>>(tables.tables);
  check_launch("clear votes");
}

}  // namespace eggroll::cuda
