// The rule, a thread a weight.
#include <metal_stdlib>

#include "rule.h"

EGG_KERNEL rule(EGG_ARGUMENTS(RuleArgs), EGG_CONSTANTS(RuleNode, nodes, kBindRuleNodes),
                EGG_CONSTANTS(int32_t, slot_nodes, kBindSlotNodes), EGG_CONSTANTS(RuleJob, jobs, kBindRuleJobs),
                EGG_CONSTANTS(uint32_t, scalars, kBindScalars), EGG_CONSTANTS(uint32_t, vote_stds, kBindVoteStds),
                EGG_BUFFER(const int64_t, votes, kBindVotes), EGG_BUFFER(int8_t, weights, kBindWeights),
                EGG_BUFFER(half, halves, kBindHalves), EGG_BUFFER(uint32_t, slots, kBindSlots),
                EGG_BUFFER(uint32_t, columns, kBindRuleScratch), EGG_BUFFER(atomic_uint, changed, kBindChanged),
                EGG_THREAD) {
  const uint32_t thread_number = simdgroup * kLanes + lane;
  const uint32_t groups = args.rule.groups;
  const RuleRun run = rule_run(args.rule, nodes, slot_nodes, scalars, columns, group * kThreads + thread_number);
  uint32_t at = 0;
  for (uint32_t piece = args.first_piece + group; piece < args.end_piece; piece += groups) {
    while (at + 1 < args.job_count && jobs[at + 1].first <= piece) ++at;
    const RuleJob job = own(jobs[at]);
    const uint32_t i = (piece - job.first) * kThreads + thread_number;
    uint32_t moved = 0;
    if (i < job.count) {
      int64_t vote = 0;
      for (uint32_t s = 0; s < args.shares; ++s) {
        for (uint32_t r = 0; r < job.reads; ++r) vote += votes[s * args.cells + job.cells + r * job.count + i];
      }
      const uint32_t row = i / job.cols;
      const uint32_t col = i % job.cols;
      device int8_t* weight = weights + job.weights + uint64_t(row) * job.stride + col;
      const uint32_t vote_std = vote_stds[job.std + (job.of_columns != 0 ? col : 0)];
      if (vote_std != kStays) moved = apply_rule(run, vote, vote_std, weight, slots + job.slots + i, job.count);
      if (moved != 0 && job.halves != kNoHalves) {
        halves[job.halves + half_place(row, col, job.stride)] = static_cast<half>(static_cast<int32_t>(*weight));
      }
    }
    moved = simd_sum(moved);
    if (lane == 0 && moved > 0) atomic_fetch_add_explicit(changed + job.param, moved, memory_order_relaxed);
  }
}
