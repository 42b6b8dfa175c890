// The update of a run's weights on all its processes. Rebuilt: each process adds up the votes of all pairs for all
// tensors. Sharded: each process does so for the tensors that it owns, and tells the others by how much their weights
// have moved. Both lead to the same weights; which takes less time depends on the population, the model and the
// network.
#ifndef EGGROLL_TRAIN_UPDATES_H
#define EGGROLL_TRAIN_UPDATES_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "processes/processes.h"
#include "record/record.h"
#include "train/setup.h"

namespace eggroll {

// By parameter, the process that updates it if the update is sharded. Parameters are given out from the largest to the
// smallest, each to the process that has least so far. A parameter that is never updated has no owner, UINT32_MAX.
std::vector<uint32_t> owners_of(const std::vector<egg_param>& params, uint32_t processes);

// Every function that a comment calls shared is called by all processes in the same order.
class Updates {
 public:
  // `auto` tries each method for this number of steps, and does not time the first of them.
  static constexpr size_t kTrialSteps = 4;

  // All arguments must outlive this.
  Updates(const Setup& setup, BackendSession& session, Processes& processes);

  // Shared. Does on all processes what Learner::update() does.
  Update make(uint64_t step, std::span<const egg_evaluation> evaluations, const std::vector<int8_t>& fitness,
              const BatchBuffer& batch, std::span<const egg_site_sums> sites);
  // Shared. Brings the slots of every tensor, from slot `first` on, from the process that has updated it to all others.
  void share_slots(uint32_t first = 0);

  UpdateRecord record() const;

 private:
  Update make_own(uint64_t step, std::span<const egg_evaluation> evaluations, const std::vector<int8_t>& fitness,
                  const BatchBuffer& batch, std::span<const egg_site_sums> sites);
  void take_others(std::vector<int64_t>& changed);
  void add_time(double seconds);

  const Learner& learner_;
  BackendSession& session_;
  Processes& processes_;
  UpdateMethod method_;
  bool on_trial_;
  std::vector<double> seconds_;  // of the method on trial
  // Seconds of a step: the slowest process's median, if the method has been tried.
  std::optional<double> rebuilt_seconds_;
  std::optional<double> sharded_seconds_;
  std::vector<uint32_t> owners_;  // by parameter
  std::vector<uint8_t> chosen_;   // by parameter: 1 if it is this process's
  std::vector<uint64_t> sizes_;   // by process: bytes that it sends of a sharded step
  std::vector<uint8_t> mine_;
  std::vector<uint8_t> all_;
  std::vector<int8_t> before_;
  std::vector<int8_t> after_;
};

}  // namespace eggroll

#endif
