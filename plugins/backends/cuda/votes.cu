// Votes, Z = sum over pairs and ranks of f*A*B': of matrices as products over the draws of a population, on the tensor
// cores; of vectors by a thread for each 16 values. One launch for all matrices, one for all vectors.
#include <algorithm>

#include "device.h"
#include "draw_words.cuh"
#include "jobs.cuh"
#include "mma.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 128;
constexpr uint32_t kWarps = kThreads / 32;

__device__ void add_vote(const VoteJob& job, uint32_t row, uint32_t col, long long vote) {
  if (row < job.rows && col < job.cols) {
    atomicAdd(reinterpret_cast<unsigned long long*>(job.votes + size_t{row} * job.cols + col),
              static_cast<unsigned long long>(vote));
  }
}

// The tiles of a launch's pairs in which there are voters of the job's parameter, and of those a block's share.
struct Tiles {
  uint32_t begin;
  uint32_t end;
  __device__ Tiles(const VoteArgs& args, const VoteJob& job, uint32_t each) {
    const uint32_t first = max(job.first_voter, args.first_pair) - args.first_pair;
    const uint32_t last = min(job.first_voter + job.voters, args.first_pair + args.pairs);
    begin = max(first / kTilePairs, blockIdx.y * each);
    end = last <= args.first_pair ? 0 : min(divide_up(last - args.first_pair, kTilePairs), (blockIdx.y + 1) * each);
    end = max(begin, end);
  }
  __device__ uint32_t count() const { return end - begin; }
};

// ---- Matrices ----
// A stage has two parts: where a piece has two blocks of 64 rows, the draws of each; else two draws one after the
// other. A warp has 32 of the rows of a part.
constexpr uint32_t kStageParts = 2;
constexpr uint32_t kFitnessBytes = 128;  // room for a tile's 32
constexpr uint32_t kPartBytes = 2 * kNoiseBlock + kFitnessBytes;
constexpr uint32_t kStageBytes = kStageParts * kPartBytes;
constexpr uint32_t kStages = 6;
constexpr uint32_t kShared = kStages * kStageBytes;
static_assert(kNoiseBlock == kThreads * kUnit && kTilePairs == 2 * kUnit);
// Sums of a piece, 16 rows of each warp at a time, on their way to the votes; a row more than it has columns apart.
constexpr uint32_t kSumStride = kBlock + 1;
constexpr uint32_t kSumRows = 16;
static_assert(kWarps * kSumRows * kSumStride * sizeof(long long) <= kShared);
// 255 * 46 * 2^17 < 2^31: as many draws as a block's int32 sums hold.
constexpr uint32_t kMostTiles = (1 << 17) / kTilePairs;

__device__ void fetch_unit(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ void end_fetch() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most kLeft of them are under way.
template <int kLeft>
__device__ void wait_fetched() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

// Byte i of each of four words, as word i.
__device__ void turn(const uint32_t (&from)[4], uint32_t (&to)[4]) {
  const uint32_t low = pick(from[0], from[1], 0x5140);
  const uint32_t high = pick(from[0], from[1], 0x7362);
  const uint32_t low2 = pick(from[2], from[3], 0x5140);
  const uint32_t high2 = pick(from[2], from[3], 0x7362);
  to[0] = pick(low, low2, 0x5410);
  to[1] = pick(low, low2, 0x7632);
  to[2] = pick(high, high2, 0x5410);
  to[3] = pick(high, high2, 0x7632);
}

// Four draws of a pair times its fitness. One word where all |f| <= 2, for |f*a| is then at most 92; else two, whose
// numbers are 256 * high + low, with low in [0, 255] and high in [-23, 22].
template <int kWords>
__device__ void multiply(uint32_t four, int32_t fitness, uint32_t (&products)[kWords]) {
  const uint32_t raised = four ^ 0x80808080u;  // 128 higher
  const auto f = static_cast<uint32_t>(fitness);
  if constexpr (kWords == 1) {
    products[0] = (raised * f + (128 - 128 * f) * 0x01010101u) ^ 0x80808080u;
  } else {
    // 8192 higher.
    const uint32_t offset = (8192 - 128 * f) * 0x00010001u;
    const uint32_t x = pick(raised, 0, 0x4140) * f + offset;
    const uint32_t y = pick(raised, 0, 0x4342) * f + offset;
    products[0] = pick(x, y, 0x6420);
    products[1] = (pick(x, y, 0x7531) + 0x60606060u) ^ 0x80808080u;
  }
}

// Where a thread finds its draws in a part. It has four neighbouring rows and eight neighbouring columns of every
// fourth pair. Units of pairs 2 and 3 of four lie two further, which spreads a warp's loads over the banks.
__device__ uint32_t place_of_unit(uint32_t unit) { return unit ^ (unit / 4 & 2); }  // unit % 4 of pair unit / 4
struct Fragments {
  uint32_t rows;
  uint32_t columns;
  uint32_t fitness;
  __device__ Fragments(uint32_t part, uint32_t columns_part, uint32_t half, uint32_t lane) {
    const uint32_t group = lane / 4;
    const uint32_t pair = lane % 4;
    rows = part * kPartBytes + place_of_unit(4 * pair + 2 * half + group / 4) * kUnit + group % 4 * 4;
    columns = columns_part * kPartBytes + kNoiseBlock + place_of_unit(4 * pair + group / 2) * kUnit + group % 2 * 8;
    fitness = columns_part * kPartBytes + 2 * kNoiseBlock + pair;
  }
};
constexpr uint32_t kPairsApart = 4 * kBlock;  // bytes from a thread's pair to its next

// sums: of a word; two 16 rows, the thread's rows 4 g + 2 s and 4 g + 2 s + 1; eight 8 columns, 8 c + j.
template <int kWords>
__device__ __forceinline__ void add_draw(const int8_t* stage, const Fragments& at, int32_t (&sums)[kWords][2][8][4]) {
  uint32_t b[8][2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    uint32_t low[4];
    uint32_t high[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const auto* eight = reinterpret_cast<const uint2*>(stage + at.columns + (4 * k + i) * kPairsApart);
      low[i] = eight->x;
      high[i] = eight->y;
    }
    uint32_t turned[4];
    turn(low, turned);
#pragma unroll
    for (int j = 0; j < 4; ++j) b[j][k] = turned[j];
    turn(high, turned);
#pragma unroll
    for (int j = 0; j < 4; ++j) b[4 + j][k] = turned[j];
  }
  uint32_t a[kWords][2][4];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    uint32_t products[kWords][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t four = *reinterpret_cast<const uint32_t*>(stage + at.rows + (4 * k + i) * kPairsApart);
      uint32_t words[kWords];
      multiply(four, stage[at.fitness + 4 * (4 * k + i)], words);
#pragma unroll
      for (int w = 0; w < kWords; ++w) products[w][i] = words[w];
    }
#pragma unroll
    for (int w = 0; w < kWords; ++w) turn(products[w], a[w][k]);
  }
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const auto add = [&](auto&& products) {
          products(sums[w][s][j], a[w][0][2 * s], a[w][0][2 * s + 1], a[w][1][2 * s], a[w][1][2 * s + 1], b[j][0],
                   b[j][1]);
        };
        if (kWords == 2 && w == 0) {
          add(multiply_add_unsigned);
        } else {
          add(multiply_add);
        }
      }
    }
  }
}

// A piece's blocks of noise, draw by draw: all ranks of a tile, then the next tile's.
struct Walk {
  const VoteArgs& args;
  const VoteJob& job;
  uint32_t ranks;
  uint32_t row_block;
  uint32_t col_block;
  bool two_blocks;        // of rows
  const int8_t* tile;     // its noise
  const int8_t* fitness;  // of its pairs
  uint32_t rank = 0;
  uint32_t rows = 0;  // blocks behind `tile`
  uint32_t more_rows = 0;
  uint32_t columns = 0;

  __device__ uint32_t place_of(uint32_t block) const {
    return args.places == nullptr ? block : args.places[block].first;
  }
  __device__ void find_places() {
    const uint32_t first = job.a_block + row_block + rank * job.a_stride;
    rows = place_of(first);
    more_rows = place_of(first + (two_blocks ? 1 : 0));
    columns = place_of(job.b_block + col_block + rank * job.b_stride);
  }
  __device__ void advance() {
    if (++rank == ranks) {
      rank = 0;
      tile += args.tile_bytes;
      fitness += kTilePairs;
    }
    if (ranks > 1) find_places();
  }
};

// A place in the ring of stages.
__device__ void advance_stage(int8_t*& stage, int8_t* ring) {
  stage += kStageBytes;
  if (stage == ring + kShared) stage = ring;
}

// Blocks of x: pieces of 128 rows and 64 columns; of y: shares of the tiles.
template <int kWords>
__global__ void __launch_bounds__(kThreads, kWords == 1 ? 4 : 3)
    matrix_votes_kernel(const VoteArgs args, uint32_t tiles_each) {
  extern __shared__ __align__(128) int8_t shared[];
  const VoteJob& job = job_of(args.list, blockIdx.x);
  const Tiles tiles(args, job, tiles_each);
  const uint32_t draws = tiles.count() * job.ranks;
  if (draws == 0) return;
  const uint32_t col_blocks = divide_up(job.cols, kBlock);
  const uint32_t piece = blockIdx.x - job.first;
  const uint32_t row_block = piece / col_blocks * kStageParts;
  const uint32_t col_block = piece % col_blocks;
  const bool two_blocks = row_block + 1 < divide_up(job.rows, kBlock);
  const uint32_t thread = threadIdx.x;
  Walk walk{args,
            job,
            job.ranks,
            row_block,
            col_block,
            two_blocks,
            args.noise + tiles.begin * args.tile_bytes,
            args.fitness + tiles.begin * kTilePairs};
  walk.find_places();
  const uint32_t place = place_of_unit(thread) * kUnit;
  uint32_t left = draws;  // to be fetched
  const auto fetch_draw = [&](int8_t* part) {
    if (left == 0) return;
    --left;
    const uint32_t own = thread * kUnit;
    const auto units_of = [&](uint32_t block) { return walk.tile + (size_t{block} * kNoiseBlock + own); };
    fetch_unit(part + place, units_of(walk.rows));
    if (two_blocks) fetch_unit(part + kPartBytes + place, units_of(walk.more_rows));
    fetch_unit(part + kNoiseBlock + place, units_of(walk.columns));
    if (thread < 2) fetch_unit(part + 2 * kNoiseBlock + own, walk.fitness + own);
    walk.advance();
  };
  int8_t* fetched = shared;
  const auto fetch_stage = [&] {
    fetch_draw(fetched);
    if (!two_blocks) fetch_draw(fetched + kPartBytes);
    advance_stage(fetched, shared);
    end_fetch();
  };
  const uint32_t lane = thread % 32;
  const uint32_t warp = thread / 32;
  const uint32_t part = warp / 2;
  const Fragments at(part, two_blocks ? 0 : part, warp % 2, lane);
  int32_t sums[kWords][2][8][4] = {};
  for (uint32_t i = 0; i + 1 < kStages; ++i) fetch_stage();
  const uint32_t draws_each = two_blocks ? 1 : kStageParts;
  int8_t* stage = shared;
  for (uint32_t draw = 0; draw < draws; draw += draws_each) {
    wait_fetched<kStages - 2>();
    __syncthreads();
    fetch_stage();
    if (two_blocks || draw + part < draws) add_draw(stage, at, sums);
    advance_stage(stage, shared);
  }
  wait_fetched<0>();
  auto* const cells = reinterpret_cast<long long*>(shared);
  const uint32_t group = lane / 4;
#pragma unroll
  for (uint32_t s = 0; s < 2; ++s) {
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < 8; ++j) {
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t row = warp * kSumRows + group + i / 2 * 8;
        const uint32_t col = (lane % 4 * 2 + i % 2) * 8 + j;
        long long sum = sums[0][s][j][i];
        if constexpr (kWords == 2) sum += 256LL * sums[1][s][j][i];
        cells[row * kSumStride + col] = sum;
      }
    }
    __syncthreads();
    // The parts of a single block of rows are summed up first.
    const uint32_t rows = (two_blocks ? kWarps : kWarps / 2) * kSumRows;
    for (uint32_t i = thread; i < rows * kBlock; i += kThreads) {
      const uint32_t row = i / kBlock;
      const uint32_t of_warp = row % kSumRows;
      long long sum = cells[row * kSumStride + i % kBlock];
      if (!two_blocks) sum += cells[(row + rows) * kSumStride + i % kBlock];
      add_vote(job, row_block * kBlock + row / kSumRows * 32 + of_warp % 8 * 4 + 2 * s + of_warp / 8,
               col_block * kBlock + i % kBlock, sum);
    }
  }
}

// ---- Vectors ----
// A lane adds up 4 pairs of a tile. 4 * 127 * 46 * 46 * 1024 < 2^31: as many tiles of a warp as its int32 sums hold.
constexpr uint32_t kMostVectorTiles = 1024 * kWarps;

// Blocks of x: pieces of 64 values; of y: shares of the tiles. A lane has 16 of the values of 8 pairs at once.
__global__ void __launch_bounds__(kThreads) vector_votes_kernel(const VoteArgs args, uint32_t tiles_each) {
  __shared__ uint32_t table[kOwnValues];
  const VoteJob& job = job_of(args.list, blockIdx.x);
  const Tiles tiles(args, job, tiles_each);
  if (tiles.count() == 0) return;
  const OwnValues own(args.values, table, kThreads);
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t from = (blockIdx.x - job.first) * kBlock + lane % 4 * kUnit;
  int32_t sums[16] = {};
  for (uint32_t tile = tiles.begin + threadIdx.x / 32; tile < tiles.end; tile += kWarps) {
    const uint32_t first_pair = args.first_pair + tile * kTilePairs;
    uint64_t own_keys[2];
    for (const uint32_t side : {EGG_SIDE_A, EGG_SIDE_B})
      own_keys[side] = egg_noise_key(args.seed, args.step, first_pair + lane, job.param, side, 0);
    const bool is_voter = first_pair + lane - job.first_voter < job.voters;
    const int32_t own_fitness = is_voter ? args.fitness[tile * kTilePairs + lane] : 0;
    for (uint32_t i = 0; i < kTilePairs / 8; ++i) {
      const auto pair = static_cast<int>(8 * i + lane / 4);
      const uint64_t key_a = __shfl_sync(0xffffffffu, own_keys[0], pair);
      const uint64_t key_b = __shfl_sync(0xffffffffu, own_keys[1], pair);
      const int32_t f = __shfl_sync(0xffffffffu, own_fitness, pair);
      if (args.values.table == nullptr) {
        // Values as they are looked up, those behind the vector's too: nobody votes with these.
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const uint32_t word = from / 4 + static_cast<uint32_t>(k);
          const uint32_t a = egg_noise_word(key_a, word);
          const uint32_t b = egg_noise_word(key_b, word);
#pragma unroll
          for (int i = 0; i < 4; ++i) sums[4 * k + i] += own.of_byte(a, i) * own.of_byte(b, i) * f;
        }
        continue;
      }
      const uint4 a = draw16(args.values, own, key_a, EGG_SIDE_A, from, job.rows);
      const uint4 b = draw16(args.values, own, key_b, EGG_SIDE_B, from, job.rows);
#pragma unroll
      for (int k = 0; k < 16; ++k) sums[k] += byte_of(word_of(a, k / 4), k % 4) * byte_of(word_of(b, k / 4), k % 4) * f;
    }
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    long long sum = sums[k];
    for (int distance = 4; distance < 32; distance *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane < 4) add_vote(job, from + static_cast<uint32_t>(k), 0, sum);
  }
}

__global__ void __launch_bounds__(kThreads) sum_votes_kernel(const VoteParts parts, size_t count) {
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += size_t{gridDim.x} * kThreads) {
    long long sum = 0;
    for (uint32_t p = 0; p < parts.count; ++p) sum += parts.parts[p][i];
    parts.votes[i] = sum;
  }
}

// Tiles of each block's share, so that there are blocks enough, and sums that fit.
uint32_t share_of_tiles(const VoteArgs& args, uint32_t fewest, uint32_t most) {
  constexpr uint32_t kEnoughBlocks = 1024;
  const uint32_t splits = divide_up(kEnoughBlocks, args.list.pieces);
  return std::min(std::max(divide_up(args.tiles, splits), fewest), most);
}

}  // namespace

uint32_t matrix_vote_pieces(uint32_t rows, uint32_t cols) {
  return divide_up(rows, kStageParts * kBlock) * divide_up(cols, kBlock);
}
uint32_t vector_vote_pieces(uint32_t rows) { return divide_up(rows, kBlock); }

void prepare_votes() {
  for (const auto kernel : {matrix_votes_kernel<1>, matrix_votes_kernel<2>}) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared), "reserve shared memory");
  }
}

void launch_matrix_votes(const VoteArgs& args, cudaStream_t stream) {
  if (args.list.pieces == 0) return;
  const uint32_t each = share_of_tiles(args, 8, std::max(1U, kMostTiles / args.most_ranks));
  const dim3 blocks(args.list.pieces, divide_up(args.tiles, each));
  if (args.most_fitness <= 2) {
    matrix_votes_kernel<1><<<blocks, kThreads, kShared, stream>>>(args, each);
  } else {
    matrix_votes_kernel<2><<<blocks, kThreads, kShared, stream>>>(args, each);
  }
  check_launch("gather votes");
}

void launch_vector_votes(const VoteArgs& args, cudaStream_t stream) {
  if (args.list.pieces == 0) return;
  const uint32_t each = share_of_tiles(args, kWarps, kMostVectorTiles);
  vector_votes_kernel<<<dim3(args.list.pieces, divide_up(args.tiles, each)), kThreads, 0, stream>>>(args, each);
  check_launch("gather votes");
}

void launch_sum_votes(const VoteParts& parts, size_t count, cudaStream_t stream) {
  constexpr size_t kMostBlocks = 4096;
  if (count == 0) return;
  const size_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  sum_votes_kernel<<<static_cast<uint32_t>(blocks), kThreads, 0, stream>>>(parts, count);
  check_launch("add up votes");
}

}  // namespace eggroll::cuda
