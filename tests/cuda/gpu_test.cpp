#include "gpu_test.h"
#include "session.h"

#include <cuda_runtime.h>

namespace eggroll::cuda {
namespace {

ReplicaPlan plan_in_pieces(const egg_session_spec& spec) {
  ReplicaPlan plan = std::move(plan_replicas(spec, {0}).front());
  const uint64_t least = MemoryPlan(plan.plan, spec, 0, 1, 1, false, plan.behind, plan.later).least(spec.population);
  plan.memory = MemoryPlan(plan.plan, spec, kCallReserve + least, 1, 1, false, plan.behind, plan.later);
  plan.memory.choose(spec.population);
  EXPECT_TRUE(plan.memory.keeps_row_votes);
  EXPECT_EQ(plan.memory.noise_tiles, plan.plan.tiles);
  return plan;
}

ReplicaPlan plan_of_two_blocks(const egg_session_spec& spec) {
  ReplicaPlan plan = std::move(plan_replicas(spec, {0}).front());
  plan.memory = MemoryPlan(plan.plan, spec, uint64_t{8} << 30, 2, 1, false, plan.behind, plan.later);
  plan.memory.choose(spec.population);
  EXPECT_EQ(plan.memory.blocks, 2U);
  return plan;
}

std::unique_ptr<Session> session_of(ReplicaPlan plan, const egg_session_spec& spec) {
  std::vector<ReplicaPlan> plans;
  plans.push_back(std::move(plan));
  return std::make_unique<CudaSession>(spec, std::move(plans), 0);
}

}  // namespace

void GpuTest::SetUp() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "there is no GPU here";
}

std::unique_ptr<Session> open_session(const egg_session_spec& spec, const std::vector<int>& devices) {
  return std::make_unique<CudaSession>(spec, plan_replicas(spec, devices), 1);
}

std::unique_ptr<Session> open_session_in_pieces(const egg_session_spec& spec) {
  return session_of(plan_in_pieces(spec), spec);
}

std::unique_ptr<Session> open_session_with_noise_in_time(const egg_session_spec& spec) {
  ReplicaPlan plan = std::move(plan_replicas(spec, {0}).front());
  EXPECT_TRUE(plan.memory.draws_ahead);
  plan.memory.draws_ahead = false;
  return session_of(std::move(plan), spec);
}

std::unique_ptr<Session> open_session_of_two_blocks(const egg_session_spec& spec) {
  return session_of(plan_of_two_blocks(spec), spec);
}

}  // namespace eggroll::cuda
