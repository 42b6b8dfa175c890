// Votes, Z = sum over pairs and ranks of f*A*B': a matrix product over the draws of a population, on the tensor cores.
// f*A has up to 14 bits, so it goes in as two int8 numbers, 64 * high + low.
#include <algorithm>

#include "device.h"
#include "mma.cuh"
#include "tile.cuh"
#include "update.h"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 128;
constexpr uint32_t kSide = 64;   // of the piece of a parameter that a block makes
constexpr uint32_t kDraws = 64;  // taken at once
constexpr uint32_t kPitch = 17;  // words of a line of shared memory: an odd number spreads columns over the banks
// 92 * 46 * 2^18 < 2^31: as many as a block's int32 sums hold.
constexpr uint32_t kMostDraws = 1 << 18;

// Four draws of four neighbouring values, turned so that a word holds four draws of one value.
struct Square {
  uint32_t low[4];
  uint32_t high[4];
};

template <bool kTimesFitness>
__device__ Square square(const VoteArgs& args, uint32_t offset, uint32_t rank_stride, uint32_t draw, uint32_t end,
                         uint32_t first) {
  int32_t p[4][4];
#pragma unroll
  for (uint32_t d = 0; d < 4; ++d) {
    uint32_t four = 0;
    int32_t factor = 1;
    if (draw + d < end) {
      const uint32_t pair = (draw + d) / args.ranks;
      const uint32_t rank = (draw + d) % args.ranks;
      four = __ldg(
          reinterpret_cast<const uint32_t*>(args.noise + pair * args.pair_bytes + offset + rank * rank_stride + first));
      if (kTimesFitness) factor = args.fitness[pair];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) p[i][d] = byte_of(four, i) * factor;
  }
  Square s{};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int32_t low[4], high[4];
#pragma unroll
    for (int d = 0; d < 4; ++d) {
      low[d] = kTimesFitness ? ((p[i][d] + 32) & 63) - 32 : p[i][d];
      high[d] = (p[i][d] - low[d]) >> 6;
    }
    s.low[i] = pack4(low[0], low[1], low[2], low[3]);
    s.high[i] = pack4(high[0], high[1], high[2], high[3]);
  }
  return s;
}

__device__ void add_vote(const VoteArgs& args, uint32_t row, uint32_t col, long long vote) {
  if (row < args.rows && col < args.cols) {
    atomicAdd(reinterpret_cast<unsigned long long*>(args.votes + size_t{row} * args.cols + col),
              static_cast<unsigned long long>(vote));
  }
}

__global__ void __launch_bounds__(kThreads)
    matrix_votes_kernel(const VoteArgs args, uint32_t col_tiles, uint32_t draws_per_block) {
  __shared__ uint32_t low[kSide * kPitch];
  __shared__ uint32_t high[kSide * kPitch];
  __shared__ uint32_t b[kSide * kPitch];
  const uint32_t draws = args.pairs * args.ranks;
  const uint32_t begin = blockIdx.y * draws_per_block;
  const uint32_t end = min(draws, begin + draws_per_block);
  const uint32_t first_row = blockIdx.x / col_tiles * kSide;
  const uint32_t first_col = blockIdx.x % col_tiles * kSide;
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t g = threadIdx.x % 32 / 4;
  const uint32_t c = threadIdx.x % 4;
  int32_t low_sums[8][4] = {};
  int32_t high_sums[8][4] = {};
  for (uint32_t draw = begin; draw < end; draw += kDraws) {
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < kSide / 4 * kDraws / 4; i += kThreads) {
      const uint32_t value = i % (kSide / 4) * 4;
      const uint32_t word = i / (kSide / 4);
      const Square a = square<true>(args, 0, args.a_stride, draw + 4 * word, end, first_row + value);
      const Square y = square<false>(args, args.b_offset, args.b_stride, draw + 4 * word, end, first_col + value);
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        low[(value + k) * kPitch + word] = a.low[k];
        high[(value + k) * kPitch + word] = a.high[k];
        b[(value + k) * kPitch + word] = y.low[k];
      }
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kDraws / 4; k += 8) {
      const uint32_t row = 16 * warp + g;
      const auto word = [&](const uint32_t* from, uint32_t line, uint32_t at) { return from[line * kPitch + at]; };
      const uint32_t l[4] = {word(low, row, k + c), word(low, row + 8, k + c), word(low, row, k + 4 + c),
                             word(low, row + 8, k + 4 + c)};
      const uint32_t h[4] = {word(high, row, k + c), word(high, row + 8, k + c), word(high, row, k + 4 + c),
                             word(high, row + 8, k + 4 + c)};
#pragma unroll
      for (uint32_t j = 0; j < 8; ++j) {
        const uint32_t b0 = word(b, 8 * j + g, k + c);
        const uint32_t b1 = word(b, 8 * j + g, k + 4 + c);
        multiply_add(low_sums[j], l[0], l[1], l[2], l[3], b0, b1);
        multiply_add(high_sums[j], h[0], h[1], h[2], h[3], b0, b1);
      }
    }
  }
#pragma unroll
  for (uint32_t j = 0; j < 8; ++j) {
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      add_vote(args, first_row + 16 * warp + g + i / 2 * 8, first_col + 8 * j + 2 * c + i % 2,
               64LL * high_sums[j][i] + low_sums[j][i]);
    }
  }
}

__global__ void __launch_bounds__(kThreads) vector_votes_kernel(const VoteArgs args, uint32_t pairs_per_block) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= args.rows) return;
  const uint32_t begin = blockIdx.y * pairs_per_block;
  const uint32_t end = min(args.pairs, begin + pairs_per_block);
  long long sum = 0;
  for (uint32_t pair = begin; pair < end; ++pair) {
    const int8_t* noise = args.noise + pair * args.pair_bytes + i;
    sum += args.fitness[pair] * noise[0] * noise[args.b_offset];
  }
  add_vote(args, i, 0, sum);
}

}  // namespace

void launch_votes(const VoteArgs& args, cudaStream_t stream) {
  constexpr uint32_t kEnoughBlocks = 1024;
  if (args.vector != 0) {
    const uint32_t across = divide_up(args.rows, kThreads);
    const uint32_t splits = std::clamp(divide_up(kEnoughBlocks, across), 1U, divide_up(args.pairs, 64));
    const uint32_t pairs = divide_up(args.pairs, splits);
    vector_votes_kernel<<<dim3(across, divide_up(args.pairs, pairs)), kThreads, 0, stream>>>(args, pairs);
  } else {
    const uint32_t col_tiles = divide_up(args.cols, kSide);
    const uint32_t tiles = col_tiles * divide_up(args.rows, kSide);
    const uint32_t draws = args.pairs * args.ranks;
    const uint32_t splits = std::clamp(divide_up(kEnoughBlocks, tiles), 1U, divide_up(draws, 512));
    const uint32_t each = std::min(kMostDraws, divide_up(divide_up(draws, splits), kDraws) * kDraws);
    matrix_votes_kernel<<<dim3(tiles, divide_up(draws, each)), kThreads, 0, stream>>>(args, col_tiles, each);
  }
  check_launch("gather votes");
}

}  // namespace eggroll::cuda
