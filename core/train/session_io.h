// Weights, slots and states between a session and a checkpoint.
#ifndef EGGROLL_TRAIN_SESSION_IO_H
#define EGGROLL_TRAIN_SESSION_IO_H

#include <cstdint>
#include <vector>

#include "train/checkpoint.h"
#include "train/setup.h"

namespace eggroll {

std::vector<WeightTensor> read_weights(BackendSession& session, const Program& program);

// Weights and slots, and all members' states, (population, state bytes); step, identity and counters are the caller's.
Checkpoint capture_session(BackendSession& session, const Machine& machine, std::vector<int8_t> states);
void restore_session(BackendSession& session, const Machine& machine, const Checkpoint& checkpoint);

// Throws Error, naming the plugin at fault and the tensor, where weights or states are -128 or a slot is not finite.
void require_sound(const Checkpoint& captured, const Machine& machine, uint64_t step);
// The same of a session's tensors of at most kQuickWeights weights, one at a time: to read a large table back takes
// longer than an evaluation, and it is looked at before it is saved.
constexpr uint64_t kQuickWeights = uint64_t{1} << 22;
void require_sound(BackendSession& session, const Machine& machine, uint64_t step);

}  // namespace eggroll

#endif
