// For optimizer authors: derive from eggroll::Optimizer, return a rule and the scalars of each step.
//
//   EGGROLL_OPTIMIZER("my_rule", "1.0.0", MyRule);
#ifndef EGGROLL_OPTIMIZER_H
#define EGGROLL_OPTIMIZER_H

#include "eggroll/plugin_adapter.h"
#include "eggroll/rule_builder.h"

namespace eggroll {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Stays valid while the optimizer lives.
  virtual const egg_rule* rule() = 0;
  // Fills one value per scalar of the rule, from the settings and the progress alone. Use schedule.h and
  // reproducible_math.h, not <cmath>, so that every machine gets the same bits.
  virtual void scalars(const egg_progress& progress, float* out) = 0;
};

template <class Plugin>
struct OptimizerAdapter {
  static int32_t rule(void* self, const egg_rule** out, egg_error* error) noexcept {
    return guard(error, [&] { *out = static_cast<Plugin*>(self)->rule(); });
  }
  static int32_t scalars(void* self, const egg_progress* progress, float* out, egg_error* error) noexcept {
    return guard(error, [&] { static_cast<Plugin*>(self)->scalars(*progress, out); });
  }
  static constexpr egg_optimizer_interface kInterface{sizeof(egg_optimizer_interface), 0, &rule, &scalars};
};

}  // namespace eggroll

#define EGGROLL_OPTIMIZER(NAME, VERSION, CLASS)                                                                 \
  EGGROLL_EXPORT_PLUGIN(::eggroll::describe<CLASS>(EGG_KIND_OPTIMIZER, NAME, VERSION, &::eggroll::probe_always, \
                                                   &::eggroll::OptimizerAdapter<CLASS>::kInterface))

#endif
