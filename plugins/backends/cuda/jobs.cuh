// Work on many parameters in one launch: a list of jobs. Each job has some of the launch's pieces; the pieces follow
// job after job.
#ifndef EGGROLL_CUDA_JOBS_CUH
#define EGGROLL_CUDA_JOBS_CUH

#include "update.h"

namespace eggroll::cuda {

// The job that has the piece.
template <class Job>
__device__ const Job& job_of(const JobList<Job>& list, uint32_t piece) {
  uint32_t low = 0;
  uint32_t high = list.count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (list.jobs[middle].first <= piece ? low : high) = middle;
  }
  return list.jobs[low];
}

}  // namespace eggroll::cuda

#endif
