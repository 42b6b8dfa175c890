// Checkpoints whose tensors are in memory.
#ifndef EGGROLL_TESTS_WHOLE_CHECKPOINT_H
#define EGGROLL_TESTS_WHOLE_CHECKPOINT_H

#include "train/kept_checkpoints.h"

namespace eggroll {

// Returns the checkpoint's folder.
inline std::filesystem::path save_checkpoint(const std::filesystem::path& run_folder, const Checkpoint& checkpoint,
                                             uint32_t keep, const std::function<void(const std::string&)>& warn = {}) {
  const auto reader_of = [](const auto& values) { return [&values] { return bytes_of(values); }; };
  CheckpointTensors tensors;
  for (const WeightTensor& weight : checkpoint.weights) {
    tensors.weights.push_back(
        {{weight.name, TensorType::kI8, {static_cast<uint64_t>(weight.rows), static_cast<uint64_t>(weight.cols)}},
         reader_of(weight.data)});
  }
  for (const SlotTensor& slot : checkpoint.slots) {
    tensors.slots.push_back(
        {{slot.param + "/" + slot.slot, slot.type == 'f' ? TensorType::kF32 : TensorType::kI32, {slot.bits.size()}},
         reader_of(slot.bits)});
  }
  tensors.states = {{"states", TensorType::kI8, {checkpoint.population, checkpoint.state_bytes}},
                    reader_of(checkpoint.states)};
  return save_checkpoint(run_folder, checkpoint, tensors, keep, warn).folder;
}

}  // namespace eggroll

#endif
