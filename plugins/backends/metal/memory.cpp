#include "memory.h"

#include <algorithm>

#include "eggroll/row_voters.h"

namespace eggroll::metal {
namespace {

// Votes cut the pairs into as many shares as these two limits allow, but into at least one.
constexpr uint32_t kEnoughGroups = 1024;     // threadgroups at most
constexpr uint32_t kFewestSharePairs = 256;  // pairs of a share at least

// Allocations take whole pages.
constexpr uint64_t taken(uint64_t bytes) { return (bytes + 16383) / 16384 * 16384; }

uint32_t tiles_of(uint32_t members) { return divide_up(members / 2, kTilePairs); }

uint32_t shares_of(const Plan& plan, uint32_t population) {
  const uint32_t enough = kEnoughGroups / std::max(1U, plan.votes.pieces + plan.sites.votes.pieces);
  return std::max(1U, std::min(enough, population / 2 / kFewestSharePairs));
}

uint64_t votes_of(const Plan& plan, uint32_t population) {
  return uint64_t{shares_of(plan, population)} * plan.cells * sizeof(int64_t);
}

uint32_t rule_groups_of(const Plan& plan) {
  size_t rows = plan.masked_rows;
  for (const SiteTable& table : plan.sites.tables) rows += table.job.count / table.job.cols;
  const size_t row_groups = (rows + kSimdgroups - 1) / kSimdgroups;
  return static_cast<uint32_t>(std::clamp<size_t>(std::max<size_t>(plan.rules.pieces, row_groups), 1, kRuleGroups));
}

uint64_t rule_scratch_of(const Plan& plan, const egg_rule& rule) {
  return uint64_t{rule_groups_of(plan)} * kThreads * rule.node_count * sizeof(uint32_t);
}

uint64_t noise_bytes_of(const egg_noise& noise) {
  return 256 + (noise.source == EGG_NOISE_TABLE ? uint64_t{1} << noise.table_log2 : 0);
}

// The bytes that RowVoters keeps if each pair has its own stream of one token. Host and device share their memory.
uint64_t row_voters_of(const Plan& plan, uint32_t population) {
  return plan.masked.empty() ? 0 : RowVoters::bytes(population / 2);
}

// All memory except the workspaces.
uint64_t lasting(const Plan& plan, const egg_session_spec& spec, uint32_t population) {
  const egg_rule& rule = *spec.rule;
  const uint64_t members = own_members(spec, population);
  uint64_t sum = taken(plan.weight_bytes) + taken(plan.halves * kHalfBytes) +
                 taken(plan.slot_cells * sizeof(uint32_t)) + taken(votes_of(plan, population));
  sum += 2 * taken(members * plan.state_stride);  // of a slice and of the one before it
  sum +=
      taken(population / 2) + taken(noise_bytes_of(plan.noise)) + taken(plan.loss_tables() * sizeof(egg_loss_tables));
  sum += taken(plan.tables.size() * sizeof(int32_t)) + taken(rule_scratch_of(plan, rule));
  sum += taken(plan.ops.size() * sizeof(DeviceOp)) + taken(plan.parts.size() * sizeof(NoisePart));
  sum += taken(plan.votes.jobs.size() * sizeof(VoteJob)) + taken(plan.rules.jobs.size() * sizeof(RuleJob));
  sum += taken(plan.masked.size() * sizeof(MaskedJob)) + taken(plan.masked_rows * sizeof(VotedRow));
  sum += taken(row_voters_of(plan, population));
  sum += taken(rule.node_count * sizeof(RuleNode)) + taken(rule.slot_count * sizeof(int32_t));
  sum += taken(rule.scalar_count * sizeof(float)) + taken(plan.places.size() * sizeof(uint32_t));
  sum += taken((plan.places.size() + plan.sites.stds) * sizeof(float));
  sum += SiteRoom(plan.sites, spec, population).bytes(plan);
  return sum;
}

uint64_t least_workspace(const Plan& plan, uint32_t members) {
  return uint64_t{std::min(tiles_of(members), kFewestTiles)} * plan.workspace;
}

// The size of a session's largest buffer if its workspaces are as few as possible.
uint64_t largest_of(const Plan& plan, const egg_session_spec& spec, uint32_t population) {
  const uint32_t members = own_members(spec, population);
  const SiteRoom sites(plan.sites, spec, population);
  return std::max({uint64_t{members} * plan.state_stride, uint64_t{sites.places} * plan.sites.kept_bytes,
                   uint64_t{sites.errors}, uint64_t{sites.draw_bytes}, uint64_t{sites.piece_votes} * sizeof(int32_t),
                   votes_of(plan, population), least_workspace(plan, members), uint64_t{plan.weight_bytes},
                   uint64_t{plan.halves} * kHalfBytes, uint64_t{plan.slot_cells} * sizeof(uint32_t),
                   noise_bytes_of(plan.noise)});
}

}  // namespace

SiteRoom::SiteRoom(const SitePlan& sites, const egg_session_spec& spec, uint32_t population)
    : streams((uint64_t{sites.streams} * population + spec.population - 1) / spec.population),
      places(streams * sites.tokens) {
  for (const SiteShape& site : sites.shapes) {
    const size_t its_places = std::min(places, site.places());
    errors += its_places * SitePlan::error_bytes(site);
    const DrawPlan& draws = sites.draws[site.number];
    const size_t its_rows = std::min<size_t>(its_places, draws.most_places) * 2 * site.site.draws;
    draw_rows = std::max(draw_rows, its_rows);
    draw_bytes = std::max(draw_bytes, its_rows * draws.record_bytes);
  }
  for (const SiteTable& table : sites.tables) {
    const size_t its_reads = std::min(places, sites.shapes[table.site].places()) * table.reads.size();
    reads += its_reads;
    listed = std::max(listed, its_reads);
    rows += std::min<size_t>(its_reads, table.job.count / table.job.cols);
  }
  // Only a row with r > kSitePiece reads is cut, so that it has fewer than 2 r / kSitePiece pieces.
  pieces = 2 * reads / kSitePiece;
  for (const SiteTable& table : sites.tables) {
    piece_votes = std::max(piece_votes, pieces * padded(sites.shapes[table.site].size, kBlock));
  }
}

uint64_t SiteRoom::bytes(const Plan& plan) const {
  const SitePlan& sites = plan.sites;
  uint64_t sum = taken(places * sites.kept_bytes) + taken(errors);
  sum += 2 * taken(streams * plan.state_stride) + taken(sites.ops.size() * sizeof(DeviceOp));
  sum += taken(sites.votes.jobs.size() * sizeof(SiteVoteJob)) + taken(sites.tables.size() * sizeof(MaskedJob));
  sum += taken(reads * sizeof(uint32_t)) + taken(rows * sizeof(VotedRow));
  sum += taken(pieces * sizeof(VotedRow)) + taken(piece_votes * sizeof(int32_t));
  for (const DrawPlan& draws : sites.draws) sum += taken(draws.ops.size() * sizeof(DeviceOp));
  sum += 2 * taken(draw_bytes);
  // The host's own: which places are scored, and the lists that it sorts.
  return sum + taken(places) + 2 * taken(listed * sizeof(SiteRead));
}

MemoryPlan::MemoryPlan(const Plan& plan, const egg_session_spec& spec, uint64_t free, uint64_t largest_buffer)
    : vote_shares(shares_of(plan, spec.population)),
      rule_groups(rule_groups_of(plan)),
      rule_scratch(rule_scratch_of(plan, *spec.rule)),
      sites(plan.sites, spec, spec.population) {
  const uint32_t population = spec.population;
  const uint64_t room = free - std::min(free, kCallReserve);
  const auto least = [&](uint32_t p) {
    return lasting(plan, spec, p) + taken(least_workspace(plan, own_members(spec, p)));
  };
  const auto largest = [&](uint32_t p) { return largest_of(plan, spec, p); };
  const uint32_t fits =
      std::min(largest_population(population, room, least), largest_population(population, largest_buffer, largest));
  if (least(population) > room) throw no_room(population, least(population), room, fits);
  if (largest(population) > largest_buffer) throw no_room(population, largest(population), largest_buffer, fits);
  const uint64_t rest = room - lasting(plan, spec, population);
  const uint64_t many = std::min({kMostWorkspace, rest / 2, largest_buffer}) / plan.workspace;
  const auto all =
      std::max(tiles_of(spec.members), static_cast<uint32_t>((sites.draw_rows + kTileRows - 1) / kTileRows));
  tiles = static_cast<uint32_t>(std::min<uint64_t>(all, std::max<uint64_t>(many, std::min(all, kFewestTiles))));
  total = lasting(plan, spec, population) + taken(uint64_t{tiles} * plan.workspace);
}

}  // namespace eggroll::metal
