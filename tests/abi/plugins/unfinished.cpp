// An optimizer that does not ask whether all its settings were read. Setting: limit.
#include "eggroll/optimizer.h"

namespace {

class Unfinished : public eggroll::Optimizer {
 public:
  explicit Unfinished(eggroll::Settings& settings) {
    settings.integer("limit", 0, 1000);
    rule_.delta(rule_.constant(0));
  }
  const egg_rule* rule() override { return rule_.view(); }
  void scalars(const egg_progress&, float*) override {}

 private:
  eggroll::RuleBuilder rule_;
};

}  // namespace

EGGROLL_OPTIMIZER("unfinished", "1.0", Unfinished);
