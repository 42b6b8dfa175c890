// The sign of a pair's difference.
#include "train/fitness_forms.h"

namespace eggroll {

FitnessForm fitness_forms::sign(Settings&) {
  FitnessForm form;
  form.values = [](std::span<const int64_t> d, std::span<int8_t> fitness, Threads* threads) {
    set_each(d, fitness, threads, [](int64_t x) { return static_cast<int8_t>(x > 0 ? 1 : x < 0 ? -1 : 0); });
  };
  form.is_sign = true;
  return form;
}

}  // namespace eggroll
