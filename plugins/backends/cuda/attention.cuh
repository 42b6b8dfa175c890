// attention and loss. If heads are whole units, each of a row's four threads has every fourth head. Else a warp works
// on its rows' heads one after another.
#ifndef EGGROLL_CUDA_ATTENTION_CUH
#define EGGROLL_CUDA_ATTENTION_CUH

#include "divisor.cuh"
#include "eggroll/plugin.h"
#include "linear.cuh"
#include "tile.cuh"
#include "warp.cuh"

namespace eggroll::cuda {

constexpr uint32_t kScoresAhead = 8;  // positions
constexpr uint32_t kValuesAhead = 4;

// Where the cache keeps unit u of row r at position j: a position's units lie beside each other, each of all rows, so
// that what a warp reads at once is whole lines of the caches.
template <class T>
__device__ inline uint4* cached(const T& tile, const DeviceOp& op, size_t cache, uint32_t r, uint32_t j, uint32_t u) {
  return reinterpret_cast<uint4*>(tile.at.workspace + cache) + ((size_t{j} * units_of(op.out) + u) * kTileRows + r);
}

template <class T>
__device__ inline void remember(T& tile, const DeviceOp& op, size_t cache, const Place& from) {
  for (uint32_t u = tile.quarter(); u < units_of(from); u += 4) {
    *cached(tile, op, cache, tile.row(), tile.at.token, u) = tile.unit(from, tile.row(), u);
  }
}

// What the cache or the scores hold: in device memory, as the compiler cannot know.
__device__ inline uint4 load_global(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ inline int32_t load_global(const int32_t* from) {
  int32_t v;
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
  return v;
}

// What row r attends to: positions [begin, end). Four channels of a key or a value at one of them, from channel i on, a
// multiple of 4.
template <class T>
struct OfMember {
  const T& tile;
  const DeviceOp& op;
  uint32_t r, begin, end;

  __device__ OfMember(const T& the_tile, const DeviceOp& the_op, uint32_t row)
      : tile(the_tile),
        op(the_op),
        r(row),
        begin(tile.at.first_visible[row - tile.first_row()]),
        end(tile.at.token + 1) {}
  __device__ uint32_t word(size_t cache, uint32_t j, uint32_t i) const {
    return reinterpret_cast<const uint32_t*>(cached(tile, op, cache, r, j, i / kUnit))[i % kUnit / 4];
  }
  __device__ uint32_t key(uint32_t j, uint32_t i) const { return word(op.keys_offset, j, i); }
  __device__ uint32_t value(uint32_t j, uint32_t i) const { return word(op.values_offset, j, i); }
};

template <class Seen>
__device__ inline int32_t score(const Seen& seen, uint32_t first, uint32_t j) {
  const auto& tile = seen.tile;
  const DeviceOp& op = seen.op;
  const uint32_t words = static_cast<uint32_t>(op.head) / 4;
  int32_t product = 0;
  for (uint32_t w = 0; w < words; ++w) {
    const uint32_t key = seen.key(j, first + 4 * w);
    product =
        __dp4a(static_cast<int32_t>(tile.word(op.in[0], seen.r, first + 4 * w)), static_cast<int32_t>(key), product);
  }
  return egg_rshift(product, op.attr, tile.args.nearest);
}

// One head of a row: channels [first, first + head). Lanes are positions first; then each has four channels of every
// parts-th position. Sums fit int32, as the host has proved.
template <class Seen>
__device__ inline void attend(const Seen& seen, uint32_t first) {
  const auto& tile = seen.tile;
  const DeviceOp& op = seen.op;
  const uint32_t lane = tile.lane();
  const uint32_t begin = seen.begin;
  const uint32_t end = seen.end;
  const int32_t score0 = score(seen, first, min(begin + lane, end - 1));
  int32_t largest = score0;
  for (uint32_t j = begin + 32 + lane; j < end; j += 32) largest = max(largest, score(seen, first, j));
  largest = __reduce_max_sync(kAll, largest);
  const uint32_t words = static_cast<uint32_t>(op.head) / 4;
  const uint32_t across = min(words, 32u);
  const uint32_t parts = 32 / across;
  const uint32_t part = lane / across;
  for (uint32_t w = 0; w < words; w += 32) {
    const uint32_t word = min(w + lane % across, words - 1);
    const bool mine = w + lane % across < words && part == 0;
    int32_t total = 0;
    int32_t sums[4] = {};
    for (uint32_t start = begin; start < end; start += 32) {
      const uint32_t count = min(32u, end - start);
      int32_t weight = 0;
      if (lane < count) {
        const int32_t z = start == begin ? score0 : min(score(seen, first, start + lane), largest);
        weight = __ldg(op.table + egg_attention_index(z, largest, op.mode));
      }
      total += weight;
#pragma unroll 4
      for (uint32_t k = 0; k < count; k += parts) {
        // Beyond the last position the weight is 0, so the value does not matter.
        const int32_t from_lane = __shfl_sync(kAll, weight, static_cast<int>((k + part) % 32));
        const int32_t factor = k + part < count ? from_lane : 0;
        const uint32_t j = min(start + k + part, end - 1);
        const uint32_t v = seen.value(j, first + 4 * word);
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[i] += factor * byte_of(v, i);
      }
    }
    total = static_cast<int32_t>(__reduce_add_sync(kAll, static_cast<uint32_t>(total)));
    int32_t y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      auto sum = static_cast<uint32_t>(sums[i]);  // wraps in lanes whose result is not used
      for (uint32_t p = 1; p < parts; ++p) {
        sum += static_cast<uint32_t>(__shfl_sync(kAll, sums[i], static_cast<int>((lane + p * across) % 32)));
      }
      y[i] = egg_divide32(static_cast<int32_t>(sum), max(1, total), tile.args.nearest);
    }
    if (mine) tile.word(op.out, seen.r, first + 4 * word) = pack4(y[0], y[1], y[2], y[3]);
  }
}

// Adds the products of two positions' weights with 32 channels of their values. kSmall: weights are below 2^15.
template <bool kSmall>
__device__ inline void add_values(const uint4 (&x)[2], const uint4 (&y)[2], int32_t weight_x, int32_t weight_y,
                                  int32_t (&sums)[32]) {
  const int32_t both = weight_x | weight_y << 16;
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    const uint32_t first = word_of(x[w / 4], w % 4);
    const uint32_t second = word_of(y[w / 4], w % 4);
    if (kSmall) {
      const auto low = static_cast<int32_t>(pick(first, second, 0x5140));
      const auto high = static_cast<int32_t>(pick(first, second, 0x7362));
      sums[4 * w] = __dp2a_lo(both, low, sums[4 * w]);
      sums[4 * w + 1] = __dp2a_hi(both, low, sums[4 * w + 1]);
      sums[4 * w + 2] = __dp2a_lo(both, high, sums[4 * w + 2]);
      sums[4 * w + 3] = __dp2a_hi(both, high, sums[4 * w + 3]);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[4 * w + i] += weight_x * byte_of(first, i) + weight_y * byte_of(second, i);
      }
    }
  }
}

// Puts units u and, where `next` is 1, u + 1 of this thread's row.
template <class T>
__device__ inline void put_means(const T& tile, const DeviceOp& op, uint32_t u, uint32_t next, const Divisor& divide,
                                 const int32_t (&sums)[32]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (half > static_cast<int>(next)) continue;
    tile.unit(op.out, tile.row(), u + static_cast<uint32_t>(half)) = each_word([&](int k) {
      const int32_t* four = sums + 16 * half + 4 * k;
      return pack4(divide(four[0]), divide(four[1]), divide(four[2]), divide(four[3]));
    });
  }
}

// One head of this thread's row, its channels from unit `first` on: the scores of all positions, kept in the workspace;
// then the weighted values, 32 channels at a time. Sums fit int32, as the host has proved.
template <bool kSmall, class T>
__device__ inline void attend_alone(T& tile, const DeviceOp& op, uint32_t begin, uint32_t first) {
  const uint32_t row = tile.row();
  const uint32_t end = tile.at.token + 1;
  const uint32_t units = static_cast<uint32_t>(op.head) / kUnit;
  auto* const scores = reinterpret_cast<int32_t*>(tile.at.workspace + op.scores_offset) + threadIdx.x % kTileThreads;
  const char* const query = reinterpret_cast<const char*>(&tile.unit(op.in[0], row, first));
  const auto* const keys = reinterpret_cast<const char*>(cached(tile, op, op.keys_offset, row, 0, first));
  const auto* const values = reinterpret_cast<const char*>(cached(tile, op, op.values_offset, row, 0, first));
  // Unit u of position j, in bytes from unit 0 of position 0.
  constexpr uint32_t kNext = kTileRows * kUnit;
  const uint32_t stride = units_of(op.out) * kNext;
  const auto unit_at = [&](const char* cache, uint32_t j, uint32_t u) {
    return load_global(reinterpret_cast<const uint4*>(cache + size_t{min(j, end - 1)} * stride + u * kNext));
  };
  int32_t largest = INT32_MIN;
  // Several positions' loads are under way at once; those beyond the last repeat it.
#pragma unroll 1
  for (uint32_t start = begin; start < end; start += kScoresAhead) {
    int32_t products[kScoresAhead] = {};
#pragma unroll 1
    for (uint32_t u = 0; u < units; u += 2) {
      const uint32_t next = min(u + 1, units - 1);
      uint4 loaded[kScoresAhead][2];
#pragma unroll
      for (uint32_t k = 0; k < kScoresAhead; ++k) {
        loaded[k][0] = unit_at(keys, start + k, u);
        loaded[k][1] = unit_at(keys, start + k, next);
      }
      const uint4 x = *reinterpret_cast<const uint4*>(query + u * kPlane);
      uint4 y = *reinterpret_cast<const uint4*>(query + next * kPlane);
      if (next == u) y = make_uint4(0, 0, 0, 0);
#pragma unroll
      for (uint32_t k = 0; k < kScoresAhead; ++k)
        products[k] = dot16(y, loaded[k][1], dot16(x, loaded[k][0], products[k]));
    }
#pragma unroll
    for (uint32_t k = 0; k < kScoresAhead; ++k) {
      if (start + k >= end) break;
      const int32_t score = egg_rshift(products[k], op.attr, tile.args.nearest);
      scores[(start + k) * kTileThreads] = score;
      largest = max(largest, score);
    }
  }
  // Scores become weights.
  int32_t total = 0;
#pragma unroll 1
  for (uint32_t start = begin; start < end; start += kValuesAhead) {
    int32_t weights[kValuesAhead];
#pragma unroll
    for (uint32_t k = 0; k < kValuesAhead; ++k) {
      weights[k] = load_global(scores + min(start + k, end - 1) * kTileThreads);
    }
#pragma unroll
    for (int32_t& weight : weights) weight = __ldg(op.table + egg_attention_index(weight, largest, op.mode));
#pragma unroll
    for (uint32_t k = 0; k < kValuesAhead; ++k) {
      if (start + k >= end) break;
      scores[(start + k) * kTileThreads] = weights[k];
      total += weights[k];
    }
  }
  const Divisor divide(max(1, total), tile.args.nearest);
#pragma unroll 1
  for (uint32_t u = 0; u < units; u += 2) {
    const uint32_t next = min(u + 1, units - 1) - u;
    int32_t sums[32] = {};
#pragma unroll 1
    for (uint32_t start = begin; start < end; start += kValuesAhead) {
      uint4 v[kValuesAhead][2];
      int32_t weights[kValuesAhead];
#pragma unroll
      for (uint32_t k = 0; k < kValuesAhead; ++k) {
        v[k][0] = unit_at(values, start + k, u);
        v[k][1] = unit_at(values, start + k, u + next);
        const int32_t weight = load_global(scores + min(start + k, end - 1) * kTileThreads);
        weights[k] = start + k < end ? weight : 0;
      }
#pragma unroll
      for (uint32_t k = 0; k < kValuesAhead; k += 2) {
        add_values<kSmall>(v[k], v[k + 1], weights[k], weights[k + 1], sums);
      }
    }
    put_means(tile, op, first + u, next, divide, sums);
  }
}

// The heads of the warp's rows, one after another. Seen: what a row attends to.
template <template <class> class Seen, class T>
__device__ inline void attend_by_warp(T& tile, const DeviceOp& op) {
  for (uint32_t i = 0; i < 8; ++i) {
    const Seen<T> seen(tile, op, tile.first_row() + i);
    for (uint32_t first = 0; first < op.out.size; first += static_cast<uint32_t>(op.head)) attend(seen, first);
    // Channels beyond the last are zero like those of every value.
    for (uint32_t c = op.out.size + 4 * tile.lane(); c < op.out.bytes; c += 128) tile.word(op.out, seen.r, c) = 0;
  }
}

// Each of a row's threads has every fourth head: attend(its first unit).
template <class T, class Attend>
__device__ inline void each_own_head(T& tile, const DeviceOp& op, Attend&& attend) {
  const auto head = static_cast<uint32_t>(op.head);
  for (uint32_t first = tile.quarter() * head; first < op.out.size; first += 4 * head) attend(first / kUnit);
  for (uint32_t u = op.out.size / kUnit + tile.quarter(); u < units_of(op.out); u += 4) {
    tile.unit(op.out, tile.row(), u) = make_uint4(0, 0, 0, 0);
  }
}

template <class T>
__device__ inline void run_attention(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  remember(tile, op, op.keys_offset, op.in[1]);
  remember(tile, op, op.values_offset, op.in[2]);
  __syncwarp();
  if (static_cast<uint32_t>(op.head) % kUnit != 0) return attend_by_warp<OfMember>(tile, op);
  const uint32_t begin = tile.at.first_visible[tile.lane() / 4];
  each_own_head(tile, op, [&](uint32_t first) {
    with_flag(op.small_weights != 0, [&](auto small) { attend_alone<small.value>(tile, op, begin, first); });
  });
}

template <class T>
__device__ inline void run_loss(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const uint32_t row = tile.row();
  const uint32_t vocab = tile.args.vocab;
  const uint32_t target = tile.args.targets[tile.entry(row)];
  if (__all_sync(kAll, target == EGG_NO_TARGET)) return;
  const auto each_logit = [&](auto&& body) {
#pragma unroll 1
    for (uint32_t u = tile.quarter(); u < units_of(op.in[0]); u += 4) {
      const uint4 unit = tile.unit(op.in[0], row, u);
      const auto logit = [&](int i) { return byte_of(word_of(unit, i / 4), i % 4); };
      const int count = static_cast<int>(min(vocab - min(vocab, kUnit * u), kUnit));
      if (count == kUnit) {
#pragma unroll
        for (int i = 0; i < static_cast<int>(kUnit); ++i) body(logit(i));
      } else {
#pragma unroll
        for (int i = 0; i < static_cast<int>(kUnit); ++i) {
          if (i < count) body(logit(i));
        }
      }
    }
  };
  int32_t largest = -128;
  each_logit([&](int32_t logit) { largest = max(largest, logit); });
  largest = row_max(largest);
  const egg_loss_tables& tables = *tile.args.loss_tables;
  unsigned long long sum = 0;
  each_logit([&](int32_t logit) { sum += __ldg(tables.exp2_q30 + (largest - logit)); });
  sum += __shfl_xor_sync(kAll, sum, 1);
  sum += __shfl_xor_sync(kAll, sum, 2);
  if (target == EGG_NO_TARGET) return;
  const auto logit = reinterpret_cast<const int8_t*>(&tile.unit(op.in[0], row, target / kUnit))[target % kUnit];
  // This moves the leading one to the top, where log2's search for it ends at once.
  const int32_t raised = __clzll(static_cast<int64_t>(sum));
  const int32_t loss = egg_loss_q16(sum << raised, largest, logit, op.attr, tables.log2_q24) - raised * 65536;
  if (tile.quarter() == 0) tile.at.loss[tile.lane() / 4] += loss;
}

}  // namespace eggroll::cuda

#endif
