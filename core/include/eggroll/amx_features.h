// Finds out what an x86-64 processor and its system offer of AMX, Intel's tiles of 16 rows of 64 bytes.
#ifndef EGGROLL_AMX_FEATURES_H
#define EGGROLL_AMX_FEATURES_H

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace eggroll {

struct CpuidLeaf {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
};

// All zeros if the processor has no such leaf.
inline CpuidLeaf cpuid_leaf(uint32_t number) {
  CpuidLeaf leaf;
  __get_cpuid_count(number, 0, &leaf.a, &leaf.b, &leaf.c, &leaf.d);
  return leaf;
}

// Whether the operating system saves the tiles (XCR0, bits 17 and 18).
inline bool saves_amx_tiles() {
  constexpr uint32_t kOsxsave = 1U << 27;
  if ((cpuid_leaf(1).c & kOsxsave) == 0) return false;
  uint32_t low = 0;
  uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr uint32_t kTiles = 3U << 17;
  return (low & kTiles) == kTiles;
}

// Whether the processor has tiles and products of int8 (CPUID leaf 7, edx, bits 24, 25) and the system saves them.
inline bool has_amx_int8() {
  constexpr uint32_t kTileAndInt8 = 3U << 24;
  return (cpuid_leaf(7).d & kTileAndInt8) == kTileAndInt8 && saves_amx_tiles();
}

// Asks Linux for the memory of the tiles, for all threads of this process: arch_prctl(ARCH_REQ_XCOMP_PERM,
// XFEATURE_XTILEDATA). Without it, their first use is an illegal instruction.
inline bool ask_for_amx() {
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return has_amx_int8() && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace eggroll

#endif

#endif
