// A report as a table for people.
#ifndef EGGROLL_MONITOR_DISPLAY_H
#define EGGROLL_MONITOR_DISPLAY_H

#include <string>

#include "monitor/report.h"

namespace eggroll {

// A row for each layer (the part of a name before its first dot) with the worst of its values, heads and tensors, then
// the first verdicts. Lines end in '\n'; with colour they hold ANSI escape sequences.
std::string monitor_table(const MonitorReport& report, bool colour);

}  // namespace eggroll

#endif
