// AMX's eight tiles. Each has 16 rows of 64 bytes. The instructions are inline assembly, because GCC's intrinsics do
// not tell the compiler that a load reads memory.
#ifndef EGGROLL_AMX_TILES_H
#define EGGROLL_AMX_TILES_H

#include <cstddef>
#include <cstdint>

namespace eggroll::tile {

struct Tiles {
  static constexpr size_t kRows = 16;
  static constexpr size_t kRowBytes = 64;

  // Each thread must call this before it uses the tiles.
  static void shape() {
    struct alignas(64) {
      uint8_t palette = 1;
      uint8_t first_row = 0;
      uint8_t reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } shapes;
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  template <int T>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(T));
  }
  template <int T>
  static void load(const void* from, size_t stride) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(T), "r"(from), "r"(stride) : "memory");
  }
  template <int T>
  static void store(void* to, size_t stride) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(T), "r"(to), "r"(stride) : "memory");
  }
  // sums[i][j] += the sum over k < 64 of a[i][k] * b[k / 4][4 * j + k % 4]. Sums are int32, a and b int8.
  template <int Sums, int A, int B>
  static void multiply_add() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
  }
};

}  // namespace eggroll::tile

#endif
