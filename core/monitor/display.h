// A report as a table for people.
#ifndef EGGROLL_MONITOR_DISPLAY_H
#define EGGROLL_MONITOR_DISPLAY_H

#include <cstddef>
#include <string>

#include "monitor/report.h"

namespace eggroll {

// A row for each layer (the part of a name before its first dot) with the worst of its values, heads and tensors, then
// the first verdicts. Lines end in '\n'; with colour they hold ANSI escape sequences. Where a row would have more
// characters than `width`, names of layers are shortened to 12 or more.
std::string monitor_table(const MonitorReport& report, bool colour, size_t width);

}  // namespace eggroll

#endif
