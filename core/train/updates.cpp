#include "train/updates.h"

#include <algorithm>
#include <cstring>

#include "record/run_metrics.h"
#include "train/clock.h"
#include "train/session_io.h"

namespace eggroll {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

const char* name_of(UpdateMethod method) { return method == UpdateMethod::kSharded ? "sharded" : "rebuilt"; }

}  // namespace

std::vector<uint32_t> owners_of(const std::vector<egg_param>& params, uint32_t processes) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (params[i].perturbed != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return weight_count(params[a]) > weight_count(params[b]); });
  std::vector<uint32_t> owners(params.size(), kNobody);
  std::vector<uint64_t> weights(processes);
  for (const uint32_t param : order) {
    const auto least = std::min_element(weights.begin(), weights.end());
    *least += weight_count(params[param]);
    owners[param] = static_cast<uint32_t>(least - weights.begin());
  }
  return owners;
}

Updates::Updates(const Setup& setup, BackendSession& session, Processes& processes)
    : learner_(setup.learner),
      session_(session),
      processes_(processes),
      method_(processes.alone() ? UpdateMethod::kRebuilt : setup.processes.update.value_or(UpdateMethod::kRebuilt)),
      // Most rows of tables that vote with sites stay as they are in a step, and a sharded update would send them all.
      on_trial_(!processes.alone() && !setup.processes.update && setup.learner.sites.empty()),
      owners_(owners_of(learner_.program->params(), processes.size())),
      sizes_(processes.size()) {
  for (uint32_t i = 0; i < owners_.size(); ++i) {
    chosen_.push_back(owners_[i] == processes.index() ? 1 : 0);
    if (owners_[i] != kNobody) sizes_[owners_[i]] += sizeof(int64_t) + weight_count(learner_.program->params()[i]);
  }
}

Update Updates::make(uint64_t step, std::span<const egg_evaluation> evaluations, const std::vector<int8_t>& fitness,
                     const BatchBuffer& batch, std::span<const egg_site_sums> sites) {
  const auto began = Clock::now();
  Update made;
  if (method_ == UpdateMethod::kRebuilt) {
    made = learner_.update(session_, step, evaluations, fitness, batch, {}, sites);
  } else {
    made = make_own(step, evaluations, fitness, batch, sites);
    processes_.gather(mine_, sizes_, all_);
    take_others(made.changed);
  }
  if (on_trial_) add_time(seconds_since(began));
  return made;
}

// Writes into mine_, for each tensor of this process, how many of its weights moved, and the move of each weight modulo
// 256. The others add these moves to their own weights and do not copy the weights, so a process with wrong weights
// stays wrong and is found.
Update Updates::make_own(uint64_t step, std::span<const egg_evaluation> evaluations, const std::vector<int8_t>& fitness,
                         const BatchBuffer& batch, std::span<const egg_site_sums> sites) {
  mine_.resize(sizes_[processes_.index()]);
  uint8_t* at = mine_.data();
  for (uint32_t i = 0; i < owners_.size(); ++i) {
    if (chosen_[i] == 0) continue;
    read_param(session_, *learner_.program, i, before_);
    std::memcpy(at + sizeof(int64_t), before_.data(), before_.size());
    at += sizeof(int64_t) + before_.size();
  }
  Update made = learner_.update(session_, step, evaluations, fitness, batch, chosen_, sites);
  at = mine_.data();
  for (uint32_t i = 0; i < owners_.size(); ++i) {
    if (chosen_[i] == 0) continue;
    read_param(session_, *learner_.program, i, after_);
    std::memcpy(at, &made.changed[i], sizeof(int64_t));
    at += sizeof(int64_t);
    for (const int8_t weight : after_) {
      *at = static_cast<uint8_t>(static_cast<uint8_t>(weight) - *at);
      ++at;
    }
  }
  return made;
}

void Updates::take_others(std::vector<int64_t>& changed) {
  std::vector<const uint8_t*> from(sizes_.size());
  uint64_t offset = 0;
  for (size_t process = 0; process < sizes_.size(); ++process) {
    from[process] = all_.data() + offset;
    offset += sizes_[process];
  }
  for (uint32_t i = 0; i < owners_.size(); ++i) {
    if (owners_[i] == kNobody || chosen_[i] != 0) continue;
    const uint8_t*& at = from[owners_[i]];
    std::memcpy(&changed[i], at, sizeof(int64_t));
    at += sizeof(int64_t);
    const uint64_t count = weight_count(learner_.program->params()[i]);
    if (changed[i] != 0) {
      read_param(session_, *learner_.program, i, before_);
      for (uint64_t k = 0; k < count; ++k) {
        const auto sum = static_cast<int8_t>(static_cast<uint8_t>(static_cast<uint8_t>(before_[k]) + at[k]));
        before_[k] = std::max<int8_t>(sum, -127);  // only a weight that was wrong comes to -128, which is none
      }
      session_.set_weights(i, before_.data());
    }
    at += count;
  }
}

// Takes the seconds of a step on trial. Tries the other method next, and then keeps the faster one.
void Updates::add_time(double seconds) {
  seconds_.push_back(seconds);
  if (seconds_.size() < kTrialSteps) return;
  const std::vector<double> medians = processes_.gather(quantile({seconds_.begin() + 1, seconds_.end()}, 0.5));
  seconds_.clear();
  const double slowest = *std::max_element(medians.begin(), medians.end());
  if (method_ == UpdateMethod::kRebuilt) {
    rebuilt_seconds_ = slowest;
    method_ = UpdateMethod::kSharded;
    return;
  }
  sharded_seconds_ = slowest;
  on_trial_ = false;
  if (*rebuilt_seconds_ > slowest) return;
  share_slots();
  method_ = UpdateMethod::kRebuilt;
}

void Updates::share_slots(uint32_t first) {
  if (method_ == UpdateMethod::kRebuilt) return;  // all have them
  const uint32_t slots = static_cast<uint32_t>(learner_.rule->slots().size()) - first;
  for (uint32_t i = 0; i < owners_.size() && slots > 0; ++i) {
    if (owners_[i] == kNobody) continue;
    const uint64_t bytes = 4 * weight_count(learner_.program->params()[i]);
    std::vector<uint8_t> mine(chosen_[i] != 0 ? bytes * slots : 0);
    for (uint32_t s = 0; s < slots && chosen_[i] != 0; ++s) session_.get_slot(i, first + s, mine.data() + s * bytes);
    std::vector<uint64_t> sizes(processes_.size());
    sizes[owners_[i]] = bytes * slots;
    std::vector<uint8_t> all;
    processes_.gather(mine, sizes, all);
    for (uint32_t s = 0; s < slots && chosen_[i] == 0; ++s) session_.set_slot(i, first + s, all.data() + s * bytes);
  }
}

UpdateRecord Updates::record() const {
  UpdateRecord record{name_of(method_), 0, {}, {}};
  if (method_ == UpdateMethod::kSharded) record.bytes_per_step = *std::max_element(sizes_.begin(), sizes_.end());
  if (sharded_seconds_) {
    record.rebuilt_seconds = rebuilt_seconds_;
    record.sharded_seconds = sharded_seconds_;
  }
  return record;
}

}  // namespace eggroll
