// A pair's difference in root mean squares of all, cut at +-clip; clip becomes 64.
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
    set_each(d, fitness, threads, [clip, rms](int64_t x) {
      return quantised(std::clamp(standardised(x, rms), -clip, clip) * kClippedScale / clip);
    });
  };
  return form;
}

}  // namespace eggroll
