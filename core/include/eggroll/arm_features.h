// Asks the operating system which instructions a 64-bit ARM processor has for products of bytes.
#ifndef EGGROLL_ARM_FEATURES_H
#define EGGROLL_ARM_FEATURES_H

#if defined(__APPLE__)
#include "eggroll/machine.h"
#else
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace eggroll {

#if defined(__APPLE__)
inline bool arm_has_dotprod() { return machine_has("hw.optional.arm.FEAT_DotProd"); }
inline bool arm_has_i8mm() { return machine_has("hw.optional.arm.FEAT_I8MM"); }
#else
inline bool arm_has_dotprod() { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }
inline bool arm_has_i8mm() { return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0; }
#endif

}  // namespace eggroll

#endif
