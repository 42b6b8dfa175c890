// The sign of a pair's difference.
#include "train/fitness_forms.h"

namespace eggroll {

FitnessForm fitness_forms::sign(Settings&) {
  FitnessForm form;
  form.values = [](std::span<const int64_t> d, std::span<int8_t> fitness, Threads* threads) {
    split(threads, d.size(), kFewestElements, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k) fitness[k] = static_cast<int8_t>(d[k] > 0 ? 1 : d[k] < 0 ? -1 : 0);
    });
  };
  form.is_sign = true;
  return form;
}

}  // namespace eggroll
