#include "fused_plan.h"

#include "fuser.h"

namespace eggroll::cuda {

bool choose_rings(FusedPlan& fused, uint32_t fewest_noise_stages, uint32_t most_noise_stages, uint32_t room) {
  FusedShape& shape = fused.shape;
  const auto fits = [&](uint32_t stages, uint32_t noise_stages) {
    FusedShape tried = shape;
    tried.stages = stages;
    tried.noise_stages = noise_stages;
    return fused_shared(fused.blocks, fused.logit_blocks, tried).bytes <= room;
  };
  shape.stages = 3;
  shape.noise_stages = fewest_noise_stages;
  if (shape.tiles * shape.warpgroups >
      most_workers(fused.blocks, shape.warpgroups, shape.ranks > 1, has_tokens(shape.rows))) {
    return false;
  }
  if (!fits(shape.stages, shape.noise_stages)) return false;
  while (shape.stages < kMostFusedStages && fits(shape.stages + 1, shape.noise_stages)) ++shape.stages;
  while (shape.noise_stages < most_noise_stages && fits(shape.stages, shape.noise_stages + 1)) ++shape.noise_stages;
  return true;
}

std::optional<FusedPlan> fuse(const Plan& plan, const Room& room) {
  std::optional<FusedPlan> tokens = fuse_tokens(plan, room);
  return tokens ? tokens : fuse_members(plan, room);
}

}  // namespace eggroll::cuda
