// The list of fitness forms. docs/adding.md says how to add one.
#ifndef EGGROLL_TRAIN_FITNESS_FORMS_H
#define EGGROLL_TRAIN_FITNESS_FORMS_H

#include <algorithm>
#include <cstdint>
#include <span>

#include "eggroll/settings.h"
#include "eggroll/threads.h"
#include "train/fitness.h"

// In the order in which messages name them. NAME is defined in train/fitness/NAME.cpp.
#define EGGROLL_FITNESS_FORMS(X) \
  X(sign)                        \
  X(zscore)                      \
  X(centered_rank)               \
  X(difference)

namespace eggroll {

// Each function reads its settings, all but `name`.
namespace fitness_forms {
#define EGGROLL_DECLARE(name) FitnessForm name(Settings& settings);
EGGROLL_FITNESS_FORMS(EGGROLL_DECLARE)
#undef EGGROLL_DECLARE
}  // namespace fitness_forms

// The squares add up in pair order, or to the same sum, so that every machine rounds alike.
double root_mean_square(std::span<const int64_t> d, Threads* threads);

// d / rms * scale / divisor, in this order of operations, rounded to the nearest integer, halves away from zero, and
// cut at +-most.
struct Rounding {
  double rms;  // 0: every value is 0
  double scale;
  double divisor;  // 1: none
  int32_t most;
};
// Sets the fitness of each difference, on these threads or the caller's. rms: of the same differences, so that none is
// more than sqrt(pairs) times as large, and no value comes to 2^31 before it is cut: 2^16 * 640 is less.
void set_rounded(std::span<const int64_t> d, std::span<int8_t> fitness, const Rounding& rounding, Threads* threads);

}  // namespace eggroll

#endif
