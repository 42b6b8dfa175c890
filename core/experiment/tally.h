// Counts a launch's points for every launcher.
#ifndef EGGROLL_EXPERIMENT_TALLY_H
#define EGGROLL_EXPERIMENT_TALLY_H

#include <chrono>
#include <unordered_map>

#include "experiment/launcher.h"

namespace eggroll {

// How many points are done and failed, which is best, how far each has come, and what ends the launch: the budget, the
// breaker, or a request.
class Tally {
 public:
  Tally(const Sweep& sweep, const LaunchOptions& options);

  // Whether the point's folder shows that nothing is left to do: it is done, or it failed and is not to be tried again.
  // A point that is over is then counted, so do not ask about it again.
  bool is_over(const SweepPoint& point);
  // Counts a point that this launch brought to its end.
  void ended(const SweepPoint& point, const RunRecord& record);
  void look_at(const SweepPoint& point);  // at its metrics
  const LastMetrics& reached(const SweepPoint& point) const { return reached_.at(&point); }

  // Whether the budget is spent; the launch has then ended.
  bool has_spent();
  void end(const std::string& because);  // the first reason stays
  const std::string& ended_because() const { return ended_because_; }

  // running: with the progress of each. waiting: the other points that this launch would still run. interrupted: the
  // number of points left for the next launch.
  SweepStatus status(std::vector<RunningPoint> running, const std::vector<const SweepPoint*>& waiting,
                     size_t interrupted, size_t elsewhere) const;
  const std::vector<const SweepPoint*>& failed() const { return failed_; }

 private:
  void count_done(const SweepPoint& point, const RunRecord& record);
  uint64_t tokens_reached() const;

  const Sweep& sweep_;
  LaunchOptions options_;
  size_t done_ = 0;
  std::vector<const SweepPoint*> failed_;
  const SweepPoint* best_ = nullptr;
  double best_bits_ = 0.0;
  uint32_t failures_in_a_row_;
  std::string ended_because_;
  std::unordered_map<const SweepPoint*, LastMetrics> reached_;
  uint64_t tokens_before_ = 0;  // this launch
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace eggroll

#endif
