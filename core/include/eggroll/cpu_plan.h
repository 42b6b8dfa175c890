// The plan of a session on this machine's processors and in its memory. Code that includes this must link oneTBB.
#ifndef EGGROLL_CPU_PLAN_H
#define EGGROLL_CPU_PLAN_H

#include <string>

#include "eggroll/machine.h"
#include "eggroll/session_plan.h"
#include "eggroll/threads.h"

namespace eggroll {

// how: the plan's text before the number of threads. memory(population) returns bytes, which must not fall as the
// population grows. Throws Error if the machine has less memory.
template <class Memory>
SessionPlan plan_on_cpu(const egg_session_spec& spec, const std::string& how, const Memory& memory) {
  const uint64_t bytes = bytes_in_room(spec.population, machine_memory(), memory);
  const uint32_t threads = Threads::number(spec.threads);
  return {bytes, cpu_model(), how + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads")};
}

}  // namespace eggroll

#endif
