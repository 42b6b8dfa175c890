// Tables that vote with the errors of sites: a simdgroup has a row, or a piece of its reads, and a lane four of its
// columns at a time.
#include <metal_stdlib>

#include "rule.h"
#include "site_layout.h"

// The sums of the errors that a row's reads name. There are at most kSitePiece of them, so int32 holds them.
inline Four sum_of_errors(VotedRow row, uint32_t word, uint32_t error_bytes, device const uint8_t* errors,
                          device const uint32_t* reads) {
  Four sums = {{0, 0, 0, 0}};
  for (uint32_t r = 0; r < row.pairs; ++r) {
    const uint64_t at = uint64_t(reads[row.first_voters + r]) * error_bytes;
    device const int16_t* four = reinterpret_cast<device const int16_t*>(errors + at) + 4 * word;
    for (uint32_t k = 0; k < 4; ++k) sums.at[k] += four[k];
  }
  return sums;
}

EGG_KERNEL site_pieces(EGG_ARGUMENTS(SitePieceArgs), EGG_BUFFER(const VotedRow, pieces, kBindVotedRows),
                       EGG_BUFFER(const uint32_t, reads, kBindRowVoters),
                       EGG_BUFFER(const uint8_t, errors, kBindErrors), EGG_BUFFER(int32_t, votes, kBindVotes),
                       EGG_THREAD) {
  const uint32_t i = args.first + group * kSimdgroups + simdgroup;
  if (i >= args.end) return;
  const VotedRow piece = own_of_device(pieces[i]);
  for (uint32_t word = lane; word < args.stride / 4; word += kLanes) {
    const Four sums = sum_of_errors(piece, word, args.error_bytes, errors + args.first_error, reads);
    for (uint32_t k = 0; k < 4; ++k) votes[uint64_t(i) * args.stride + 4 * word + k] = sums.at[k];
  }
}

EGG_KERNEL site_rows(EGG_ARGUMENTS(SiteRowArgs), EGG_CONSTANTS(RuleNode, nodes, kBindRuleNodes),
                     EGG_CONSTANTS(int32_t, slot_nodes, kBindSlotNodes),
                     EGG_CONSTANTS(MaskedJob, jobs, kBindMaskedJobs), EGG_CONSTANTS(uint32_t, scalars, kBindScalars),
                     EGG_BUFFER(const VotedRow, rows, kBindVotedRows),
                     EGG_BUFFER(const uint32_t, reads, kBindRowVoters), EGG_BUFFER(const uint8_t, errors, kBindErrors),
                     EGG_BUFFER(const int32_t, votes_of_pieces, kBindVotes), EGG_BUFFER(int8_t, weights, kBindWeights),
                     EGG_BUFFER(uint32_t, slots, kBindSlots), EGG_BUFFER(uint32_t, columns, kBindRuleScratch),
                     EGG_BUFFER(atomic_uint, changed, kBindChanged), EGG_THREAD) {
  const uint32_t own_number = group * kSimdgroups + simdgroup;
  const RuleRun run = rule_run(args.rule, nodes, slot_nodes, scalars, columns, own_number * kLanes + lane);
  for (uint32_t i = args.first_row + own_number; i < args.end_row; i += args.rule.groups * kSimdgroups) {
    const VotedRow row = own_of_device(rows[i]);
    const MaskedJob job = own(jobs[row.job]);
    uint32_t moved = 0;
    for (uint32_t word = lane; word < args.stride / 4; word += kLanes) {
      int64_t votes[4] = {0, 0, 0, 0};
      if (i < args.first_cut) {
        const Four sums = sum_of_errors(row, word, args.error_bytes, errors + args.first_error, reads);
        for (uint32_t k = 0; k < 4; ++k) votes[k] = sums.at[k];
      } else {
        for (uint32_t p = 0; p < row.pairs; ++p) {
          device const int32_t* piece = votes_of_pieces + (row.first_voters + p) * args.stride + 4 * word;
          for (uint32_t k = 0; k < 4; ++k) votes[k] += piece[k];
        }
      }
      moved += apply_to_row(run, job, row, word, votes, weights, slots);
    }
    moved = simd_sum(moved);
    if (lane == 0 && moved > 0) atomic_fetch_add_explicit(changed + job.param, moved, memory_order_relaxed);
  }
}
