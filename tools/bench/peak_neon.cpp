// Built with -march=armv8.2-a+dotprod+i8mm; the first loop needs neither extension.
#include <arm_neon.h>

#include "bench/peak.h"
#include "bench/peak_twelve.h"

namespace eggroll::bench {
namespace {

// Two products of at most 127 * 127 fit 16 bits.
#define MULTIPLY_ADD(sum) \
  "smull %12.8h, %13.8b, %13.8b\n\tsmlal2 %12.8h, %13.16b, %13.16b\n\tsadalp %" #sum ".4s, %12.8h\n\t"
EGG_PEAK_OF_TWELVE(run_smull, int32x4_t, vreinterpretq_s32_s8(vdupq_n_s8(1)), "w")
#undef MULTIPLY_ADD
#define MULTIPLY_ADD(sum) "sdot %" #sum ".4s, %13.16b, %13.16b\n\t"
EGG_PEAK_OF_TWELVE(run_sdot, int32x4_t, vreinterpretq_s32_s8(vdupq_n_s8(1)), "w")
#undef MULTIPLY_ADD
#define MULTIPLY_ADD(sum) "smmla %" #sum ".4s, %13.16b, %13.16b\n\t"
EGG_PEAK_OF_TWELVE(run_smmla, int32x4_t, vreinterpretq_s32_s8(vdupq_n_s8(1)), "w")
#undef MULTIPLY_ADD

}  // namespace

constexpr Peak kPeakSmull{"smull smlal2 sadalp", 12 * 16, &run_smull};
constexpr Peak kPeakSdot{"sdot", 12 * 16, &run_sdot};
constexpr Peak kPeakSmmla{"smmla", 12 * 32, &run_smmla};

}  // namespace eggroll::bench
