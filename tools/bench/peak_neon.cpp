// Built with -march=armv8.2-a+dotprod+i8mm; the first loop needs neither extension.
#include <arm_neon.h>

#include "bench/peak.h"

namespace eggroll::bench {
namespace {

// Twelve multiply-adds into sums of their own; MULTIPLY_ADD(sum) is one, of operand 13 with itself, operand 12 is free.
#define ROUND                                                                                                        \
  asm volatile(MULTIPLY_ADD(0) MULTIPLY_ADD(1) MULTIPLY_ADD(2) MULTIPLY_ADD(3) MULTIPLY_ADD(4) MULTIPLY_ADD(5)       \
                   MULTIPLY_ADD(6) MULTIPLY_ADD(7) MULTIPLY_ADD(8) MULTIPLY_ADD(9) MULTIPLY_ADD(10) MULTIPLY_ADD(11) \
               : "+w"(s0), "+w"(s1), "+w"(s2), "+w"(s3), "+w"(s4), "+w"(s5), "+w"(s6), "+w"(s7), "+w"(s8), "+w"(s9), \
                 "+w"(s10), "+w"(s11), "=&w"(product)                                                                \
               : "w"(ones))
#define RUN(name)                                                                       \
  int64_t name(uint64_t rounds) {                                                       \
    const int8x16_t ones = vdupq_n_s8(1);                                               \
    int32x4_t s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, s8{}, s9{}, s10{}, s11{}; \
    int16x8_t product{};                                                                \
    for (uint64_t i = 0; i < rounds; ++i) ROUND;                                        \
    const int32x4_t sums[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11};        \
    return sum_of_lanes(sums);                                                          \
  }

// Two products of at most 127 * 127 fit 16 bits.
#define MULTIPLY_ADD(sum) \
  "smull %12.8h, %13.8b, %13.8b\n\tsmlal2 %12.8h, %13.16b, %13.16b\n\tsadalp %" #sum ".4s, %12.8h\n\t"
RUN(run_smull)
#undef MULTIPLY_ADD
#define MULTIPLY_ADD(sum) "sdot %" #sum ".4s, %13.16b, %13.16b\n\t"
RUN(run_sdot)
#undef MULTIPLY_ADD
#define MULTIPLY_ADD(sum) "smmla %" #sum ".4s, %13.16b, %13.16b\n\t"
RUN(run_smmla)
#undef MULTIPLY_ADD

}  // namespace

constexpr Peak kPeakSmull{"smull smlal2 sadalp", 12 * 16, &run_smull};
constexpr Peak kPeakSdot{"sdot", 12 * 16, &run_sdot};
constexpr Peak kPeakSmmla{"smmla", 12 * 32, &run_smmla};

}  // namespace eggroll::bench
