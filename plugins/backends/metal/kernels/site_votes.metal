// Votes with the errors of sites, as int64: of matrices, error times input, with the squares of each column's inputs;
// of vectors, the errors. A threadgroup has a piece of a parameter and a share of the places.
#include <metal_stdlib>

#include "draw.h"
#include "site_layout.h"

EGG_KERNEL site_votes(EGG_ARGUMENTS(SiteVoteArgs), EGG_CONSTANTS(SiteVoteJob, jobs, kBindVoteJobs),
                      EGG_BUFFER(const int8_t, kept, kBindKept), EGG_BUFFER(const uint8_t, errors, kBindErrors),
                      EGG_BUFFER(int64_t, votes_of_shares, kBindVotes), EGG_THREAD) {
  const uint32_t thread_number = simdgroup * kLanes + lane;
  const uint32_t number = args.first_group + group;
  const uint32_t share = number / args.pieces;
  const SiteVoteJob job = own(jobs[job_of<SiteVoteJob>(jobs, args.job_count, number % args.pieces)]);
  const uint32_t piece = number % args.pieces - job.first;
  const uint32_t share_places = divide_up(job.places, args.shares);
  const uint32_t begin = min(job.places, share * share_places);
  const uint32_t end = min(job.places, begin + share_places);
  device int64_t* out = votes_of_shares + share * args.cells;
  device const uint8_t* rows = errors + job.first_error;
  if (job.vector != 0) {
    const uint32_t i = piece * kThreads + thread_number;
    if (i >= job.rows) return;
    int64_t sum = 0;
    for (uint32_t p = begin; p < end; ++p) {
      sum += reinterpret_cast<device const int16_t*>(rows + uint64_t(p) * job.error_bytes)[i];
    }
    out[job.cells + i] = sum;
    return;
  }

  // (places, kBlock), as int32: errors, and inputs.
  threadgroup int32_t* es = reinterpret_cast<threadgroup int32_t*>(scratch);
  threadgroup int32_t* xs = es + kSiteStage * kBlock;
  const uint32_t col_blocks = divide_up(job.cols, kBlock);
  const uint32_t first_row = piece / col_blocks * kBlock;
  const uint32_t first_col = piece % col_blocks * kBlock;
  const uint32_t own_row = thread_number / (kBlock / kOwnCols) * kOwnRows;
  const uint32_t own_col = thread_number % (kBlock / kOwnCols) * kOwnCols;
  const bool takes_squares = first_row == 0 && thread_number < kBlock;
  int64_t sums[kOwnRows][kOwnCols] = {};
  int64_t squares = 0;
  for (uint32_t done = begin; done < end; done += kSiteStage) {
    const uint32_t count = min(kSiteStage, end - done);
    for (uint32_t i = thread_number; i < count * kBlock; i += kThreads) {
      const uint32_t p = done + i / kBlock;
      const uint32_t channel = i % kBlock;
      device const int8_t* record = kept + uint64_t(job.first_kept + p) * args.kept_bytes;
      es[i] = reinterpret_cast<device const int16_t*>(rows + uint64_t(p) * job.error_bytes)[first_row + channel];
      xs[i] = record[job.input + first_col + channel];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int32_t products[kOwnRows][kOwnCols] = {};
    int32_t of_column = 0;
    for (uint32_t p = 0; p < count; ++p) {
      EGG_UNROLL
      for (uint32_t i = 0; i < kOwnRows; ++i) {
        EGG_UNROLL
        for (uint32_t j = 0; j < kOwnCols; ++j) {
          products[i][j] += es[p * kBlock + own_row + i] * xs[p * kBlock + own_col + j];
        }
      }
      if (takes_squares) of_column += xs[p * kBlock + thread_number] * xs[p * kBlock + thread_number];
    }
    EGG_UNROLL
    for (uint32_t i = 0; i < kOwnRows; ++i) {
      EGG_UNROLL
      for (uint32_t j = 0; j < kOwnCols; ++j) sums[i][j] += products[i][j];
    }
    squares += of_column;
    // All have read these places before the next ones take their place.
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  EGG_UNROLL
  for (uint32_t i = 0; i < kOwnRows; ++i) {
    EGG_UNROLL
    for (uint32_t j = 0; j < kOwnCols; ++j) {
      const uint32_t row = first_row + own_row + i;
      const uint32_t col = first_col + own_col + j;
      if (row < job.rows && col < job.cols) out[job.cells + uint64_t(row) * job.cols + col] = sums[i][j];
    }
  }
  if (takes_squares && first_col + thread_number < job.cols) out[job.squares + first_col + thread_number] = squares;
}
