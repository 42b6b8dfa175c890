// Votes, Z = sum over pairs and ranks of f*A*B': matrix products over the draws of a population, on the tensor cores.
// f*A goes in as two int8 numbers, 64 * high + low. One launch for all matrices, one for all vectors.
#include <algorithm>

#include "device.h"
#include "jobs.cuh"
#include "mma.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 128;
constexpr uint32_t kRowBlocks = 2;                                // of 64 rows, of a piece; it has one of columns
constexpr uint32_t kTurned = kBlock * kTilePairs;                 // bytes of a block of 64 values of a tile's pairs
constexpr uint32_t kStageBytes = (2 * kRowBlocks + 1) * kTurned;  // low, high, columns
// Two blocks of a multiprocessor then have as much on its way as the latency of memory asks for.
constexpr uint32_t kStages = 8;
constexpr uint32_t kShared = kStages * kStageBytes;
static_assert(kTurned == kThreads * kUnit);
// 92 * 46 * 2^18 < 2^31: as many draws as a block's int32 sums hold.
constexpr uint32_t kMostTiles = (1 << 18) / kTilePairs;

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
  extern __shared__ __align__(128) int8_t shared[];  // (kStages, kStageBytes)
  const VoteJob& job = job_of(args.list, blockIdx.x);
  const uint32_t ranks = job.ranks;
  const uint32_t col_blocks = divide_up(job.cols, kBlock);
  const uint32_t row_blocks = divide_up(job.rows, kBlock);
  const uint32_t piece = blockIdx.x - job.first;
  const uint32_t row_block = piece / col_blocks * kRowBlocks;
  const uint32_t col_block = piece % col_blocks;
  const uint32_t begin = blockIdx.y * tiles_each;
  const uint32_t draws = (min(args.tiles, begin + tiles_each) - begin) * ranks;
  const size_t a_step = size_t{job.a_stride} * kTilePairs;
  const size_t b_step = size_t{job.b_stride} * kTilePairs;
  // Where this thread's part of the next draw lies, of a piece's first rows; a second block of rows that does not exist
  // is the first again.
  const size_t second = row_block + 1 < row_blocks ? kTurned : 0;
  const int8_t* a = args.noise + begin * args.tile_bytes + size_t{job.a_offset} * kTilePairs +
                    size_t{row_block} * kTurned + threadIdx.x * kUnit;
  const int8_t* b = args.noise + begin * args.tile_bytes + size_t{job.b_offset} * kTilePairs +
                    size_t{col_block} * kTurned + threadIdx.x * kUnit;
  const size_t a_rest = args.tile_bytes - (ranks - 1) * a_step;  // from a tile's last draw to the next tile's first
  const size_t b_rest = args.tile_bytes - (ranks - 1) * b_step;
  uint32_t fetched = 0;
  uint32_t rank = 0;
  const auto fetch_stage = [&] {
    if (fetched < draws) {
      int8_t* to = shared + fetched % kStages * kStageBytes + threadIdx.x * kUnit;
#pragma unroll
      for (uint32_t r = 0; r < kRowBlocks; ++r) {
        fetch_unit(to + r * kTurned, a + r * second);
        fetch_unit(to + (kRowBlocks + r) * kTurned, a + r * second + a_step / 2);
      }
      fetch_unit(to + 2 * kRowBlocks * kTurned, b);
      const bool last = ++rank == ranks;
      a += last ? a_rest : a_step;
      b += last ? b_rest : b_step;
      if (last) rank = 0;
      ++fetched;
    }
    end_fetch();
  };
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  int32_t sums[2][2][8][4] = {};  // low and high; 16 rows; 8 columns
  for (uint32_t i = 0; i + 1 < kStages; ++i) fetch_stage();
  for (uint32_t draw = 0; draw < draws; ++draw) {
    wait_fetched<kStages - 2>();
    __syncthreads();
    fetch_stage();
    const int8_t* stage = shared + draw % kStages * kStageBytes;
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
  const VoteJob& job = job_of(args.list, blockIdx.x);
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

__global__ void __launch_bounds__(kThreads)
    sum_votes_kernel(const long long* const* parts, uint32_t part_count, long long* votes, size_t cells) {
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < cells; i += size_t{gridDim.x} * kThreads) {
    long long sum = 0;
    for (uint32_t p = 0; p < part_count; ++p) sum += parts[p][i];
    votes[i] = sum;
  }
}

// Tiles of each block's share, so that there are blocks enough, and sums that fit.
uint32_t share_of_tiles(const VoteArgs& args, uint32_t fewest) {
  constexpr uint32_t kEnoughBlocks = 1024;
  const uint32_t splits = std::max(1U, kEnoughBlocks / args.list.pieces);
  const uint32_t each = std::max(divide_up(args.tiles, splits), fewest);
  return std::min(each, std::max(1U, kMostTiles / args.most_ranks));
}

}  // namespace

uint32_t matrix_vote_pieces(uint32_t rows, uint32_t cols) {
  return divide_up(rows, kRowBlocks * kBlock) * divide_up(cols, kBlock);
}
uint32_t vector_vote_pieces(uint32_t rows) { return divide_up(rows, kThreads); }

void prepare_votes() {
  check(cudaFuncSetAttribute(matrix_votes_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
        "reserve shared memory");
}

void launch_matrix_votes(const VoteArgs& args, cudaStream_t stream) {
  if (args.list.pieces == 0) return;
  const uint32_t each = share_of_tiles(args, 8);
  matrix_votes_kernel<<<dim3(args.list.pieces, divide_up(args.tiles, each)), kThreads, kShared, stream>>>(args, each);
  check_launch("gather votes");
}

void launch_vector_votes(const VoteArgs& args, cudaStream_t stream) {
  if (args.list.pieces == 0) return;
  const uint32_t each = share_of_tiles(args, 1);
  vector_votes_kernel<<<dim3(args.list.pieces, divide_up(args.tiles, each)), kThreads, 0, stream>>>(args, each);
  check_launch("gather votes");
}

void launch_sum_votes(const long long* const* parts, uint32_t part_count, long long* votes, size_t cells,
                      cudaStream_t stream) {
  constexpr size_t kMostBlocks = 4096;
  if (cells == 0) return;
  const size_t blocks = std::min((cells + kThreads - 1) / kThreads, kMostBlocks);
  sum_votes_kernel<<<static_cast<uint32_t>(blocks), kThreads, 0, stream>>>(parts, part_count, votes, cells);
  check_launch("add up votes");
}

}  // namespace eggroll::cuda
