// Built for x86-64 on Linux. The instructions are written out, so no flags are needed.
#include "../../plugins/backends/amx/tiles.h"
#include "bench/peak.h"

namespace eggroll::bench {
namespace {

using tile::Tiles;

// There are six sums, more than latency times issue rate on any processor that has the instruction.
int64_t run_amx(uint64_t rounds) {
  constexpr size_t kSums = 6;
  int8_t ones[Tiles::kRows][Tiles::kRowBytes];
  std::memset(ones, 1, sizeof(ones));
  int32_t sums[kSums][Tiles::kRows][Tiles::kRowBytes / 4] = {};
  Tiles::shape();
  Tiles::load<0>(sums, Tiles::kRowBytes);
  Tiles::load<1>(sums, Tiles::kRowBytes);
  Tiles::load<2>(sums, Tiles::kRowBytes);
  Tiles::load<3>(sums, Tiles::kRowBytes);
  Tiles::load<4>(sums, Tiles::kRowBytes);
  Tiles::load<5>(sums, Tiles::kRowBytes);
  Tiles::load<6>(ones, Tiles::kRowBytes);
  Tiles::load<7>(ones, Tiles::kRowBytes);
  for (uint64_t i = 0; i < rounds; ++i) {
    Tiles::multiply_add<0, 6, 7>();
    Tiles::multiply_add<1, 6, 7>();
    Tiles::multiply_add<2, 6, 7>();
    Tiles::multiply_add<3, 6, 7>();
    Tiles::multiply_add<4, 6, 7>();
    Tiles::multiply_add<5, 6, 7>();
  }
  Tiles::store<0>(sums[0], Tiles::kRowBytes);
  Tiles::store<1>(sums[1], Tiles::kRowBytes);
  Tiles::store<2>(sums[2], Tiles::kRowBytes);
  Tiles::store<3>(sums[3], Tiles::kRowBytes);
  Tiles::store<4>(sums[4], Tiles::kRowBytes);
  Tiles::store<5>(sums[5], Tiles::kRowBytes);
  int64_t total = 0;
  for (const auto& sum : sums) {
    for (const auto& row : sum) {
      for (const int32_t lane : row) total += lane;
    }
  }
  return total;
}

}  // namespace

constexpr Peak kPeakAmx{"tdpbusd", 6 * 16 * 16 * 64, &run_amx};

}  // namespace eggroll::bench
