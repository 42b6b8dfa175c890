// Which programs the cuda backend runs as fused segments, and what its rings bring them. Needs no GPU.
#include "fused_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan.h"
#include "support/host.h"

namespace eggroll::cuda {
namespace {

constexpr Room kRoom{227 << 10, 220 << 10, 2, 3, 12};  // of an H200

Machine machine_of(std::vector<std::string> overrides) {
  overrides.emplace_back("backend=reference");
  return Machine(test::repository_config(overrides), test::built_plugins());
}

class FusedPlanTest : public testing::Test {
 protected:
  // Stays valid until the next call.
  const Plan& plan_of(const std::vector<std::string>& overrides) {
    plan_.reset();
    machine_.emplace(machine_of(overrides));
    plan_.emplace(machine_->program->view(), machine_->noise, kRoom);
    return *plan_;
  }

  std::optional<Machine> machine_;
  std::optional<Plan> plan_;
};

TEST_F(FusedPlanTest, TakesTheGruOfAnyShapeThatFits) {
  for (const char* width : {"model.width=48", "model.width=64", "model.width=192", "model.width=256"}) {
    for (const char* ratio : {"model.mlp_ratio=1", "model.mlp_ratio=4"}) {
      for (const char* tied : {"model.tied_head=false", "model.tied_head=true"}) {
        const Plan& plan = plan_of({"model=gru", "model.layers=3", width, ratio, tied});
        ASSERT_TRUE(plan.fused) << width << ' ' << ratio << ' ' << tied;
        EXPECT_EQ(plan.fused->segments.size(), 8U);  // two a layer, the embedding and the head
        EXPECT_EQ(plan.workspace_bytes, 0U);
      }
    }
  }
}

TEST_F(FusedPlanTest, LeavesOtherProgramsToTheirOps) {
  EXPECT_FALSE(plan_of({"model=int8nativeformer", "model.width=64", "model.head_width=32"}).fused);
  EXPECT_FALSE(plan_of({"model=gru", "model.width=320"}).fused);
  EXPECT_FALSE(plan_of({"model=gru", "model.gate_clip=twice"}).fused);
  EXPECT_FALSE(plan_of({"model=gru", "model.norm_division=truncate"}).fused);
  EXPECT_FALSE(plan_of({"model=gru", "noise.rank=2"}).fused);
  // Sums that would not fit 32 bits as they are scaled.
  EXPECT_FALSE(plan_of({"model=gru", "model.width=256", "model.fixed_point=0"}).fused);
}

TEST_F(FusedPlanTest, BringsEachBlockOfWeightsOnceAToken) {
  const Plan& plan = plan_of({"model=gru", "model.width=128", "model.layers=2"});
  ASSERT_TRUE(plan.fused);
  std::map<int32_t, std::set<uint32_t>> blocks;
  for (const FusedPlan::Stage& stage : plan.fused->stages_of) {
    EXPECT_TRUE(blocks[stage.param].insert(stage.block).second);
  }
  EXPECT_EQ(blocks.size(), 2U * 6 + 1);  // matrices of two layers, and the head
  for (const auto& [param, of_param] : blocks) {
    const egg_param& matrix = plan.program->params[param];
    const bool of_inputs = plan.fused->cuts[static_cast<size_t>(param)] == StagesOf::kInputs;
    EXPECT_EQ(of_param.size(), divide_up(static_cast<uint32_t>(of_inputs ? matrix.cols : matrix.rows), kBlock));
  }
}

TEST_F(FusedPlanTest, GivesAllNoisePlacesOfItsOwn) {
  for (const char* tied : {"model.tied_head=false", "model.tied_head=true"}) {
    const Plan& plan = plan_of({"model=gru", "model.width=192", "model.layers=2", tied});
    ASSERT_TRUE(plan.fused);
    std::set<uint32_t> taken;
    for (const NoisePlaces& places : plan.fused->places) {
      EXPECT_NE(places.first, kNoPlace);
      EXPECT_TRUE(taken.insert(places.first).second);
      if (places.second != kNoPlace) {
        EXPECT_TRUE(taken.insert(places.second).second);
      }
    }
    EXPECT_LT(*taken.rbegin(), plan.fused->noise_blocks);
    EXPECT_EQ(plan.forward.bytes, size_t{plan.fused->noise_blocks} * kBlock);
    EXPECT_LE(2 * plan.fused->slot_count, plan.fused->noise_blocks);
  }
}

}  // namespace
}  // namespace eggroll::cuda
