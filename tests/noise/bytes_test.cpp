// The bytes behind the values are uniform, alone and jointly, and the places in the shared table are as specified.
#include <gtest/gtest.h>

#include <array>

#include "noise/statistics.h"

namespace eggroll::noise_statistics {
namespace {

using ByteAt = std::function<uint32_t(uint32_t i)>;

double byte_chi_square(uint32_t count, const ByteAt& byte) {
  std::vector<uint32_t> cells(256, 0);
  for (uint32_t i = 0; i < count; ++i) ++cells[byte(i)];
  return chi_square(cells);
}

double joint_chi_square(uint32_t count, const ByteAt& one, const ByteAt& other) {
  std::vector<uint32_t> cells(65536, 0);
  for (uint32_t i = 0; i < count; ++i) ++cells[one(i) * 256 + other(i)];
  return chi_square(cells);
}

// Byte 0 of draws whose keys differ in one part, which counts up.
const std::vector<std::pair<const char*, std::function<Draw(uint32_t)>>>& counting() {
  static const std::vector<std::pair<const char*, std::function<Draw(uint32_t)>>> kCounting = {
      {"seed", [](uint32_t i) { return Draw{i, 1, 2, 3, 0, 0}; }},
      {"step", [](uint32_t i) { return Draw{9, i, 2, 3, 0, 0}; }},
      {"pair", [](uint32_t i) { return Draw{9, 1, i, 3, 0, 0}; }},
      {"tensor", [](uint32_t i) { return Draw{9, 1, 2, i, 0, 0}; }},
      {"rank", [](uint32_t i) { return Draw{9, 1, 2, 3, 1, i}; }},
      {"high half of step", [](uint32_t i) { return Draw{9, static_cast<uint64_t>(i) << 32, 2, 3, 0, 0}; }}};
  return kCounting;
}

// 4 + 6 figures of 2^20 bytes.
TEST(Bytes, AreUniform) {
  const double limit = chi_square_limit(255, 10);
  const uint64_t key = key_of(Draw{9, 1, 2, 3, 0, 0});
  for (uint32_t lane = 0; lane < 4; ++lane) {
    EXPECT_LT(byte_chi_square(1 << 20, [=](uint32_t i) { return egg_noise_byte(key, 4 * i + lane); }), limit) << lane;
  }
  for (const auto& [name, draw] : counting()) {
    EXPECT_LT(byte_chi_square(1 << 20, [&draw = draw](uint32_t i) { return egg_noise_byte(key_of(draw(i)), 0); }),
              limit)
        << name;
  }
}

// 8 + 6 + 1 figures of 2^20 pairs of bytes: lagged within a draw, draws next to each other, the two sides.
TEST(Bytes, AreJointlyUniform) {
  const double limit = chi_square_limit(65535, 15);
  const uint64_t key = key_of(Draw{9, 1, 2, 3, 0, 0});
  for (uint32_t lag = 1; lag <= 8; ++lag) {
    EXPECT_LT(joint_chi_square(
                  1 << 20, [=](uint32_t i) { return egg_noise_byte(key, 16 * i); },
                  [=](uint32_t i) { return egg_noise_byte(key, 16 * i + lag); }),
              limit)
        << lag;
  }
  for (const auto& [name, draw] : counting()) {
    EXPECT_LT(joint_chi_square(
                  1 << 20, [&draw = draw](uint32_t i) { return egg_noise_byte(key_of(draw(2 * i)), 5); },
                  [&draw = draw](uint32_t i) { return egg_noise_byte(key_of(draw(2 * i + 1)), 5); }),
              limit)
        << name;
  }
  const uint64_t other = key_of(Draw{9, 1, 2, 3, 1, 0});
  EXPECT_LT(joint_chi_square(
                1 << 20, [=](uint32_t i) { return egg_noise_byte(key, i); },
                [=](uint32_t i) { return egg_noise_byte(other, i); }),
            limit);
}

// Two keys with the same low half have the same counters, and one round alone follows their high halves. So their
// correlation is more than chance (0.004 for 2^16 values), but stays far from that of repeated noise. Two hashed keys
// share a low half once in 2^32.
TEST(Bytes, HighHalvesOfKeysTellThemApart) {
  const NoiseTable table = noise_table(EGG_NOISE_GAUSSIAN);
  for (uint32_t p = 0; p < 200; ++p) {
    const uint64_t one = key_of(Draw{9, 1, p, 3, 0, 0});
    const uint64_t other = (key_of(Draw{9, 1, p, 3, 1, 0}) >> 32 << 32) | (one & 0xFFFFFFFF);
    int64_t product = 0;
    for (uint32_t i = 0; i < 1 << 16; ++i) product += table[egg_noise_byte(one, i)] * table[egg_noise_byte(other, i)];
    EXPECT_LT(std::fabs(static_cast<double>(product)), 0.1 * 65536.0 * noise_second_moment(EGG_NOISE_GAUSSIAN)) << p;
  }
}

// The test must report a byte that lacks one value in 256, and bytes that are uniform alone but not together.
TEST(Bytes, DefectsAreCaught) {
  const uint64_t key = key_of(Draw{9, 1, 2, 3, 0, 0});
  const auto good = [=](uint32_t i) { return egg_noise_byte(key, i); };
  EXPECT_GT(byte_chi_square(1 << 20, [&](uint32_t i) { return good(i) % 255; }), chi_square_limit(255, 10));
  EXPECT_GT(joint_chi_square(1 << 20, good, [&](uint32_t i) { return good(i) ^ (good(i + 4) & 127u); }),
            chi_square_limit(65535, 15));
}

// ---- Places in the shared table ----

constexpr std::array<uint32_t, 9> kIndices = {0, 1, 63, 64, 2047, 2048, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};

TEST(TablePlaces, SidesNeverOverlapAndOffsetsAreMultiplesOf64) {
  for (int32_t log2 = 12; log2 <= 30; ++log2) {
    const uint32_t half = UINT32_C(1) << (log2 - 1);
    for (uint32_t p = 0; p < 2000; ++p) {
      const uint64_t key = p < 2 ? ~UINT64_C(0) * p : key_of(Draw{9, 1, p, 3, p & 1, 0});
      EXPECT_EQ(egg_noise_table_index(key, EGG_SIDE_A, 0, log2) % 64, 0u);
      for (const uint32_t index : kIndices) {
        const uint32_t a = egg_noise_table_index(key, EGG_SIDE_A, index, log2);
        EXPECT_LT(a, half);
        EXPECT_EQ(egg_noise_table_index(key, EGG_SIDE_B, index, log2), half + a);
        EXPECT_EQ((a + 1) % half, egg_noise_table_index(key, EGG_SIDE_A, index + 1, log2));
      }
    }
  }
}

// 19 + 6 figures: offsets in 32 equal parts of the half for each table size, and in 256 parts when one part of the key
// counts up.
TEST(TablePlaces, OffsetsAreUniform) {
  for (int32_t log2 = 12; log2 <= 30; ++log2) {
    std::vector<uint32_t> cells(32, 0);
    for (uint32_t p = 0; p < 1 << 16; ++p) {
      ++cells[egg_noise_table_index(key_of(Draw{9, 1, p, 3, 0, 0}), EGG_SIDE_A, 0, log2) >> (log2 - 6)];
    }
    EXPECT_LT(chi_square(cells), chi_square_limit(31, 25)) << log2;
  }
  for (const auto& [name, draw] : counting()) {
    const auto part = [&draw = draw](uint32_t i) {
      return egg_noise_table_index(key_of(draw(i)), EGG_SIDE_A, 0, kTableLog2) >> (kTableLog2 - 9);
    };
    EXPECT_LT(byte_chi_square(1 << 18, part), chi_square_limit(255, 25)) << name;
  }
}

}  // namespace
}  // namespace eggroll::noise_statistics
