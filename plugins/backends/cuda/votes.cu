// Votes, Z = sum over pairs and ranks of f*A*B': matrix products over the draws of a population, on the tensor cores.
// f*A goes in as two int8 numbers, 64 * high + low. One launch for all matrices, one for all vectors.
#include <algorithm>

#include "device.h"
#include "mma.cuh"
#include "update.h"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 128;
constexpr uint32_t kRowBlocks = 2;                                // of 64 rows, of a piece; it has one of columns
constexpr uint32_t kTurned = kBlock * kTilePairs;                 // bytes of a block of 64 values of a tile's pairs
constexpr uint32_t kStageBytes = (2 * kRowBlocks + 1) * kTurned;  // low, high, columns
constexpr uint32_t kStages = 4;
static_assert(kTurned == kThreads * kUnit);
// 92 * 46 * 2^18 < 2^31: as many draws as a block's int32 sums hold.
constexpr uint32_t kMostTiles = (1 << 18) / kTilePairs;

__device__ const VoteJob& job_of(const VoteArgs& args, uint32_t piece) {
  uint32_t low = 0;
  uint32_t high = args.job_count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (args.jobs[middle].first <= piece ? low : high) = middle;
  }
  return args.jobs[low];
}

__device__ void add_vote(const VoteJob& job, uint32_t row, uint32_t col, long long vote) {
  if (row < job.rows && col < job.cols) {
    atomicAdd(reinterpret_cast<unsigned long long*>(job.votes + size_t{row} * job.cols + col),
              static_cast<unsigned long long>(vote));
  }
}

__device__ void fetch_unit(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ void end_fetch() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most kLeft of them are under way.
template <int kLeft>
__device__ void wait_fetched() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

// 16 pairs of a value in a block: half 0 or 1.
__device__ const int8_t* turned(const int8_t* block, uint32_t value, uint32_t half) {
  return block + value * kTilePairs + (half ^ (value / 4 % 2)) * kUnit;
}

// Blocks of x: pieces of 128 rows and 64 columns; of y: shares of the tiles. Each warp has 32 of the rows.
__global__ void __launch_bounds__(kThreads, 2) matrix_votes_kernel(const VoteArgs args, uint32_t tiles_each) {
  __shared__ __align__(128) int8_t shared[kStages][kStageBytes];
  const VoteJob& job = job_of(args, blockIdx.x);
  const uint32_t ranks = job.ranks;
  const uint32_t col_blocks = divide_up(job.cols, kBlock);
  const uint32_t row_blocks = divide_up(job.rows, kBlock);
  const uint32_t piece = blockIdx.x - job.first;
  const uint32_t row_block = piece / col_blocks * kRowBlocks;
  const uint32_t col_block = piece % col_blocks;
  const uint32_t begin = blockIdx.y * tiles_each * ranks;
  const uint32_t end = min(args.tiles, (blockIdx.y + 1) * tiles_each) * ranks;
  const uint32_t a_stride = job.a_stride;
  const uint32_t b_stride = job.b_stride;
  const int8_t* const own = args.noise + threadIdx.x * kUnit;
  const int8_t* const a = own + size_t{job.a_offset} * kTilePairs;
  const int8_t* const b = own + size_t{job.b_offset / kBlock + col_block} * kTurned;
  const auto fetch_stage = [&](uint32_t draw) {
    if (draw < end) {
      const size_t tile = draw / ranks * args.tile_bytes;
      const uint32_t rank = draw % ranks;
      int8_t* to = shared[draw % kStages] + threadIdx.x * kUnit;
#pragma unroll
      for (uint32_t r = 0; r < kRowBlocks; ++r) {
        const size_t block =
            min(row_block + r, row_blocks - 1) * size_t{kTurned} + size_t{rank * a_stride} * kTilePairs;
        fetch_unit(to + r * kTurned, a + tile + block);
        fetch_unit(to + (kRowBlocks + r) * kTurned, a + tile + block + size_t{a_stride / 2} * kTilePairs);
      }
      fetch_unit(to + 2 * kRowBlocks * kTurned, b + tile + size_t{rank * b_stride} * kTilePairs);
    }
    end_fetch();
  };
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  int32_t sums[2][2][8][4] = {};  // low and high; 16 rows; 8 columns
  for (uint32_t i = 0; i + 1 < kStages; ++i) fetch_stage(begin + i);
  for (uint32_t draw = begin; draw < end; ++draw) {
    wait_fetched<kStages - 2>();
    __syncthreads();
    fetch_stage(draw + kStages - 1);
    const int8_t* stage = shared[draw % kStages];
    const int8_t* columns = stage + 2 * kRowBlocks * kTurned;
    uint4 y[4];
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j)
      y[j] = load_pieces(turned(columns, 16 * j + lane / 16 * 8 + lane % 8, lane / 8 % 2));
#pragma unroll
    for (uint32_t part = 0; part < 2; ++part) {
      const int8_t* rows = stage + (part * kRowBlocks + warp / 2) * kTurned;
#pragma unroll
      for (uint32_t s = 0; s < 2; ++s) {
        const uint4 x = load_pieces(turned(rows, warp % 2 * 32 + 16 * s + lane % 16, lane / 16));
#pragma unroll
        for (uint32_t j = 0; j < 4; ++j) {
          multiply_add(sums[part][s][2 * j], x.x, x.y, x.z, x.w, y[j].x, y[j].y);
          multiply_add(sums[part][s][2 * j + 1], x.x, x.y, x.z, x.w, y[j].z, y[j].w);
        }
      }
    }
  }
  wait_fetched<0>();
  const uint32_t first_row = (row_block + warp / 2) * kBlock + warp % 2 * 32 + lane / 4;
  const uint32_t first_col = col_block * kBlock + lane % 4 * 2;
#pragma unroll
  for (uint32_t s = 0; s < 2; ++s) {
#pragma unroll
    for (uint32_t j = 0; j < 8; ++j) {
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        add_vote(job, first_row + 16 * s + i / 2 * 8, first_col + 8 * j + i % 2,
                 64LL * sums[1][s][j][i] + sums[0][s][j][i]);
      }
    }
  }
}

// A thread has a value and a share of the tiles.
__global__ void __launch_bounds__(kThreads) vector_votes_kernel(const VoteArgs args, uint32_t tiles_each) {
  const VoteJob& job = job_of(args, blockIdx.x);
  const uint32_t i = (blockIdx.x - job.first) * kThreads + threadIdx.x;
  if (i >= job.rows) return;
  const uint32_t end = min(args.tiles, (blockIdx.y + 1) * tiles_each);
  const auto at = [&](uint32_t tile, uint32_t offset) {
    return reinterpret_cast<const uint4*>(args.noise + tile * args.tile_bytes + size_t{offset} * kTilePairs +
                                          size_t{i} * kTilePairs);
  };
  int32_t low = 0;
  int32_t high = 0;
  for (uint32_t tile = blockIdx.y * tiles_each; tile < end; ++tile) {
    const uint4* b = at(tile, job.b_offset);
    const uint4* l = at(tile, job.a_offset);
    const uint4* h = at(tile, job.a_offset + job.a_stride / 2);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint4 y = __ldg(b + half);
      low = dot16(__ldg(l + half), y, low);
      high = dot16(__ldg(h + half), y, high);
    }
  }
  add_vote(job, i, 0, 64LL * high + low);
}

// Tiles of each block's share, so that there are blocks enough, and sums that fit.
uint32_t share_of_tiles(const VoteArgs& args, uint32_t fewest) {
  constexpr uint32_t kEnoughBlocks = 1024;
  const uint32_t splits = std::max(1U, kEnoughBlocks / args.pieces);
  const uint32_t each = std::max(divide_up(args.tiles, splits), fewest);
  return std::min(each, std::max(1U, kMostTiles / args.most_ranks));
}

}  // namespace

uint32_t matrix_vote_pieces(uint32_t rows, uint32_t cols) {
  return divide_up(rows, kRowBlocks * kBlock) * divide_up(cols, kBlock);
}
uint32_t vector_vote_pieces(uint32_t rows) { return divide_up(rows, kThreads); }

void launch_matrix_votes(const VoteArgs& args, cudaStream_t stream) {
  if (args.pieces == 0) return;
  const uint32_t each = share_of_tiles(args, 8);
  matrix_votes_kernel<<<dim3(args.pieces, divide_up(args.tiles, each)), kThreads, 0, stream>>>(args, each);
  check_launch("gather votes");
}

void launch_vector_votes(const VoteArgs& args, cudaStream_t stream) {
  if (args.pieces == 0) return;
  const uint32_t each = share_of_tiles(args, 1);
  vector_votes_kernel<<<dim3(args.pieces, divide_up(args.tiles, each)), kThreads, 0, stream>>>(args, each);
  check_launch("gather votes");
}

}  // namespace eggroll::cuda
