// Built with -mavx2 -mavxvnni; the first loop needs only AVX2.
#include <immintrin.h>

#include "bench/peak.h"
#include "bench/peak_twelve.h"

namespace eggroll::bench {
namespace {

int64_t run_maddubs(uint64_t rounds) {
  const __m256i ones = _mm256_set1_epi8(1);
  const __m256i wide_ones = _mm256_set1_epi16(1);
  __m256i s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, product{};
#define MULTIPLY_ADD(sum) "vpmaddubsw %9, %9, %8\n\tvpmaddwd %10, %8, %8\n\tvpaddd %8, %" #sum ", %" #sum "\n\t"
  for (uint64_t i = 0; i < rounds; ++i) {
    asm volatile(MULTIPLY_ADD(0) MULTIPLY_ADD(1) MULTIPLY_ADD(2) MULTIPLY_ADD(3) MULTIPLY_ADD(4) MULTIPLY_ADD(5)
                     MULTIPLY_ADD(6) MULTIPLY_ADD(7)
                 : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3), "+x"(s4), "+x"(s5), "+x"(s6), "+x"(s7), "=&x"(product)
                 : "x"(ones), "x"(wide_ones));
  }
#undef MULTIPLY_ADD
  const __m256i sums[] = {s0, s1, s2, s3, s4, s5, s6, s7};
  return sum_of_lanes(sums);
}

#define MULTIPLY_ADD(sum) "%{vex%} vpdpbusd %13, %13, %" #sum "\n\t"
EGG_PEAK_OF_TWELVE(run_vnni, __m256i, _mm256_set1_epi8(1), "x")
#undef MULTIPLY_ADD

}  // namespace

constexpr Peak kPeakMaddubs{"vpmaddubsw vpmaddwd vpaddd ymm", 8 * 32, &run_maddubs};
constexpr Peak kPeakAvxVnni{"vpdpbusd ymm", 12 * 32, &run_vnni};

}  // namespace eggroll::bench
