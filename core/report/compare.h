// What differs between two runs, or between two sets of runs.
#ifndef EGGROLL_REPORT_COMPARE_H
#define EGGROLL_REPORT_COMPARE_H

#include <string>
#include <vector>

#include "report/collection.h"

namespace eggroll {

// A line for each difference: in configuration, environment and result. In sets, two runs are a pair if they agree in
// the seed and in all that varies within a set. Throws if a side has no run.
std::vector<std::string> compare(const Collection& a, const Collection& b);

}  // namespace eggroll

#endif
