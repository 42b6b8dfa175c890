// Int8 products for compute capability 8.0 and later: on tensor cores, and in a thread.
#ifndef EGGROLL_CUDA_MMA_CUH
#define EGGROLL_CUDA_MMA_CUH

#include <cstdint>

namespace eggroll::cuda {

__device__ inline uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
// Loads a word that no thread changes any more: the compiler may move this load either way, or merge it with another.
__device__ inline uint32_t load_shared(uint32_t address) {
  uint32_t word;
  asm("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}

// Returns `sum` plus the products of 16 numbers with 16 others.
__device__ inline int32_t dot16(const uint4& x, const uint4& y, int32_t sum) {
  sum = __dp4a(static_cast<int32_t>(x.x), static_cast<int32_t>(y.x), sum);
  sum = __dp4a(static_cast<int32_t>(x.y), static_cast<int32_t>(y.y), sum);
  sum = __dp4a(static_cast<int32_t>(x.z), static_cast<int32_t>(y.z), sum);
  return __dp4a(static_cast<int32_t>(x.w), static_cast<int32_t>(y.w), sum);
}

// d (16 x 8) += a (16 x 32) b (32 x 8). In thread t, with g = t / 4 and c = t % 4, d holds columns 2c and 2c + 1 of
// rows g and g + 8. a0: inputs 4c to 4c + 3 of row g; a1: the same inputs of row g + 8; a2: inputs 4c + 16 to 4c + 19
// of row g; a3: those of row g + 8. b0: inputs 4c to 4c + 3 of column g; b1: inputs 4c + 16 to 4c + 19 of column g.
__device__ inline void multiply_add(int32_t (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                                    uint32_t b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// The same with a unsigned.
__device__ inline void multiply_add_unsigned(int32_t (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                             uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Loads four pieces of 8 x 16 bytes from shared memory: a fragment of a. Thread t passes row t % 8 of piece t / 8.
__device__ inline uint4 load_pieces(const void* row) {
  uint4 a;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a.x), "=r"(a.y), "=r"(a.z), "=r"(a.w)
               : "r"(shared_address(row))
               : "memory");
  return a;
}

}  // namespace eggroll::cuda

#endif
