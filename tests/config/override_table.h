// A table of override cases. A test checks every row, and the fuzzer begins with them.
#ifndef EGGROLL_TESTS_CONFIG_OVERRIDE_TABLE_H
#define EGGROLL_TESTS_CONFIG_OVERRIDE_TABLE_H

#include <string>
#include <vector>

namespace eggroll::test {

enum class Outcome {
  kTree,         // the differences from tests/config/fixture, and no others: "path: value; ~deleted"
  kRuns,         // the runs of --multirun: "a=1 b=2; a=1 b=3"
  kRefused,      // the sentence after "command line 'the last override': "
  kRunsRefused,  // the same for --multirun
};

struct OverrideRow {
  std::vector<std::string> overrides;
  Outcome outcome;
  std::string expected;
};

const std::vector<OverrideRow>& override_table();

// The rows about sweeps.
std::vector<OverrideRow> sweep_rows();

}  // namespace eggroll::test

#endif
