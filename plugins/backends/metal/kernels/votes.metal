// Votes, Z = sum over pairs and ranks of f*A*B', of every parameter. A threadgroup has a piece of a matrix and a share
// of the pairs: it draws the noise anew, a few draws at a time, and adds up exact float32 products.
#include <metal_stdlib>

#include "draw.h"

struct Draws {
  threadgroup uint64_t* keys_a;
  threadgroup uint64_t* keys_b;
  threadgroup int32_t* fitness;
  threadgroup float* fa;  // (draws, kBlock)
  threadgroup float* b;
};

// A vector's votes: a thread four values, from 4 * word on.
inline void vector_votes(VoteArgs args, VoteJob job, uint32_t word, uint32_t begin, uint32_t end,
                         device const int8_t* fitness, device const int8_t* noise, device int64_t* votes) {
  if (4 * word >= job.rows) return;
  const int32_t table_log2 = args.noise.table_log2;
  int64_t sums[4] = {0, 0, 0, 0};
  for (uint32_t pair = begin; pair < end; ++pair) {
    if (fitness[pair] == 0) continue;
    const uint64_t key_a = draw_key(args.noise, pair, job.param, EGG_SIDE_A, 0);
    const uint64_t key_b = draw_key(args.noise, pair, job.param, EGG_SIDE_B, 0);
    const Four a = draw_four(noise, table_log2, key_a, EGG_SIDE_A, word, job.rows);
    const Four b = draw_four(noise, table_log2, key_b, EGG_SIDE_B, word, job.rows);
    EGG_UNROLL
    for (uint32_t k = 0; k < 4; ++k) sums[k] += fitness[pair] * a.at[k] * b.at[k];
  }
  EGG_UNROLL
  for (uint32_t k = 0; k < 4; ++k) {
    if (4 * word + k < job.rows) votes[job.cells + 4 * word + k] = sums[k];
  }
}

EGG_KERNEL votes(EGG_ARGUMENTS(VoteArgs), EGG_CONSTANTS(VoteJob, jobs, kBindVoteJobs),
                 EGG_BUFFER(const int8_t, fitness, kBindFitness), EGG_BUFFER(const int8_t, noise, kBindNoise),
                 EGG_BUFFER(int64_t, votes_of_shares, kBindVotes), EGG_THREAD) {
  const uint32_t thread_number = simdgroup * kLanes + lane;
  const uint32_t number = args.first_group + group;
  const uint32_t share = number / args.pieces;
  const VoteJob job = own(jobs[job_of<VoteJob>(jobs, args.job_count, number % args.pieces)]);
  const uint32_t piece = number % args.pieces - job.first;
  const uint32_t share_pairs = divide_up(job.pairs, args.shares);
  const uint32_t begin = job.first_pair + min(job.pairs, share * share_pairs);
  const uint32_t end = job.first_pair + min(job.pairs, (share + 1) * share_pairs);
  device int64_t* out = votes_of_shares + share * args.cells;
  const VoteArgs own_args = own(args);
  if (job.vector != 0) {
    return vector_votes(own_args, job, piece * kThreads + thread_number, begin, end, fitness, noise, out);
  }

  Draws draws;
  draws.keys_a = reinterpret_cast<threadgroup uint64_t*>(scratch);
  draws.keys_b = draws.keys_a + kVoteDraws;
  draws.fitness = reinterpret_cast<threadgroup int32_t*>(draws.keys_b + kVoteDraws);
  draws.fa = reinterpret_cast<threadgroup float*>(scratch + kVoteKeys);
  draws.b = draws.fa + kVoteDraws * kBlock;
  const uint32_t col_blocks = divide_up(job.cols, kBlock);
  const uint32_t first_row = piece / col_blocks * kBlock;
  const uint32_t first_col = piece % col_blocks * kBlock;
  const uint32_t own_row = thread_number / (kBlock / kOwnCols) * kOwnRows;
  const uint32_t own_col = thread_number % (kBlock / kOwnCols) * kOwnCols;
  const bool has_votes = first_row + own_row < job.rows && first_col + own_col < job.cols;
  const uint32_t count = (end - begin) * job.ranks;
  int32_t sums[kOwnRows][kOwnCols] = {};
  uint32_t flushed = 0;
  // Once at least: a share without pairs has votes of zero.
  for (uint32_t done = 0; done == 0 || done < count; done += kVoteDraws) {
    if (thread_number < 2 * kVoteDraws) {
      const uint32_t draw = done + thread_number % kVoteDraws;
      const uint32_t side = thread_number / kVoteDraws;
      const uint32_t pair = begin + draw / job.ranks;
      (side == 0 ? draws.keys_a : draws.keys_b)[thread_number % kVoteDraws] =
          draw_key(own_args.noise, pair, job.param, side, draw % job.ranks);
      if (side == 0) draws.fitness[thread_number] = draw < count ? fitness[pair] : 0;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint32_t i = thread_number; i < kVoteDraws * kBlock / 4; i += kThreads) {
      const uint32_t draw = i / (kBlock / 4);
      const uint32_t word = i % (kBlock / 4);
      const Four a =
          draw_four(noise, own_args.noise.table_log2, draws.keys_a[draw], EGG_SIDE_A, first_row / 4 + word, job.rows);
      const Four b =
          draw_four(noise, own_args.noise.table_log2, draws.keys_b[draw], EGG_SIDE_B, first_col / 4 + word, job.cols);
      for (uint32_t k = 0; k < 4; ++k) {
        draws.fa[4 * i + k] = static_cast<float>(draws.fitness[draw] * a.at[k]);
        draws.b[4 * i + k] = static_cast<float>(b.at[k]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (!has_votes) continue;
    float exact[kOwnRows][kOwnCols] = {};
    for (uint32_t draw = 0; draw < kVoteDraws; ++draw) {
      EGG_UNROLL
      for (uint32_t i = 0; i < kOwnRows; ++i) {
        EGG_UNROLL
        for (uint32_t j = 0; j < kOwnCols; ++j) {
          exact[i][j] += draws.fa[draw * kBlock + own_row + i] * draws.b[draw * kBlock + own_col + j];
        }
      }
    }
    const bool flush = done + kVoteDraws >= count || (done + kVoteDraws) % kVoteFlush == 0;
    EGG_UNROLL
    for (uint32_t i = 0; i < kOwnRows; ++i) {
      EGG_UNROLL
      for (uint32_t j = 0; j < kOwnCols; ++j) {
        sums[i][j] += static_cast<int32_t>(exact[i][j]);
        const uint32_t row = first_row + own_row + i;
        const uint32_t col = first_col + own_col + j;
        if (!flush || row >= job.rows || col >= job.cols) continue;
        const uint64_t cell = job.cells + uint64_t(row) * job.cols + col;
        out[cell] = (flushed != 0 ? out[cell] : 0) + sums[i][j];
        sums[i][j] = 0;
      }
    }
    if (flush) flushed = 1;
  }
}
