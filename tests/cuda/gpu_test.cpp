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

class ReplicaSession : public Session {
 public:
  ReplicaSession(ReplicaPlan plan, const egg_session_spec& spec) : replica_(std::move(plan), spec) {}

  void set_weights(uint32_t param, const int8_t* weights) override { replica_.set_weights(param, weights); }
  void get_weights(uint32_t param, int8_t* weights) override { replica_.get_weights(param, weights); }
  void set_slot(uint32_t param, uint32_t slot, const void* data) override { replica_.set_slot(param, slot, data); }
  void get_slot(uint32_t param, uint32_t slot, void* data) override { replica_.get_slot(param, slot, data); }
  void set_states(uint32_t first, uint32_t count, const int8_t* states) override {
    replica_.set_states(first, count, states);
  }
  void get_states(uint32_t first, uint32_t count, int8_t* states) override {
    replica_.get_states(first, count, states);
  }
  void evaluate(const egg_evaluate& arguments) override {
    replica_.evaluate_async(arguments);
    replica_.finish_evaluate(arguments);
    replica_.add_site_sums(arguments);
  }
  void update(const egg_update& arguments) override {
    replica_.vote_async(arguments);
    replica_.apply_rule_async();
    replica_.end_update_async();
    replica_.get_ready();
    replica_.finish_update(arguments);
  }
  void infer(const egg_infer& arguments) override { replica_.infer(arguments); }

 private:
  Replica replica_;
};

}  // namespace

void GpuTest::SetUp() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "there is no GPU here";
}

std::unique_ptr<Session> open_session(const egg_session_spec& spec, const std::vector<int>& devices) {
  return std::make_unique<CudaSession>(spec, devices, 1);
}

std::unique_ptr<Session> open_session_in_pieces(const egg_session_spec& spec) {
  return std::make_unique<ReplicaSession>(plan_in_pieces(spec), spec);
}

std::unique_ptr<Session> open_session_with_noise_in_time(const egg_session_spec& spec) {
  ReplicaPlan plan = std::move(plan_replicas(spec, {0}).front());
  EXPECT_TRUE(plan.memory.draws_ahead);
  plan.memory.draws_ahead = false;
  return std::make_unique<ReplicaSession>(std::move(plan), spec);
}

std::unique_ptr<Session> open_session_of_two_blocks(const egg_session_spec& spec) {
  return std::make_unique<ReplicaSession>(plan_of_two_blocks(spec), spec);
}

}  // namespace eggroll::cuda
