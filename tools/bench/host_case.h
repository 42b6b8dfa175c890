// The host's own work on the fitness of a step, which every process does for its own pairs or for all pairs.
#ifndef EGGROLL_BENCH_HOST_CASE_H
#define EGGROLL_BENCH_HOST_CASE_H

#include <memory>

#include "bench/case.h"

namespace eggroll::bench {

// The names of the host's benchmarks.
const std::vector<std::string>& benchmarked_host_work();

std::unique_ptr<Case> open_host_case(const Host& host, const std::string& work, uint32_t pairs);

}  // namespace eggroll::bench

#endif
