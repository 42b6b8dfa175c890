// Checkpoints: all that a run needs to go on from a step, to the same bits.
//
// <run folder>/checkpoints/step-00000800/ holds model.safetensors, optimizer.safetensors, states.safetensors and
// checkpoint.json, which lists the size and sha256 of the others and is sealed (record/seal.h). A folder of that name
// is always complete: it is made under another name and renamed when all of it is on the disk.
#ifndef EGGROLL_TRAIN_CHECKPOINT_H
#define EGGROLL_TRAIN_CHECKPOINT_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/plan.h"
#include "eggroll/plugin.h"

namespace eggroll {

inline constexpr int32_t kCheckpointFormat = 3;  // version 0.1 wrote 2, which is read too

// The cure for a damaged checkpoint.
inline constexpr const char* kCheckpointCure =
    "delete that folder and run again to go on from the checkpoint before it";

struct WeightTensor {
  std::string name;
  int32_t rows = 0;
  int32_t cols = 0;
  std::vector<int8_t> data;  // (rows, cols), in [-127, 127]
};

// One slot of one parameter of the update rule.
struct SlotTensor {
  std::string param;
  std::string slot;            // without '/'
  char type = 'i';             // 'i' int32, 'f' float32
  std::vector<uint32_t> bits;  // one a weight, in the type's representation
};

// What a checkpoint belongs to; hexadecimal digits.
struct RunIdentity {
  std::string spec_hash;
  std::string program_hash;
  std::string rule_hash;
  std::string config_hash;
};

struct Checkpoint {
  uint64_t step = 0;  // steps done
  RunIdentity identity;
  std::vector<WeightTensor> weights;  // in program order
  std::vector<SlotTensor> slots;
  uint64_t population = 0;
  uint64_t state_bytes = 0;                       // of one member
  std::vector<int8_t> states;                     // (population, state_bytes), in [-127, 127]
  std::vector<egg_evaluation> evaluations;        // all so far, those at this step too
  HeldOutSample sample = HeldOutSample::kSpread;  // that they read
  std::string data_sha256;                        // of the run's dataset; version 0.1 did not save it
  // What else the run counts: tokens, seconds.
  nlohmann::json counters = nlohmann::json::object();
};

// Returns the checkpoint's folder. Keeps the newest `keep` (at least 1) and removes older ones; warn is told of one
// that cannot be removed. A failure leaves the checkpoints there were.
std::filesystem::path save_checkpoint(const std::filesystem::path& run_folder, const Checkpoint& checkpoint,
                                      uint32_t keep, const std::function<void(const std::string&)>& warn = {});

bool has_leftovers(const std::filesystem::path& run_folder);

// Removes what processes left that were killed while they saved or removed a checkpoint; warn is told of what stays.
// Nobody else may write to the folder meanwhile.
void remove_leftovers(const std::filesystem::path& run_folder, const std::function<void(const std::string&)>& warn);

// Folder of the newest checkpoint, if there is one.
std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& run_folder);

// Verifies format, sizes, sha256, types and shapes; whether it is this run's is require_same_run's to say.
Checkpoint load_checkpoint(const std::filesystem::path& folder);

// Throws, naming what differs and the cure, where the checkpoint of this folder is another run's.
void require_same_run(const std::filesystem::path& folder, const RunIdentity& checkpoint, const RunIdentity& run);

// A run's result in 64 digits: sha256 over every tensor in program order, as its name, a zero byte, rows and cols as
// little-endian int32, and its data.
std::string weights_sha256(const std::vector<WeightTensor>& weights);

}  // namespace eggroll

#endif
