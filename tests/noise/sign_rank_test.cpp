// The signs of 64 pairs must be independent directions: full rank of the 64 x N sign matrix, over GF(2) and over the
// reals. xorshift32 seeded with consecutive numbers, which is linear over GF(2), fails this.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "noise/statistics.h"

namespace eggroll::noise_statistics {
namespace {

constexpr uint32_t kPairs = 64;
constexpr uint32_t kWidth = 128;

// Column i has bit p set where pair p's value i is positive.
std::vector<uint64_t> sign_columns(const Generator& generator, Draw draw) {
  std::vector<uint64_t> columns(kWidth, 0);
  std::vector<int8_t> values(kWidth);
  const uint32_t first = draw.pair;
  for (uint32_t p = 0; p < kPairs; ++p) {
    draw.pair = first + p;
    generator(draw, values.data(), kWidth);
    for (uint32_t i = 0; i < kWidth; ++i) columns[i] |= static_cast<uint64_t>(values[i] > 0) << p;
  }
  return columns;
}

uint32_t rank_gf2(const std::vector<uint64_t>& columns) {
  std::array<uint64_t, 64> basis{};  // basis[b] has b as its highest bit
  uint32_t rank = 0;
  for (uint64_t column : columns) {
    for (int b = 63; b >= 0 && column != 0; --b) {
      if ((column >> b & 1) == 0) continue;
      if (basis[static_cast<size_t>(b)] == 0) {
        basis[static_cast<size_t>(b)] = column;
        ++rank;
        break;
      }
      column ^= basis[static_cast<size_t>(b)];
    }
  }
  return rank;
}

// The rank of the matrix with entries +1 and -1, modulo the prime 2^31 - 1: never above the rank over the reals.
uint32_t rank_reals(const std::vector<uint64_t>& columns) {
  constexpr uint64_t kPrime = 2147483647;
  std::vector<std::vector<uint64_t>> rows(kPairs, std::vector<uint64_t>(columns.size()));
  for (size_t p = 0; p < kPairs; ++p) {
    for (size_t i = 0; i < columns.size(); ++i) rows[p][i] = (columns[i] >> p & 1) != 0 ? 1 : kPrime - 1;
  }
  uint32_t rank = 0;
  for (size_t i = 0; i < columns.size() && rank < kPairs; ++i) {
    size_t pivot = rank;
    while (pivot < kPairs && rows[pivot][i] == 0) ++pivot;
    if (pivot == kPairs) continue;
    std::swap(rows[pivot], rows[rank]);
    uint64_t inverse = 1;  // pivot^(prime - 2)
    for (uint64_t power = kPrime - 2, base = rows[rank][i]; power != 0; power >>= 1, base = base * base % kPrime) {
      if ((power & 1) != 0) inverse = inverse * base % kPrime;
    }
    for (size_t p = rank + 1; p < kPairs; ++p) {
      const uint64_t factor = kPrime - rows[p][i] * inverse % kPrime;
      for (size_t j = i; j < columns.size(); ++j) rows[p][j] = (rows[p][j] + factor * rows[rank][j]) % kPrime;
    }
    ++rank;
  }
  return rank;
}

// Signs of a state that is the seed itself, one seed per pair; of twenty draws sixteen are used.
Generator xorshift() {
  return [](const Draw& draw, int8_t* out, uint32_t count) {
    uint32_t x = static_cast<uint32_t>(draw.seed) + draw.pair;
    const auto next = [&x] {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
      return x;
    };
    for (uint32_t i = 0; i < count; ++i) {
      for (int unused = 0; i % 16 == 0 && unused < 4; ++unused) next();
      out[i] = (next() & 1) != 0 ? 1 : -1;
    }
  };
}

TEST(SignRank, CountsWhatItIsGiven) {
  EXPECT_EQ(rank_gf2({}), 0u);
  EXPECT_EQ(rank_gf2({0, 3, 5, 6}), 2u);               // 3 ^ 5 == 6
  EXPECT_EQ(rank_reals({~UINT64_C(0)}), 1u);           // all plus
  EXPECT_EQ(rank_reals({~UINT64_C(0), 0}), 1u);        // a column and its negative
  EXPECT_EQ(rank_reals({~UINT64_C(0), 1, 2, 4}), 4u);  // independent over the reals
  EXPECT_EQ(rank_gf2({~UINT64_C(0), 1, 2, 3}), 3u);
}

// Random signs have rank below 64 with probability 2^(64 - 128). Table draws may share an offset by chance and are then
// the same row: once in 131072 for each of 2016 pairs of rows, so four or more with probability 2e-9 in one matrix,
// 5e-7 in the 216 of this test.
TEST(SignRank, SixtyFourPairsAreIndependent) {
  for (const auto& [source, distribution] : all_kinds()) {
    const Generator generator = specified(source, distribution);
    for (const uint64_t seed : {UINT64_C(0), UINT64_C(42), ~UINT64_C(0)}) {
      for (const uint64_t step : {0u, 1u, 1000u}) {
        for (const uint32_t pair : {0u, 16384u}) {
          for (const uint32_t tensor : {0u, 17u}) {
            for (const uint32_t side : {EGG_SIDE_A, EGG_SIDE_B}) {
              const Draw draw{seed, step, pair, tensor, side, 0};
              std::set<uint32_t> offsets;
              for (uint32_t p = 0; p < kPairs && source == EGG_NOISE_TABLE; ++p) {
                Draw other = draw;
                other.pair += p;
                offsets.insert(egg_noise_table_index(key_of(other), side, 0, kTableLog2));
              }
              const uint32_t independent = source == EGG_NOISE_TABLE ? static_cast<uint32_t>(offsets.size()) : kPairs;
              EXPECT_GE(independent, kPairs - 3);
              const std::vector<uint64_t> columns = sign_columns(generator, draw);
              EXPECT_EQ(rank_gf2(columns), independent) << name_of(source, distribution) << " tensor " << tensor;
              EXPECT_EQ(rank_reals(columns), independent) << name_of(source, distribution) << " tensor " << tensor;
            }
          }
        }
      }
    }
  }
}

TEST(SignRank, ConsecutiveXorshiftSeedsAreCaught) {
  for (const uint64_t seed : {1u, 42u, 64u, 123456789u, 0x9e3779b9u}) {
    const uint32_t rank = rank_gf2(sign_columns(xorshift(), Draw{seed, 0, 0, 0, 0, 0}));
    EXPECT_LE(rank, 8u) << seed;
    EXPECT_GE(rank, 6u) << seed;
  }
}

}  // namespace
}  // namespace eggroll::noise_statistics
