// Which programs the fused forward pass runs, and how: chains of an embedding of one or more tables, layers of a
// minimal GRU or of an MLP with two linears, each with an l1 norm before it and its input added after it, and a head
// with the loss. Rows of tables may be added to the logits. Such a chain has up to 256 channels, and 8 draws per side.
// Host code, no CUDA.
#ifndef EGGROLL_CUDA_FUSED_PLAN_H
#define EGGROLL_CUDA_FUSED_PLAN_H

#include <cstdint>
#include <optional>
#include <vector>

#include "fused_layout.h"

namespace eggroll::cuda {

struct Plan;
struct Room;

// How a matrix is cut into stages: each has 64 outputs and all inputs, or 64 inputs and all outputs.
enum class StagesOf : uint8_t { kNothing, kOutputs, kInputs };

struct FusedPlan {
  // 64 channels of a matrix. If the parameter is -1, the stage stays empty.
  struct Stage {
    int32_t param;
    uint32_t block;
  };

  // See FusedTable; place: of its draws of side A or their key, in bytes; stride: to the next rank's.
  struct Table {
    int32_t param;
    uint32_t row_of;
    uint32_t place;
    uint32_t stride;
  };

  std::vector<FusedOp> ops;
  std::vector<FusedNeed> needs;     // of each op
  std::vector<Stage> stages_of;     // in the order in which a token takes them, feed after feed
  std::vector<FusedFeed> feeds;     // of the warpgroups of a tile
  std::vector<NoisePlaces> places;  // by block of the forward layout
  std::vector<StagesOf> cuts;       // by parameter
  std::vector<Table> tables;        // those of the embedding, then those of the head
  int32_t loss_unit = 0;
  bool clips_sums = false;  // see kMostScaled
  uint32_t channels = 0;
  uint32_t blocks = 0;
  uint32_t logit_blocks = 0;  // that are kept on the chip; 0: none, they are made twice
  FusedShape shape{};
  // If rows are tokens: numbers of the program's tables, and what all attentions have in common.
  int32_t look_up = -1;
  int32_t angles = -1;
  int32_t weights = -1;
  int32_t head = -1;  // channels
  int32_t weighting = -1;
  int32_t score_shift = -1;
  uint32_t ring_blocks =
      0;  // of a pair's noise that come through the ring; after them: what is read where a token says
  uint32_t noise_blocks = 0;  // of a pair's noise, all places
};

// plan: complete except for the result. Returns nothing if the program is no such chain, or does not fit.
std::optional<FusedPlan> fuse(const Plan& plan, const Room& room);

}  // namespace eggroll::cuda

#endif
