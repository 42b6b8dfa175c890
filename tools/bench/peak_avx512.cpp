// Built with -mavx512f -mavx512vnni.
#include <immintrin.h>

#include "bench/peak.h"

namespace eggroll::bench {
namespace {

// There are twelve sums, more than latency times issue rate on any processor that has the instruction.
int64_t run_vnni(uint64_t rounds) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, s8{}, s9{}, s10{}, s11{};
#define MULTIPLY_ADD(sum) "vpdpbusd %12, %12, %" #sum "\n\t"
  for (uint64_t i = 0; i < rounds; ++i) {
    asm volatile(MULTIPLY_ADD(0) MULTIPLY_ADD(1) MULTIPLY_ADD(2) MULTIPLY_ADD(3) MULTIPLY_ADD(4) MULTIPLY_ADD(5)
                     MULTIPLY_ADD(6) MULTIPLY_ADD(7) MULTIPLY_ADD(8) MULTIPLY_ADD(9) MULTIPLY_ADD(10) MULTIPLY_ADD(11)
                 : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7), "+v"(s8), "+v"(s9),
                   "+v"(s10), "+v"(s11)
                 : "v"(ones));
  }
#undef MULTIPLY_ADD
  const __m512i sums[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11};
  return sum_of_lanes(sums);
}

}  // namespace

constexpr Peak kPeakAvx512Vnni{"vpdpbusd zmm", 12 * 64, &run_vnni};

}  // namespace eggroll::bench
