// What a host does with the fitness of a step, beside its device: on every rank for its own pairs or for all of them.
#ifndef EGGROLL_BENCH_HOST_CASE_H
#define EGGROLL_BENCH_HOST_CASE_H

#include <memory>

#include "bench/case.h"

namespace eggroll::bench {

// Names of what can be measured.
const std::vector<std::string>& benchmarked_host_work();

std::unique_ptr<Case> open_host_case(const Host& host, const std::string& work, uint32_t pairs);

}  // namespace eggroll::bench

#endif
