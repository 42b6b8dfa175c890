// A session on one or more devices. Devices share the members, and every device makes the same update.
#ifndef EGGROLL_CUDA_SESSION_H
#define EGGROLL_CUDA_SESSION_H

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "eggroll/backend.h"
#include "eggroll/side_thread.h"
#include "replica.h"

namespace eggroll::cuda {

// Throws Error if two replicas' weights or slots differ. `steps` is for the message.
void require_alike(const Replicas& replicas, uint64_t steps);

class CudaSession : public Session {
 public:
  // plans: from plan_replicas. checksum_every: updates after which the replicas are compared; 0: never.
  CudaSession(const egg_session_spec& spec, std::vector<ReplicaPlan> plans, uint32_t checksum_every);
  void set_weights(uint32_t param, const int8_t* weights) override;
  void get_weights(uint32_t param, int8_t* weights) override;
  void set_slot(uint32_t param, uint32_t slot, const void* data) override;
  void get_slot(uint32_t param, uint32_t slot, void* data) override;
  void set_states(uint32_t first, uint32_t count, const int8_t* states) override;
  void get_states(uint32_t first, uint32_t count, int8_t* states) override;
  void evaluate(const egg_evaluate& arguments) override;
  void update(const egg_update& arguments) override;
  void infer(const egg_infer& arguments) override;
  void get_site_part(const egg_site_part& part) override;
  void add_site_part(const egg_site_part& part) override;

 private:
  void each_replica(const std::function<void(Replica&)>& body);

  Replicas replicas_;
  // For the first replicas, one each. The caller's thread serves the others, the last one at least.
  std::vector<std::unique_ptr<SideThread>> side_threads_;
  uint32_t checksum_every_;
  bool shares_rows_ = false;  // see ReplicaPlan::owners
  uint64_t updates_ = 0;
};

}  // namespace eggroll::cuda

#endif
