// Moves weights, slots and states between a session and a checkpoint.
#ifndef EGGROLL_TRAIN_SESSION_IO_H
#define EGGROLL_TRAIN_SESSION_IO_H

#include <array>
#include <cstdint>
#include <vector>

#include "train/checkpoint.h"
#include "train/setup.h"

namespace eggroll {

// The weights of one parameter, which are left in the room.
const std::vector<int8_t>& read_param(BackendSession& session, const Program& program, uint32_t param,
                                      std::vector<int8_t>& room);
std::vector<WeightTensor> read_weights(BackendSession& session, const Program& program);

// A session's tensors as a checkpoint saves them. Reading one throws Error, naming the plugin at fault and the
// tensor, if weights or states are -128 or a slot is not finite.
class SessionTensors {
 public:
  // states: (population, state bytes), of all members.
  SessionTensors(BackendSession& session, const Learner& learner, const std::vector<int8_t>& states, uint64_t step);
  SessionTensors(const SessionTensors&) = delete;
  SessionTensors& operator=(const SessionTensors&) = delete;

  const CheckpointTensors& tensors() const { return tensors_; }

 private:
  // Used in turns: one is written while the next is read.
  std::array<Guarded<int8_t>, 2> weights_;
  std::array<Guarded<uint32_t>, 2> cells_;
  CheckpointTensors tensors_;
};

void restore_session(BackendSession& session, const Learner& learner, const Checkpoint& checkpoint);

// Throws as SessionTensors do, for tensors of at most kQuickWeights weights: reading back a larger table takes longer
// than an evaluation, and it is checked before it is saved anyway.
constexpr uint64_t kQuickWeights = uint64_t{1} << 22;
void require_sound(BackendSession& session, const Learner& learner, uint64_t step);

}  // namespace eggroll

#endif
