// All processes hold the same weights; a process whose memory or device has failed does not.
#ifndef EGGROLL_TRAIN_REPLICAS_H
#define EGGROLL_TRAIN_REPLICAS_H

#include <cstdint>
#include <span>

#include "plugin/instance.h"
#include "processes/processes.h"
#include "program/program.h"

namespace eggroll {

// Never 0.
uint64_t weights_checksum(BackendSession& session, const Program& program);

// All processes call this with everyone's checksums after this number of steps. Where these differ, throws one Error on
// all, naming step, processes and tensors: most processes count as right, or among equally many those with the lowest
// process.
void require_equal_weights(std::span<const uint64_t> checksums, uint64_t step, BackendSession& session,
                           const Program& program, Processes& processes);

// The same of their weights as they are now.
void require_equal_weights(uint64_t step, BackendSession& session, const Program& program, Processes& processes);

// Where a process begins: what it has read of the run's folder.
struct Start {
  uint64_t step = 0;
  uint64_t evaluations = 0;
  uint64_t since_best = 0;  // evaluations
};
// Called by all processes before the first step. Throws the same Error on all where one does not see the files that
// process 0 sees: it would train another model.
void require_same_start(const Start& start, BackendSession& session, const Program& program, Processes& processes);

}  // namespace eggroll

#endif
