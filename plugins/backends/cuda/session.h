// A session on one device or several: members are shared out, every device makes the same update.
#ifndef EGGROLL_CUDA_SESSION_H
#define EGGROLL_CUDA_SESSION_H

#include <cstdint>
#include <memory>
#include <vector>

#include "eggroll/backend.h"
#include "replica.h"

namespace eggroll::cuda {

// Throws Error where two replicas' weights or slots differ after this number of steps.
void require_alike(const std::vector<std::unique_ptr<Replica>>& replicas, uint64_t steps);

class CudaSession : public Session {
 public:
  // checksum_every: updates after which the replicas are compared; 0: never.
  CudaSession(const egg_session_spec& spec, const std::vector<int>& devices, uint32_t checksum_every);
  void set_weights(uint32_t param, const int8_t* weights) override;
  void get_weights(uint32_t param, int8_t* weights) override;
  void set_slot(uint32_t param, uint32_t slot, const void* data) override;
  void get_slot(uint32_t param, uint32_t slot, void* data) override;
  void set_states(uint32_t first, uint32_t count, const int8_t* states) override;
  void get_states(uint32_t first, uint32_t count, int8_t* states) override;
  void evaluate(const egg_evaluate& arguments) override;
  void update(const egg_update& arguments) override;
  void infer(const egg_infer& arguments) override;

 private:
  // On a thread for each device where the system gives them, so that none waits until the host has served the others.
  template <class Body>
  void each_replica(const Body& body) {
    threads_.split(replicas_.size(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) body(*replicas_[i]);
    });
  }

  std::vector<std::unique_ptr<Replica>> replicas_;
  Threads threads_;
  uint32_t checksum_every_;
  uint64_t updates_ = 0;
};

}  // namespace eggroll::cuda

#endif
