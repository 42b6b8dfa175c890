// Linux's text of its processors.
#ifndef EGGROLL_SYSTEM_CPUINFO_H
#define EGGROLL_SYSTEM_CPUINFO_H

#include <string_view>

#include "system/machine.h"

namespace eggroll {

// From the text of /proc/cpuinfo on x86 or Arm. There on Linux alone.
Cpu parse_cpuinfo(std::string_view text);

}  // namespace eggroll

#endif
