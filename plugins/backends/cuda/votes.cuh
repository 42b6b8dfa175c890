// Code that votes of matrices and of vectors share.
#ifndef EGGROLL_CUDA_VOTES_CUH
#define EGGROLL_CUDA_VOTES_CUH

#include <algorithm>

#include "device.h"
#include "jobs.cuh"
#include "update.h"

namespace eggroll::cuda {

constexpr uint32_t kVoteThreads = 128;
constexpr uint32_t kVoteWarps = kVoteThreads / 32;

__device__ inline void add_vote(const VoteJob& job, uint32_t row, uint32_t col, long long vote) {
  if (row < job.rows && col < job.cols) {
    atomicAdd(reinterpret_cast<unsigned long long*>(job.votes + size_t{row} * job.cols + col),
              static_cast<unsigned long long>(vote));
  }
}

// The tiles of a launch's pairs in which there are voters of the job's parameter, and of those a block's share.
struct VoteTiles {
  uint32_t begin;
  uint32_t end;
  __device__ VoteTiles(const VoteArgs& args, const VoteJob& job, uint32_t each) {
    const uint32_t first = max(job.first_voter, args.first_pair) - args.first_pair;
    const uint32_t last = min(job.first_voter + job.voters, args.first_pair + args.pairs);
    begin = max(first / kTilePairs, blockIdx.y * each);
    end = last <= args.first_pair ? 0 : min(divide_up(last - args.first_pair, kTilePairs), (blockIdx.y + 1) * each);
    end = max(begin, end);
  }
  __device__ uint32_t count() const { return end - begin; }
};

// Tiles of each block's share, so that there are blocks enough, and sums that fit.
inline uint32_t share_of_tiles(const VoteArgs& args, uint32_t fewest, uint32_t most) {
  constexpr uint32_t kEnoughBlocks = 1024;
  const uint32_t splits = divide_up(kEnoughBlocks, args.list.pieces);
  return std::min(std::max(divide_up(args.tiles, splits), fewest), most);
}

}  // namespace eggroll::cuda

#endif
