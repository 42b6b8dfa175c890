// alpha times a pair's difference in root mean squares of all.
#include "train/fitness_forms.h"

namespace eggroll {

FitnessForm fitness_forms::difference(Settings& settings) {
  FitnessForm form;
  form.values = [alpha = settings.real("alpha", 0.001, 127.0)](std::span<const int64_t> d, std::span<int8_t> fitness,
                                                               Threads* threads) {
    const double rms = root_mean_square(d, threads);
    set_each(d, fitness, threads, [alpha, rms](int64_t x) { return quantised(alpha * standardised(x, rms)); });
  };
  return form;
}

}  // namespace eggroll
