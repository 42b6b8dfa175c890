// One device's share of a session: all weights and slots, the states of the pairs that it owns, and the work on them.
#ifndef EGGROLL_CUDA_REPLICA_H
#define EGGROLL_CUDA_REPLICA_H

#include <memory>

#include "replica_update.h"

namespace eggroll::cuda {

struct Replica {
  // own: a plan that plan_replicas made for this spec.
  Replica(ReplicaPlan own, const egg_session_spec& spec)
      : device(std::move(own), spec),
        weights(device),
        noise(device, weights),
        batch(device),
        passes(device, weights, noise, batch),
        forward(device, passes, noise, batch),
        update(device, weights, noise, batch, forward) {
    check(cudaStreamSynchronize(device.stream), "prepare the session");
  }
  ~Replica() { device.finish(); }

  ReplicaDevice device;
  ReplicaWeights weights;
  ReplicaNoise noise;
  ReplicaBatch batch;
  ReplicaPasses passes;
  ReplicaForward forward;
  ReplicaUpdate update;
};

using Replicas = std::vector<std::unique_ptr<Replica>>;

}  // namespace eggroll::cuda

#endif
