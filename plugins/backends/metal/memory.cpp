#include "memory.h"

#include <algorithm>

namespace eggroll::metal {
namespace {

// Votes have so many threadgroups where the population gives each so many pairs.
constexpr uint32_t kEnoughGroups = 1024;
constexpr uint32_t kFewestSharePairs = 256;

// Allocations take whole pages.
constexpr uint64_t taken(uint64_t bytes) { return (bytes + 16383) / 16384 * 16384; }

uint32_t tiles_of(uint32_t population) { return divide_up(population / 2, kTilePairs); }

uint32_t shares_of(const Plan& plan, uint32_t population) {
  const uint32_t enough = kEnoughGroups / std::max(1U, plan.vote_pieces);
  return std::max(1U, std::min(enough, population / 2 / kFewestSharePairs));
}

uint64_t votes_of(const Plan& plan, uint32_t population) {
  return uint64_t{shares_of(plan, population)} * plan.cells * sizeof(int64_t);
}

uint32_t rule_groups_of(const Plan& plan) { return std::clamp(plan.rule_pieces, 1U, kRuleGroups); }

uint64_t rule_scratch_of(const Plan& plan, const egg_rule& rule) {
  return uint64_t{rule_groups_of(plan)} * kThreads * rule.node_count * sizeof(uint32_t);
}

uint64_t noise_bytes_of(const egg_noise& noise) {
  return 256 + (noise.source == EGG_NOISE_TABLE ? uint64_t{1} << noise.table_log2 : 0);
}

// All but the workspaces.
uint64_t lasting(const Plan& plan, const egg_rule& rule, uint32_t population) {
  uint64_t sum =
      taken(plan.weight_bytes) + taken(plan.slot_cells * sizeof(uint32_t)) + taken(votes_of(plan, population));
  sum += taken(uint64_t{population} * plan.state_stride) + taken(uint64_t{population} * sizeof(int64_t));
  sum += taken(population / 2) + taken(noise_bytes_of(plan.noise)) + taken(sizeof(egg_loss_tables));
  sum += taken(plan.tables.size() * sizeof(int32_t)) + taken(rule_scratch_of(plan, rule));
  sum += taken(plan.ops.size() * sizeof(DeviceOp)) + taken(plan.segments.size() * sizeof(Segment));
  sum += taken(plan.vote_jobs.size() * sizeof(VoteJob)) + taken(plan.rule_jobs.size() * sizeof(RuleJob));
  sum += taken(rule.node_count * sizeof(RuleNode)) + taken(rule.slot_count * sizeof(int32_t));
  sum += taken(rule.scalar_count * sizeof(float)) + 2 * taken(plan.params.size() * sizeof(uint32_t));
  return sum;
}

uint64_t least_workspace(const Plan& plan, uint32_t population) {
  return uint64_t{std::min(tiles_of(population), kFewestTiles)} * plan.workspace;
}

// The largest buffer that it takes at least.
uint64_t largest_of(const Plan& plan, uint32_t population) {
  return std::max({uint64_t{population} * plan.state_stride, votes_of(plan, population),
                   least_workspace(plan, population), uint64_t{plan.weight_bytes},
                   uint64_t{plan.slot_cells} * sizeof(uint32_t), noise_bytes_of(plan.noise)});
}

}  // namespace

MemoryPlan::MemoryPlan(const Plan& plan, const egg_rule& rule, uint32_t population, uint64_t free,
                       uint64_t largest_buffer)
    : vote_shares(shares_of(plan, population)),
      rule_groups(rule_groups_of(plan)),
      rule_scratch(rule_scratch_of(plan, rule)) {
  const uint64_t room = free - std::min(free, kCallReserve);
  const auto least = [&](uint32_t p) { return lasting(plan, rule, p) + taken(least_workspace(plan, p)); };
  const auto largest = [&](uint32_t p) { return largest_of(plan, p); };
  const uint32_t fits =
      std::min(largest_population(population, room, least), largest_population(population, largest_buffer, largest));
  if (least(population) > room) throw no_room(population, least(population), room, fits);
  if (largest(population) > largest_buffer) throw no_room(population, largest(population), largest_buffer, fits);
  const uint64_t rest = room - lasting(plan, rule, population);
  const uint64_t many = std::min({kMostWorkspace, rest / 2, largest_buffer}) / plan.workspace;
  tiles = static_cast<uint32_t>(
      std::min<uint64_t>(tiles_of(population), std::max<uint64_t>(many, std::min(tiles_of(population), kFewestTiles))));
  total = lasting(plan, rule, population) + taken(uint64_t{tiles} * plan.workspace);
}

}  // namespace eggroll::metal
