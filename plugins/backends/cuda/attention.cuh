// attention and loss: a warp works on its eight rows one after another.
#ifndef EGGROLL_CUDA_ATTENTION_CUH
#define EGGROLL_CUDA_ATTENTION_CUH

#include "eggroll/plugin.h"
#include "linear.cuh"
#include "tile.cuh"

namespace eggroll::cuda {

constexpr uint32_t kAll = 0xffffffffu;

// Where the cache keeps row r's channels of position j, from channel i on, a multiple of 4.
template <class T>
__device__ inline const uint32_t* cached(const T& tile, const DeviceOp& op, size_t cache, uint32_t r, uint32_t j,
                                         uint32_t i) {
  const char* start = tile.workspace + cache + (size_t{r} * tile.args.context + j) * op.out.bytes;
  return reinterpret_cast<const uint32_t*>(start + i);
}

template <class T>
__device__ inline void remember(T& tile, const DeviceOp& op, size_t cache, const Place& from) {
  char* start = tile.workspace + cache + (size_t{tile.row()} * tile.args.context + tile.token) * op.out.bytes;
  for (uint32_t u = tile.quarter(); u < units_of(from); u += 4) {
    reinterpret_cast<uint4*>(start)[u] = tile.units(from, tile.row())[u];
  }
}

template <class T>
__device__ inline int32_t score(const T& tile, const DeviceOp& op, uint32_t r, uint32_t first, uint32_t j) {
  const uint32_t words = static_cast<uint32_t>(op.head) / 4;
  const uint32_t* query = &tile.word(op.in[0], r, first);
  const uint32_t* key = cached(tile, op, op.keys_offset, r, j, first);
  int32_t product = 0;
  if (op.head % 16 == 0) {
#pragma unroll 4
    for (uint32_t u = 0; u < words / 4; ++u) {
      product = dot16(reinterpret_cast<const uint4*>(query)[u], reinterpret_cast<const uint4*>(key)[u], product);
    }
  } else {
    for (uint32_t w = 0; w < words; ++w) {
      product = __dp4a(static_cast<int32_t>(query[w]), static_cast<int32_t>(key[w]), product);
    }
  }
  return egg_rshift(product, op.attr, tile.args.nearest);
}

// One head of row r: channels [first, first + head). Lanes are positions first; then each has four channels of every
// parts-th position. Sums fit int32, as the host has proved.
template <class T>
__device__ inline void attend(T& tile, const DeviceOp& op, uint32_t r, uint32_t begin, uint32_t first) {
  const uint32_t lane = tile.lane();
  const uint32_t end = tile.token + 1;
  const int32_t score0 = score(tile, op, r, first, min(begin + lane, end - 1));
  int32_t largest = score0;
  for (uint32_t j = begin + 32 + lane; j < end; j += 32) largest = max(largest, score(tile, op, r, first, j));
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
        const int32_t z = start == begin ? score0 : score(tile, op, r, first, start + lane);
        weight = __ldg(op.table + egg_attention_index(z, largest, op.mode));
      }
      total += weight;
#pragma unroll 4
      for (uint32_t k = 0; k < count; k += parts) {
        // Beyond the last position the weight is 0, whatever the value.
        const int32_t from_lane = __shfl_sync(kAll, weight, static_cast<int>((k + part) % 32));
        const int32_t factor = k + part < count ? from_lane : 0;
        const uint32_t v = *(cached(tile, op, op.values_offset, r, min(start + k + part, end - 1), first) + word);
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
      y[i] = divide32(static_cast<int32_t>(sum), max(1, total), tile.args.nearest);
    }
    if (mine) tile.word(op.out, r, first + 4 * word) = pack4(y[0], y[1], y[2], y[3]);
  }
}

template <class T>
__device__ inline void run_attention(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  remember(tile, op, op.keys_offset, op.in[1]);
  remember(tile, op, op.values_offset, op.in[2]);
  __syncwarp();
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t begin = __shfl_sync(kAll, tile.first_visible, static_cast<int>(4 * i));
    for (uint32_t first = 0; first < op.out.size; first += static_cast<uint32_t>(op.head)) {
      attend(tile, op, 8 * tile.warp() + i, begin, first);
    }
    // Channels beyond the last are zero like those of every value.
    for (uint32_t c = op.out.size + 4 * tile.lane(); c < op.out.bytes; c += 128) {
      tile.word(op.out, 8 * tile.warp() + i, c) = 0;
    }
  }
}

template <class T>
__device__ inline void run_loss(T& tile, const DeviceOp& planned) {
  const DeviceOp op = planned;
  const Place& logits = op.in[0];
  const uint32_t vocab = tile.args.vocab;
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t r = 8 * tile.warp() + i;
    const uint32_t target = tile.args.targets[tile.entry(r)];
    if (target == EGG_NO_TARGET) continue;
    int32_t largest = -128;
    for (uint32_t v = 4 * tile.lane(); v < vocab; v += 128) {
      const uint32_t word = tile.word(logits, r, v);
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        if (v + k < vocab) largest = max(largest, byte_of(word, static_cast<int>(k)));
      }
    }
    largest = __reduce_max_sync(kAll, largest);
    unsigned long long sum = 0;
    for (uint32_t v = 4 * tile.lane(); v < vocab; v += 128) {
      const uint32_t word = tile.word(logits, r, v);
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        if (v + k < vocab) sum += tile.args.loss_tables->exp2_q30[largest - byte_of(word, static_cast<int>(k))];
      }
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
    const int32_t at_target = byte_of(tile.word(logits, r, target & ~3u), static_cast<int>(target % 4));
    const int32_t loss = egg_loss_q16(sum, largest, at_target, op.attr, tile.args.loss_tables->log2_q24);
    if (tile.lane() == i) tile.loss += loss;
  }
}

}  // namespace eggroll::cuda

#endif
