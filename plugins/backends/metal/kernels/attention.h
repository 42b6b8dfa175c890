// attention: a simdgroup works on one row at a time. Its lanes first are positions, then words of a head's channels.
#ifndef EGGROLL_METAL_ATTENTION_H
#define EGGROLL_METAL_ATTENTION_H

#include "tile.h"

// The first position that attention sees: the last that resets the row's stream, else 0.
inline uint32_t first_visible(thread const Tile& tile, uint32_t row) {
  uint32_t first = 0;
  const uint32_t position = tile.position(row);
  device const uint8_t* resets = tile.resets + tile.window(row);
  for (uint32_t j = tile.lane; j <= position; j += kLanes) {
    if (resets[j] != 0) first = j;
  }
  return simd_max(first);
}

// The keys or the values that a row attends to. A draw has its stream's before its place, and its own from there on.
struct Cache {
  device int8_t* own;  // of position 0, as the stream's
  uint32_t own_stride;
  device const int8_t* of_stream;
  uint32_t stream_stride;
  uint32_t first_own;
  device const int8_t* at(uint32_t j) const {
    return j < first_own ? of_stream + uint64_t(j) * stream_stride : own + j * own_stride;
  }
};

// which: 0 of keys, 1 of values.
inline Cache cache_of(thread const Tile& tile, constant DeviceOp& op, uint32_t row, uint32_t which) {
  Cache cache;
  cache.own_stride = op.out.padded;
  cache.own =
      reinterpret_cast<device int8_t*>(tile.workspace + op.caches[which]) + row * tile.args->context * cache.own_stride;
  cache.first_own = tile.first_position(row) + op.of_stream;
  cache.stream_stride = tile.args->kept_bytes;
  cache.of_stream = tile.kept;
  if (cache.first_own == 0) return cache;
  const uint64_t first = uint64_t(tile.args->move.first_kept) + tile.place(row) - tile.first_position(row);
  cache.of_stream += first * cache.stream_stride + op.kept[which];
  return cache;
}

// One head, its channels from `first` on. Sums fit int32, as the host has proved.
inline void attend(thread const Tile& tile, constant DeviceOp& op, uint32_t row, uint32_t begin, uint32_t first,
                   Cache keys, Cache values) {
  const uint32_t words = static_cast<uint32_t>(op.head) / 4;
  const uint32_t position = tile.position(row);
  const int32_t nearest = tile.args->nearest;
  device int32_t* scores = reinterpret_cast<device int32_t*>(tile.workspace + op.scores) + row * tile.args->context;
  device const int8_t* query = tile.narrow(op.in[0], row) + first;
  int32_t largest = INT32_MIN;
  for (uint32_t j = begin + tile.lane; j <= position; j += kLanes) {
    int32_t product = 0;
    for (uint32_t w = 0; w < words; ++w) {
      product += dot_four(load_bytes(query, w), load_bytes(keys.at(j) + first, w));
    }
    scores[j] = egg_rshift(product, op.attr, nearest);
    largest = max(largest, scores[j]);
  }
  largest = simd_max(largest);
  for (uint32_t j = begin + tile.lane; j <= position; j += kLanes) {
    scores[j] = tile.tables[op.table + static_cast<uint32_t>(egg_attention_index(scores[j], largest, op.mode))];
  }
  simdgroup_barrier(mem_flags::mem_device);
  for (uint32_t w = tile.lane; w < words; w += kLanes) {
    Four sums = {{0, 0, 0, 0}};
    int32_t total = 0;
    for (uint32_t j = begin; j <= position; ++j) {
      const Four value = load_bytes(values.at(j) + first, w);
      const int32_t weight = scores[j];
      total += weight;
      for (uint32_t i = 0; i < 4; ++i) sums.at[i] += weight * value.at[i];
    }
    for (uint32_t i = 0; i < 4; ++i) sums.at[i] = egg_divide32(sums.at[i], max(1, total), nearest);
    store(tile, op.out, row, first / 4 + w, sums);
  }
  // All lanes must have read the weights before the next head's scores overwrite them.
  simdgroup_barrier(mem_flags::mem_device);
}

inline void run_attention(thread const Tile& tile, constant DeviceOp& op) {
  const uint32_t words = op.out.padded / 4;
  for (uint32_t row = tile.simdgroup; row < tile.rows; row += kSimdgroups) {
    const uint32_t begin = first_visible(tile, row);
    const Cache keys = cache_of(tile, op, row, 0);
    const Cache values = cache_of(tile, op, row, 1);
    const uint32_t first_word = tile.position(row) * words;
    for (uint32_t u = tile.lane; u < words; u += kLanes) {
      reinterpret_cast<device uint32_t*>(keys.own)[first_word + u] = packed(load(tile, op.in[1], row, u));
      reinterpret_cast<device uint32_t*>(values.own)[first_word + u] = packed(load(tile, op.in[2], row, u));
      if (4 * u >= op.out.size) reinterpret_cast<device uint32_t*>(tile.narrow(op.out, row))[u] = 0;
    }
    simdgroup_barrier(mem_flags::mem_device);
    for (uint32_t first = 0; first < op.out.size; first += static_cast<uint32_t>(op.head)) {
      attend(tile, op, row, begin, first, keys, values);
    }
  }
}

#endif
