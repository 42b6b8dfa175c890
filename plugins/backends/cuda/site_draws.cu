// Makes all draws of a token at the logits, as eggroll/logit_draws.h does on processors: orthogonal draws by two
// transforms, independent draws one by one. A thread has eight neighbouring channels, or rows of the Hadamard matrix.
// One warp does up to 256 channels.
#include <algorithm>

#include "device.h"
#include "eggroll/draws.h"
#include "sites.h"
#include "warp.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kEach = 8;
constexpr uint32_t kWarpRows = 32 * kEach;
constexpr uint32_t kSmallThreads = 256;  // of a block whose warps have a token each

// A token's threads: kWarps whole warps.
template <uint32_t kWarps>
struct Group {
  static constexpr uint32_t kThreads = 32 * kWarps;
  static constexpr uint32_t kTokens = kWarps == 1 ? kSmallThreads / 32 : 1;  // of a block at once

  int32_t* exchanged;  // (kEach, kThreads), where there are several warps

  __device__ static uint32_t thread() { return threadIdx.x % kThreads; }

  template <class Join>
  __device__ int32_t all(int32_t x, const Join& join) const {
    for (uint32_t d = 1; d < 32; d *= 2) x = join(x, __shfl_xor_sync(kAll, x, d));
    if constexpr (kWarps > 1) {
      __syncthreads();
      if (threadIdx.x % 32 == 0) exchanged[threadIdx.x / 32] = x;
      __syncthreads();
      x = exchanged[0];
      for (uint32_t w = 1; w < kWarps; ++w) x = join(x, exchanged[w]);
      __syncthreads();
    }
    return x;
  }

  // Modulo 2^32.
  __device__ uint32_t sum(uint32_t x) const {
    return static_cast<uint32_t>(all(static_cast<int32_t>(x), [](int32_t a, int32_t b) {
      return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    }));
  }

  // Multiplies n values by the Hadamard matrix of n rows.
  __device__ void transform(int32_t (&values)[kEach], uint32_t n) const {
#pragma unroll
    for (uint32_t half = 1; half < kEach; half *= 2) {
      if (half >= n) break;
#pragma unroll
      for (uint32_t i = 0; i < kEach; ++i) {
        if ((i & half) != 0) continue;
        const int32_t a = values[i];
        const int32_t b = values[i + half];
        values[i] = a + b;
        values[i + half] = a - b;
      }
    }
    for (uint32_t d = 1; d < 32 && d * kEach < n; d *= 2) {
#pragma unroll
      for (uint32_t i = 0; i < kEach; ++i) {
        const int32_t other = __shfl_xor_sync(kAll, values[i], d);
        values[i] = (threadIdx.x & d) != 0 ? other - values[i] : values[i] + other;
      }
    }
    if constexpr (kWarps > 1) {
      for (uint32_t d = 32; d < kThreads && d * kEach < n; d *= 2) {
        __syncthreads();
#pragma unroll
        for (uint32_t i = 0; i < kEach; ++i) exchanged[i * kThreads + threadIdx.x] = values[i];
        __syncthreads();
#pragma unroll
        for (uint32_t i = 0; i < kEach; ++i) {
          const int32_t other = exchanged[i * kThreads + (threadIdx.x ^ d)];
          values[i] = (threadIdx.x & d) != 0 ? other - values[i] : values[i] + other;
        }
      }
      __syncthreads();
    }
  }
};

// For each value of the eight bits after the leading one: an entry, and the next entry minus this entry.
using Log2Table = uint2[EGG_LOG2_STEPS];

// egg_log2_q16 of a 32-bit sum, which must not be 0.
__device__ int32_t log2_q16(uint32_t sum, const Log2Table& table) {
  const int32_t whole = 31 - __clz(static_cast<int>(sum));
  const uint32_t mantissa = sum << (31 - whole) << 1;
  const uint2 entry = table[mantissa >> 24];
  const uint32_t fraction = entry.x + __umulhi(entry.y, mantissa & 0xffffffu);
  return whole * 65536 + static_cast<int32_t>((fraction + 128) >> 8);
}

template <uint32_t kWarps, bool kOrthogonal>
__global__ void __launch_bounds__(kWarps == 1 ? kSmallThreads : 32 * kWarps)
    site_draws_kernel(const SiteDrawArgs args, uint32_t n, int32_t log2_n, int32_t limit) {
  using G = Group<kWarps>;
  __shared__ uint32_t exp2[256];
  __shared__ Log2Table log2;
  __shared__ int32_t exchanged[kWarps > 1 ? kEach * G::kThreads : 1];
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) {
    const uint32_t q30 = args.loss_tables->exp2_q30[i];
    exp2[i] = log2_n == 0 ? q30 : (q30 + (1u << (log2_n - 1))) >> log2_n;
    const uint32_t entry = args.loss_tables->log2_q24[i];
    log2[i] = make_uint2(entry, (args.loss_tables->log2_q24[i + 1] - entry) << 8);
  }
  __syncthreads();
  const G group{exchanged};
  const uint32_t first = kEach * G::thread();  // channel and row
  const uint32_t places = args.streams * args.tokens;
  unsigned long long tokens = 0;
  unsigned long long squares = 0;
  for (uint32_t place = blockIdx.x * G::kTokens + threadIdx.x / G::kThreads; place < places;
       place += gridDim.x * G::kTokens) {
    const uint32_t target = args.targets[place];
    int16_t* const errors = args.errors + size_t{place} * args.error_stride + first;
    if (G::thread() == 0) args.perturbed[place] = target != EGG_NO_TARGET ? 1 : 0;
    if (target == EGG_NO_TARGET) {
      if (first < args.error_stride) *reinterpret_cast<uint4*>(errors) = make_uint4(0, 0, 0, 0);
      continue;
    }
    const auto key_of = [&](uint32_t draw) {
      return egg_draw_key(args.seed, args.step, args.stream + place / args.tokens, args.number, place % args.tokens,
                          draw);
    };
    uint32_t bits = 0;  // of the thread's signs
    const auto take_signs = [&](uint64_t key) { bits = egg_noise_word(key, first >> 5) >> (first & 31); };
    const auto sign = [&](uint32_t i) { return 1 - 2 * static_cast<int32_t>(bits >> i & 1); };
    const int8_t* const logits = args.logits + size_t{place} * args.logit_stride;
    uint2 eight = make_uint2(0, 0);
    if (first < args.size) eight = *reinterpret_cast<const uint2*>(logits + first);
    const auto logit = [&](uint32_t i) {
      return static_cast<int32_t>(static_cast<int8_t>((i < 4 ? eight.x : eight.y) >> 8 * (i % 4)));
    };
    int32_t top = -127;
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i) {
      if (first + i < args.size) top = max(top, logit(i));
    }
    top = egg_clip8(group.all(top, [](int32_t a, int32_t b) { return max(a, b); }) + args.amplitude);
    int32_t values[kEach];
    uint32_t both = 0;
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i) {
      values[i] = 0;
      if (first + i >= args.size) continue;
      const uint32_t plus = exp2[top - egg_clip8(logit(i) + args.amplitude)];
      const uint32_t minus = exp2[top - egg_clip8(logit(i) - args.amplitude)];
      both += plus + minus;
      values[i] = static_cast<int32_t>(plus - minus);
    }
    both = group.sum(both);
    const int32_t own = logits[target];
    const int32_t moved = (egg_clip8(own + args.amplitude) - egg_clip8(own - args.amplitude)) * args.unit;
    const auto difference = [&](uint32_t delta, uint32_t target_bit) {
      return egg_clip(
          log2_q16((both - delta) / 2, log2) - log2_q16((both + delta) / 2, log2) + (target_bit != 0 ? -moved : moved),
          limit);
    };
    if constexpr (kOrthogonal) {
      const uint64_t key = key_of(0);
      const uint32_t target_bit = egg_draw_bit(key, target);
      const uint32_t offset = egg_draw_offset(key);
      take_signs(key);
#pragma unroll
      for (uint32_t i = 0; i < kEach; ++i) values[i] *= sign(i);
      group.transform(values, n);
#pragma unroll
      for (uint32_t i = 0; i < kEach; ++i) {
        const uint32_t row = first + i;
        const auto delta = static_cast<uint32_t>(values[i]);
        values[i] = 0;
        if (row >= n || ((row - offset) & (n - 1)) >= args.draws) continue;
        values[i] = difference(delta, egg_hadamard_bit(row, target) ^ target_bit);
      }
      group.transform(values, n);
#pragma unroll
      for (uint32_t i = 0; i < kEach; ++i) values[i] *= sign(i);
    } else {
      int32_t sums[kEach] = {};
      for (uint32_t draw = 1; draw <= args.draws; ++draw) {
        const uint64_t key = key_of(draw);
        take_signs(key);
        int32_t delta = 0;
#pragma unroll
        for (uint32_t i = 0; i < kEach; ++i) delta += sign(i) * values[i];
        const int32_t d = difference(group.sum(static_cast<uint32_t>(delta)), egg_draw_bit(key, target));
#pragma unroll
        for (uint32_t i = 0; i < kEach; ++i) sums[i] += sign(i) * d;
      }
#pragma unroll
      for (uint32_t i = 0; i < kEach; ++i) values[i] = sums[i];
    }
    uint32_t packed[kEach / 2];
#pragma unroll
    for (uint32_t i = 0; i < kEach; i += 2) {
      int32_t error[2];
#pragma unroll
      for (uint32_t k = 0; k < 2; ++k) {
        error[k] = first + i + k < args.size ? egg_draw_error(values[i + k], args.shift) : 0;
        squares += static_cast<unsigned long long>(error[k] * error[k]);
      }
      packed[i / 2] = (static_cast<uint32_t>(error[0]) & 0xffff) | static_cast<uint32_t>(error[1]) << 16;
    }
    if (first < args.error_stride) {
      *reinterpret_cast<uint4*>(errors) = make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
    if (G::thread() == 0) ++tokens;
  }
  add_sums(args.sums, tokens, squares);
}

template <uint32_t kWarps>
void launch(const SiteDrawArgs& args, uint32_t n, int32_t log2_n, cudaStream_t stream) {
  using G = Group<kWarps>;
  constexpr uint32_t kMostBlocks = 132 * 8;
  const uint32_t blocks = std::min(divide_up(args.streams * args.tokens, G::kTokens), kMostBlocks);
  const auto kernel = args.orthogonal != 0 ? &site_draws_kernel<kWarps, true> : &site_draws_kernel<kWarps, false>;
  kernel<<<blocks, G::kTokens * G::kThreads, 0, stream>>>(args, n, log2_n, egg_draw_limit(args.draws));
  check_launch("draw at the logits");
}

}  // namespace

void launch_site_draws(const SiteDrawArgs& args, cudaStream_t stream) {
  static_assert(sizeof(egg_site_sums) == 2 * sizeof(uint64_t));
  const int32_t log2_n = egg_log2_up(args.size);
  const uint32_t n = 1U << log2_n;
  if (n <= kWarpRows) return launch<1>(args, n, log2_n, stream);
  if (n <= 2 * kWarpRows) return launch<2>(args, n, log2_n, stream);
  if (n <= 4 * kWarpRows) return launch<4>(args, n, log2_n, stream);
  if (n <= 8 * kWarpRows) return launch<8>(args, n, log2_n, stream);
  static_assert(16 * kWarpRows == kMostDrawRows);
  launch<16>(args, n, log2_n, stream);
}

}  // namespace eggroll::cuda
