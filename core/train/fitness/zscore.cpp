// A pair's difference in root mean squares of all, cut at +-clip; clip becomes 64.
#include <cmath>

#include "train/fitness_forms.h"

namespace eggroll {
namespace {

constexpr double kClippedScale = 64.0;

}  // namespace

FitnessForm fitness_forms::zscore(Settings& settings) {
  FitnessForm form;
  form.values = [clip = settings.real("clip", 0.1, 100.0)](std::span<const int64_t> d, std::span<int8_t> fitness,
                                                           Threads* threads) {
    const double rms = root_mean_square(d, threads);
    if (rms == 0.0) return std::fill(fitness.begin(), fitness.end(), int8_t{0});
    const auto cut = [clip, rms](int64_t x) { return std::clamp(static_cast<double>(x) / rms, -clip, clip); };
    int exponent = 0;
    if (std::frexp(clip, &exponent) == 0.5) {
      // Products with powers of two are exact: the same value with a division less.
      set_each(d, fitness, threads, [cut, scale = kClippedScale / clip](int64_t x) { return rounded(cut(x) * scale); });
    } else {
      set_each(d, fitness, threads, [cut, clip](int64_t x) { return rounded(cut(x) * kClippedScale / clip); });
    }
  };
  return form;
}

}  // namespace eggroll
