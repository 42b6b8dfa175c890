// Chooses a peak, and defines the scalar one; built without instruction set flags.
#include "bench/peak.h"

#include <array>
#if defined(__x86_64__)
#include <cpuid.h>

#include "eggroll/amx_features.h"
#elif defined(__aarch64__)
#include "eggroll/arm_features.h"
#endif

namespace eggroll::bench {
namespace {

int64_t run_scalar(uint64_t rounds) {
  std::array<int32_t, 8> sums{};
  int32_t a = 1;
  int32_t b = 1;
  for (uint64_t i = 0; i < rounds; ++i) {
    for (int32_t& sum : sums) {
      // The compiler must neither see that the factors stay the same nor make vectors of the sums.
      asm volatile("" : "+r"(a), "+r"(b), "+r"(sum));
      sum += a * b;
    }
  }
  int64_t total = 0;
  for (const int32_t sum : sums) total += sum;
  return total;
}

[[maybe_unused]] constexpr Peak kPeakScalar{"scalar", 8, &run_scalar};

#if defined(__x86_64__)

// Leaf 7, subleaf 1, eax bit 4. Compilers do not agree on a name for it.
bool has_avx_vnni() {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & 16U) != 0;
}

const Peak& peak_avx2() {
  if (!__builtin_cpu_supports("avx2")) return kPeakScalar;
  return has_avx_vnni() ? kPeakAvxVnni : kPeakMaddubs;
}

#elif defined(__aarch64__)

const Peak& peak_neon() {
  if (arm_has_i8mm()) return kPeakSmmla;
  return arm_has_dotprod() ? kPeakSdot : kPeakSmull;
}

#endif

}  // namespace

const Peak& peak_of([[maybe_unused]] const std::string& backend) {
#if defined(__x86_64__) && defined(__linux__)
  if (backend == "amx" && ask_for_amx()) return kPeakAmx;
#endif
#if defined(__x86_64__)
  if (backend == "avx512" && __builtin_cpu_supports("avx512vnni")) return kPeakAvx512Vnni;
  return peak_avx2();
#elif defined(__aarch64__)
  return peak_neon();
#else
  return kPeakScalar;
#endif
}

}  // namespace eggroll::bench
