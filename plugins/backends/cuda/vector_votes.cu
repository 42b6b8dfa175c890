// Votes of vectors, with a thread for each 16 values, in one launch for all vectors; and the sum of the votes of
// several devices.
#include "draw_words.cuh"
#include "votes.cuh"

namespace eggroll::cuda {
namespace {

// A lane adds up 4 pairs of a tile. The most tiles whose sums fit in a warp's int32: 4 * 127 * 46 * 46 * 1024 < 2^31.
constexpr uint32_t kMostVectorTiles = 1024 * kVoteWarps;

// Blocks of x: pieces of 64 values; of y: shares of the tiles. A lane has 16 of the values of 8 pairs at once.
__global__ void __launch_bounds__(kVoteThreads) vector_votes_kernel(const VoteArgs args, uint32_t tiles_each) {
  __shared__ uint32_t table[kOwnValues];
  const VoteJob& job = job_of(args.list, blockIdx.x);
  const VoteTiles tiles(args, job, tiles_each);
  if (tiles.count() == 0) return;
  const OwnValues own(args.values, table, kVoteThreads);
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t from = (blockIdx.x - job.first) * kBlock + lane % 4 * kUnit;
  int32_t sums[16] = {};
  for (uint32_t tile = tiles.begin + threadIdx.x / 32; tile < tiles.end; tile += kVoteWarps) {
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
        // Looks up values, also some after the vector's end, with which nobody votes.
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

__global__ void __launch_bounds__(kVoteThreads) sum_votes_kernel(const VoteParts parts, size_t count) {
  for (size_t i = size_t{blockIdx.x} * kVoteThreads + threadIdx.x; i < count; i += size_t{gridDim.x} * kVoteThreads) {
    long long sum = 0;
    for (uint32_t p = 0; p < parts.count; ++p) sum += parts.parts[p][i];
    parts.votes[i] = sum;
  }
}

}  // namespace

uint32_t vector_vote_pieces(uint32_t rows) { return divide_up(rows, kBlock); }

void launch_vector_votes(const VoteArgs& args, cudaStream_t stream) {
  if (args.list.pieces == 0) return;
  const uint32_t each = share_of_tiles(args, kVoteWarps, kMostVectorTiles);
  vector_votes_kernel<<<dim3(args.list.pieces, divide_up(args.tiles, each)), kVoteThreads, 0, stream>>>(args, each);
  check_launch("gather votes");
}

void launch_sum_votes(const VoteParts& parts, size_t count, cudaStream_t stream) {
  constexpr size_t kMostBlocks = 4096;
  if (count == 0) return;
  const size_t blocks = std::min((count + kVoteThreads - 1) / kVoteThreads, kMostBlocks);
  sum_votes_kernel<<<static_cast<uint32_t>(blocks), kVoteThreads, 0, stream>>>(parts, count);
  check_launch("add up votes");
}

}  // namespace eggroll::cuda
