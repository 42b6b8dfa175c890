// Noise of whole pairs into device memory, once a step.
#include "device.h"
#include "eggroll/noise.h"
#include "update.h"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 256;

// Four values of a draw, those beyond `size` zero.
__device__ uint32_t draw_word(const NoiseArgs& args, const int8_t* values, uint64_t key, uint32_t side, uint32_t word,
                              uint32_t size) {
  if (4 * word >= size) return 0;
  uint32_t four = 0;
  if (args.table != nullptr) {
    // Offsets are multiples of 64 and so is half the table: four neighbours never part.
    four = __ldg(reinterpret_cast<const uint32_t*>(args.table) +
                 egg_noise_table_index(key, side, 4 * word, args.table_log2) / 4);
  } else {
    const uint32_t bytes = egg_noise_word(key, word);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      four |= static_cast<uint32_t>(static_cast<uint8_t>(values[bytes >> 8 * i & 255u])) << 8 * i;
  }
  const uint32_t left = size - 4 * word;
  return left >= 4 ? four : four & (0xffffffffu >> (32 - 8 * left));
}

// A warp makes a segment of a pair.
__global__ void __launch_bounds__(kThreads) noise_kernel(const NoiseArgs args) {
  __shared__ int8_t values[256];
  values[threadIdx.x] = args.values[threadIdx.x];
  __syncthreads();
  const uint32_t lane = threadIdx.x % 32;
  const uint64_t warps = uint64_t{gridDim.x} * (kThreads / 32);
  const uint64_t items = uint64_t{args.pairs} * args.segment_count;
  for (uint64_t item = uint64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32; item < items; item += warps) {
    const auto local = static_cast<uint32_t>(item / args.segment_count);
    const Segment& s = args.segments[item % args.segment_count];
    const uint32_t pair = args.first_pair + local;
    const uint32_t words = (s.size + kBlock - 1) / kBlock * (kBlock / 4);
    auto* out = reinterpret_cast<uint32_t*>(args.out + local * args.pair_bytes + s.offset);
    if (s.kind == kDraw) {
      if (args.perturb == 0) continue;
      const uint64_t key = egg_noise_key(args.seed, args.step, pair, s.param, s.side, s.rank);
      for (uint32_t w = lane; w < words; w += 32) out[w] = draw_word(args, values, key, s.side, w, s.size);
      continue;
    }
    const bool perturbed = args.perturb != 0 && s.perturbed != 0;
    const uint64_t key_a = egg_noise_key(args.seed, args.step, pair, s.param, EGG_SIDE_A, 0);
    const uint64_t key_b = egg_noise_key(args.seed, args.step, pair, s.param, EGG_SIDE_B, 0);
    for (uint32_t w = lane; w < words; w += 32) {
      const uint32_t weights = reinterpret_cast<const uint32_t*>(s.weights)[w];
      uint32_t even = weights;
      uint32_t odd = weights;
      if (perturbed) {
        const uint32_t a = draw_word(args, values, key_a, EGG_SIDE_A, w, s.size);
        const uint32_t b = draw_word(args, values, key_b, EGG_SIDE_B, w, s.size);
        even = odd = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int32_t weight = static_cast<int8_t>(weights >> 8 * i);
          const int32_t ab = static_cast<int8_t>(a >> 8 * i) * static_cast<int8_t>(b >> 8 * i);
          even |=
              static_cast<uint32_t>(static_cast<uint8_t>(egg_perturbed(weight, ab, 1, args.vector_shift, args.nearest)))
              << 8 * i;
          odd |= static_cast<uint32_t>(
                     static_cast<uint8_t>(egg_perturbed(weight, ab, -1, args.vector_shift, args.nearest)))
                 << 8 * i;
        }
      }
      out[w] = even;
      out[words + w] = odd;
    }
  }
}

}  // namespace

void launch_noise(const NoiseArgs& args, cudaStream_t stream) {
  const uint64_t items = uint64_t{args.pairs} * args.segment_count;
  if (items == 0) return;
  const uint64_t blocks = (items + kThreads / 32 - 1) / (kThreads / 32);
  noise_kernel<<<static_cast<uint32_t>(blocks < 65536 ? blocks : 65536), kThreads, 0, stream>>>(args);
  check_launch("make noise");
}

}  // namespace eggroll::cuda
