// A pair's difference in root mean squares of all, cut at +-clip; clip becomes 64.
#include "config/host_settings.h"
#include "train/fitness_forms.h"

namespace eggroll {
namespace {

constexpr int32_t kMost = 64;

}  // namespace

FitnessForm fitness_forms::zscore(Settings& settings) {
  FitnessForm form;
  form.values = [clip = HostSection(settings, "fitness").real("clip")](std::span<const int64_t> d,
                                                                       std::span<int8_t> fitness, Threads* threads) {
    set_rounded(d, fitness, {root_mean_square(d, threads), kMost, clip, kMost}, threads);
  };
  return form;
}

}  // namespace eggroll
