// Words of four int8 values, and units of four words.
#ifndef EGGROLL_CUDA_WORDS_CUH
#define EGGROLL_CUDA_WORDS_CUH

#include <cstdint>

namespace eggroll::cuda {

__device__ inline int32_t byte_of(uint32_t word, int i) { return static_cast<int8_t>(word >> (8 * i)); }

// Calls body(word of a unit, its number) for each of the four.
template <class Body>
__device__ inline uint4 each_word(Body&& body) {
  return make_uint4(body(0), body(1), body(2), body(3));
}
__device__ inline uint32_t word_of(const uint4& unit, int i) {
  return i == 0 ? unit.x : i == 1 ? unit.y : i == 2 ? unit.z : unit.w;
}

// Bytes of x (0 to 3) and y (4 to 7), a digit of the selector each from the lowest on; 8 more: the byte's sign.
__device__ inline uint32_t pick(uint32_t x, uint32_t y, uint32_t selector) {
  uint32_t bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(x), "r"(y), "r"(selector));
  return bytes;
}

// The bytes of a word whose numbers are below `size`, the others zero; the word begins with number i.
__device__ inline uint32_t real_bytes(uint32_t word, uint32_t i, uint32_t size) {
  if (i + 4 <= size) return word;
  return i >= size ? 0 : word & (0xffffffffu >> (8 * (4 - (size - i))));
}

}  // namespace eggroll::cuda

#endif
