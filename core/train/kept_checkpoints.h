// The checkpoints that a run keeps: saving one, removing old ones, finding one by its step or by what it is.
//
// <run folder>/checkpoints/step-00000800/ is a checkpoint (train/checkpoint.h). A folder of that name is always
// complete: it is made under another name and renamed when all of it is on the disk.
#ifndef EGGROLL_TRAIN_KEPT_CHECKPOINTS_H
#define EGGROLL_TRAIN_KEPT_CHECKPOINTS_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "train/checkpoint.h"
#include "train/run_folder.h"

namespace eggroll {

struct SavedCheckpoint {
  std::filesystem::path folder;
  std::string weights_sha256;
};

// Keeps the newest `keep` (at least 1) checkpoints and that of the best evaluation, and removes the others; warn is
// told of one that cannot be removed. If it fails, also in reading a tensor, the earlier checkpoints stay.
SavedCheckpoint save_checkpoint(const std::filesystem::path& run_folder, const CheckpointFacts& facts,
                                const CheckpointTensors& tensors, uint32_t keep,
                                const std::function<void(const std::string&)>& warn = {});

// Removes all checkpoints; the journal can still rebuild the weights. Nobody else may write to the folder meanwhile.
void remove_checkpoints(const std::filesystem::path& run_folder);

bool has_leftovers(const std::filesystem::path& run_folder);

// Removes what processes left that were killed while they saved or removed a checkpoint; warn is told of what stays.
// Nobody else may write to the folder meanwhile.
void remove_leftovers(const std::filesystem::path& run_folder, const std::function<void(const std::string&)>& warn);

// Folder of the newest checkpoint, if there is one.
std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& run_folder);

// The checkpoint with the fewest held-out bits, of those after which the model was evaluated; of equal ones the first.
struct BestCheckpoint {
  std::filesystem::path folder;
  uint64_t step;
  uint64_t best_step;  // step of the best evaluation of all; differs if no checkpoint was saved after that step
};
// Throws Error if the newest checkpoint is damaged.
std::optional<BestCheckpoint> best_checkpoint(const std::filesystem::path& run_folder);
// The same, but throws Error if there is none.
BestCheckpoint require_best(const RunFolder& folder);

// The folder of the checkpoint after this number of steps. If it is not kept, throws Error, which names those that are
// kept.
std::filesystem::path checkpoint_after(const std::filesystem::path& run_folder, uint64_t step);

// The one that `chosen` means: "end" (the one that the run ended with, or the newest if it has not ended), "last",
// "best" or a number of steps. who: how a message about it begins. Throws Error if the run keeps no such checkpoint.
std::filesystem::path choose_checkpoint(const RunFolder& folder, const std::string& chosen, const std::string& who);

}  // namespace eggroll

#endif
