// Between a session and the files: a run's identity, the contents of a checkpoint, the first form of a record.
#ifndef EGGROLL_TRAIN_WEIGHTS_H
#define EGGROLL_TRAIN_WEIGHTS_H

#include <string>

#include "record/record.h"
#include "train/checkpoint.h"
#include "train/setup.h"
#include "train/trainer.h"

namespace eggroll {

// The identity of the run that is in the folder or is to begin there.
RunIdentity identity_of(const Machine& machine, const ConfigNode& config, const RunFolder& folder);

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

// Throws Error where the run in the folder was begun with other data: the file has changed since. The first compares
// the folder's record, if there is one, the second this sha256, unless it is empty.
void require_same_data(const Setup& setup, const RunFolder& folder);
void require_same_data(const Setup& setup, const RunFolder& folder, const std::string& begun_with);

// All that is known of a run before its first step. plan: of its session.
RunRecord new_record(const Setup& setup, const ConfigNode& config, const Invocation& invocation,
                     const RunIdentity& identity, const SessionPlan& plan, const Ranks& ranks);

}  // namespace eggroll

#endif
