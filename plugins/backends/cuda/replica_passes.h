// The programs that a replica runs, as its kernels read them, and their launches.
#ifndef EGGROLL_CUDA_REPLICA_PASSES_H
#define EGGROLL_CUDA_REPLICA_PASSES_H

#include <vector>

#include "forward.h"
#include "fused.h"
#include "replica_reads.h"

namespace eggroll::cuda {

// A program with the addresses of what it reads: the session's program, or one that draws at a value run.
struct Pass {
  const Plan* plan = nullptr;
  std::vector<DeviceOp> inline_ops;  // if it is short
  const DeviceOp* ops = nullptr;
  const StageSource* sources = nullptr;
  char* workspace = nullptr;
};

class ReplicaPasses : public ReplicaPart {
 public:
  // The programs that draws at a value run: at their place and, if the program has attention, at a horizon's tokens.
  struct Behind {
    Pass at_place;
    Pass later;
  };

  ReplicaPasses(ReplicaDevice& device, const ReplicaWeights& weights, const ReplicaNoise& noise,
                const ReplicaBatch& batch);
  const Pass& whole() const { return whole_; }
  const std::vector<Behind>& behind() const { return behind_; }
  const egg_loss_tables* loss_tables() const { return loss_tables_.get(); }
  // All arguments except the rows, their tokens, noise and states.
  ForwardArgs args(const Pass& pass) const;
  // The number of blocks that work on this many rows of the session's program at once.
  uint32_t blocks_for(uint32_t rows) const { return blocks_for(rows, plan_); }
  // Launches the session's program.
  void launch(const ForwardArgs& args, cudaStream_t stream) const;
  // Launches draws in at most this number of blocks.
  void launch_draws(const ForwardArgs& args, const Plan& plan, uint32_t most_blocks) const;
  // Launches the fused tokens of a horizon.
  void launch_later(const CallArgs& args) const;

 private:
  Pass pass_of(const Plan& plan, DeviceArray<DeviceOp>& ops, size_t first_op, DeviceArray<StageSource>& sources,
               size_t first_source, char* workspace);
  std::vector<DeviceOp> bound(const Plan& plan) const;
  void make_tables();
  void make_behind();
  void make_fused(const Plan& plan);
  uint32_t blocks_for(uint32_t rows, const Plan& plan) const;
  void launch_fused_pass(const CallArgs& args, uint32_t blocks, cudaStream_t stream) const;

  const ReplicaWeights& weights_;
  const ReplicaNoise& noise_;
  const ReplicaBatch& batch_;
  std::vector<DeviceArray<int32_t>> tables_;
  std::vector<DeviceArray<int8_t>> byte_tables_;
  DeviceArray<egg_loss_tables> loss_tables_;
  DeviceArray<char> workspace_ = take(Area::kWorkspace);
  DeviceArray<DeviceOp> ops_ = take(Area::kOps);
  DeviceArray<StageSource> sources_ = take(Area::kStageSources);
  Pass whole_;
  DeviceArray<DeviceOp> behind_ops_ = take(Area::kBehindOps);
  DeviceArray<StageSource> behind_sources_ = take(Area::kBehindSources);
  DeviceArray<char> behind_workspace_ = take(Area::kBehindWorkspace);
  std::vector<Behind> behind_;
  FusedArgs fused_args_{};  // all that is the same in every call
  DeviceArray<unsigned long long> fused_stages_;
  DeviceArray<uint32_t> handed_over_ = take(Area::kHandedOver);
};

}  // namespace eggroll::cuda

#endif
