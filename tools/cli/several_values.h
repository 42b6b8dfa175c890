// The answer to key=1,2 where a command takes one value.
#ifndef EGGROLL_TOOLS_CLI_SEVERAL_VALUES_H
#define EGGROLL_TOOLS_CLI_SEVERAL_VALUES_H

#include "cli/commands.h"

namespace eggroll {

// What a command takes.
enum class Takes {
  kRun,
  kRuns,  // a run, and several with --multirun
  kSweep,
  kEither,  // a run or a sweep
};

// Throws Error if an override has several values. Its sentence names words to type, each of which is tried first.
void require_one_value_each(const ConfigSearch& search, const Overrides& overrides, Takes takes);

}  // namespace eggroll

#endif
