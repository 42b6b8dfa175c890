// The update of masked tables: votes and the rule of the rows that were read. A simdgroup has a row and a lane four of
// its columns at a time; what it has added up of them goes into the rule as it is.
#include <metal_stdlib>

#include "rule.h"

// Goes through the pairs that vote on a row, in their order, and never back.
struct VoterWalk {
  device const PairRange* ranges;
  uint32_t before;  // pairs in the ranges that are passed

  uint32_t pair(uint32_t number) {
    while (number - before >= ranges->end - ranges->begin) {
      before += ranges->end - ranges->begin;
      ++ranges;
    }
    return ranges->begin + (number - before);
  }
};

EGG_KERNEL masked(EGG_ARGUMENTS(MaskedArgs), EGG_CONSTANTS(RuleNode, nodes, kBindRuleNodes),
                  EGG_CONSTANTS(int32_t, slot_nodes, kBindSlotNodes), EGG_CONSTANTS(MaskedJob, jobs, kBindMaskedJobs),
                  EGG_CONSTANTS(uint32_t, scalars, kBindScalars), EGG_BUFFER(const VotedRow, rows, kBindVotedRows),
                  EGG_BUFFER(const PairRange, voters, kBindRowVoters), EGG_BUFFER(const int8_t, fitness, kBindFitness),
                  EGG_BUFFER(const int8_t, noise, kBindNoise), EGG_BUFFER(int8_t, weights, kBindWeights),
                  EGG_BUFFER(uint32_t, slots, kBindSlots), EGG_BUFFER(uint32_t, columns, kBindRuleScratch),
                  EGG_BUFFER(atomic_uint, changed, kBindChanged), EGG_THREAD) {
  const uint32_t groups = args.rule.groups;
  const NoiseArgs noise_args = own(args.noise);
  const RuleRun run =
      rule_run(args.rule, nodes, slot_nodes, scalars, columns, (group * kSimdgroups + simdgroup) * kLanes + lane);
  threadgroup uint64_t* keys_b = reinterpret_cast<threadgroup uint64_t*>(scratch) + simdgroup * kLanes;
  threadgroup int32_t* fas = reinterpret_cast<threadgroup int32_t*>(scratch + 8 * kThreads) + simdgroup * kLanes;
  for (uint32_t i = args.first_row + group * kSimdgroups + simdgroup; i < args.end_row; i += groups * kSimdgroups) {
    const VotedRow row = own_of_device(rows[i]);
    const MaskedJob job = own(jobs[row.job]);
    const uint32_t draws = row.pairs * args.ranks;
    uint32_t moved = 0;
    for (uint32_t first = 0; first < job.cols; first += 4 * kLanes) {
      const uint32_t word = first / 4 + lane;
      int64_t votes[4] = {0, 0, 0, 0};
      VoterWalk walk;
      walk.ranges = voters + row.first_voters;
      walk.before = 0;
      for (uint32_t done = 0; done < draws; done += kLanes) {
        const uint32_t draw = done + lane;
        if (draw < draws) {
          const uint32_t pair = walk.pair(draw / args.ranks);
          const uint32_t rank = draw % args.ranks;
          const uint64_t key_a = draw_key(noise_args, pair, job.param, EGG_SIDE_A, rank);
          fas[lane] = fitness[pair] * draw_one(noise, noise_args.table_log2, key_a, EGG_SIDE_A, row.row);
          keys_b[lane] = draw_key(noise_args, pair, job.param, EGG_SIDE_B, rank);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        Four sums = {{0, 0, 0, 0}};
        for (uint32_t d = 0; d < min(kLanes, draws - done); ++d) {
          const Four b = draw_four(noise, noise_args.table_log2, keys_b[d], EGG_SIDE_B, word, job.cols);
          for (uint32_t k = 0; k < 4; ++k) sums.at[k] += fas[d] * b.at[k];
        }
        for (uint32_t k = 0; k < 4; ++k) votes[k] += sums.at[k];
        // All have read the draws before the next ones take their place.
        simdgroup_barrier(mem_flags::mem_threadgroup);
      }
      moved += apply_to_row(run, job, row, word, votes, weights, slots);
    }
    moved = simd_sum(moved);
    if (lane == 0 && moved > 0) atomic_fetch_add_explicit(changed + job.param, moved, memory_order_relaxed);
  }
}
