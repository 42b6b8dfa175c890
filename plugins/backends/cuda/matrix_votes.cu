// Votes of matrices, Z = sum over pairs and ranks of f*A*B', as products over the draws of a population, on the tensor
// cores. One launch for all matrices.
#include "draw_words.cuh"
#include "mma.cuh"
#include "votes.cuh"

namespace eggroll::cuda {
namespace {

// A stage has two parts. If a piece has two blocks of 64 rows, each part has the draws of one block. Else the parts are
// two draws, one after the other. A warp has 32 rows of a part.
constexpr uint32_t kStageParts = 2;
constexpr uint32_t kFitnessBytes = 128;  // room for a tile's 32
constexpr uint32_t kPartBytes = 2 * kNoiseBlock + kFitnessBytes;
constexpr uint32_t kStageBytes = kStageParts * kPartBytes;
static_assert(kNoiseBlock == kVoteThreads * kUnit && kTilePairs == 2 * kUnit);
// The columns of a draw times the fitness of its pairs, in words as multiply() makes them. While all warps of
// the draw read them, the columns of the next stage are made.
constexpr uint32_t kColumnsBytes = kNoiseBlock;  // of a word
template <int kWords>
constexpr uint32_t kDrawColumns = kWords* kColumnsBytes;
template <int kWords>
constexpr uint32_t kAllColumns = 2 * kStageParts* kDrawColumns<kWords>;
template <int kWords>
constexpr uint32_t kStages = kWords == 1 ? 5 : 6;  // four or three blocks share a multiprocessor
template <int kWords>
constexpr uint32_t kRing = kStages<kWords>* kStageBytes;
template <int kWords>
constexpr uint32_t kShared = kRing<kWords> + kAllColumns<kWords>;
// The sums of a piece before they are added to the votes: 16 rows of each warp at a time, kBlock + 1 words apart.
constexpr uint32_t kSumStride = kBlock + 1;
constexpr uint32_t kSumRows = 16;
static_assert(kVoteWarps * kSumRows * kSumStride * sizeof(long long) <= kShared<1>);
// The most draws whose sums fit in a block's int32: 255 * 46 * 2^17 < 2^31.
constexpr uint32_t kMostTiles = (1 << 17) / kTilePairs;

__device__ void fetch_unit(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ void end_fetch() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most kLeft groups of copies, each ended by end_fetch(), are under way.
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

// Four draws of a pair times its fitness: one word if all |f| <= 2, because |f*a| is then at most 92; else two words,
// whose numbers are 256 * high + low, with low in [0, 255] and high in [-23, 22].
template <int kWords>
__device__ void multiply(uint32_t four, int32_t fitness, uint32_t (&products)[kWords]) {
  const uint32_t raised = four ^ 0x80808080u;  // 128 higher
  const auto f = static_cast<uint32_t>(fitness);
  if constexpr (kWords == 1) {
    products[0] = (raised * f + (128 - 128 * f) * 0x01010101u) ^ 0x80808080u;
  } else {
    // Both halves carry an offset of 8192, which is taken off below.
    const uint32_t offset = (8192 - 128 * f) * 0x00010001u;
    const uint32_t x = pick(raised, 0, 0x4140) * f + offset;
    const uint32_t y = pick(raised, 0, 0x4342) * f + offset;
    products[0] = pick(x, y, 0x6420);
    products[1] = (pick(x, y, 0x7531) + 0x60606060u) ^ 0x80808080u;
  }
}

// Where a part has this unit, unit % 4 of pair unit / 4. Units of pairs 2 and 3 of four lie two further, which spreads
// a warp's loads over the banks.
__device__ uint32_t place_of_unit(uint32_t unit) { return unit ^ (unit / 4 & 2); }
constexpr uint32_t kPairsApart = 4 * kBlock;  // bytes from a thread's pair to its next

// The columns times the fitness lie as the tensor cores take them. A word has one column of four pairs, which are four
// pairs apart. A lane takes its columns 8 (lane / 4) + j in units of 16 bytes: the words of j and j + 1 that begin at
// pair lane % 4, and the same that begin at pair 16 + lane % 4. Units of the lanes follow one another.
constexpr uint32_t kUnitsOfLanes = 32 * kUnit;  // bytes
// Where the units of columns j = 2 two and 2 two + 1 begin, of all lanes.
__device__ uint32_t place_of_columns(int word, uint32_t two) {
  return (static_cast<uint32_t>(word) * 4 + two) * kUnitsOfLanes;
}

// Where a thread's part of making a draw's columns times the fitness lies: half of a lane's pairs and of its columns.
struct OwnColumns {
  uint32_t draws;    // in a part
  uint32_t fitness;  // likewise
  uint32_t made;     // in the columns
  __device__ OwnColumns() {
    static_assert(kVoteThreads == 4 * 32);
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t columns = threadIdx.x / 32 % 2;
    const uint32_t pairs = threadIdx.x / 64;
    const uint32_t group = lane / 4;
    const uint32_t pair = lane % 4;
    draws = kNoiseBlock + place_of_unit(4 * pair + group / 2) * kUnit + group % 2 * 8 + 4 * columns +
            4 * pairs * kPairsApart;
    fitness = 2 * kNoiseBlock + pair + 16 * pairs;
    made = place_of_columns(0, 2 * columns) + lane * kUnit + 8 * pairs;
  }
};
template <int kWords>
__device__ __forceinline__ void make_columns(const int8_t* part, const OwnColumns& own, int8_t* columns) {
  uint32_t products[kWords][4];
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t words[kWords];
    multiply(*reinterpret_cast<const uint32_t*>(part + own.draws + i * kPairsApart), part[own.fitness + 4 * i], words);
#pragma unroll
    for (int w = 0; w < kWords; ++w) products[w][i] = words[w];
  }
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    uint32_t turned[4];
    turn(products[w], turned);
#pragma unroll
    for (uint32_t two = 0; two < 2; ++two) {
      *reinterpret_cast<uint2*>(columns + own.made + place_of_columns(w, two)) =
          make_uint2(turned[2 * two], turned[2 * two + 1]);
    }
  }
}

// A thread's sums [word][two][s][i]: column 8 (lane / 4) + 2 two + i / 2, row 4 (2 (lane % 4) + i % 2) + s of the
// warp's.
template <int kWords>
using Sums = int32_t[kWords][4][4][4];

// rows: the thread's first in a part; it has four neighbouring rows of every fourth pair. columns: the thread's.
template <int kWords>
__device__ __forceinline__ void add_draw(const int8_t* rows, const int8_t* columns, Sums<kWords>& sums) {
  uint32_t b[2][4];
#pragma unroll
  for (uint32_t k = 0; k < 2; ++k) {
    uint32_t draws[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) draws[i] = *reinterpret_cast<const uint32_t*>(rows + (4 * k + i) * kPairsApart);
    turn(draws, b[k]);
  }
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
#pragma unroll
    for (uint32_t two = 0; two < 4; ++two) {
      const uint4 a = *reinterpret_cast<const uint4*>(columns + place_of_columns(w, two));
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        if (kWords == 2 && w == 0) {
          multiply_add_unsigned(sums[w][two][s], a.x, a.y, a.z, a.w, b[0][s], b[1][s]);
        } else {
          multiply_add(sums[w][two][s], a.x, a.y, a.z, a.w, b[0][s], b[1][s]);
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
template <int kWords>
__device__ int8_t* stage_after(int8_t* stage, int8_t* ring) {
  return stage + kStageBytes == ring + kRing<kWords> ? ring : stage + kStageBytes;
}

// The sums of a piece over these draws. kTwoBlocks: of rows; see kStageParts.
template <int kWords, bool kTwoBlocks>
__device__ __forceinline__ void add_draws(Walk& walk, uint32_t draws, int8_t* shared, Sums<kWords>& sums) {
  constexpr uint32_t kDrawsEach = kTwoBlocks ? 1 : kStageParts;  // of a stage
  const uint32_t thread = threadIdx.x;
  const uint32_t place = place_of_unit(thread) * kUnit;
  uint32_t left = draws;  // to be fetched
  int8_t* fetched = shared;
  const auto fetch_stage = [&] {
#pragma unroll
    for (uint32_t i = 0; i < kDrawsEach; ++i) {
      if (left == 0) break;
      --left;
      int8_t* const part = fetched + i * kPartBytes;
      const int8_t* const own = walk.tile + thread * kUnit;
      fetch_unit(part + place, own + size_t{walk.rows} * kNoiseBlock);
      if (kTwoBlocks) fetch_unit(part + kPartBytes + place, own + size_t{walk.more_rows} * kNoiseBlock);
      fetch_unit(part + kNoiseBlock + place, own + size_t{walk.columns} * kNoiseBlock);
      if (thread < 2) fetch_unit(part + 2 * kNoiseBlock + thread * kUnit, walk.fitness + thread * kUnit);
      walk.advance();
    }
    fetched = stage_after<kWords>(fetched, shared);
    end_fetch();
  };
  const uint32_t lane = thread % 32;
  const uint32_t warp = thread / 32;
  const uint32_t part = warp / 2;
  const uint32_t rows_at =
      part * kPartBytes + place_of_unit(4 * (lane % 4) + 2 * (warp % 2) + lane / 16) * kUnit + lane / 4 % 4 * 4;
  const uint32_t columns_at = (kTwoBlocks ? 0 : part * kDrawColumns<kWords>)+lane * kUnit;
  const OwnColumns own;
  constexpr uint32_t kHalf = kAllColumns<kWords> / 2;
  int8_t* const columns = shared + kRing<kWords>;  // of the draws of a stage, and of the next
  uint32_t odd = 0;
  const auto make = [&](const int8_t* stage, uint32_t draw, int8_t* to) {
#pragma unroll
    for (uint32_t i = 0; i < kDrawsEach; ++i) {
      if (draw + i < draws) make_columns<kWords>(stage + i * kPartBytes, own, to + i * kDrawColumns<kWords>);
    }
  };
  for (uint32_t i = 0; i + 1 < kStages<kWords>; ++i) fetch_stage();
  int8_t* stage = shared;
  wait_fetched<kStages<kWords> - 2>();
  __syncthreads();
  make(stage, 0, columns);
#pragma unroll 1
  for (uint32_t draw = 0; draw < draws; draw += kDrawsEach) {
    wait_fetched<kStages<kWords> - 3>();
    __syncthreads();
    fetch_stage();
    int8_t* const next = stage_after<kWords>(stage, shared);
    make(next, draw + kDrawsEach, columns + (kHalf - odd));
    if (kTwoBlocks || draw + part < draws) add_draw<kWords>(stage + rows_at, columns + odd + columns_at, sums);
    stage = next;
    odd = kHalf - odd;
  }
  wait_fetched<0>();
}

// Blocks of x: pieces of 128 rows and 64 columns; of y: shares of the tiles.
template <int kWords>
__global__ void __launch_bounds__(kVoteThreads, kWords == 1 ? 4 : 3)
    matrix_votes_kernel(const VoteArgs args, uint32_t tiles_each) {
  extern __shared__ __align__(128) int8_t shared[];
  const VoteJob& job = job_of(args.list, blockIdx.x);
  const VoteTiles tiles(args, job, tiles_each);
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
  Sums<kWords> sums = {};
  if (two_blocks) {
    add_draws<kWords, true>(walk, draws, shared, sums);
  } else {
    add_draws<kWords, false>(walk, draws, shared, sums);
  }
  auto* const cells = reinterpret_cast<long long*>(shared);
  const uint32_t lane = thread % 32;
  const uint32_t warp = thread / 32;
  const uint32_t group = lane / 4;
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    __syncthreads();
#pragma unroll
    for (uint32_t s = 0; s < 2; ++s) {
#pragma unroll
      for (uint32_t two = 0; two < 4; ++two) {
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
          const uint32_t row = warp * kSumRows + s * 8 + lane % 4 * 2 + i % 2;
          const uint32_t col = group * 8 + two * 2 + i / 2;
          long long sum = sums[0][two][2 * half + s][i];
          if constexpr (kWords == 2) sum += 256LL * sums[1][two][2 * half + s][i];
          cells[row * kSumStride + col] = sum;
        }
      }
    }
    __syncthreads();
    // With a single block of rows, the sums of both parts are added up first.
    const uint32_t rows = (two_blocks ? kVoteWarps : kVoteWarps / 2) * kSumRows;
    for (uint32_t i = thread; i < rows * kBlock; i += kVoteThreads) {
      const uint32_t row = i / kBlock;
      const uint32_t of_warp = row % kSumRows;
      long long sum = cells[row * kSumStride + i % kBlock];
      if (!two_blocks) sum += cells[(row + rows) * kSumStride + i % kBlock];
      add_vote(job, row_block * kBlock + row / kSumRows * 32 + of_warp % 8 * 4 + 2 * half + of_warp / 8,
               col_block * kBlock + i % kBlock, sum);
    }
  }
}

}  // namespace

uint32_t matrix_vote_pieces(uint32_t rows, uint32_t cols) {
  return divide_up(rows, kStageParts * kBlock) * divide_up(cols, kBlock);
}

void prepare_votes() {
  const auto reserve = [](auto* kernel, uint32_t bytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "reserve shared memory");
  };
  reserve(matrix_votes_kernel<1>, kShared<1>);
  reserve(matrix_votes_kernel<2>, kShared<2>);
}

void launch_matrix_votes(const VoteArgs& args, cudaStream_t stream) {
  if (args.list.pieces == 0) return;
  const uint32_t each = share_of_tiles(args, 8, std::max(1U, kMostTiles / args.most_ranks));
  const dim3 blocks(args.list.pieces, divide_up(args.tiles, each));
  if (args.most_fitness <= 2) {
    matrix_votes_kernel<1><<<blocks, kVoteThreads, kShared<1>, stream>>>(args, each);
  } else {
    matrix_votes_kernel<2><<<blocks, kVoteThreads, kShared<2>, stream>>>(args, each);
  }
  check_launch("gather votes");
}

}  // namespace eggroll::cuda
