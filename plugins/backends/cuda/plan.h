// What the backend computes once from a program: the device's ops, where each value lies, and the layout of a pair's
// noise. Host code, no CUDA.
#ifndef EGGROLL_CUDA_PLAN_H
#define EGGROLL_CUDA_PLAN_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "eggroll/device_program.h"
#include "fused_plan.h"
#include "layout.h"
#include "rule_plan.h"
#include "site_plan.h"

namespace eggroll::cuda {

// The bytes of a pair's noise: members' vectors and the draws of matrices.
struct NoiseLayout {
  std::vector<NoisePart> parts;  // without the addresses of weights
  size_t bytes = 0;              // of a pair, a multiple of kBlock
};

// Shared memory for the values of `tiles` tiles and a ring of weights. A device without a ring has no stages.
struct Room {
  uint32_t whole;  // of a block
  uint32_t bytes;  // of it, for values and ring
  uint32_t tiles;
  uint32_t fewest_stages;
  uint32_t most_stages;
  bool may_fuse = true;
};

struct Plan : DeviceProgram {
  // Values that do not fit in shared memory lie in the workspace. Values that a linear reads are the last to go there.
  Plan(const egg_session_spec& spec, const Room& room);

  std::vector<DeviceOp> ops;      // without addresses
  std::vector<int32_t> op_param;  // by op: its first parameter, or -1
  std::vector<int32_t> op_table;  // by op: its table, or -1
  NoiseLayout layout;
  std::vector<SideA> side_a;       // by parameter
  std::vector<uint32_t> a_offset;  // by parameter: of its first part in the layout, or of its keys
  std::vector<uint32_t> b_offset;  // by matrix: of its draws of side B
  uint32_t tiles;                  // tiles that a block of threads works on at once
  uint32_t shared_values = 0;      // bytes of a tile's values in shared memory
  uint32_t stages = 0;             // of the ring, kStage each
  std::vector<size_t> streams;     // the ops whose weights come through it
  uint32_t source_count = 0;       // stages of all their weights
  size_t workspace_bytes = 0;      // of a tile
  bool all_shared = true;          // no value is in the workspace
  bool full_ops = false;           // a wide value, lut, max_norm, rope or attention
  bool all_streamed = true;        // every linear's weights come through the ring
  RulePlan rule;
  SitePlan sites;
  // Set if the program can run as fused ops. Then nothing runs the ops one by one, and there is no workspace.
  std::optional<FusedPlan> fused;
};

// The program that the draws of one site run at their token.
struct BehindPlan {
  uint32_t site;
  std::unique_ptr<BehindProgram> program;
  Plan plan;
  uint32_t blocks;  // at once
  // The program at the tokens of a horizon, if it has attention: there, draws use caches of their own.
  std::unique_ptr<egg_program> later_program = nullptr;
  std::optional<Plan> later = {};
  uint32_t later_blocks = 0;

  // Calls body(plan, blocks) for each of them.
  template <class Body>
  void each_plan(const Body& body) const {
    body(plan, blocks);
    if (later) body(*later, later_blocks);
  }
};

}  // namespace eggroll::cuda

#endif
