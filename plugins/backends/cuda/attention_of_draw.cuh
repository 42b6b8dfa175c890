// attention of a site's draws, which read keys and values where their stream keeps them.
#ifndef EGGROLL_CUDA_ATTENTION_OF_DRAW_CUH
#define EGGROLL_CUDA_ATTENTION_OF_DRAW_CUH

#include "attention.cuh"

namespace eggroll::cuda {

// A draw has its stream's keys and values before its place, and its own from there on: those of the token in hand in
// the tile, the others in the cache.
template <class T>
struct OfDraw {
  const T& tile;
  const DeviceOp& op;
  uint32_t r, begin, end;
  uint32_t token;  // of the place
  size_t first;    // what is kept of the stream's position 0

  __device__ OfDraw(const T& the_tile, const DeviceOp& the_op, uint32_t row)
      : tile(the_tile), op(the_op), r(row), token(tile.token_of_place(row)) {
    const uint32_t place = tile.place(row);
    end = token + tile.steps_behind() + 1;
    first = tile.args.first_kept + place - token;
    begin = end - 1;
    const uint8_t* reset = tile.args.resets + tile.entry(row);
    for (; begin > token && *reset == 0; --reset) --begin;
    if (begin > token) return;
    for (reset = tile.args.move.resets + place; begin > 0 && *reset == 0; --reset) --begin;
  }
  // Channels from i on, as far as their unit goes. side: 0 of keys, 1 of values.
  __device__ const void* at(size_t kept, const Place& own, uint32_t side, uint32_t j, uint32_t i) const {
    if (j + 1 == end && (j > token || op.of_stream == 0)) return &tile.word(own, r, i);
    if (j >= token + op.of_stream) return cached(own, side, j - token) + i;
    return tile.args.kept + kept + (first + j) * own.bytes + i;
  }
  template <class Part = uint32_t>
  __device__ Part key(uint32_t j, uint32_t i) const {
    return *static_cast<const Part*>(at(op.keys_offset, op.in[1], 0, j, i));
  }
  template <class Part = uint32_t>
  __device__ Part value(uint32_t j, uint32_t i) const {
    return *static_cast<const Part*>(at(op.values_offset, op.in[2], 1, j, i));
  }
  __device__ int8_t* cached(const Place& own, uint32_t side, uint32_t step) const {
    const MoveArgs& move = tile.args.move;
    const size_t part = size_t{tile.member(r)} * move.cached_tokens + step;
    return move.cache + part * move.cached_bytes + op.scores_offset + side * own.bytes;
  }
  // Keeps what the tile has of the token in hand.
  __device__ void remember() const {
    for (uint32_t side = 0; side < 2; ++side) {
      const Place& own = op.in[1 + side];
      auto* to = reinterpret_cast<uint4*>(cached(own, side, end - 1 - token));
      for (uint32_t u = tile.quarter(); u < units_of(own); u += 4) to[u] = tile.unit(own, r, u);
    }
  }
};

// As for a member, but a draw keeps no scores: they are made for the largest, and again for each 32 channels.
template <bool kSmall, class T>
__device__ inline void attend_alone(const OfDraw<T>& seen, uint32_t first) {
  const T& tile = seen.tile;
  const DeviceOp& op = seen.op;
  const uint32_t end = seen.end;
  const uint32_t units = static_cast<uint32_t>(op.head) / kUnit;
  // body(k, score of position start + k); those beyond the last repeat it.
  const auto each_score = [&](uint32_t start, auto&& body) {
    int32_t products[kValuesAhead] = {};
#pragma unroll 1
    for (uint32_t u = first; u < first + units; ++u) {
      uint4 keys[kValuesAhead];
#pragma unroll
      for (uint32_t k = 0; k < kValuesAhead; ++k) {
        keys[k] = seen.template key<uint4>(min(start + k, end - 1), kUnit * u);
      }
      const uint4 query = tile.unit(op.in[0], seen.r, u);
#pragma unroll
      for (uint32_t k = 0; k < kValuesAhead; ++k) products[k] = dot16(query, keys[k], products[k]);
    }
#pragma unroll
    for (uint32_t k = 0; k < kValuesAhead; ++k) body(k, egg_rshift(products[k], op.attr, tile.args.nearest));
  };
  int32_t largest = INT32_MIN;
#pragma unroll 1
  for (uint32_t start = seen.begin; start < end; start += kValuesAhead) {
    each_score(start, [&](uint32_t, int32_t score) { largest = max(largest, score); });
  }
#pragma unroll 1
  for (uint32_t u = 0; u < units; u += 2) {
    const uint32_t next = min(u + 1, units - 1) - u;
    int32_t sums[32] = {};
    int32_t total = 0;
#pragma unroll 1
    for (uint32_t start = seen.begin; start < end; start += kValuesAhead) {
      uint4 v[kValuesAhead][2];
#pragma unroll
      for (uint32_t k = 0; k < kValuesAhead; ++k) {
        const uint32_t j = min(start + k, end - 1);
        v[k][0] = seen.template value<uint4>(j, kUnit * (first + u));
        v[k][1] = seen.template value<uint4>(j, kUnit * (first + u + next));
      }
      int32_t weights[kValuesAhead];
      each_score(start, [&](uint32_t k, int32_t score) {
        const int32_t z = min(score, largest);  // a row beyond the last may read what its real one is writing
        weights[k] = start + k < end ? __ldg(op.table + egg_attention_index(z, largest, op.mode)) : 0;
        total += weights[k];
      });
#pragma unroll
      for (uint32_t k = 0; k < kValuesAhead; k += 2) {
        add_values<kSmall>(v[k], v[k + 1], weights[k], weights[k + 1], sums);
      }
    }
    put_means(tile, op, first + u, next, Divisor(max(1, total), tile.args.nearest), sums);
  }
}

template <class T>
__device__ inline void run_attention_of_draw(T& tile, const DeviceOp& planned) {
  const typename T::Op op = planned;
  const OfDraw<T> seen(tile, op, tile.row());
  if (tile.args.move.cache != nullptr && tile.is_real(tile.row())) seen.remember();
  __syncwarp();
  if (static_cast<uint32_t>(op.head) % kUnit != 0) return attend_by_warp<OfDraw>(tile, op);
  each_own_head(tile, op, [&](uint32_t first) {
    with_flag(op.small_weights != 0, [&](auto small) { attend_alone<small.value>(seen, first); });
  });
}

}  // namespace eggroll::cuda

#endif
