// egg_divide32 of many numbers by one.
#ifndef EGGROLL_CUDA_DIVISOR_CUH
#define EGGROLL_CUDA_DIVISOR_CUH

#include "tile.cuh"

namespace eggroll::cuda {

// egg_divide32 by a divisor that many numbers share, none above 127 times it: an estimate in float32, set right in
// integers.
struct Divisor {
  uint32_t twice;
  uint32_t half;  // what is added for rounding
  uint32_t shift;
  float reciprocal;

  __device__ Divisor(int32_t d, int32_t nearest) : twice(2 * static_cast<uint32_t>(d)), half(nearest != 0 ? d : 0) {
    // 22 bits of what is divided are left, which a float32 holds.
    shift = static_cast<uint32_t>(max(10 - __clz(255 * d), 0));
    reciprocal = __fdiv_rn(static_cast<float>(1u << shift), static_cast<float>(twice));
  }
  __device__ int32_t operator()(int32_t n) const {
    const uint32_t whole = 2 * static_cast<uint32_t>(abs(n)) + half;
    int32_t y = float_to_byte(__fmul_rn(whole_to_float(whole >> shift), reciprocal));
    const auto rest = static_cast<int32_t>(whole - static_cast<uint32_t>(y) * twice);
    y += rest >= static_cast<int32_t>(twice) ? 1 : 0;
    y -= rest < 0 ? 1 : 0;
    return n < 0 ? -y : y;
  }
};

}  // namespace eggroll::cuda

#endif
