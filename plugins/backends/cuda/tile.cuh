// A tile that a block works on: its rows, and access to their values.
#ifndef EGGROLL_CUDA_TILE_CUH
#define EGGROLL_CUDA_TILE_CUH

#include "forward.h"
#include "words.cuh"

namespace eggroll::cuda {

extern __shared__ __align__(128) char shared_memory[];

constexpr uint32_t kWarps = kTileThreads / 32;

// A warp's data from op to op. They lie in shared memory, because an op needs the registers.
struct alignas(16) WarpState {
  const int8_t* noise;  // of the tile
  char* workspace;
  uint32_t number;  // of the tile in the launch; one beyond the last does all that the others do, and writes nothing
  uint32_t token;
  uint32_t op;
  uint32_t stage;             // of the ring, next to be read
  uint32_t phase;             // its parity
  uint32_t first_visible[8];  // of each row: position that attention reaches back to
  int64_t loss[8];
};

__device__ inline uint32_t tiles_of(const ForwardArgs& args) { return divide_up(args.rows, kTileRows); }

// Shared memory: the values of the block's tiles; the ring; what manages it; and of each tile q of linear, (rows,
// ranks), and of each warp its state and, of a long program, the op at hand.
__device__ inline uint32_t tiles_at_once() { return blockDim.x / kTileThreads; }
__device__ inline uint32_t own_tile() { return threadIdx.x / kTileThreads; }
__device__ inline char* ring_start(const ForwardArgs& args) { return shared_memory + tiles_at_once() * args.values; }
__device__ inline char* ring_end(const ForwardArgs& args) { return ring_start(args) + args.stages * kStage; }
constexpr uint32_t kMostStages = 16;
constexpr uint32_t kRingState = 16 + 16 * kMostStages;
__host__ __device__ inline uint32_t warp_extra(uint32_t ops) {
  return sizeof(WarpState) + (ops > kMostInlineOps ? sizeof(DeviceOp) : 0);
}
__host__ __device__ inline uint32_t tile_extra(uint32_t ranks, uint32_t ops) {
  return kTileRows * ranks * static_cast<uint32_t>(sizeof(int32_t)) + kWarps * warp_extra(ops);
}
__device__ inline char* own_extra(const ForwardArgs& args) {
  return ring_end(args) + kRingState + own_tile() * tile_extra(args.ranks, args.op_count);
}
__device__ inline WarpState& own_state(const ForwardArgs& args) {
  char* behind_q = own_extra(args) + kTileRows * args.ranks * sizeof(int32_t);
  return *reinterpret_cast<WarpState*>(behind_q + threadIdx.x / 32 % kWarps * warp_extra(args.op_count));
}

// A row's noise, or a vector parameter as its member sees it, in the units of a thread: number i is its unit
// quarter + 4 i.
struct NoiseUnits {
  const int8_t* first;
  __device__ bool any() const { return first != nullptr; }
  template <class Part>
  __device__ Part part(uint32_t i, uint32_t k) const {
    return __ldg(reinterpret_cast<const Part*>(first + i * (kTilePairs * kBlock)) + k);
  }
  __device__ uint4 operator[](uint32_t i) const { return part<uint4>(i, 0); }
};

template <bool kFirst, class A, class B>
struct Either {
  using Type = A;
};
template <class A, class B>
struct Either<false, A, B> {
  using Type = B;
};

// A tile as a thread sees it. Work on channels is cut so that four threads have a row and a warp eight rows, which are
// one half of a slab: a row's thread c has of its units those u with u % 4 = c. The first four warps have the even
// members, the last four the odd ones.
// kAllShared: every value of the op at hand is in shared memory. kInline: the op is one of the launch's arguments.
// kFull: the program may have wide values and any op, see Plan::full_ops.
template <bool kAllShared, bool kInline, bool kFull>
struct Tile {
  // As what an op takes its DeviceOp. One in shared memory is copied: the compiler must think that any store might
  // change it, and would read it again and again.
  using Op = typename Either<kInline, const DeviceOp&, const DeviceOp>::Type;
  static constexpr bool kOnChip = kAllShared;
  static constexpr bool kAnyOp = kFull;

  const ForwardArgs& args;
  char* values;  // of the tile in shared memory
  WarpState& at;

  __device__ static uint32_t warp() { return threadIdx.x / 32 % kWarps; }
  __device__ static uint32_t lane() { return threadIdx.x % 32; }
  __device__ static uint32_t slab() { return warp() % 4 * 16; }
  __device__ static uint32_t first_row() { return slab() + warp() / 4 * 8; }
  __device__ static uint32_t row() { return first_row() + lane() / 4; }
  __device__ static uint32_t quarter() { return threadIdx.x % 4; }
  // Waits for all threads of the tile.
  __device__ static void barrier() {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + own_tile()), "n"(kTileThreads) : "memory");
  }

  // Rows beyond the last read what the last ones read, or noise of no pair, and write nothing.
  __device__ static uint32_t pair_of(uint32_t r) { return r / 16 * 8 + r % 8; }
  __device__ uint32_t index_of(uint32_t r) const {
    if (args.paired == 0) return at.number * kTileRows + r;
    return (at.number * kTilePairs + pair_of(r)) * 2 + r / 8 % 2;
  }
  __device__ bool is_real(uint32_t r) const { return index_of(r) < args.rows; }
  __device__ uint32_t member(uint32_t r) const { return min(index_of(r), args.rows - 1); }
  __device__ static int32_t sign_of(uint32_t r) { return r / 8 % 2 == 0 ? 1 : -1; }
  __device__ uint32_t ranks(const DeviceOp& op) const { return min(static_cast<uint32_t>(op.ranks), args.ranks); }
  // The entry of row r's stream at this token in the streams' lists.
  __device__ size_t entry(uint32_t r) const {
    return size_t{(args.first + member(r)) / args.members_per_stream} * args.tokens + at.token;
  }

  // Where the row's token lies in its window; of draws, where their place does. Behind the window's end no loss counts.
  __device__ uint32_t position(uint32_t r) const {
    if (args.move.tokens == 0) return at.token;
    return min(token_of_place(r) + steps_behind(), args.move.tokens - 1);
  }
  __device__ uint32_t place(uint32_t r) const { return member(r) / args.members_per_stream; }
  __device__ uint32_t token_of_place(uint32_t r) const { return (args.move.place + place(r)) % args.move.tokens; }
  // The number of tokens from the draws' places to the draws' token.
  __device__ uint32_t steps_behind() const { return args.move.later + at.token; }

  __device__ const int8_t* noise(uint32_t r, uint32_t i) const { return at.noise + noise_place(pair_of(r), i); }
  __device__ NoiseUnits noise_units(uint32_t r, uint32_t i) const { return {noise(r, i) + kUnit * quarter()}; }
  // Row r's values of a vector parameter: gain or bias. Null where there is none.
  __device__ NoiseUnits vector(const VectorNoise& v, uint32_t r) const {
    if (v.offset < 0) return {nullptr};
    return noise_units(r, static_cast<uint32_t>(v.offset + (args.paired != 0 ? r / 8 % 2 * v.odd : 0)));
  }

  __device__ static bool is_wide(const Place& p) { return kFull && p.wide != 0; }
  __device__ char* start(const Place& p) const {
    return (kAllShared || p.shared != 0 ? values : at.workspace) + p.offset;
  }
  __device__ uint4& unit(const Place& p, uint32_t r, uint32_t u) const {
    return *reinterpret_cast<uint4*>(start(p) + (u * kPlane + r * kUnit));
  }
  // Four channels from channel i on, a multiple of 4, of an int8 value.
  __device__ uint32_t& word(const Place& p, uint32_t r, uint32_t i) const {
    return *reinterpret_cast<uint32_t*>(start(p) + (i / kUnit * kPlane + r * kUnit + i % kUnit));
  }
  // Word k of the four of unit u of a wide value, u one of this thread's own: a row's threads keep to different banks.
  __device__ uint4& wide_word(const Place& p, uint32_t r, uint32_t u, uint32_t k) const {
    return unit(p, r, 4 * u + (k ^ quarter()));
  }
  __device__ int32_t* q() const { return reinterpret_cast<int32_t*>(own_extra(args)); }
};

// Units of 16 channels, padding included.
__device__ inline uint32_t units_of(const Place& p) { return p.bytes / kUnit / (p.wide != 0 ? 4 : 1); }

// Four channels of a wide value.
__device__ inline uint4 wide_unit(const int32_t (&v)[4]) {
  return make_uint4(static_cast<uint32_t>(v[0]), static_cast<uint32_t>(v[1]), static_cast<uint32_t>(v[2]),
                    static_cast<uint32_t>(v[3]));
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

// ---- Two numbers in the halves of a word: int8 values 128 higher, so that sums do not carry ----
// Channels 0 and 1 of a word, and 2 and 3.
__device__ inline uint32_t raised_low(uint32_t word) { return pick(word ^ 0x80808080u, 0, 0x4140); }
__device__ inline uint32_t raised_high(uint32_t word) { return pick(word ^ 0x80808080u, 0, 0x4342); }
// Four channels, clipped, from two words of halves that are `raised` too high; halves below 2^15.
__device__ inline uint32_t clip_raised(uint32_t low, uint32_t high, int32_t raised) {
  // From here on 127 higher: 0 to 254.
  const uint32_t offset = static_cast<uint32_t>((127 - raised) & 0xffff) * 0x10001u;
  const uint32_t l = __viaddmin_s16x2_relu(low, offset, 254 * 0x10001u);
  const uint32_t h = __viaddmin_s16x2_relu(high, offset, 254 * 0x10001u);
  return (pick(l, h, 0x6420) + 0x01010101u) ^ 0x80808080u;
}

// 16 channels, unit u, of a value of either width, four at a time: body(four channels, k).
template <bool kWide, class T, class Body>
__device__ inline void load16(const T& tile, const Place& p, uint32_t r, uint32_t u, Body&& body) {
  uint4 narrow = {};
  if (!kWide) narrow = tile.unit(p, r, u);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint4 wide = kWide ? tile.wide_word(p, r, u, static_cast<uint32_t>(k)) : make_uint4(0, 0, 0, 0);
    int32_t v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      v[i] = kWide ? static_cast<int32_t>(word_of(wide, i)) : byte_of(word_of(narrow, k), i);
    }
    body(v, k);
  }
}

// 16 channels as unit u of a value of either width. Clips where it is not wide.
template <class T>
__device__ inline void store16(const T& tile, const Place& p, uint32_t r, uint32_t u, const int32_t (&v)[4][4]) {
  if (p.wide != 0) {
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) tile.wide_word(p, r, u, k) = wide_unit(v[k]);
  } else {
    tile.unit(p, r, u) = each_word([&](int k) { return clip_pack4(v[k]); });
  }
}

// Calls body with true or false, as a type.
template <bool kValue>
struct Flag {
  static constexpr bool value = kValue;
};
template <class Body>
__device__ inline void with_flag(bool flag, Body&& body) {
  flag ? body(Flag<true>{}) : body(Flag<false>{});
}

// ---- Whole numbers below 2^22 as float32: x + 2^23 has x in its lower bits, cheaper than a conversion ----
__device__ inline float whole_to_float(uint32_t x) { return __fsub_rn(__uint_as_float(0x4b000000 | x), 8388608.0F); }
// The nearest one, of those below 256.
__device__ inline int32_t float_to_byte(float x) { return __float_as_int(__fadd_rn(x, 8388608.0F)) & 0xff; }

// Sum and maximum over the four threads of a row.
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
