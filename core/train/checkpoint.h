// A checkpoint: all that a run needs to go on from a step, to the same bits. This file writes and reads one;
// train/kept_checkpoints.h decides which checkpoints a run keeps.
//
// Its folder holds model.safetensors, optimizer.safetensors, states.safetensors and checkpoint.json, which lists the
// size and sha256 of the others and is sealed (record/seal.h).
#ifndef EGGROLL_TRAIN_CHECKPOINT_H
#define EGGROLL_TRAIN_CHECKPOINT_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "eggroll/plugin.h"
#include "system/files.h"
#include "train/safetensors.h"

namespace eggroll {

inline constexpr int32_t kCheckpointFormat = 3;

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
  std::vector<uint32_t> bits;  // one per weight, in the type's representation
};

// The run that a checkpoint belongs to; the hashes have hexadecimal digits.
struct RunIdentity {
  std::string spec_hash;
  std::string program_hash;
  std::string rule_hash;
  std::string config_hash;
};

// The facts of a checkpoint, in addition to its tensors.
struct CheckpointFacts {
  uint64_t step = 0;  // steps done
  RunIdentity identity;
  uint64_t population = 0;
  uint64_t state_bytes = 0;                 // of one member
  std::vector<egg_evaluation> evaluations;  // all so far, those at this step too
  std::string data_sha256;                  // of the run's dataset
  // Other counts of the run: tokens, seconds.
  nlohmann::json counters = nlohmann::json::object();
};

struct Checkpoint : CheckpointFacts {
  std::vector<WeightTensor> weights;  // in program order
  std::vector<SlotTensor> slots;
  std::vector<int8_t> states;  // (population, state_bytes), in [-127, 127]
};

// A tensor that is read only when it is written, because all tensors of a session take as much memory as the session
// itself. The result of read() is valid until the second tensor after it is read.
struct TensorSource : TensorHead {
  std::function<std::string_view()> read;
};

// The tensors of a checkpoint that is being saved.
struct CheckpointTensors {
  std::vector<TensorSource> weights;  // in program order, (rows, cols) each
  std::vector<TensorSource> slots;    // named PARAMETER/SLOT
  TensorSource states;                // (population, state_bytes)
};

// A checkpoint's folder is named by this prefix and the step, in eight digits or more.
inline constexpr std::string_view kStepPrefix = "step-";
std::string checkpoint_name(uint64_t step);

// Whether the folder holds a checkpoint. load_checkpoint() finds damage.
bool is_checkpoint(const std::filesystem::path& folder);

// Writes a checkpoint into the folder, which must exist and be empty. Returns the sha256 of the weights.
std::string write_checkpoint(const std::filesystem::path& folder, const CheckpointFacts& facts,
                             const CheckpointTensors& tensors);

// Verifies format, sizes, sha256, types and shapes. require_same_run() says whether it is this run's.
Checkpoint load_checkpoint(const std::filesystem::path& folder, const char* cure = kCheckpointCure);

// Reads the facts, but not population and state_bytes, which the tensors hold.
CheckpointFacts read_facts(const std::filesystem::path& folder);

// sha256 of what another run takes if it begins with it: the weights, or also its step, slots, states, evaluations and
// counts of tokens. The same on every machine.
std::string beginning_sha256(const std::filesystem::path& folder, bool goes_on);

// The files of a checkpoint.
std::vector<std::filesystem::path> checkpoint_files(const std::filesystem::path& folder);

// Whether the folder holds exactly the files of the other one, undamaged.
bool is_same_checkpoint(const std::filesystem::path& folder, const std::filesystem::path& other);

// Throws, naming what differs and the cure, if the checkpoint of this folder is another run's.
void require_same_run(const std::filesystem::path& folder, const RunIdentity& checkpoint, const RunIdentity& run);

// A run's result in 64 digits: sha256 over every tensor in program order, as its name, a zero byte, rows and cols as
// little-endian int32, and its data.
std::string weights_sha256(const std::vector<WeightTensor>& weights);

// The same, one tensor after another.
class WeightsDigest {
 public:
  void update(const std::string& name, int32_t rows, int32_t cols, std::string_view data);
  std::string hex() { return digest_.hex(); }

 private:
  Sha256 digest_;
};

}  // namespace eggroll

#endif
