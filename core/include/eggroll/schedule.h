// Schedules: how much of its base value a scalar of the rule has at a step, such as a learning rate or a test's level.
//
//   Schedule schedule_(settings, "schedule");              // in the constructor, before settings.finish()
//   out[0] = static_cast<float>(rate_ * schedule_.share(progress));
//
// Settings, all of them present whatever the kind, so that a sweep over kinds changes one key:
//   kind                          constant, steps, cosine, inverse_time or plateau
//   steps.milestones              list of {step, factor}: the share is the factor of the last step reached, 1 before
//   cosine.steps, final           half a cosine from 1 to the final share, which then stays
//   inverse_time.anneal, decay    1 / (anneal * step / decay + 1), nano-egg's
//   plateau.factor, patience, cooldown, minimum, threshold    see after_plateaus
#ifndef EGGROLL_SCHEDULE_H
#define EGGROLL_SCHEDULE_H

#include <algorithm>
#include <string>
#include <vector>

#include "eggroll/reproducible_math.h"
#include "eggroll/settings.h"

namespace eggroll {

class Schedule {
 public:
  // Reads the settings below the prefix. Throws Error if one is missing or wrong.
  Schedule(Settings& settings, const std::string& prefix)
      : kind_(static_cast<Kind>(
            settings.choice(prefix + ".kind", {"constant", "steps", "cosine", "inverse_time", "plateau"}))),
        cosine_steps_(settings.real(prefix + ".cosine.steps", 1.0, 1e12)),
        cosine_final_(settings.real(prefix + ".cosine.final", 0.0, 1.0)),
        anneal_(settings.real(prefix + ".inverse_time.anneal", 0.0, 1e9)),
        decay_(settings.real(prefix + ".inverse_time.decay", 1.0, 1e12)),
        factor_(settings.real(prefix + ".plateau.factor", 0.01, 0.99)),
        patience_(settings.integer(prefix + ".plateau.patience", 0, 1000000)),
        cooldown_(settings.integer(prefix + ".plateau.cooldown", 0, 1000000)),
        minimum_(settings.real(prefix + ".plateau.minimum", 0.0, 1.0)),
        threshold_(settings.real(prefix + ".plateau.threshold", 0.0, 0.99)) {
    read_milestones(settings, prefix + ".steps.milestones");
  }

  // The share of the base value: in [0, 1], except that factors of milestones may be larger.
  double share(const egg_progress& progress) const {
    const auto step = static_cast<double>(progress.step);
    switch (kind_) {
      case Kind::kConstant:
        return 1.0;
      case Kind::kSteps:
        return after_milestones(progress.step);
      case Kind::kCosine:
        if (step >= cosine_steps_) return cosine_final_;
        return cosine_final_ + (1.0 - cosine_final_) * 0.5 * (1.0 + reproducible_cos_pi(step / cosine_steps_));
      case Kind::kInverseTime:
        return 1.0 / (anneal_ * step / decay_ + 1.0);
      case Kind::kPlateau:
        return after_plateaus(progress);
    }
    return 1.0;
  }

 private:
  enum class Kind { kConstant = 0, kSteps = 1, kCosine = 2, kInverseTime = 3, kPlateau = 4 };
  struct Milestone {
    uint64_t step;
    double factor;
  };

  void read_milestones(Settings& settings, const std::string& list) {
    const auto key = [&](size_t i, const char* field) { return list + "." + std::to_string(i) + "." + field; };
    const size_t count = settings.elements(list);
    for (size_t i = 0; i < count; ++i) {
      const int64_t after = milestones_.empty() ? 1 : static_cast<int64_t>(milestones_.back().step) + 1;
      const int64_t step = settings.integer(key(i, "step"), after, int64_t{1} << 40);
      milestones_.push_back({static_cast<uint64_t>(step), settings.real(key(i, "factor"), 0.0, 1000.0)});
    }
    if (kind_ == Kind::kSteps && milestones_.empty()) {
      throw setting_error(list, list + " is empty, expected a list such as [{step: 300, factor: 0.5}]; give one");
    }
  }

  double after_milestones(uint64_t step) const {
    double share = 1.0;
    for (const Milestone& milestone : milestones_) {
      if (step >= milestone.step) share = milestone.factor;
    }
    return share;
  }

  // A loss has improved if it is below 1 - threshold times the best. After more than `patience` evaluations in a row
  // without that, the share falls by the factor, but not below the minimum, and the next `cooldown` evaluations are not
  // counted. This is the relative mode of PyTorch's ReduceLROnPlateau.
  double after_plateaus(const egg_progress& progress) const {
    double share = 1.0;
    double best = 0.0;
    int64_t without = 0;
    int64_t cooling = 0;
    for (uint32_t i = 0; i < progress.evaluation_count; ++i) {
      const egg_evaluation& evaluation = progress.evaluations[i];
      if (evaluation.tokens != progress.evaluations[0].tokens) continue;  // not comparable
      const auto loss = static_cast<double>(evaluation.loss);
      if (i == 0 || loss < best * (1.0 - threshold_)) {
        best = loss;
        without = 0;
      } else {
        ++without;
      }
      if (cooling > 0) {
        --cooling;
        without = 0;
      } else if (without > patience_) {
        share = std::max(share * factor_, minimum_);
        cooling = cooldown_;
        without = 0;
      }
    }
    return share;
  }

  Kind kind_;
  std::vector<Milestone> milestones_;
  double cosine_steps_;
  double cosine_final_;
  double anneal_;
  double decay_;
  double factor_;
  int64_t patience_;
  int64_t cooldown_;
  double minimum_;
  double threshold_;
};

}  // namespace eggroll

#endif
