// The files of a checkpoint, in the order of a fuzzer's input.
#ifndef EGGROLL_TESTS_FUZZ_CHECKPOINT_BYTES_H
#define EGGROLL_TESTS_FUZZ_CHECKPOINT_BYTES_H

#include <array>

namespace eggroll::test {

inline constexpr std::array<const char*, 4> kCheckpointFiles = {"checkpoint.json", "model.safetensors",
                                                                "optimizer.safetensors", "states.safetensors"};

}  // namespace eggroll::test

#endif
