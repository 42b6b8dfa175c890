// The amx backend with its tile instructions written in C++, for processors without AMX. A thread that has not given
// its tiles a shape finds them empty.
#define EGGROLL_AMX_TILES_H

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
  template <int Sums, int A, int B>
  static void multiply_add() {
    State& s = state();
    for (size_t row = 0; row < s.rows; ++row) {
      for (size_t n = 0; n < kRowBytes / 4; ++n) {
        uint32_t sum = 0;
        std::memcpy(&sum, &s.tile[Sums][row][4 * n], 4);
        for (size_t k = 0; k < kRowBytes; ++k) {
          const int32_t b = static_cast<int8_t>(s.tile[B][k / 4][4 * n + k % 4]);
          sum += static_cast<uint32_t>(static_cast<int8_t>(s.tile[A][row][k]) * b);
        }
        std::memcpy(&s.tile[Sums][row][4 * n], &sum, 4);
      }
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

constexpr Engine kEngine = engine_of<Amx>("amx_int8 written in C++");
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
