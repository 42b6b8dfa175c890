// An optimizer that is wrong in the way that its setting `fault` names.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include "eggroll/optimizer.h"

namespace {

class Hostile : public eggroll::Optimizer {
 public:
  explicit Hostile(eggroll::Settings& settings) : fault_(settings.text("fault")) {
    settings.finish();
    const std::string scalar = fault_ == "scalar_of_the_host" ? "step" : fault_ == "scalar_no_text" ? "lr\xff" : "rate";
    const eggroll::Node change = rule_.op(EGG_RULE_TRUNC_I32, {rule_.scalar(scalar)});
    for (const std::string slot : {fault_ == "slot_with_a_slash" ? "a/b" : "m", fault_ == "twin_slots" ? "m" : "v"}) {
      rule_.set_slot(rule_.slot(slot, 'f'), fault_ == "nan_slot" ? zero_by_zero() : rule_.vote_f32());
    }
    rule_.delta(change);
  }
  const egg_rule* rule() override { return rule_.view(); }
  void scalars(const egg_progress& progress, float* out) override {
    out[0] = 0.0F;
    if (fault_ == "exits") std::exit(0);
    if (fault_ == "crashes") std::raise(SIGSEGV);
    if (fault_ == "overflows") out[0] = static_cast<float>(deep(1));
    if (fault_ == "writes_behind") out[20] = 1.0F;
    if (fault_ == "writes_before") out[-1] = 1.0F;
    if (fault_ == "nan" && progress.step >= 3) out[0] = std::numeric_limits<float>::quiet_NaN();
    while (fault_ == "hangs" && progress.step >= 3) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (fault_ == "infinite" && progress.step >= 3) out[0] = -std::numeric_limits<float>::infinity();
  }

 private:
  // Calls itself until its thread's stack is used up.
  static int deep(int depth) {
    volatile char here[4096];
    here[0] = static_cast<char>(depth);
    return depth < 0 ? here[0] : deep(depth + 1) + here[0];
  }

  eggroll::Node zero_by_zero() { return rule_.op(EGG_RULE_FDIV, {rule_.constant(0.0F), rule_.constant(0.0F)}); }

  std::string fault_;
  eggroll::RuleBuilder rule_;
};

}  // namespace

EGGROLL_OPTIMIZER("hostile_rule", "1.0", Hostile);
