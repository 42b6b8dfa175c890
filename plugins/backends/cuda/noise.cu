// Makes the noise of whole pairs in device memory, once per step.
#include <algorithm>

#include "device.h"
#include "draw_words.cuh"
#include "update.h"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kWarps = kThreads / 32;
constexpr uint32_t kBlockUnits = kBlock / kUnit;
constexpr uint32_t kPairsAtOnce = 32 / kBlockUnits;

// How the lanes of a warp share a tile's pairs: each makes units of some pairs, and holds the key of one pair for
// the others.
struct Lanes {
  uint32_t lane = threadIdx.x % 32;
  uint32_t unit = lane % kBlockUnits;

  // Number i of the pairs whose unit this lane makes.
  __device__ uint32_t pair(uint32_t i) const { return i * kPairsAtOnce + lane / kBlockUnits; }
};

__device__ bool is_voter(const NoisePart& s, uint32_t pair) { return pair - s.first_voter < s.voters; }

// Where blocks of 64 values go: one place or two.
struct Out {
  int8_t* tile;
  const NoisePlaces* places;

  __device__ void put(uint32_t pair, uint32_t block, uint32_t unit, const uint4& values) const {
    const auto put_at = [&](uint32_t place) {
      *reinterpret_cast<uint4*>(tile + noise_place(pair, place * kBlock + unit * kUnit)) = values;
    };
    if (places == nullptr) return put_at(block);
    const NoisePlaces two = places[block];
    if (two.first != kNoPlace) put_at(two.first);
    if (two.second != kNoPlace) put_at(two.second);
  }
};

__device__ void make_draws(const NoiseArgs& args, const OwnValues& own, const NoisePart& s, uint32_t first_pair,
                           const Out& out) {
  const Lanes at;
  const uint64_t own_key = egg_noise_key(args.seed, args.step, first_pair + at.lane, s.param, s.side, s.rank);
  for (uint32_t i = 0; i < kTilePairs / kPairsAtOnce; ++i) {
    const uint32_t pair = at.pair(i);
    const uint64_t key = __shfl_sync(0xffffffffu, own_key, static_cast<int>(pair));
    const uint32_t size = is_voter(s, first_pair + pair) ? s.size : 0;
    for (uint32_t b = 0; b < divide_up(s.size, kBlock); ++b) {
      const uint32_t from = b * kBlock + at.unit * kUnit;
      out.put(pair, s.offset / kBlock + b, at.unit, draw16(args.values, own, key, s.side, from, size));
    }
  }
}

// An even member's vector and an odd one's.
__device__ void make_vector(const NoiseArgs& args, const OwnValues& own, const NoisePart& s, uint32_t first_pair,
                            const Out& out) {
  const Lanes at;
  const bool perturb = args.perturb != 0 && s.perturbed != 0;
  uint64_t own_keys[2] = {0, 0};
  if (perturb) {
    for (const uint32_t side : {EGG_SIDE_A, EGG_SIDE_B})
      own_keys[side] = egg_noise_key(args.seed, args.step, first_pair + at.lane, s.param, side, 0);
  }
  const uint32_t blocks = divide_up(s.size, kBlock);
  for (uint32_t i = 0; i < kTilePairs / kPairsAtOnce; ++i) {
    const uint32_t pair = at.pair(i);
    const uint64_t key_a = __shfl_sync(0xffffffffu, own_keys[0], static_cast<int>(pair));
    const uint64_t key_b = __shfl_sync(0xffffffffu, own_keys[1], static_cast<int>(pair));
    for (uint32_t b = 0; b < blocks; ++b) {
      const uint32_t from = b * kBlock + at.unit * kUnit;
      const uint4 weights = *reinterpret_cast<const uint4*>(s.weights + from);
      uint4 even = weights;
      uint4 odd = weights;
      if (perturb && is_voter(s, first_pair + pair)) {
        const uint4 a = draw16(args.values, own, key_a, EGG_SIDE_A, from, s.size);
        const uint4 b_draws = draw16(args.values, own, key_b, EGG_SIDE_B, from, s.size);
        const auto member = [&](int32_t sign) {
          return each_word([&](int k) {
            uint32_t four = 0;
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int32_t ab = byte_of(word_of(a, k), e) * byte_of(word_of(b_draws, k), e);
              const int8_t value =
                  egg_perturbed(byte_of(word_of(weights, k), e), ab, sign, args.vector_shift, args.nearest);
              four |= static_cast<uint32_t>(static_cast<uint8_t>(value)) << 8 * e;
            }
            return four;
          });
        };
        even = member(1);
        odd = member(-1);
      }
      out.put(pair, s.offset / kBlock + b, at.unit, even);
      out.put(pair, s.offset / kBlock + blocks + b, at.unit, odd);
    }
  }
}

__device__ void make_key(const NoiseArgs& args, const NoisePart& s, uint32_t first_pair, const Out& out) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t block = s.offset / kBlock;
  const uint32_t place = out.places == nullptr ? block : out.places[block].first;
  *reinterpret_cast<uint64_t*>(out.tile + noise_place(lane, place * kBlock + s.offset % kBlock)) =
      egg_noise_key(args.seed, args.step, first_pair + lane, s.param, EGG_SIDE_A, s.rank);
}

// Each warp makes one part of the noise for a tile's pairs.
__global__ void __launch_bounds__(kThreads) noise_kernel(const NoiseArgs args) {
  __shared__ uint32_t table[kOwnValues];
  const OwnValues own(args.values, table, kThreads);
  const uint64_t warps = uint64_t{gridDim.x} * kWarps;
  const uint64_t items = uint64_t{args.tiles} * args.part_count;
  for (uint64_t item = uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32; item < items; item += warps) {
    const auto tile = static_cast<uint32_t>(item / args.part_count);
    const NoisePart& s = args.parts[item % args.part_count];
    const uint32_t first_pair = args.first_pair + tile * kTilePairs;
    const Out out{args.out + tile * args.tile_bytes, args.places};
    if (s.kind == kVector) {
      make_vector(args, own, s, first_pair, out);
    } else if (args.perturb == 0) {
      continue;
    } else if (s.kind == kDraw) {
      make_draws(args, own, s, first_pair, out);
    } else {
      make_key(args, s, first_pair, out);
    }
  }
}

}  // namespace

void launch_noise(const NoiseArgs& args, cudaStream_t stream) {
  if (args.part_count == 0) return;
  const uint64_t items = uint64_t{args.tiles} * args.part_count;
  const auto blocks = static_cast<uint32_t>(std::min<uint64_t>((items + kWarps - 1) / kWarps, args.most_blocks));
  noise_kernel<<<blocks, kThreads, 0, stream>>>(args);
  check_launch("make noise");
}

uint32_t noise_blocks() {
  int device = 0;
  int multiprocessors = 0;
  int beside = 0;
  check(cudaGetDevice(&device), "be selected");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "describe itself");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&beside, noise_kernel, kThreads, 0), "describe itself");
  return static_cast<uint32_t>(multiprocessors * beside);
}

}  // namespace eggroll::cuda
