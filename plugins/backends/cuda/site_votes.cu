// Votes with the errors of sites. Sums are of integers, so any order gives the same result.
#include "rule.cuh"
#include "sites.h"
#include "warp.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kRuleWarps = kRuleThreads / 32;

__device__ void add_vote(long long* vote, long long sum) {
  atomicAdd(reinterpret_cast<unsigned long long*>(vote), static_cast<unsigned long long>(sum));
}

// ---- Tables: a warp, or a part of one, adds up the errors of the tokens that read a row ----

__device__ void add_errors(const uint4& eight, int32_t (&sums)[kWeights]) {
#pragma unroll
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t two = k == 0 ? eight.x : k == 1 ? eight.y : k == 2 ? eight.z : eight.w;
    sums[2 * k] += static_cast<int16_t>(two & 0xffff);
    sums[2 * k + 1] += static_cast<int32_t>(two) >> 16;
  }
}

template <bool kShared>
__global__ void __launch_bounds__(kRuleThreads, 14) site_rows_kernel(const SiteRowArgs args, const RuleArgs rule) {
  const Values values = values_of<kShared>(rule);
  for (uint32_t t = 0; t < args.tables.count; ++t) {
    const RowTable& table = args.tables.tables[t];
    const Lanes lanes(table.cols);
    const uint32_t at_once = 32 / lanes.count;
    const uint32_t cuts = divide_up(table.cols, lanes.columns());  // of a piece's columns
    const uint32_t count = *table.piece_count * cuts;
    const size_t slot_stride = size_t{table.rows} * table.cols;
    uint32_t moved = 0;
    for (uint32_t first = (blockIdx.x * kRuleWarps + threadIdx.x / 32) * at_once; first < count;
         first += gridDim.x * kRuleWarps * at_once) {
      const uint32_t own = first + threadIdx.x % 32 / lanes.count;
      RowPiece piece{};  // of no reads
      if (own < count) piece = table.pieces[own / cuts];
      const uint32_t column = own % cuts * lanes.columns() + lanes.own() * kWeights;
      const bool exists = piece.pairs > 0 && column < table.cols;
      const bool is_whole = piece.votes_row == kNoVotesRow;
      Weights<int32_t> weights{};
      if (exists && is_whole) {
        weights.find(table, piece.row, column);
        weights.vote_std = piece.vote_std;
      }
      const uint32_t most = __reduce_max_sync(kAll, piece.pairs);
      for (uint32_t done = 0; done < most; done += lanes.count) {
        const uint32_t mine = done + lanes.own();
        const uint32_t place = mine < piece.pairs ? table.streams[piece.streams + piece.first + mine] : EGG_NO_ROW;
        const uint32_t here = min(lanes.count, most - done);
#pragma unroll 4
        for (uint32_t k = 0; k < here; ++k) {
          const uint32_t other = lanes.from(place, k);
          if (!exists || other == EGG_NO_ROW) continue;
          const auto* error = args.errors + size_t{other} * args.error_stride + column;
          add_errors(__ldg(reinterpret_cast<const uint4*>(error)), weights.votes);
        }
      }
      if (exists && !is_whole) {
        long long* const votes = table.votes + size_t{piece.votes_row} * table.cols + column;
        for (uint32_t j = 0; j < kWeights && column + j < table.cols; ++j) add_vote(votes + j, weights.votes[j]);
      }
      if (__any_sync(kAll, weights.at != nullptr)) moved += values.apply(weights, slot_stride);
    }
    add_moved(moved, rule.changed + table.param);
  }
}

// ---- Matrices ----

constexpr uint32_t kMatrixThreads = 256;
constexpr uint32_t kMatrixTile = 64;   // rows and columns of a block; a thread has four of each
constexpr uint32_t kStagePlaces = 32;  // brought to the chip at once
// The most places whose sums fit in a block's int32: 2^15 * 2^7 * 2^9 = 2^31.
constexpr uint32_t kMostPlaces = 512;

// Blocks of x: pieces of the places; of y: tiles of rows; of z: tiles of columns.
__global__ void __launch_bounds__(kMatrixThreads) site_matrix_kernel(const SiteMatrixArgs args) {
  __shared__ int16_t errors[kStagePlaces][kMatrixTile];
  __shared__ int8_t inputs[kStagePlaces][kMatrixTile];
  const uint32_t row = blockIdx.y * kMatrixTile;
  const uint32_t col = blockIdx.z * kMatrixTile;
  const uint32_t own_row = threadIdx.x / 16 * 4;
  const uint32_t own_col = threadIdx.x % 16 * 4;
  const uint32_t end = min((blockIdx.x + 1) * kMostPlaces, args.places);
  int32_t sums[4][4] = {};
  unsigned long long squares = 0;  // of a column; the first threads of the blocks at row 0 add them up
  const bool takes_squares = row == 0 && threadIdx.x < kMatrixTile;
  for (uint32_t first = blockIdx.x * kMostPlaces; first < end; first += kStagePlaces) {
    __syncthreads();
    // A thread brings eight errors and eight inputs.
    const uint32_t p = threadIdx.x / 8;
    const uint32_t at = threadIdx.x % 8 * 8;
    const bool exists = first + p < end;
    uint4 eight = make_uint4(0, 0, 0, 0);
    uint2 x = make_uint2(0, 0);
    if (exists) {
      eight = __ldg(reinterpret_cast<const uint4*>(args.errors + size_t{first + p} * args.error_stride + row + at));
      if (args.perturbed[first + p] != 0) {
        x = __ldg(reinterpret_cast<const uint2*>(args.inputs + size_t{first + p} * args.input_stride + col + at));
      }
    }
    *reinterpret_cast<uint4*>(&errors[p][at]) = eight;
    *reinterpret_cast<uint2*>(&inputs[p][at]) = x;
    __syncthreads();
#pragma unroll 4
    for (uint32_t k = 0; k < kStagePlaces; ++k) {
      const auto e = *reinterpret_cast<const short4*>(&errors[k][own_row]);
      const auto v = *reinterpret_cast<const char4*>(&inputs[k][own_col]);
      const int32_t es[4] = {e.x, e.y, e.z, e.w};
      const int32_t vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
#pragma unroll
        for (uint32_t j = 0; j < 4; ++j) sums[i][j] += es[i] * vs[j];
      }
    }
    for (uint32_t k = 0; takes_squares && k < kStagePlaces; ++k) {
      const int32_t v = inputs[k][threadIdx.x];
      squares += static_cast<unsigned long long>(v * v);
    }
  }
  if (takes_squares && col + threadIdx.x < args.cols && squares > 0) {
    atomicAdd(args.squares + col + threadIdx.x, squares);
  }
  for (uint32_t i = 0; i < 4 && row + own_row + i < args.rows; ++i) {
    for (uint32_t j = 0; j < 4 && col + own_col + j < args.cols; ++j) {
      if (sums[i][j] == 0) continue;
      add_vote(args.votes + size_t{row + own_row + i} * args.cols + col + own_col + j, sums[i][j]);
    }
  }
}

// Each thread adds up one channel's errors over a piece of the places.
__global__ void __launch_bounds__(kMatrixTile)
    site_vector_kernel(const int16_t* errors, uint32_t error_stride, uint32_t places, uint32_t size, long long* votes) {
  const uint32_t channel = blockIdx.y * kMatrixTile + threadIdx.x;
  if (channel >= size) return;
  const uint32_t end = min((blockIdx.x + 1) * kMostPlaces, places);
  int32_t sum = 0;
  for (uint32_t p = blockIdx.x * kMostPlaces; p < end; ++p) sum += errors[size_t{p} * error_stride + channel];
  if (sum != 0) add_vote(votes + channel, sum);
}

// ---- The rule of matrices ----

// Weights that each have their own null deviation, or do not change.
struct ColumnWeights : Weights<long long> {
  static constexpr bool kMasked = true;
  float stds[kWeights];
  uint32_t live;  // a bit for each

  __device__ float std_of(uint32_t k) const { return stds[k]; }
  __device__ bool is_live(uint32_t k) const { return (live >> k & 1) != 0; }
};

template <bool kShared>
__global__ void __launch_bounds__(kRuleThreads) site_rule_kernel(const SiteRuleArgs args, const RuleArgs rule) {
  const Values values = values_of<kShared>(rule);
  const RuleJob& job = args.job;
  const uint32_t in_row = divide_up(job.cols, kWeights);
  const uint32_t pieces = divide_up(job.rows * in_row, kRuleThreads);
  for (uint32_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const uint32_t number = piece * kRuleThreads + threadIdx.x;
    const uint32_t row = number / in_row;
    const uint32_t column = number % in_row * kWeights;
    ColumnWeights weights{};
    if (row < job.rows) {
      const size_t before = size_t{row} * job.cols;
      weights.find(job.weights + size_t{row} * job.stride, column, job.cols, job.slots + before);
      for (uint32_t k = 0; k < weights.count; ++k) {
        const unsigned long long squares = args.squares[column + k];
        weights.stds[k] = __double2float_rn(__dsqrt_rn(__dmul_rn(static_cast<double>(squares), args.moment)));
        weights.live |= (squares > 0 ? 1U : 0U) << k;
        weights.votes[k] = job.votes[before + column + k];
      }
    }
    add_moved(values.apply(weights, size_t{job.rows} * job.cols), rule.changed + job.param);
  }
}

}  // namespace

void launch_site_rows(const SiteRowArgs& args, const RuleArgs& rule, cudaStream_t stream) {
  if (args.tables.count == 0) return;
  launch_with_rule(site_rows_kernel<true>, site_rows_kernel<false>, rule, kMostRuleBlocks, stream, args, rule);
}

void launch_site_matrix_votes(const SiteMatrixArgs& args, cudaStream_t stream) {
  const dim3 blocks(divide_up(args.places, kMostPlaces), divide_up(args.rows, kMatrixTile),
                    divide_up(args.cols, kMatrixTile));
  site_matrix_kernel<<<blocks, kMatrixThreads, 0, stream>>>(args);
  check_launch("gather votes");
}

void launch_site_vector_votes(const int16_t* errors, uint32_t error_stride, uint32_t places, uint32_t size,
                              long long* votes, cudaStream_t stream) {
  const dim3 blocks(divide_up(places, kMostPlaces), divide_up(size, kMatrixTile));
  site_vector_kernel<<<blocks, kMatrixTile, 0, stream>>>(errors, error_stride, places, size, votes);
  check_launch("gather votes");
}

void launch_site_rule(const SiteRuleArgs& args, const RuleArgs& rule, cudaStream_t stream) {
  const uint32_t pieces = rule_pieces(args.job.rows, args.job.cols);
  launch_with_rule(site_rule_kernel<true>, site_rule_kernel<false>, rule, std::min(pieces, kMostRuleBlocks), stream,
                   args, rule);
}

}  // namespace eggroll::cuda
