// The memory of a GPU that the cuda backend plans to take. The tests need no GPU.
#include "memory.h"

#include <gmock/gmock.h>

#include "eggroll/error.h"
#include "learner.h"
#include "replica_plan.h"

namespace eggroll::cuda {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kGiB = uint64_t{1} << 30;
// An H200: its shared memory, the part of it that two tiles and a ring leave to a block, its multiprocessors and its
// memory.
constexpr Room kRing{227 << 10, 220 << 10, 2, 3, 12};
constexpr uint32_t kBlocks = 132;
constexpr uint64_t kMemory = 139 * kGiB;
// A device without a ring, whose multiprocessors hold two blocks.
constexpr Room kNoRing{80 << 10, 80 << 10, 1, 0, 0};

const std::vector<std::string> kGru = {"model=gru", "model.width=256", "model.layers=6"};
// Heads of 8 channels: it runs op by op.
const std::vector<std::string> kFormer = {"model=int8nativeformer", "model.width=256", "model.layers=4",
                                          "model.head_width=8"};

class MemoryTest : public testing::Test {
 protected:
  explicit MemoryTest(const std::vector<std::string>& overrides = kGru) : learner_(learner_of(overrides)) {}

  Plan plan(const Room& room = kRing) const { return Plan(learner_.session_spec(), room); }
  MemoryPlan memory(uint64_t room = kMemory, uint32_t devices = 1) const {
    return MemoryPlan(plan(), learner_.session_spec(), room, kBlocks, devices, devices > 1);
  }
  MemoryPlan chosen(uint32_t population, uint64_t room = kMemory, uint32_t devices = 1) const {
    MemoryPlan memory = this->memory(room, devices);
    memory.choose(population);
    return memory;
  }
  // A plan for each room; all plans have the same shape.
  std::vector<ReplicaPlan> replicas(const std::vector<uint64_t>& rooms) const {
    std::vector<ReplicaPlan> all;
    for (const uint64_t room : rooms) {
      const auto number = static_cast<int>(all.size());
      all.push_back({number, "a GPU", 0, 0, rooms.size() > 1, 0, 0, 0, 1, plan(),
                     memory(room, static_cast<uint32_t>(rooms.size()))});
    }
    return all;
  }

  Learner learner_;
};

class FormerMemoryTest : public MemoryTest {
 protected:
  FormerMemoryTest() : MemoryTest(kFormer) {}
};

// The message of the Error that fit() throws; empty if it throws none.
std::string refusal_of(std::vector<ReplicaPlan> replicas, uint32_t population) {
  try {
    fit(replicas, population);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), EGG_ERROR_MEMORY);
    return error.what();
  }
  return "";
}

uint32_t named_population(const std::string& refusal) {
  const std::string words = "use at most ";
  const size_t at = refusal.find(words);
  EXPECT_NE(at, std::string::npos) << refusal;
  return static_cast<uint32_t>(std::stoul(refusal.substr(at + words.size())));
}

TEST_F(MemoryTest, AMillionMembersOfTheGruFitAnH200) {
  const MemoryPlan memory = chosen(1 << 20);
  EXPECT_LE(memory.total, kMemory - kCallReserve);
  EXPECT_EQ(memory.members, 1U << 20);
  // The memory holds the states and losses of all members, and nearly the most noise.
  EXPECT_GE(memory.total, (uint64_t{1} << 20) * (learner_.program->state_bytes() + 8) + kMostNoise * 9 / 10);
  EXPECT_LE(uint64_t{memory.noise_tiles} * memory.noise_tile, kMostNoise);
}

TEST_F(MemoryTest, OfTheStatesOwnMembersTakeTheirShare) {
  const uint32_t population = learner_.train.population;
  const MemoryPlan half(plan(), learner_.session_spec({population / 4, population / 2}), kMemory, kBlocks, 1, false);
  const uint64_t member = plan().state_stride + sizeof(int64_t);
  for (const uint32_t all : {population, 1U << 18}) {
    EXPECT_EQ(memory().least(all) - half.least(all), all / 2 * member) << all;
  }
}

TEST_F(MemoryTest, GrowsByWhatAMemberTakes) {
  const uint64_t small = memory().least(1 << 16);
  const uint64_t large = memory().least(1 << 17);
  const uint64_t member = plan().state_stride + sizeof(int64_t);
  EXPECT_EQ(large - small, (uint64_t{1} << 16) * member + (1 << 15));  // and a byte of fitness for each pair
  for (uint32_t population = 2; population < 50000; population += 998) {
    EXPECT_LE(memory().least(population), memory().least(population + 2)) << population;
  }
}

TEST_F(MemoryTest, HoldsTheWeightsAndWhatTheRuleKeeps) {
  uint64_t weights = 0;
  uint64_t slots = 0;
  for (const egg_param& param : learner_.program->params()) {
    weights += weight_count(param);
    slots += param.perturbed != 0 ? weight_count(param) * learner_.rule->view().slot_count : 0;
  }
  const MemoryPlan memory = this->memory();
  uint64_t planned = 0;
  uint64_t cells = 0;
  for (const ParamMemory& param : memory.params) {
    planned += param.count();
    cells += param.slot_cells;
  }
  EXPECT_EQ(planned, weights);
  EXPECT_EQ(cells, slots);
  // The weights count twice, because linears read a copy in an order of their own.
  EXPECT_GE(memory.least(2), 2 * weights + 4 * slots + 8 * memory.votes);
  EXPECT_LE(memory.least(2), 64 * weights);
}

TEST_F(MemoryTest, NoiseTakesNoMoreThanHalfOfWhatIsLeft) {
  const uint64_t room = 8 * kGiB;
  const MemoryPlan memory = chosen(1 << 18, room);
  const uint64_t noise = uint64_t{memory.noise_tiles} * memory.noise_tile;
  EXPECT_LE(memory.total, room - kCallReserve);
  EXPECT_NEAR(static_cast<double>(noise), static_cast<double>(room - kCallReserve - (memory.total - noise)) / 2,
              static_cast<double>(memory.noise_tile));
  // The memory holds all noise of a small population.
  EXPECT_EQ(chosen(100).noise_tiles, 2U);
}

// The noise of two steps takes no more than kMostNoise, and that of the second no more than half of what is left.
TEST_F(MemoryTest, DrawsAreMadeAheadWhereTheirMemoryIsFree) {
  const uint32_t population = 1 << 18;
  const MemoryPlan ahead = chosen(population);
  const uint64_t noise = uint64_t{ahead.noise_tiles} * ahead.noise_tile;
  EXPECT_TRUE(ahead.draws_ahead);
  EXPECT_EQ(ahead.bytes(Area::kNextNoise), noise);
  const uint64_t enough = kCallReserve + ahead.total + noise;
  EXPECT_TRUE(chosen(population, enough).draws_ahead);
  const MemoryPlan tight = chosen(population, enough - 1);
  EXPECT_FALSE(tight.draws_ahead);
  EXPECT_EQ(tight.bytes(Area::kNextNoise), 0U);
  EXPECT_EQ(tight.total, ahead.total - noise);
  const auto most = static_cast<uint32_t>(kMostNoise / (2 * ahead.noise_tile) * kTileRows);
  EXPECT_TRUE(chosen(most, 80 * kGiB).draws_ahead);
  EXPECT_FALSE(chosen(most + kTileRows, 80 * kGiB).draws_ahead);
}

TEST_F(MemoryTest, ARefusalNamesTheLargestPopulationThatFits) {
  for (const uint64_t room : {3 * kGiB, 5 * kGiB, 24 * kGiB}) {
    const std::string refusal = refusal_of(replicas({room}), 1 << 30);
    EXPECT_THAT(refusal, HasSubstr("a population of 1073741824 takes "));
    EXPECT_THAT(refusal, HasSubstr("expected at most the " + memory_text(room - kCallReserve)));
    const uint32_t most = named_population(refusal);
    EXPECT_EQ(most % 2, 0U);
    EXPECT_GE(most, 2U);
    EXPECT_EQ(refusal_of(replicas({room}), most), "");
    EXPECT_LE(chosen(most, room).total, room - kCallReserve);
    EXPECT_EQ(named_population(refusal_of(replicas({room}), most + 2)), most);
  }
}

TEST_F(MemoryTest, WhereNotEvenAPairFitsTheModelIsToBlame) {
  const std::string refusal = refusal_of(replicas({kCallReserve + 1000}), 2);
  EXPECT_THAT(refusal, HasSubstr("; use a smaller model"));
}

TEST_F(MemoryTest, TheFullestOfSeveralDevicesDecides) {
  const uint32_t alone = named_population(refusal_of(replicas({8 * kGiB}), 1 << 30));
  const uint32_t beside = named_population(refusal_of(replicas({24 * kGiB, 8 * kGiB}), 1 << 30));
  EXPECT_GT(beside, alone);
  EXPECT_LE(beside, 2 * alone + 4 * kTileRows);
  EXPECT_EQ(refusal_of(replicas({24 * kGiB, 8 * kGiB}), beside), "");
  EXPECT_EQ(named_population(refusal_of(replicas({8 * kGiB, 24 * kGiB}), 1 << 30)), beside);

  std::vector<ReplicaPlan> both = replicas({24 * kGiB, 8 * kGiB});
  fit(both, 1 << 16);
  EXPECT_EQ(both[0].memory.members, 1U << 15);
  EXPECT_EQ(describe(both).memory, std::max(both[0].memory.total, both[1].memory.total));
}

TEST_F(MemoryTest, ThePlanSaysHowTheProgramRuns) {
  std::vector<ReplicaPlan> one = replicas({kMemory});
  fit(one, 1 << 14);
  EXPECT_EQ(describe(one).plan,
            "two tiles of 64 members a block, layers as fused ops with rings of 5 stages of weights and 6 of "
            "noise, noise of 8192 pairs at a time");
  one[0].plan = plan(Room{227 << 10, 220 << 10, 1, 3, 12});
  EXPECT_THAT(describe(one).plan,
              HasSubstr("one tile of 64 members a block, shared by two warpgroups, layers as fused "));
  // too little room for fused ops, and more than enough for the other kernels
  one[0].plan = plan(Room{0, 1 << 20, 2, 3, 12});
  const SessionPlan plan = describe(one);
  EXPECT_EQ(plan.device, "a GPU");
  EXPECT_EQ(plan.plan,
            "two tiles of 64 members a block, linears on wgmma with a ring of 12 "
            "stages, all values on chip, noise of 8192 pairs at a time");
  EXPECT_EQ(plan.memory, one[0].memory.total);

  std::vector<ReplicaPlan> two = replicas({kMemory, kMemory});
  two[1].device_name = "another GPU";
  fit(two, 1 << 14);
  EXPECT_EQ(describe(two).device, "a GPU and another GPU");
  EXPECT_THAT(describe(two).plan, HasSubstr(", members shared by 2 GPUs"));
  two[1].device_name = "a GPU";
  EXPECT_EQ(describe(two).device, "2 x a GPU");
}

TEST_F(MemoryTest, ThePlanSaysWhatFoundNoRoom) {
  std::vector<ReplicaPlan> tight = replicas({kMemory});
  tight[0].plan = plan(Room{70 << 10, 70 << 10, 1, 2, 12});
  fit(tight, 2);
  EXPECT_FALSE(tight[0].plan.all_streamed);
  EXPECT_THAT(describe(tight).plan,
              testing::MatchesRegex("one tile of 64 members a block, linears on wgmma with a ring of "
                                    "[0-9]+ stages but for [0-9]+ of [0-9]+ on mma.sync, some "
                                    "values in device memory, .*"));
  tight[0].plan = plan(kNoRing);
  EXPECT_THAT(describe(tight).plan, HasSubstr("a block, linears on mma.sync, "));
}

class TablesMemoryTest : public MemoryTest {
 protected:
  TablesMemoryTest() : MemoryTest({"model=gru_tables", "model.width=32"}) {}
};

// If memory holds all noise at once, the rule takes votes row by row, and they never lie in memory.
TEST_F(TablesMemoryTest, VotesOnRowsLieInMemoryOnlyWhereTheyMust) {
  const uint32_t population = 1 << 20;
  const MemoryPlan whole = chosen(population);
  EXPECT_FALSE(whole.keeps_row_votes);
  EXPECT_EQ(uint64_t{whole.noise_tiles} * kTileRows, population);
  EXPECT_EQ(whole.bytes(Area::kVotedRows), 0U);
  EXPECT_EQ(whole.bytes(Area::kVotes), 8 * (whole.votes - whole.masked_votes));

  const MemoryPlan shared = chosen(population, kMemory, 2);
  EXPECT_FALSE(shared.keeps_row_votes);
  EXPECT_EQ(shared.bytes(Area::kVotes), 8 * (shared.votes - shared.masked_votes));
  EXPECT_EQ(shared.bytes(Area::kAllVotes), 8 * shared.counts);

  const uint64_t noise = uint64_t{whole.noise_tiles} * whole.noise_tile;
  const uint64_t enough = kCallReserve + whole.total - whole.bytes(Area::kNextNoise) + noise;
  EXPECT_FALSE(chosen(population, enough).keeps_row_votes);
  const MemoryPlan tight = chosen(population, enough - 1);
  EXPECT_TRUE(tight.keeps_row_votes);
  EXPECT_LT(tight.noise_tiles, whole.noise_tiles);
  EXPECT_LT(tight.total, enough - kCallReserve);
}

// An attention's keys and values take memory for every tile at work; there are never more of them than tiles.
TEST_F(FormerMemoryTest, WorkspaceIsThatOfTheTilesAtWork) {
  EXPECT_EQ(chosen(2).blocks, 1U);
  EXPECT_EQ(chosen(2).bytes(Area::kWorkspace), plan().tiles * plan().workspace_bytes);
  EXPECT_EQ(chosen(1 << 16).blocks, kBlocks);
  EXPECT_EQ(chosen(1 << 16).bytes(Area::kWorkspace), size_t{kBlocks} * plan().tiles * plan().workspace_bytes);
  EXPECT_GE(chosen(1 << 16).total, chosen(1 << 16).bytes(Area::kWorkspace));
}

}  // namespace
}  // namespace eggroll::cuda
