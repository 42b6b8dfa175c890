// Reads the text in which Linux describes the processors.
#ifndef EGGROLL_SYSTEM_CPUINFO_H
#define EGGROLL_SYSTEM_CPUINFO_H

#include <string_view>

#include "system/machine.h"

namespace eggroll {

// Parses the text of /proc/cpuinfo on x86 or Arm. Only Linux has this function.
Cpu parse_cpuinfo(std::string_view text);

}  // namespace eggroll

#endif
