// The beginning of a run that does not draw its weights: a checkpoint of another run (section `init`).
//
// The run keeps that checkpoint in <run folder>/initial, so that it can be replayed when the other run is gone.
#ifndef EGGROLL_TRAIN_BEGINNING_H
#define EGGROLL_TRAIN_BEGINNING_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "config/tree.h"
#include "plugin/instance.h"
#include "train/checkpoint.h"
#include "train/run_folder.h"
#include "train/setup.h"

namespace eggroll {

// RUN, or RUN@CHECKPOINT: see choose_checkpoint(). RUN alone means its checkpoint "end".
struct NamedCheckpoint {
  std::string run;
  std::string checkpoint;
};
NamedCheckpoint split_name(const std::string& text);

// The run that a text names. Throws Error if it is none.
using FindRun = std::function<RunFolder(const std::filesystem::path&)>;
// Finds a run by its folder alone.
RunFolder run_at(const std::filesystem::path& folder);

// Says in `init` which checkpoint init.from means and what this run takes of it: from becomes FOLDER@STEP, and `run`
// (its config hash), `step` (the one that this run begins at), `states` and `evaluations` (whether they are kept: no if
// members, or evaluations, read other tokens) and `sha256` are added. A configuration that has them, or
// begins with drawn weights, stays as it is. Throws Error with file and line.
ConfigNode with_beginning(ConfigNode config, const FindRun& find);

// Throws Error if the run in the folder cannot begin: the other run no longer has the checkpoint, it is damaged, or
// tensors or data differ. A run that has checkpoints of its own needs nothing.
void require_beginning(const Setup& setup, const RunFolder& folder);

// Keeps the checkpoint in the run's folder, unless it is there or not needed.
void keep_beginning(const BeginSettings& begin, const RunFolder& folder);

// The part of the kept checkpoint that the run takes: the weights alone, unless the run goes on from it. Throws Error
// if the checkpoint is damaged or another one.
Checkpoint read_beginning(const BeginSettings& begin, const RunFolder& folder);

// Puts the checkpoint into a new session. A slot of the rule that the checkpoint lacks begins with zeros, and so do
// states that are not kept; warn is told. Throws Error if a tensor is missing or has another shape.
void begin_session(BackendSession& session, const Learner& learner, const Checkpoint& beginning,
                   const std::function<void(const std::string&)>& warn = {});

}  // namespace eggroll

#endif
