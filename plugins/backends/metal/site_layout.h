// What host and kernels share of sites: draws at the output, and votes with errors. A site's places are (streams,
// tokens).
#ifndef EGGROLL_METAL_SITE_LAYOUT_H
#define EGGROLL_METAL_SITE_LAYOUT_H

#include "layout.h"

namespace eggroll {
namespace metal {

// A place's errors are a row: those of the padded channels, int16, then the sum of their squares, int64, and padding.
EGG_CONSTANT uint32_t kSquareBytes = 16;
// Rows of the largest Hadamard matrix: a simdgroup has the int32 values of one place in threadgroup memory, and after
// them what independent draws add up to.
EGG_CONSTANT uint32_t kMostDrawRows = 4096;
static_assert(2 * sizeof(int32_t) * kMostDrawRows <= kThreadgroupMemory, "a place's values and sums fit");

// Each simdgroup has a place, from first to end among `places`. The first of all of these has:
struct DrawArgs {
  Places places;
  uint64_t first_error;   // bytes before its row of errors
  uint32_t first_kept;    // among all records
  uint32_t first_target;  // in the call

  uint32_t first;
  uint32_t end;
  uint32_t at_once;  // places of a threadgroup
  uint32_t size;
  uint32_t log2_n;  // of the Hadamard matrix's rows
  uint32_t draws;
  uint32_t orthogonal;
  int32_t amplitude;
  int32_t unit;
  int32_t shift;
  uint32_t logits;  // in a place's record
  uint32_t kept_bytes;
  uint32_t error_bytes;
};

// As DrawArgs.
struct SiteErrorArgs {
  Places places;
  uint64_t first_error;
  uint32_t first_target;
  uint32_t first;
  uint32_t end;
  uint32_t size;
  uint32_t row_mask;
  uint32_t draws;
  uint32_t orthogonal;
  int32_t shift;
  uint32_t error_bytes;
  uint32_t record_bytes;  // of a member, whose loss lies at the end
};

// The votes of one parameter as one op reads it: pieces as of VoteJob for a matrix, of kThreads values for a vector.
struct SiteVoteJob {
  uint32_t first;  // of its pieces among those of all jobs
  uint32_t param;
  uint32_t vector;
  uint32_t rows;
  uint32_t cols;     // 1 for a vector
  uint32_t cells;    // before its votes
  uint32_t squares;  // cells before the sums of its columns' squared inputs; a vector has none
  uint32_t input;    // what the matrix multiplies, in a place's record
  uint32_t first_kept;
  uint32_t places;
  uint32_t error_bytes;
  uint64_t first_error;
};

// Places that are multiplied between two barriers, and added up as int32.
EGG_CONSTANT uint32_t kSiteStage = 32;
static_assert(kSiteStage * 32767 * 127 < 0x80000000u, "a stage's sum fits int32");
EGG_CONSTANT uint32_t kSiteVoteMemory = 2 * sizeof(int32_t) * kSiteStage * kBlock;

// Threadgroups as of VoteArgs; shares are of the places.
struct SiteVoteArgs {
  uint64_t cells;
  uint32_t job_count;
  uint32_t pieces;
  uint32_t shares;
  uint32_t first_group;
  uint32_t kept_bytes;
};

// The reads of a table's row are the places of its site that read it. A row with more than kSitePiece reads is cut:
// each piece has its own int32 votes, and then the row adds these up.
EGG_CONSTANT uint32_t kSitePiece = 64;

// Pieces and rows are VotedRow: first_voters is the first of their reads, pairs the number of reads. Rows from
// first_cut on are cut: they name pieces instead of reads. A simdgroup has a piece; rows are taken in turn, as of
// MaskedArgs.
struct SitePieceArgs {
  uint64_t first_error;
  uint32_t first;
  uint32_t end;
  uint32_t stride;  // padded columns
  uint32_t error_bytes;
};
struct SiteRowArgs {
  RuleShape rule;
  uint64_t first_error;
  uint32_t first_row;
  uint32_t end_row;
  uint32_t first_cut;
  uint32_t stride;
  uint32_t error_bytes;
};

// See layout.h.
static_assert(sizeof(DrawArgs) == 104, "");
static_assert(sizeof(SiteErrorArgs) == 80, "");
static_assert(sizeof(SiteVoteJob) == 56, "");
static_assert(sizeof(SiteVoteArgs) == 32, "");
static_assert(sizeof(SitePieceArgs) == 24, "");
static_assert(sizeof(SiteRowArgs) == 48, "");

}  // namespace metal
}  // namespace eggroll

#endif
