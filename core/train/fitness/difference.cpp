// alpha times a pair's difference in root mean squares of all.
#include "config/host_settings.h"
#include "train/fitness_forms.h"

namespace eggroll {

FitnessForm fitness_forms::difference(Settings& settings) {
  FitnessForm form;
  form.values = [alpha = HostSection(settings, "fitness").real("alpha")](std::span<const int64_t> d,
                                                                         std::span<int8_t> fitness, Threads* threads) {
    const double rms = root_mean_square(d, threads);
    set_rounded(d, fitness, {rms, alpha, 1.0, 127}, threads);
  };
  return form;
}

}  // namespace eggroll
