// Many values of the noise at once, in device code.
#ifndef EGGROLL_CUDA_DRAW_WORDS_CUH
#define EGGROLL_CUDA_DRAW_WORDS_CUH

#include "draw.cuh"
#include "mma.cuh"
#include "words.cuh"

namespace eggroll::cuda {

// The distribution's values in shared memory. Each lane has its own copy, in a bank of its own: lanes look up at once
// whatever they look for.
constexpr uint32_t kOwnValues = 256 * 32;
class OwnValues {
 public:
  // table: (kOwnValues) in shared memory. By all threads of a block.
  __device__ OwnValues(const NoiseValues& noise, uint32_t* table, uint32_t threads)
      : own_(shared_address(table + threadIdx.x % 32)) {
    for (uint32_t i = threadIdx.x; i < kOwnValues; i += threads) {
      table[i] = static_cast<uint32_t>(int32_t{__ldg(noise.values + i / 32)});
    }
    __syncthreads();
    asm volatile("" : "+r"(own_)::"memory");  // no look-up comes before this
  }
  // The value for byte i of four. A product of bytes makes its address of the byte, in one instruction.
  __device__ int32_t of_byte(uint32_t bytes, int i) const {
    return static_cast<int32_t>(load_shared(__dp4a(bytes, 128u << (8 * i), own_)));
  }
  // The values for four bytes.
  __device__ uint32_t of(uint32_t bytes) const {
    const auto value = [&](int i) { return static_cast<uint32_t>(of_byte(bytes, i)); };
    return pick(pick(value(0), value(1), 0x0040), pick(value(2), value(3), 0x0040), 0x5410);
  }

 private:
  uint32_t own_;
};

// 16 values of a draw from number `from` on, a multiple of 16; those that are not below `size` zero.
__device__ inline uint4 draw16(const NoiseValues& noise, const OwnValues& own, uint64_t key, uint32_t side,
                               uint32_t from, uint32_t size) {
  if (from >= size) return make_uint4(0, 0, 0, 0);
  uint4 values;
  if (noise.table != nullptr) {
    // Offsets are multiples of 64 and so is half the table: sixteen neighbours never part.
    values =
        __ldg(reinterpret_cast<const uint4*>(noise.table + egg_noise_table_index(key, side, from, noise.table_log2)));
  } else {
    values = each_word([&](int k) { return own.of(egg_noise_word(key, from / 4 + static_cast<uint32_t>(k))); });
  }
  if (from + kUnit <= size) return values;
  return each_word([&](int k) { return real_bytes(word_of(values, k), from + 4 * static_cast<uint32_t>(k), size); });
}

}  // namespace eggroll::cuda

#endif
