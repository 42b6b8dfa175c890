// One table of override cases: for its test, and for the fuzzer to begin with.
#ifndef EGGROLL_TESTS_CONFIG_OVERRIDE_TABLE_H
#define EGGROLL_TESTS_CONFIG_OVERRIDE_TABLE_H

#include <string>
#include <vector>

namespace eggroll::test {

enum class Outcome {
  kTree,         // what differs from tests/config/fixture without overrides: "path: value; ~deleted", nothing else may
  kRuns,         // what --multirun makes of them: "a=1 b=2; a=1 b=3"
  kRefused,      // the sentence, behind "command line 'the last override': "
  kRunsRefused,  // the same of --multirun
};

struct OverrideRow {
  std::vector<std::string> overrides;
  Outcome outcome;
  std::string expected;
};

const std::vector<OverrideRow>& override_table();

// Those of them that are about sweeps.
std::vector<OverrideRow> sweep_rows();

}  // namespace eggroll::test

#endif
