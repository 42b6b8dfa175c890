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

// Each reads its settings, all but `name`.
namespace fitness_forms {
#define EGGROLL_DECLARE(name) FitnessForm name(Settings& settings);
EGGROLL_FITNESS_FORMS(EGGROLL_DECLARE)
#undef EGGROLL_DECLARE
}  // namespace fitness_forms

// For forms whose values do not depend on one another: value_of(d) of each, on these threads or the caller's.
template <class ValueOf>
void set_each(std::span<const int64_t> d, std::span<int8_t> fitness, Threads* threads, const ValueOf& value_of) {
  constexpr size_t kFewest = kFewestElements / 4;  // a value may take two divisions
  split(threads, d.size(), kFewest, [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) fitness[k] = value_of(d[k]);
  });
}

// The squares add up in pair order, or to the same sum, so that every machine rounds alike.
double root_mean_square(std::span<const int64_t> d, Threads* threads);

// d in units of the root mean square of all.
inline double standardised(int64_t d, double rms) { return rms == 0.0 ? 0.0 : static_cast<double>(d) / rms; }

// Rounded to the nearest integer, halves away from zero; x: in [-127, 127]. std::round is a call for each value.
inline int8_t rounded(double x) {
  const auto whole = static_cast<int32_t>(x);  // towards zero
  const double rest = x - whole;               // exact
  return static_cast<int8_t>(whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0));
}
// The same of any number, cut at +-127.
inline int8_t quantised(double x) { return rounded(std::clamp(x, -127.0, 127.0)); }

}  // namespace eggroll

#endif
