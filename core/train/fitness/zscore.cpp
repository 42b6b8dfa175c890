// A pair's difference in root mean squares of all, cut at +-clip; clip becomes 64.
#include <cmath>

#include "train/fitness_forms.h"

namespace eggroll {
namespace {

constexpr int32_t kMost = 64;

}  // namespace

FitnessForm fitness_forms::zscore(Settings& settings) {
  FitnessForm form;
  form.values = [clip = settings.real("clip", 0.1, 100.0)](std::span<const int64_t> d, std::span<int8_t> fitness,
                                                           Threads* threads) {
    const double rms = root_mean_square(d, threads);
    // Products with powers of two are exact: the same value with a division less.
    int exponent = 0;
    const bool is_power = std::frexp(clip, &exponent) == 0.5;
    set_rounded(d, fitness, {rms, is_power ? kMost / clip : kMost, is_power ? 1.0 : clip, kMost}, threads);
  };
  return form;
}

}  // namespace eggroll
