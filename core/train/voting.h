// Decides which pairs perturb each parameter and vote on it: `perturb.groups` and `votes.masked`.
#ifndef EGGROLL_TRAIN_VOTING_H
#define EGGROLL_TRAIN_VOTING_H

#include <cstdint>
#include <vector>

#include "eggroll/plugin.h"
#include "program/program.h"
#include "train/settings.h"

namespace eggroll {

// A group has whole streams; docs/semantics.md says how shares become streams.
struct Voting {
  std::vector<egg_voters> voters;
  std::vector<uint32_t> group_streams;
  std::vector<egg_site> sites;
};
// Throws Error (key groups) if a perturbed parameter is in no group or in two, a name without * is no parameter's,
// shares do not add up to 1, a group has no stream, or a site cannot be perturbed in this way.
Voting assign_voters(const Program& program, const TrainSettings& train, bool masked,
                     const std::vector<PerturbGroup>& groups);

}  // namespace eggroll

#endif
