// Independence and distribution of the specified noise; statistics.h says what a false alarm is. Each kind of test also
// runs on generators with a known defect, which it must report.
#include "noise/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eggroll::noise_statistics {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

// ---- Correlations between draws that are neighbours in some sense ----

constexpr int32_t kLags = 8;            // one draw is shifted by up to this many values against the other
constexpr uint32_t kBlocks = 16;        // pairs of draws per relation
constexpr uint32_t kBlockLength = 512;  // values of a draw that are compared
constexpr uint32_t kFilled = kBlockLength + 2 * kLags;

// Two draws. Each part of the second one is that of the first plus `difference`.
struct Relation {
  std::string name;
  Draw difference = {};
};

// Every combination of +1, 0 and -1 in the six parts; every power of two in each 64- and 32-bit part (only two powers
// in the seed); and the strides at which additive seeds repeat noise: a later pair of the tensor before.
std::vector<Relation> relations() {
  std::vector<Relation> all = {{"itself"}};
  for (int code = 365; code < 729; ++code) {  // base 3; 364 is no change, and those below mirror those above
    uint32_t delta[6];
    const char* const parts[] = {"seed", "step", "pair", "tensor", "side", "rank"};
    std::string name;
    for (int i = 0, rest = code; i < 6; ++i, rest /= 3) {
      delta[i] = static_cast<uint32_t>(rest % 3 - 1);
      if (delta[i] != 0) name += std::string(parts[i]) + (rest % 3 > 1 ? "+1 " : "-1 ");
    }
    name.pop_back();
    const auto wide = [](uint32_t x) { return static_cast<uint64_t>(static_cast<int32_t>(x)); };
    all.push_back({name, {wide(delta[0]), wide(delta[1]), delta[2], delta[3], delta[4], delta[5]}});
  }
  for (uint32_t bit = 0; bit < 64; ++bit) {
    const std::string power = "+2^" + std::to_string(bit);
    all.push_back({"step" + power, {.step = UINT64_C(1) << bit}});
    if (bit == 32 || bit == 63) all.push_back({"seed" + power, {.seed = UINT64_C(1) << bit}});
    if (bit >= 32) continue;
    all.push_back({"pair" + power, {.pair = UINT32_C(1) << bit}});
    all.push_back({"tensor" + power, {.tensor = UINT32_C(1) << bit}});
    all.push_back({"rank" + power, {.rank = UINT32_C(1) << bit}});
  }
  for (const uint32_t stride : {2u, 100u, 1000u}) {
    all.push_back({"pair+" + std::to_string(stride) + " tensor-1", {.pair = stride, .tensor = ~UINT32_C(0)}});
  }
  return all;
}

// The block's two draws. No part falls below zero, and most draws have one seed, so that few tables are needed.
std::pair<Draw, Draw> draws(const Relation& relation, uint32_t block) {
  const Draw& by = relation.difference;
  Draw a{1000, 3 + 7919 * block, 5000 + 1237 * block, 200 + 3 * block, block & 1, 1 + block % 3};
  if (by.side != 0) a.side = by.side == 1 ? EGG_SIDE_A : EGG_SIDE_B;
  return {
      a,
      {a.seed + by.seed, a.step + by.step, a.pair + by.pair, a.tensor + by.tensor, a.side + by.side, a.rank + by.rank}};
}

bool never(const Draw&, const Draw&) { return false; }

// Names of the relations that show a correlation at some lag: more than chance allows over all blocks, or more than ten
// standard deviations in one block. (A repeat has 22.6. Chance exceeds ten anywhere with probability 1e-15, fourth
// cumulants counted in.) Draws that may be the same noise, as `share` says, are counted in `shared` and left out.
std::vector<std::string> correlated(const Generator& generator, bool (*share)(const Draw&, const Draw&) = never,
                                    uint32_t* shared = nullptr) {
  const std::vector<Relation> all = relations();
  const double limit = normal_limit(static_cast<double>(all.size() * (2 * kLags + 1)));
  std::vector<std::string> found;
  std::vector<int8_t> x(kFilled), y(kFilled);
  for (const Relation& relation : all) {
    const bool itself = relation.name == "itself";
    double products[2 * kLags + 1] = {};
    double variances[2 * kLags + 1] = {};
    bool alarm = false;
    for (uint32_t block = 0; block < kBlocks; ++block) {
      const auto [a, b] = draws(relation, block);
      if (!itself && share(a, b)) {
        ++*shared;
        continue;
      }
      generator(a, x.data(), kFilled);
      generator(b, y.data(), kFilled);
      for (int32_t lag = -kLags; lag <= kLags; ++lag) {
        if (itself && lag <= 0) continue;
        const int8_t* u = x.data() + kLags;
        const int8_t* v = y.data() + kLags + lag;
        int32_t uv = 0, uu = 0, vv = 0;
        for (uint32_t i = 0; i < kBlockLength; ++i) {
          uv += u[i] * v[i];
          uu += u[i] * u[i];
          vv += v[i] * v[i];
        }
        const double variance = static_cast<double>(uu) * vv / kBlockLength;
        products[lag + kLags] += uv;
        variances[lag + kLags] += variance;
        alarm = alarm || std::fabs(uv) > 10.0 * std::sqrt(variance);
      }
    }
    for (int i = 0; i <= 2 * kLags; ++i) alarm = alarm || std::fabs(products[i]) > limit * std::sqrt(variances[i]);
    if (alarm) found.push_back(relation.name);
  }
  return found;
}

// Two draws of one seed and side share an offset of the table by chance, once in 131072.
bool same_offset(const Draw& a, const Draw& b) {
  return a.seed == b.seed && egg_noise_table_index(key_of(a), a.side, 0, kTableLog2) ==
                                 egg_noise_table_index(key_of(b), b.side, 0, kTableLog2);
}

// Gaussian counter noise under any key, starting at any index.
Generator keyed(const std::function<uint64_t(const Draw&)>& key,
                const std::function<uint32_t(const Draw&)>& start = {}) {
  return [=](const Draw& draw, int8_t* out, uint32_t count) {
    const NoiseTable table = noise_table(EGG_NOISE_GAUSSIAN);
    const uint32_t first = start ? start(draw) : 0;
    for (uint32_t i = 0; i < count; ++i) out[i] = table[egg_noise_byte(key(draw), first + i)];
  };
}

TEST(Correlation, CounterHasNone) {
  for (const int32_t distribution : {EGG_NOISE_GAUSSIAN, EGG_NOISE_UNIFORM, EGG_NOISE_RADEMACHER}) {
    EXPECT_THAT(correlated(specified(EGG_NOISE_COUNTER, distribution)), IsEmpty()) << distribution;
  }
}

// About 3400 comparisons within one seed and side: four shared offsets or more have probability 2e-8.
TEST(Correlation, TableHasNone) {
  for (const int32_t distribution : {EGG_NOISE_GAUSSIAN, EGG_NOISE_UNIFORM, EGG_NOISE_RADEMACHER}) {
    uint32_t shared = 0;
    EXPECT_THAT(correlated(specified(EGG_NOISE_TABLE, distribution), same_offset, &shared), IsEmpty()) << distribution;
    EXPECT_LE(shared, 3u);
  }
}

// Seeds made by addition: the second draw of one pair is the first draw of the next, and tensors repeat each other's
// pairs.
TEST(Correlation, AdditiveSeedsAreCaught) {
  const std::vector<std::string> found = correlated(keyed([](const Draw& d) {
    return egg_mix64(d.seed + d.step * UINT64_C(0x9e3779b9) + d.pair + 100 * d.tensor + d.side + 7 * d.rank);
  }));
  EXPECT_THAT(found, Contains("pair-1 side+1"));
  EXPECT_THAT(found, Contains("pair+100 tensor-1"));
}

TEST(Correlation, StepAddedToPairIsCaught) {
  EXPECT_THAT(correlated(keyed([](Draw d) {
                d.pair += static_cast<uint32_t>(d.step);
                d.step = 0;
                return key_of(d);
              })),
              Contains("step-1 pair+1"));
}

// Tensors that read one stretch of noise, each from one place further.
TEST(Correlation, ShiftedWindowsAreCaught) {
  const std::vector<std::string> found = correlated(keyed(
      [](Draw d) {
        d.tensor = 0;
        return key_of(d);
      },
      [](const Draw& d) { return d.tensor; }));
  EXPECT_THAT(found, Contains("tensor+1"));
  EXPECT_THAT(found, Contains("tensor+2^3"));
}

// One value in eight is that of the pair before: correlation 0.12, which shows over all blocks but not in a single one.
TEST(Correlation, WeakCorrelationIsCaught) {
  const Generator clean = keyed(key_of);
  EXPECT_THAT(correlated([&](Draw d, int8_t* out, uint32_t count) {
                std::vector<int8_t> before(count);
                clean(d, out, count);
                --d.pair;
                clean(d, before.data(), count);
                for (uint32_t i = d.pair & 1; i < count; i += 8) out[i] = before[i];
              }),
              Contains("pair+1"));
}

TEST(Correlation, RepeatWithinOneDrawIsCaught) {
  EXPECT_THAT(correlated([clean = keyed(key_of)](const Draw& d, int8_t* out, uint32_t count) {
                clean(d, out, count);
                for (uint32_t i = 4; i < count; ++i) {
                  if (i % 8 == 4) out[i] = out[i - 4];
                }
              }),
              Contains("itself"));
}

// ---- Moments ----

struct Moments {
  double mean_z = 0.0;
  double square = 0.0;
  double square_z = 0.0;
};

// Compares the values with the stated distribution, in which all table entries are equally likely.
Moments moments(const std::vector<int8_t>& values, int32_t distribution) {
  const double n = static_cast<double>(values.size());
  double sum = 0.0, squares = 0.0, fourth = 0.0;
  for (const int8_t v : values) {
    sum += v;
    squares += v * v;
  }
  for (const int8_t v : noise_table(distribution)) fourth += static_cast<double>(v * v) * (v * v) / 256.0;
  const double second = noise_second_moment(distribution);
  Moments m;
  m.mean_z = sum / std::sqrt(n * second);
  m.square = squares / n;
  const double spread = std::sqrt((fourth - second * second) / n);
  m.square_z = spread > 0.0 ? (m.square - second) / spread : 0.0;
  return m;
}

// 24 numbers: mean and mean square of 2^20 values of one draw, for six kinds of noise and two sides.
TEST(Moments, AsStatedWithinADraw) {
  const double limit = normal_limit(24);
  std::vector<int8_t> values(1 << 20);
  for (const auto& [source, distribution] : all_kinds()) {
    const Generator generator = specified(source, distribution);
    for (const uint32_t side : {EGG_SIDE_A, EGG_SIDE_B}) {
      generator(Draw{9, 1, 2, 3, side, 0}, values.data(), 1 << 20);
      const Moments m = moments(values, distribution);
      EXPECT_LT(std::fabs(m.mean_z), limit) << name_of(source, distribution);
      EXPECT_LT(std::fabs(m.square_z), limit) << name_of(source, distribution);
      if (distribution == EGG_NOISE_RADEMACHER) {
        EXPECT_EQ(m.square, 256.0);
      }
    }
  }
}

// Six numbers, from the first values of 2^18 draws. In the table their places repeat, so only the counter is tested.
TEST(Moments, AsStatedAcrossPairs) {
  const double limit = normal_limit(6);
  std::vector<int8_t> values(1 << 18);
  for (const int32_t distribution : {EGG_NOISE_GAUSSIAN, EGG_NOISE_UNIFORM, EGG_NOISE_RADEMACHER}) {
    const Generator generator = specified(EGG_NOISE_COUNTER, distribution);
    for (uint32_t p = 0; p < values.size(); ++p) generator(Draw{9, 1, p, 3, 0, 0}, &values[p], 1);
    EXPECT_LT(std::fabs(moments(values, distribution).mean_z), limit);
    EXPECT_LT(std::fabs(moments(values, distribution).square_z), limit);
  }
}

// A floor instead of a symmetric rounding moves the mean by half a step; another scale moves the mean square.
TEST(Moments, BiasAndScaleAreCaught) {
  const double limit = normal_limit(24);
  std::vector<int8_t> values(1 << 20);
  keyed(key_of)(Draw{9, 1, 2, 3, 0, 0}, values.data(), 1 << 20);
  std::vector<int8_t> floored = values, scaled = values;
  for (int8_t& v : floored) v = static_cast<int8_t>((v >> 1) * 2);
  for (int8_t& v : scaled) v = static_cast<int8_t>(v > 20 ? v - 1 : v < -20 ? v + 1 : v);
  EXPECT_GT(std::fabs(moments(floored, EGG_NOISE_GAUSSIAN).mean_z), limit);
  EXPECT_GT(std::fabs(moments(scaled, EGG_NOISE_GAUSSIAN).square_z), limit);
}

}  // namespace
}  // namespace eggroll::noise_statistics
