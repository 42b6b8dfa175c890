// The parts that the statistical tests share: named draws, generators, thresholds.
//
// Seeds are fixed, so a test always passes or always fails. Its false-alarm probability is that of choosing seeds which
// make a perfect generator fail; each test allows kFalseAlarm in all, shared out evenly over its figures (Bonferroni).
#ifndef EGGROLL_TESTS_NOISE_STATISTICS_H
#define EGGROLL_TESTS_NOISE_STATISTICS_H

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eggroll/noise_source.h"
#include "eggroll/reproducible_math.h"

namespace eggroll::noise_statistics {

inline constexpr double kFalseAlarm = 1e-6;
inline constexpr int32_t kTableLog2 = 24;

// Names a vector of noise.
struct Draw {
  uint64_t seed = 0;
  uint64_t step = 0;
  uint32_t pair = 0;
  uint32_t tensor = 0;
  uint32_t side = 0;
  uint32_t rank = 0;
};

inline uint64_t key_of(const Draw& d) { return egg_noise_key(d.seed, d.step, d.pair, d.tensor, d.side, d.rank); }

// Values 0 to count - 1 of a draw.
using Generator = std::function<void(const Draw& draw, int8_t* out, uint32_t count)>;

// The specification's generator, with one NoiseSource for each seed that a test asks for.
inline Generator specified(int32_t source, int32_t distribution) {
  auto sources = std::make_shared<std::map<uint64_t, NoiseSource>>();
  return [=](const Draw& d, int8_t* out, uint32_t count) {
    egg_noise noise{};
    noise.seed = d.seed;
    noise.source = source;
    noise.distribution = distribution;
    noise.table_log2 = source == EGG_NOISE_TABLE ? kTableLog2 : 0;
    sources->try_emplace(d.seed, noise).first->second.fill(d.step, d.pair, d.tensor, d.side, d.rank, out, count);
  };
}

// A standard normal figure exceeds this in size, either side, once in any of `figures` with probability kFalseAlarm.
inline double normal_limit(double figures) { return -reproducible_normal_quantile(kFalseAlarm / (2.0 * figures)); }

// A chi-square of `freedom` degrees exceeds this, once in any of `figures`, with probability kFalseAlarm (Wilson and
// Hilferty's cube, good to 1% of the limit from 30 degrees on).
inline double chi_square_limit(double freedom, double figures) {
  const double z = -reproducible_normal_quantile(kFalseAlarm / figures);
  const double root = 1.0 - 2.0 / (9.0 * freedom) + z * std::sqrt(2.0 / (9.0 * freedom));
  return freedom * root * root * root;
}

// The chi-square of counts whose expectations are all equal.
inline double chi_square(const std::vector<uint32_t>& cells) {
  double total = 0.0;
  for (const uint32_t count : cells) total += count;
  const double expected = total / static_cast<double>(cells.size());
  double sum = 0.0;
  for (const uint32_t count : cells) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

inline std::string name_of(int32_t source, int32_t distribution) {
  const char* const distributions[] = {"gaussian", "uniform", "rademacher"};
  return std::string(source == EGG_NOISE_TABLE ? "table " : "counter ") + distributions[distribution];
}

// Every source with every distribution.
inline std::vector<std::pair<int32_t, int32_t>> all_kinds() {
  std::vector<std::pair<int32_t, int32_t>> kinds;
  for (const int32_t source : {EGG_NOISE_COUNTER, EGG_NOISE_TABLE}) {
    for (const int32_t distribution : {EGG_NOISE_GAUSSIAN, EGG_NOISE_UNIFORM, EGG_NOISE_RADEMACHER}) {
      kinds.emplace_back(source, distribution);
    }
  }
  return kinds;
}

}  // namespace eggroll::noise_statistics

#endif
