// The amx backend with its tile instructions made of those of AVX-512, for processors without AMX. A thread that has
// not given its tiles a shape finds them empty.
#define EGGROLL_AMX_TILES_H

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace eggroll::tile {

struct Tiles {
  static constexpr size_t kRows = 16;
  static constexpr size_t kRowBytes = 64;
  struct State {
    size_t rows = 0;
    uint8_t tile[8][kRows][kRowBytes] = {};
  };
  static State& state() {
    static thread_local State mine;
    return mine;
  }

  static void shape() { state().rows = kRows; }
  template <int T>
  static void zero() {
    std::memset(state().tile[T], 0, sizeof(state().tile[T]));
  }
  template <int T>
  static void load(const void* from, size_t stride) {
    for (size_t row = 0; row < state().rows; ++row) {
      std::memcpy(state().tile[T][row], static_cast<const char*>(from) + row * stride, kRowBytes);
    }
  }
  template <int T>
  static void store(void* to, size_t stride) {
    for (size_t row = 0; row < state().rows; ++row) {
      std::memcpy(static_cast<char*>(to) + row * stride, state().tile[T][row], kRowBytes);
    }
  }
  // AVX-512's dot product multiplies and adds as a tile instruction does to each row. It takes unsigned bytes of A,
  // which are 128 higher than the signed ones.
  template <int Sums, int A, int B>
  static void multiply_add() {
    State& s = state();
    const __m512i raised = _mm512_set1_epi8(-128);
    for (size_t row = 0; row < s.rows; ++row) {
      __m512i sums = _mm512_loadu_si512(s.tile[Sums][row]);
      for (size_t k = 0; k < kRowBytes; k += 4) {
        int32_t four = 0;
        std::memcpy(&four, &s.tile[A][row][k], 4);
        const __m512i b = _mm512_loadu_si512(s.tile[B][k / 4]);
        sums = _mm512_dpbusd_epi32(sums, _mm512_xor_si512(_mm512_set1_epi32(four), raised), b);
        sums = _mm512_sub_epi32(sums, _mm512_dpbusd_epi32(_mm512_setzero_si512(), raised, b));
      }
      _mm512_storeu_si512(s.tile[Sums][row], sums);
    }
  }
};

}  // namespace eggroll::tile

#include "../../plugins/backends/amx/simd_amx.h"
#include "common/x86_features.h"
#include "session.h"
#include "tile_backend.h"

namespace eggroll::tile {
namespace {

constexpr Engine kEngine = engine_of<Amx>("amx_int8 on AVX-512");
const Engine& engine() { return kEngine; }

int32_t probe(egg_error* why) {
  const X86Feature features[] = {{"avx512vl", __builtin_cpu_supports("avx512vl") != 0, true},
                                 {"avx512vbmi", __builtin_cpu_supports("avx512vbmi") != 0, true},
                                 {"avx512vnni", __builtin_cpu_supports("avx512vnni") != 0, true}};
  return probe_x86(features, std::size(features), 1, why);
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("amx_on_avx512", "1.0.0", eggroll::tile::TileBackend<&eggroll::tile::engine>, &eggroll::tile::probe);
