// Launches of sites: draws at the logits, errors of draws within, and the votes of what enters the value linearly.
#ifndef EGGROLL_CUDA_SITES_H
#define EGGROLL_CUDA_SITES_H

#include <cuda_runtime.h>

#include "eggroll/arithmetic.h"
#include "forward.h"
#include "site_plan.h"
#include "update.h"

namespace eggroll::cuda {

// Some of a site's streams. Places are (streams, tokens), from the first of these streams on.
struct SiteDrawArgs {
  const int8_t* logits;  // (places, logit_stride)
  uint32_t logit_stride;
  uint32_t size;
  const uint32_t* targets;  // (places)
  const egg_loss_tables* loss_tables;
  uint64_t seed;
  uint64_t step;
  uint32_t stream;  // number of the first
  uint32_t streams;
  uint32_t tokens;
  uint32_t number;  // of the site
  uint32_t draws;
  uint32_t orthogonal;
  int32_t amplitude;
  int32_t unit;
  int32_t shift;
  uint32_t error_stride;
  int16_t* errors;      // (places, error_stride): 0 after the size, and if there is no target
  uint8_t* perturbed;   // (places)
  egg_site_sums* sums;  // added to
};
void launch_site_draws(const SiteDrawArgs& args, cudaStream_t stream);

// The tokens after each place of some streams, up to the windows' end. After the end there are no targets.
struct LaterArgs {
  const uint32_t* inputs;  // of the first place, as targets, resets and row_numbers
  const uint32_t* targets;
  const uint8_t* resets;
  const uint32_t* row_numbers;
  uint32_t index_count;
  uint32_t place;  // of the first: within the streams
  uint32_t places;
  uint32_t tokens;  // of a stream
  uint32_t horizon;
  uint32_t* later_inputs;  // (places, horizon), as the others
  uint32_t* later_targets;
  uint8_t* later_resets;
  uint32_t* later_rows;  // (places, horizon, index_count)
};
void launch_later_tokens(const LaterArgs& args, cudaStream_t stream);

// Errors of draws within the program, from the losses of a launch's members.
struct SiteErrorArgs {
  const int64_t* losses;    // (places, draws, 2)
  const int64_t* later;     // the same, of the tokens of the horizon; null: there are none
  const uint32_t* targets;  // (places)
  MoveArgs move;            // of that launch
  uint32_t places;
  int32_t limit;
  int32_t shift;
  uint32_t error_stride;
  int16_t* errors;      // as of SiteDrawArgs
  uint8_t* perturbed;   // likewise
  egg_site_sums* sums;  // added to
};
void launch_site_errors(const SiteErrorArgs& args, cudaStream_t stream);

// Tables: lists have places of this site.
struct SiteRowArgs {
  RowTables tables;
  const int16_t* errors;
  uint32_t error_stride;
};
// Makes the votes of listed pieces: gives them to the rule, or adds up those of rows that have several.
void launch_site_rows(const SiteRowArgs& args, const RuleArgs& rule, cudaStream_t stream);

// Adds error times input, and the inputs' squares by column.
struct SiteMatrixArgs {
  const int16_t* errors;
  uint32_t error_stride;
  const uint8_t* perturbed;
  const int8_t* inputs;  // (places, input_stride)
  uint32_t input_stride;
  uint32_t places;
  uint32_t rows;
  uint32_t cols;
  long long* votes;             // (rows, cols)
  unsigned long long* squares;  // (cols)
};
void launch_site_matrix_votes(const SiteMatrixArgs& args, cudaStream_t stream);
// Adds the errors.
void launch_site_vector_votes(const int16_t* errors, uint32_t error_stride, uint32_t places, uint32_t size,
                              long long* votes, cudaStream_t stream);

// The rule, with a null deviation for each column, which comes from the column's squares and the moment of the errors.
// Columns whose squares are 0 do not change.
struct SiteRuleArgs {
  RuleJob job;
  const unsigned long long* squares;  // (cols)
  double moment;
};
void launch_site_rule(const SiteRuleArgs& args, const RuleArgs& rule, cudaStream_t stream);

// The compilers of host and device lay these out alike.
static_assert(sizeof(SiteDrawArgs) == 112);
static_assert(sizeof(LaterArgs) == 88);
static_assert(sizeof(SiteErrorArgs) == 144);
static_assert(sizeof(SiteRowArgs) == 40);
static_assert(sizeof(SiteMatrixArgs) == 64);
static_assert(sizeof(SiteRuleArgs) == 64);

}  // namespace eggroll::cuda

#endif
