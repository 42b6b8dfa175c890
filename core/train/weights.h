// Between a session and the files: a run's identity, the contents of a checkpoint, the first form of a record.
#ifndef EGGROLL_TRAIN_WEIGHTS_H
#define EGGROLL_TRAIN_WEIGHTS_H

#include <string>

#include "record/record.h"
#include "train/checkpoint.h"
#include "train/setup.h"
#include "train/trainer.h"

namespace eggroll {

// sha256 of the resolved configuration without kOutsideHash.
std::string run_hash(const ConfigNode& config);

RunIdentity identity_of(const Machine& machine, const ConfigNode& config);

std::vector<WeightTensor> read_weights(BackendSession& session, const Program& program);

// Weights and slots, and all members' states, (population, state bytes); step, identity and counters are the caller's.
Checkpoint capture_session(BackendSession& session, const Machine& machine, std::vector<int8_t> states);
void restore_session(BackendSession& session, const Machine& machine, const Checkpoint& checkpoint);

// Throws Error where the folder holds a record of this run whose data were others: the file has changed since.
void require_same_data(const Setup& setup, const RunFolder& folder);

// All that is known of a run before its first step. plan: of its session.
RunRecord new_record(const Setup& setup, const ConfigNode& config, const Invocation& invocation,
                     const RunIdentity& identity, const SessionPlan& plan, const Ranks& ranks);

}  // namespace eggroll

#endif
