// How much device memory a session takes, computed before it takes any. The session allocates exactly these sizes,
// which are in bytes unless they say otherwise.
#ifndef EGGROLL_METAL_MEMORY_H
#define EGGROLL_METAL_MEMORY_H

#include <cstdint>

#include "eggroll/session_plan.h"
#include "plan.h"

namespace eggroll::metal {

// Left free for the data of calls: tokens, who votes on which row, streams of the unperturbed model.
constexpr uint64_t kCallReserve = uint64_t{256} << 20;
// Tiles run at once, in one dispatch, if their workspaces fit in this and in half of the memory that is left. At least
// kFewestTiles run at once, or all.
constexpr uint64_t kMostWorkspace = uint64_t{1} << 30;
// The fewest tiles that work at once, unless there are fewer: enough for every core of the largest GPU.
constexpr uint32_t kFewestTiles = 64;
// Threadgroups of a rule's dispatch.
constexpr uint32_t kRuleGroups = 256;

// The memory that the sites of a population take, in elements.
struct SiteRoom {
  SiteRoom(const SitePlan& sites, const egg_session_spec& spec, uint32_t population);
  uint64_t bytes(const Plan& plan) const;

  size_t streams;
  size_t places = 0;       // of streams
  size_t errors = 0;       // bytes of rows
  size_t reads = 0;        // of all tables
  size_t listed = 0;       // of any one of them
  size_t rows = 0;         // that are read
  size_t pieces = 0;       // of these
  size_t piece_votes = 0;  // of all pieces
  size_t draw_rows = 0;    // members of a call of draws within
  size_t draw_bytes = 0;   // that they keep
};

struct MemoryPlan {
  // free: the device's free bytes; largest_buffer: the largest that it can make. Throws Error if the population does
  // not fit, and names the largest that would.
  MemoryPlan(const Plan& plan, const egg_session_spec& spec, uint64_t free, uint64_t largest_buffer);

  uint32_t tiles;        // at work at once
  uint32_t vote_shares;  // of the pairs, each with votes of its own
  uint32_t rule_groups;
  size_t rule_scratch;
  SiteRoom sites;
  uint64_t total;  // of all that lasts as long as the session
};

}  // namespace eggroll::metal

#endif
