// Built with -mavx512f -mavx512vnni.
#include <immintrin.h>

#include "bench/peak.h"
#include "bench/peak_twelve.h"

namespace eggroll::bench {
namespace {

#define MULTIPLY_ADD(sum) "vpdpbusd %13, %13, %" #sum "\n\t"
EGG_PEAK_OF_TWELVE(run_vnni, __m512i, _mm512_set1_epi8(1), "v")
#undef MULTIPLY_ADD

}  // namespace

constexpr Peak kPeakAvx512Vnni{"vpdpbusd zmm", 12 * 64, &run_vnni};

}  // namespace eggroll::bench
