// Noise of whole pairs into device memory, once a step.
#include <algorithm>

#include "device.h"
#include "eggroll/noise.h"
#include "update.h"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kBlockWords = kBlock / 4;

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

// What a warp makes: body(tile, segment), of each tile and segment that is its share; values: room for 256.
template <class Body>
__device__ void each_segment(const NoiseArgs& args, int8_t* values, Body&& body) {
  values[threadIdx.x] = args.values[threadIdx.x];
  __syncthreads();
  const uint64_t warps = uint64_t{gridDim.x} * (kThreads / 32);
  const uint64_t items = uint64_t{args.tiles} * args.segment_count;
  for (uint64_t item = uint64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32; item < items; item += warps) {
    body(static_cast<uint32_t>(item / args.segment_count), args.segments[item % args.segment_count]);
  }
}

// A warp makes a segment of a tile's pairs: each lane finds the key of a pair, then half a warp writes a block of one.
__global__ void __launch_bounds__(kThreads) noise_kernel(const NoiseArgs args) {
  __shared__ int8_t values[256];
  const uint32_t lane = threadIdx.x % 32;
  each_segment(args, values, [&](uint32_t tile, const Segment& s) {
    if (s.kind == kDraw && args.perturb == 0) return;
    const bool perturbed = args.perturb != 0 && s.perturbed != 0;
    const bool vector = s.kind == kVector;
    const uint32_t own_pair = args.first_pair + tile * kTilePairs + lane;
    uint64_t own_key = 0;
    uint64_t own_key_b = 0;
    if (perturbed) {
      own_key = egg_noise_key(args.seed, args.step, own_pair, s.param, vector ? EGG_SIDE_A : s.side, s.rank);
      if (vector) own_key_b = egg_noise_key(args.seed, args.step, own_pair, s.param, EGG_SIDE_B, 0);
    }
    const uint32_t blocks = divide_up(s.size, kBlock);
    int8_t* const out = args.out + tile * args.tile_bytes;
    for (uint32_t i = 0; i < blocks * kTilePairs / 2; ++i) {
      const uint32_t pair = i % (kTilePairs / 2) * 2 + lane / kBlockWords;
      const uint32_t w = i / (kTilePairs / 2) * kBlockWords + lane % kBlockWords;
      const auto put = [&](uint32_t at, uint32_t four) {
        const auto put_at = [&](uint32_t place) {
          *reinterpret_cast<uint32_t*>(out + noise_place(pair, place)) = four;
        };
        if (args.places == nullptr) return put_at(at);
        const NoisePlaces places = args.places[at / kBlock];
        if (places.first != kNoPlace) put_at(places.first * kBlock + at % kBlock);
        if (places.second != kNoPlace) put_at(places.second * kBlock + at % kBlock);
      };
      const uint64_t key = __shfl_sync(0xffffffffu, own_key, static_cast<int>(pair));
      if (!vector) {
        put(s.offset + 4 * w, draw_word(args, values, key, s.side, w, s.size));
        continue;
      }
      const uint64_t key_b = __shfl_sync(0xffffffffu, own_key_b, static_cast<int>(pair));
      const uint32_t weights = reinterpret_cast<const uint32_t*>(s.weights)[w];
      uint32_t even = weights;
      uint32_t odd = weights;
      if (perturbed) {
        const uint32_t a = draw_word(args, values, key, EGG_SIDE_A, w, s.size);
        const uint32_t b = draw_word(args, values, key_b, EGG_SIDE_B, w, s.size);
        even = odd = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int32_t weight = static_cast<int8_t>(weights >> 8 * k);
          const int32_t ab = static_cast<int8_t>(a >> 8 * k) * static_cast<int8_t>(b >> 8 * k);
          const auto member = [&](int32_t sign) {
            const int8_t value = egg_perturbed(weight, ab, sign, args.vector_shift, args.nearest);
            return static_cast<uint32_t>(static_cast<uint8_t>(value)) << 8 * k;
          };
          even |= member(1);
          odd |= member(-1);
        }
      }
      put(s.offset + 4 * w, even);
      put(s.offset + blocks * kBlock + 4 * w, odd);
    }
  });
}

// Four words of four lanes, a pair each, turned: each lane then has four pairs of one of the four values.
__device__ uint32_t turn(uint32_t word) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t other = __shfl_xor_sync(0xffffffffu, word, 1);
  word = lane % 2 == 0 ? __byte_perm(word, other, 0x6240) : __byte_perm(other, word, 0x7351);
  other = __shfl_xor_sync(0xffffffffu, word, 2);
  return lane % 4 < 2 ? __byte_perm(word, other, 0x5410) : __byte_perm(other, word, 0x7632);
}

// A warp makes a segment of a tile, each lane a pair's.
__global__ void __launch_bounds__(kThreads)
    vote_noise_kernel(const NoiseArgs args, const int8_t* fitness, uint32_t pairs) {
  __shared__ int8_t values[256];
  const uint32_t lane = threadIdx.x % 32;
  each_segment(args, values, [&](uint32_t tile, const Segment& s) {
    const uint32_t pair = tile * kTilePairs + lane;
    const uint64_t key = egg_noise_key(args.seed, args.step, args.first_pair + pair, s.param, s.side, s.rank);
    const int32_t factor = pair < pairs ? fitness[pair] : 0;
    const uint32_t blocks = divide_up(s.size, kBlock);
    for (uint32_t w = 0; w < blocks * kBlockWords; ++w) {
      const uint32_t four = draw_word(args, values, key, s.side, w, s.size);
      const uint32_t half = (lane / 16) ^ (w % 2);
      const size_t block = (s.offset / kBlock + w / kBlockWords) * (kBlock * kTilePairs);
      int8_t* out = args.out + tile * args.tile_bytes + block + (w % kBlockWords * 4 + lane % 4) * kTilePairs +
                    half * kUnit + lane / 4 % 4 * 4;
      if (s.side != EGG_SIDE_A) {
        *reinterpret_cast<uint32_t*>(out) = turn(four);
        continue;
      }
      uint32_t low = 0;
      uint32_t high = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int32_t product = factor * static_cast<int8_t>(four >> 8 * i);
        const int32_t rest = ((product + 32) & 63) - 32;
        low |= static_cast<uint32_t>(rest & 0xff) << 8 * i;
        high |= static_cast<uint32_t>((product - rest) >> 6 & 0xff) << 8 * i;
      }
      *reinterpret_cast<uint32_t*>(out) = turn(low);
      *reinterpret_cast<uint32_t*>(out + blocks * (kBlock * kTilePairs)) = turn(high);
    }
  });
}

uint32_t blocks_for(const NoiseArgs& args) {
  const uint64_t items = uint64_t{args.tiles} * args.segment_count;
  return static_cast<uint32_t>(std::min<uint64_t>((items + kThreads / 32 - 1) / (kThreads / 32), 65536));
}

}  // namespace

void launch_noise(const NoiseArgs& args, cudaStream_t stream) {
  if (args.segment_count == 0) return;
  noise_kernel<<<blocks_for(args), kThreads, 0, stream>>>(args);
  check_launch("make noise");
}

void launch_vote_noise(const NoiseArgs& args, const int8_t* fitness, uint32_t pairs, cudaStream_t stream) {
  if (args.segment_count == 0) return;
  vote_noise_kernel<<<blocks_for(args), kThreads, 0, stream>>>(args, fitness, pairs);
  check_launch("make noise");
}

}  // namespace eggroll::cuda
