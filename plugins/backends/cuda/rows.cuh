// What kernels know of the rows of masked tables.
#ifndef EGGROLL_CUDA_ROWS_CUH
#define EGGROLL_CUDA_ROWS_CUH

#include "update.h"

namespace eggroll::cuda {

// row_vote_std of row_voters.h, in device code. count: as in RowTable.
__device__ inline float row_vote_std(unsigned long long count, uint32_t ranks, double variance) {
  const auto draws = static_cast<double>(static_cast<unsigned long long>(pairs_voting(count)) * ranks);
  return __double2float_rn(__dsqrt_rn(__dmul_rn(draws, variance)));
}

}  // namespace eggroll::cuda

#endif
