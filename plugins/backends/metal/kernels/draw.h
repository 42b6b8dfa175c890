// What all kernels share: the parameters that say which thread it is, and draws of noise: eggroll/noise.h with its
// tables in device memory.
#ifndef EGGROLL_METAL_DRAW_H
#define EGGROLL_METAL_DRAW_H

// Metal lacks this macro of stdint.h.
#ifndef INT32_C
#define INT32_C(x) x
#endif
#include "eggroll/draws.h"
#include "layout.h"

using namespace metal;
using namespace eggroll::metal;

#define EGG_KERNEL [[max_total_threads_per_threadgroup(kThreads)]] kernel void

// A kernel's parameters: its arguments first, then buffers, each by its Binding. Lists that all threads read alike are
// constants, which the GPU brings to registers ahead of time.
#define EGG_ARGUMENTS(type) constant type& args [[buffer(kBindArguments)]]
#ifndef EGG_BUFFER
#define EGG_BUFFER(type, name, binding) device type* name [[buffer(binding)]]
#define EGG_CONSTANTS(type, name, binding) constant type* name [[buffer(binding)]]
#endif

// The last parameters of every kernel: its threadgroup's memory, and which thread of which threadgroup it is.
#ifndef EGG_THREAD
#define EGG_THREAD                                                                                  \
  threadgroup uint8_t *scratch [[threadgroup(0)]], uint32_t group [[threadgroup_position_in_grid]], \
      uint32_t lane [[thread_index_in_simdgroup]], uint32_t simdgroup [[simdgroup_index_in_threadgroup]]
#endif

// For an array that must be in registers: every index is then a constant.
#define EGG_UNROLL _Pragma("clang loop unroll(full)")

// What a buffer of constants or of others holds, as the thread's own.
template <class T>
inline T own(constant T& from) {
  return from;
}
template <class T>
inline T own_of_device(device const T& from) {
  return from;
}

// A sum over lanes of numbers below 2^48.
inline uint64_t sum_of_lanes(uint64_t x) {
  const uint64_t high = simd_sum(static_cast<uint32_t>(x >> 24));
  return (high << 24) + simd_sum(static_cast<uint32_t>(x) & 0xffffffu);
}

// The job that a piece belongs to.
template <class Job>
inline uint32_t job_of(constant Job* jobs, uint32_t count, uint32_t piece) {
  uint32_t job = 0;
  while (job + 1 < count && jobs[job + 1].first <= piece) ++job;
  return job;
}

// The key of a draw, or of the signs of orthogonal ones: see egg_draw_key. place: counted from the first of these.
inline uint64_t place_key(Places places, uint32_t place, uint32_t draw) {
  const uint32_t at = places.first + place;
  return egg_draw_key(places.seed, places.step, places.stream + at / places.tokens, places.site, at % places.tokens,
                      draw);
}

inline uint64_t draw_key(NoiseArgs args, uint32_t pair, uint32_t param, uint32_t side, uint32_t rank) {
  return egg_noise_key(args.seed, args.step, args.first_pair + pair, param, side, rank);
}

// One value of a draw.
inline int32_t draw_one(device const int8_t* noise, int32_t table_log2, uint64_t key, uint32_t side, uint32_t index) {
  return noise[table_log2 != 0 ? 256 + egg_noise_table_index(key, side, index, table_log2)
                               : egg_noise_byte(key, index)];
}

// Four channels.
struct Four {
  int32_t at[4];
};

// Four values of a draw from 4 * word on; values from `size` on are zero.
inline Four draw_four(device const int8_t* noise, int32_t table_log2, uint64_t key, uint32_t side, uint32_t word,
                      uint32_t size) {
  Four four;
  const uint32_t bytes = egg_noise_word(key, word);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t index = 4 * word + i;
    const uint32_t at =
        table_log2 != 0 ? 256 + egg_noise_table_index(key, side, index, table_log2) : (bytes >> (8 * i)) & 255u;
    four.at[i] = index < size ? noise[at] : 0;
  }
  return four;
}

#endif
