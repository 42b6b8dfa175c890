// Checks that all processes hold the same weights, because memory or a device may fail.
#ifndef EGGROLL_TRAIN_REPLICAS_H
#define EGGROLL_TRAIN_REPLICAS_H

#include <cstdint>
#include <span>

#include "plugin/instance.h"
#include "processes/processes.h"
#include "program/program.h"

namespace eggroll {

// The checksum is never 0.
uint64_t weights_checksum(BackendSession& session, const Program& program);

// All processes must call this with all checksums after this number of steps. If they differ, throws one Error on all
// that names step, processes and tensors. The weights that most processes hold count as right; of equally large groups,
// those of the group with the lowest process.
void require_equal_weights(std::span<const uint64_t> checksums, uint64_t step, BackendSession& session,
                           const Program& program, Processes& processes);

// The same for the weights as they are now.
void require_equal_weights(uint64_t step, BackendSession& session, const Program& program, Processes& processes);

// What a process has read of the run's folder when it begins.
struct Start {
  uint64_t step = 0;
  uint64_t evaluations = 0;
  uint64_t since_best = 0;  // evaluations
};
// All processes must call this before the first step. Throws the same Error on all if a process does not see the files
// that process 0 sees, because it would train another model.
void require_same_start(const Start& start, BackendSession& session, const Program& program, Processes& processes);

}  // namespace eggroll

#endif
