// A tile at work: its rows, and the access to their values.
#ifndef EGGROLL_CUDA_TILE_CUH
#define EGGROLL_CUDA_TILE_CUH

#include "forward.h"

namespace eggroll::cuda {

extern __shared__ __align__(128) char shared_memory[];

// As a thread sees it. Each op begins with a copy of its DeviceOp: the compiler must think that any store might change
// the one in memory, and would read it again and again. Work on channels is cut so that four threads have a row and a
// warp eight rows, which are one half of a slab: thread t has row t / 4 and of its units those u with u % 4 = t % 4.
// kAllShared: no value is in the workspace.
template <bool kAllShared>
struct Tile {
  const ForwardArgs& args;
  char* workspace;
  uint32_t number;  // of this tile in the launch
  uint32_t token;
  uint32_t first_visible;  // position that attention of this thread's row reaches back to
  int64_t loss;            // lane i of a warp: of the warp's row i, i < 8

  __device__ static uint32_t warp() { return threadIdx.x / 32; }
  __device__ static uint32_t lane() { return threadIdx.x % 32; }
  __device__ static uint32_t row() { return threadIdx.x / 4; }
  __device__ static uint32_t quarter() { return threadIdx.x % 4; }

  // Rows beyond the last read what the last ones read, and write nothing.
  __device__ uint32_t pair_of(uint32_t r) const {
    return min(number * (kTileRows / 2) + r / 16 * 8 + r % 8, args.rows / 2 - 1);
  }
  __device__ uint32_t index_of(uint32_t r) const {
    if (args.paired == 0) return number * kTileRows + r;
    return (number * (kTileRows / 2) + r / 16 * 8 + r % 8) * 2 + r / 8 % 2;
  }
  __device__ bool is_real(uint32_t r) const { return index_of(r) < args.rows; }
  __device__ uint32_t member(uint32_t r) const { return min(index_of(r), args.rows - 1); }
  __device__ static int32_t sign_of(uint32_t r) { return r / 8 % 2 == 0 ? 1 : -1; }
  __device__ const int8_t* noise_of(uint32_t r) const {
    return args.pair_stride == 0 ? args.noise : args.noise + pair_of(r) * args.pair_stride;
  }
  __device__ uint32_t ranks(const DeviceOp& op) const { return min(static_cast<uint32_t>(op.ranks), args.ranks); }
  // Of the streams' lists: the entry of row r's stream at this token.
  __device__ size_t entry(uint32_t r) const {
    return size_t{(args.first + member(r)) / args.group} * args.tokens + token;
  }
  // Row r's values of a vector parameter: gain or bias. Null where there is none.
  __device__ const uint4* vector(const VectorNoise& v, uint32_t r) const {
    if (v.offset < 0) return nullptr;
    return reinterpret_cast<const uint4*>(noise_of(r) + v.offset + (args.paired != 0 ? r / 8 % 2 * v.odd : 0));
  }

  __device__ char* row_start(const Place& p, uint32_t r) const {
    if (kAllShared || p.shared != 0) return shared_memory + (r * args.shared_row + p.offset);
    return workspace + size_t{r} * args.workspace_row + p.offset;
  }
  __device__ uint4* units(const Place& p, uint32_t r) const { return reinterpret_cast<uint4*>(row_start(p, r)); }
  // Four channels from channel i on, a multiple of 4, of an int8 value.
  __device__ uint32_t& word(const Place& p, uint32_t r, uint32_t i) const {
    return *reinterpret_cast<uint32_t*>(row_start(p, r) + i);
  }
  // q of linear, behind all rows: (rows, ranks).
  __device__ int32_t* q() const { return reinterpret_cast<int32_t*>(shared_memory + kTileRows * args.shared_row); }
};

// Units of 16 channels, padding included.
__device__ inline uint32_t units_of(const Place& p) { return p.bytes / kUnit / (p.wide != 0 ? 4 : 1); }

__device__ inline int32_t byte_of(uint32_t word, int i) { return static_cast<int8_t>(word >> (8 * i)); }

// Calls body(word of a unit, its number) for each of the four.
template <class Body>
__device__ inline uint4 each_word(Body&& body) {
  return make_uint4(body(0), body(1), body(2), body(3));
}
__device__ inline uint32_t word_of(const uint4& unit, int i) {
  return i == 0 ? unit.x : i == 1 ? unit.y : i == 2 ? unit.z : unit.w;
}

// Two numbers saturated to int8 in the lower half, and the lower half of `upper` above them.
__device__ inline uint32_t pack2(int32_t high, int32_t low, uint32_t upper) {
  uint32_t packed;
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(packed) : "r"(high), "r"(low), "r"(upper));
  return packed;
}
// Numbers of [-127, 127] and above; those above become 127.
__device__ inline uint32_t pack4(int32_t a, int32_t b, int32_t c, int32_t d) { return pack2(b, a, pack2(d, c, 0)); }
__device__ inline uint32_t clip_pack4(const int32_t (&v)[4]) {
  return pack4(max(v[0], -127), max(v[1], -127), max(v[2], -127), max(v[3], -127));
}

// Four channels, unit u, word k, of a value of either width.
template <class T>
__device__ inline void load4(const T& tile, const Place& p, uint32_t r, uint32_t u, int k, int32_t (&v)[4]) {
  if (p.wide != 0) {
    const uint4 four = tile.units(p, r)[4 * u + k];
    v[0] = static_cast<int32_t>(four.x);
    v[1] = static_cast<int32_t>(four.y);
    v[2] = static_cast<int32_t>(four.z);
    v[3] = static_cast<int32_t>(four.w);
    return;
  }
  const uint32_t word = tile.word(p, r, kUnit * u + 4 * k);
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = byte_of(word, i);
}

// Clips where the value is not wide.
template <class T>
__device__ inline void store4(const T& tile, const Place& p, uint32_t r, uint32_t u, int k, const int32_t (&v)[4]) {
  if (p.wide != 0) {
    tile.units(p, r)[4 * u + k] = make_uint4(static_cast<uint32_t>(v[0]), static_cast<uint32_t>(v[1]),
                                             static_cast<uint32_t>(v[2]), static_cast<uint32_t>(v[3]));
    return;
  }
  tile.word(p, r, kUnit * u + 4 * k) = clip_pack4(v);
}

// egg_divide where (2 |n| + d) and 2 d fit 32 bits.
__device__ inline int32_t divide32(int32_t n, int32_t d, int32_t nearest) {
  const auto magnitude = static_cast<uint32_t>(n < 0 ? -n : n);
  const auto divisor = static_cast<uint32_t>(d);
  const auto quotient = static_cast<int32_t>((2 * magnitude + (nearest != 0 ? divisor : 0)) / (2 * divisor));
  return n < 0 ? -quotient : quotient;
}

// egg_max_norm for |x| <= largest <= EGG_WIDE_MAX, estimated in float32 and set right in integers. scale: 127 /
// largest.
__device__ inline int32_t max_norm32(int32_t x, int32_t largest, float scale) {
  const int32_t magnitude = x < 0 ? -x : x;
  int32_t y = static_cast<int32_t>(__fmul_rn(static_cast<float>(magnitude), scale));
  // Half a unit and the estimate's error at most away.
  const int64_t rest = int64_t{254} * magnitude + largest - 2 * static_cast<int64_t>(largest) * y;
  y += rest >= 2 * static_cast<int64_t>(largest) ? 1 : 0;
  y -= rest < 0 ? 1 : 0;
  return x < 0 ? -y : y;
}

// Of the four threads of a row.
__device__ inline int32_t row_sum(int32_t x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}
__device__ inline int32_t row_max(int32_t x) {
  x = max(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return max(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

}  // namespace eggroll::cuda

#endif
