// The programs that the cuda backend runs as fused ops, and the data that its rings bring them. The tests need no GPU.
#include "fused_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "learner.h"
#include "plan.h"

namespace eggroll::cuda {
namespace {

// Shared memory of an H200, for two tiles and for one.
constexpr Room kRoom{227 << 10, 220 << 10, 2, 3, 12};
constexpr Room kRoomOfOne{227 << 10, 220 << 10, 1, 3, 12};

class FusedPlanTest : public testing::Test {
 protected:
  // Stays valid until the next call.
  const Plan& plan_of(const std::vector<std::string>& overrides, const Room& room = kRoom) {
    plan_.reset();
    learner_.emplace(learner_of(overrides));
    plan_.emplace(learner_->session_spec(), room);
    return *plan_;
  }

  std::optional<Learner> learner_;
  std::optional<Plan> plan_;
};

TEST_F(FusedPlanTest, TakesTheGruOfAnyShapeThatFits) {
  for (const char* width : {"model.width=48", "model.width=64", "model.width=192", "model.width=256"}) {
    for (const char* ratio : {"model.mlp_ratio=1", "model.mlp_ratio=4"}) {
      for (const char* tied : {"model.tied_head=false", "model.tied_head=true"}) {
        const Plan& plan = plan_of({"model=gru", "model.layers=3", width, ratio, tied});
        ASSERT_TRUE(plan.fused) << width << ' ' << ratio << ' ' << tied;
        EXPECT_EQ(plan.fused->ops.size(), 8U);  // two per layer, the embedding and the head
        EXPECT_EQ(plan.workspace_bytes, 0U);
      }
    }
  }
}

// Each token of each tile is done once, in the order of the tile's tokens, when seats do their tokens side by side.
void expect_whole(uint32_t tiles, uint32_t tokens, uint32_t seats) {
  const uint32_t each = seat_tokens(tiles, tokens, seats);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> done_at;  // by tile and token
  for (uint32_t s = 0; s < seats; ++s) {
    const FusedSeat seat = seat_at(s, seats, tiles, tokens);
    ASSERT_LE(seat.tokens, each);
    ASSERT_TRUE(tiles < seats || seat.tokens + 1 >= each);
    uint32_t at = 0;
    for (uint32_t i = 0;; ++i) {
      const Stretch stretch = stretch_of(seat, i, tokens);
      if (stretch.begin == stretch.end) break;
      for (uint32_t token = stretch.begin; token < stretch.end; ++token, ++at) {
        ASSERT_EQ(tile_of_token(seat, at, tokens), stretch.tile);
        ASSERT_TRUE(done_at.insert({{stretch.tile, token}, at}).second);
      }
    }
    ASSERT_EQ(at, seat.tokens);
    ASSERT_EQ(tile_of_token(seat, at, tokens), kNoTile);
  }
  ASSERT_EQ(done_at.size(), size_t{tiles} * tokens);
  for (const auto& [which, at] : done_at) {
    ASSERT_LT(which.first, tiles);
    ASSERT_LT(which.second, tokens);
    if (which.second > 0) {
      ASSERT_LT(done_at.at({which.first, which.second - 1}), at);
    }
  }
}

TEST(FusedSeats, DoAllTokensInTheirOrder) {
  for (const uint32_t seats : {1U, 2U, 3U, 132U, 528U}) {
    for (const uint32_t tokens : {1U, 2U, 7U, 100U}) {
      for (const uint32_t tiles : {1U, 2U, 3U, 5U, 131U, 132U, 133U, 527U, 528U, 529U, 1024U}) {
        SCOPED_TRACE(testing::Message() << tiles << " tiles of " << tokens << " tokens, " << seats << " seats");
        ASSERT_NO_FATAL_FAILURE(expect_whole(tiles, tokens, seats));
      }
    }
  }
}

TEST_F(FusedPlanTest, LeavesOtherProgramsToTheirOps) {
  EXPECT_FALSE(plan_of({"model=gru", "model.width=320"}).fused);
  EXPECT_FALSE(plan_of({"model=gru", "model.gate_clip=twice"}).fused);
  EXPECT_FALSE(plan_of({"model=gru", "model.norm_division=truncate"}).fused);
  EXPECT_FALSE(plan_of({"model=gru", "noise.rank=9"}).fused);
  // The scaled sums do not fit 32 bits.
  EXPECT_FALSE(plan_of({"model=gru", "model.width=256", "model.fixed_point=0"}).fused);
}

class TokensPlanTest : public FusedPlanTest {
 protected:
  const Plan& plan_of(std::vector<std::string> overrides, const Room& room = kRoom) {
    overrides.insert(overrides.begin(), "model=int8nativeformer");
    return FusedPlanTest::plan_of(overrides, room);
  }
  bool has_tokens(const std::vector<std::string>& overrides, const Room& room = kRoom) {
    const auto& fused = plan_of(overrides, room).fused;
    return fused && fused->shape.rows == Rows::kSpan;
  }
};

TEST_F(TokensPlanTest, TakesTransformersWithWindowsOfSomeTokens) {
  EXPECT_TRUE(has_tokens({"train.tokens=16", "model.width=64", "model.head_width=32"}));
  EXPECT_TRUE(has_tokens({"train.tokens=32", "model.width=256", "model.head_width=64", "model.layers=4"}));
  EXPECT_TRUE(has_tokens({"train.tokens=128", "model.width=64", "model.head_width=16", "model.layers=8"}));
  EXPECT_FALSE(has_tokens({"train.tokens=15", "model.width=64", "model.head_width=32"}));
  EXPECT_FALSE(has_tokens({"train.tokens=32", "model.width=64", "model.head_width=8"}));
  EXPECT_FALSE(has_tokens({"train.tokens=32", "model.width=320", "model.head_width=64"}));
  EXPECT_FALSE(has_tokens({"train.tokens=32", "model.width=64", "model.head_width=32", "noise.rank=2"}));
  EXPECT_FALSE(has_tokens({"train.tokens=32", "model.width=64", "model.head_width=32", "model.norm_division=floor"}));
  EXPECT_FALSE(has_tokens({"train.tokens=512", "model.width=256", "model.head_width=64"}));
}

TEST_F(TokensPlanTest, PutsShortWindowsOfSeveralPairsInATile) {
  const Plan& plan = plan_of({"train.tokens=3", "model.width=64", "model.head_width=32"});
  ASSERT_TRUE(plan.fused);
  EXPECT_EQ(plan.fused->shape.rows, Rows::kWindows);
  EXPECT_EQ(plan.fused->shape.span, 4U);
  EXPECT_EQ(tile_members(plan.fused->shape), 16U);
  EXPECT_FALSE(plan_of({"train.tokens=1", "model.width=64", "model.head_width=32"}).fused);
  EXPECT_FALSE(plan_of({"train.tokens=9", "model.width=64", "model.head_width=32"}).fused);
  EXPECT_FALSE(plan_of({"train.tokens=4", "model.width=192", "model.head_width=32"}).fused);
}

// No model of ours has a rope that clips.
TEST_F(TokensPlanTest, LeavesARopeThatClipsToItsOp) {
  const Learner learner =
      learner_of({"model=int8nativeformer", "train.tokens=32", "model.width=64", "model.head_width=32"});
  egg_session_spec spec = learner.session_spec();
  egg_program program = *spec.program;
  std::vector<egg_value> values(program.values, program.values + program.value_count);
  program.values = values.data();
  spec.program = &program;
  ASSERT_TRUE(Plan(spec, kRoom).fused);
  for (uint32_t i = 0; i < program.op_count; ++i) {
    if (program.ops[i].code == EGG_OP_ROPE) values[static_cast<size_t>(program.ops[i].out)].is_wide = 0;
  }
  EXPECT_FALSE(Plan(spec, kRoom).fused);
}

TEST_F(TokensPlanTest, HasAThirdTileOfOneBlockOfChannels) {
  Room three = kRoom;
  three.tiles = 3;
  EXPECT_TRUE(has_tokens({"train.tokens=128", "model.width=64", "model.head_width=32"}, three));
  EXPECT_FALSE(has_tokens({"train.tokens=32", "model.width=128", "model.head_width=32"}, three));
}

TEST_F(TokensPlanTest, BringsEachOpItsStages) {
  const Plan& plan = plan_of({"train.tokens=32", "model.width=128", "model.head_width=32", "model.layers=2"});
  ASSERT_TRUE(plan.fused);
  const FusedPlan& fused = *plan.fused;
  ASSERT_EQ(fused.ops.size(), 7U);  // the embedding, an MLP, two of each layer and the head
  uint32_t stages = 0;
  uint32_t noise_stages = 0;
  for (const FusedNeed& need : fused.needs) {
    stages += need.stages;
    noise_stages += need.noise_stages;
    EXPECT_LE(need.noise_stages * 2 * kBlock, fused.shape.noise_slot);
  }
  EXPECT_EQ(stages, fused.stages_of.size());
  EXPECT_EQ(2 * noise_stages, fused.ring_blocks);
  EXPECT_EQ(fused.ops[2].code, kFusedAttention);
  EXPECT_EQ(fused.needs[2].stages, 4U * 2);  // 64 outputs of v, k, q and the last linear each
}

TEST_F(FusedPlanTest, MakesLogitsTwiceThatFindNoRoom) {
  const auto stages_of_head = [](const Plan& plan) {
    std::map<uint32_t, int> times;
    const int32_t head = plan.fused->stages_of.back().param;
    for (const FusedPlan::Stage& stage : plan.fused->stages_of) times[stage.block] += stage.param == head ? 1 : 0;
    std::set<int> different;
    for (const auto& [block, count] : times) different.insert(count);
    return different;
  };
  const Plan& small = plan_of({"model=gru", "model.width=64", "model.vocab=256", "model.mlp_ratio=0"});
  ASSERT_TRUE(small.fused);
  EXPECT_EQ(small.fused->logit_blocks, 4U);
  EXPECT_EQ(stages_of_head(small), std::set<int>{1});
  EXPECT_EQ(small.fused->feeds[0].repeated_noise_stages, 0U);
  const uint32_t blocks_of_small = small.fused->noise_blocks;
  for (const Room& room : {kRoom, kRoomOfOne}) {
    const Plan& plan = plan_of({"model=gru", "model.width=64", "model.vocab=4096", "model.mlp_ratio=0"}, room);
    ASSERT_TRUE(plan.fused);
    EXPECT_EQ(plan.fused->logit_blocks, 0U);
    EXPECT_EQ(plan.fused->ops.back().blocks, 64U);
    EXPECT_EQ(stages_of_head(plan), std::set<int>{2});
    // Noise lies in memory once: two blocks a stage.
    EXPECT_EQ(plan.fused->feeds[0].repeated_noise_stages, 32U);
    EXPECT_EQ(plan.fused->noise_blocks - blocks_of_small, 60U);
  }
}

TEST_F(FusedPlanTest, TakesATiedHeadOfAnyVocabulary) {
  const std::vector<std::string> tied = {"model.vocab=3600", "model.tied_head=true"};
  for (const Room& room : {kRoom, kRoomOfOne}) {
    for (const char* width : {"model.width=64", "model.width=128"}) {
      for (const char* rank : {"noise.rank=1", "noise.rank=2"}) {
        EXPECT_TRUE(plan_of({"model=gru", width, rank, tied[0], tied[1]}, room).fused) << width << ' ' << rank;
      }
    }
    for (const char* tokens : {"train.tokens=4", "train.tokens=20", "train.tokens=70"}) {
      const Plan& plan =
          plan_of({"model=int8nativeformer", tokens, "model.width=64", "model.head_width=32", tied[0], tied[1]}, room);
      ASSERT_TRUE(plan.fused) << tokens;
      EXPECT_TRUE(has_tokens(plan.fused->shape.rows)) << tokens;
    }
  }
}

TEST_F(FusedPlanTest, BringsEachBlockOfWeightsOnceAToken) {
  for (const Room& room : {kRoom, kRoomOfOne}) {
    for (const char* width : {"model.width=128", "model.width=192", "model.width=256"}) {
      const Plan& plan = plan_of({"model=gru", "model.layers=2", width}, room);
      ASSERT_TRUE(plan.fused);
      std::map<int32_t, std::set<uint32_t>> blocks;
      for (const FusedPlan::Stage& stage : plan.fused->stages_of) {
        if (stage.param < 0) continue;
        EXPECT_TRUE(blocks[stage.param].insert(stage.block).second);
      }
      EXPECT_EQ(blocks.size(), 2U * 6 + 1);  // matrices of two layers, and the head
      for (const auto& [param, of_param] : blocks) {
        const egg_param& matrix = plan.program->params[param];
        const bool of_inputs = plan.fused->cuts[static_cast<size_t>(param)] == StagesOf::kInputs;
        EXPECT_EQ(of_param.size(), divide_up(static_cast<uint32_t>(of_inputs ? matrix.cols : matrix.rows), kBlock));
      }
    }
  }
}

TEST_F(FusedPlanTest, SharesATileThatIsAloneBetweenTwoWarpgroups) {
  const Plan& plan = plan_of({"model=gru", "model.width=192", "model.layers=1"}, kRoomOfOne);
  ASSERT_TRUE(plan.fused);
  EXPECT_EQ(plan.fused->shape.tiles, 1U);
  EXPECT_EQ(plan.fused->shape.warpgroups, 2U);
  ASSERT_EQ(plan.fused->feeds.size(), 2U);
  const auto& [even, odd] = std::tie(plan.fused->feeds[0], plan.fused->feeds[1]);
  EXPECT_EQ(even.first_stage + even.stage_count, odd.first_stage);
  EXPECT_EQ(odd.first_stage + odd.stage_count, plan.fused->stages_of.size());
  EXPECT_EQ(even.first_noise_stage + even.noise_stage_count, odd.first_noise_stage);
  EXPECT_EQ(2 * (odd.first_noise_stage + odd.noise_stage_count), plan.fused->ring_blocks);
  // The first group has two of the three blocks of outputs; the second group leaves both sums, 16 KB each, in stages of
  // 12 KB.
  std::vector<uint32_t> empty;
  for (const FusedFeed& feed : plan.fused->feeds) {
    const auto begin = plan.fused->stages_of.begin() + feed.first_stage;
    empty.push_back(static_cast<uint32_t>(
        std::count_if(begin, begin + feed.stage_count, [](const FusedPlan::Stage& s) { return s.param < 0; })));
  }
  EXPECT_EQ(empty, (std::vector<uint32_t>{2, 3}));
}

TEST_F(FusedPlanTest, HasAThirdTileWhereThereAreFewChannels) {
  Room room = kRoom;
  room.tiles = 3;
  for (const char* width : {"model.width=64", "model.width=128"}) {
    const Plan& plan = plan_of({"model=gru", width}, room);
    ASSERT_TRUE(plan.fused) << width;
    EXPECT_EQ(plan.fused->shape.tiles, 3U) << width;
  }
  EXPECT_FALSE(plan_of({"model=gru", "model.width=192"}, room).fused);
}

TEST_F(FusedPlanTest, DoesNotShareWhatHasNoSecondBlock) {
  EXPECT_EQ(plan_of({"model=gru", "model.width=64"}, kRoomOfOne).fused->shape.warpgroups, 1U);
  EXPECT_EQ(plan_of({"model=gru", "model.width=128"}, kRoomOfOne).fused->shape.warpgroups, 2U);
  EXPECT_EQ(plan_of({"model=gru", "model.width=128"}).fused->shape.warpgroups, 1U);
}

TEST_F(FusedPlanTest, GivesAllNoisePlacesOfItsOwn) {
  for (const Room& room : {kRoom, kRoomOfOne}) {
    for (const char* tied : {"model.tied_head=false", "model.tied_head=true"}) {
      const Plan& plan = plan_of({"model=gru", "model.width=192", "model.layers=2", tied}, room);
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
      EXPECT_EQ(plan.layout.bytes, size_t{plan.fused->noise_blocks} * kBlock);
      EXPECT_LE(plan.fused->ring_blocks, plan.fused->noise_blocks);
    }
  }
}

}  // namespace
}  // namespace eggroll::cuda
