// What each device of a session will do and take, decided before it takes anything.
#ifndef EGGROLL_CUDA_REPLICA_PLAN_H
#define EGGROLL_CUDA_REPLICA_PLAN_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eggroll/session_plan.h"
#include "memory.h"
#include "plan.h"

namespace eggroll::cuda {

// Members, pairs, or places of a site.
struct Range {
  uint32_t first;
  uint32_t count;
};

// One device's share.
struct ReplicaPlan {
  int device;
  std::string device_name;
  uint32_t first_pair;  // of the pairs whose members it evaluates
  uint32_t pairs;
  bool shares_votes;         // it adds up the votes of all replicas, whose memory it can read
  uint32_t first_vote_pair;  // of the pairs whose votes it makes
  uint32_t vote_pairs;
  // If replicas read each other's memory: it updates those rows of masked tables whose number modulo `owners` is
  // `owner`, by the votes of all replicas. It reads each other row from the replica that owns it.
  uint32_t owner;
  uint32_t owners;
  Plan plan;
  MemoryPlan memory;
  std::vector<BehindPlan> behind = {};
  std::optional<Plan> later = {};  // fused: for the tokens of a horizon, if the program can run as fused ops

  const Plan* fused() const { return plan.fused ? &plan : later ? &*later : nullptr; }
  uint32_t first_member() const { return 2 * first_pair; }
  uint32_t members() const { return 2 * pairs; }
  // The members of the range that it evaluates.
  Range own_members(uint32_t first, uint32_t count) const;
  // The places of the site whose streams are its own.
  Range own_places(const SiteShape& site) const;
};

// Plans a replica for each of the devices as they are now, in their order. Throws Error if the spec does not fit.
std::vector<ReplicaPlan> plan_replicas(const egg_session_spec& spec, const std::vector<int>& devices);

// Chooses every replica's memory for the population. Throws Error if it does not fit on one of the devices, and names
// the largest population that fits on all devices.
void fit(std::vector<ReplicaPlan>& replicas, uint32_t population);

// Describes the plans for the host. The memory is that of the fullest device.
SessionPlan describe(const std::vector<ReplicaPlan>& replicas);

}  // namespace eggroll::cuda

#endif
