#include "memory.h"

#include <algorithm>

#include "eggroll/session_plan.h"
#include "update.h"

namespace eggroll::cuda {
namespace {

// Allocations take multiples of this.
uint64_t taken(uint64_t bytes) { return (bytes + 511) / 512 * 512; }

void set(AreaBytes& bytes, Area area, size_t count, size_t size) { bytes[static_cast<size_t>(area)] = count * size; }

uint32_t tiles_of(uint32_t population) { return divide_up(population / 2, kTilePairs); }

}  // namespace

MemoryPlan::MemoryPlan(const Plan& plan, const egg_session_spec& spec, uint64_t room, uint32_t most_blocks,
                       uint32_t devices, bool shares_votes, const std::vector<BehindPlan>& behind,
                       const std::optional<Plan>& later)
    : noise_tile(std::max<size_t>(1, plan.layout.bytes * kTilePairs)),
      spec_(spec),
      room_(room),
      most_blocks_(most_blocks),
      devices_(devices),
      shares_votes_(shares_votes),
      tiles_(plan.tiles),
      tile_workspace_(plan.workspace_bytes),
      state_stride_(plan.state_stride),
      sites_(plan.sites) {
  for (uint32_t i = 0; i < plan.program->param_count; ++i) add_param(i, plan, *spec.rule, behind, later);
  for (uint32_t t = 0; t < plan.program->table_count; ++t) {
    const size_t entries = plan.program->tables[t].count;
    listed_ += taken(entries * sizeof(int32_t)) + taken(entries);
  }
  place_votes();
  set_areas(plan, *spec.rule);
  set_areas_of_passes(plan, behind, later);
}

void MemoryPlan::add_param(uint32_t i, const Plan& plan, const egg_rule& rule, const std::vector<BehindPlan>& behind,
                           const std::optional<Plan>& later) {
  ParamMemory& param = params.emplace_back(ParamMemory{{plan.params[i]}, 0, 0, 0, 0, 0, 0, 0, 0});
  if (param.vector) std::swap(param.rows, param.cols);
  param.stride = padded(param.cols, kBlock);
  const size_t whole_blocks = size_t{padded(param.rows, kBlock)} * param.stride;
  if (plan.fused && plan.fused->cuts[i] != StagesOf::kNothing) param.stage_bytes = whole_blocks;
  if (later && later->fused->cuts[i] != StagesOf::kNothing) param.later_bytes = whole_blocks;
  const auto add_forms_of = [&](const Plan& pass) {
    for (size_t k = 0; k < pass.ops.size() && !pass.fused; ++k) {
      if (pass.ops[k].code != EGG_OP_LINEAR || pass.op_param[k] != static_cast<int32_t>(i)) continue;
      (pass.ops[k].streamed != 0 ? param.stage_bytes : param.fragment_bytes) =
          size_t{padded(param.rows, 2 * kBlock)} * padded(param.cols, kParts * kBlock);
    }
  };
  add_forms_of(plan);
  for (const BehindPlan& each : behind) each.each_plan([&](const Plan& pass, uint32_t) { add_forms_of(pass); });
  if (param.perturbed) param.slot_cells = param.count() * rule.slot_count;
  listed_ += taken(size_t{param.rows} * param.stride) + taken(param.fragment_bytes) + taken(param.stage_bytes) +
             taken(param.later_bytes) + taken(param.slot_cells * sizeof(uint32_t));
}

// The memory that a session takes for any population.
void MemoryPlan::set_areas(const Plan& plan, const egg_rule& rule) {
  size_t largest = 0;   // parameter
  size_t jobs[3] = {};  // of votes: of matrices, of vectors, of rows
  size_t forms = 0;
  for (const ParamMemory& param : params) {
    largest = std::max(largest, param.count());
    if (param.perturbed) ++jobs[param.masked ? 2 : param.vector ? 1 : 0];
    for (const size_t bytes : {param.fragment_bytes, param.stage_bytes, param.later_bytes})
      forms += bytes > 0 ? 1U : 0U;
  }
  const egg_program& program = *plan.program;
  const auto draws = static_cast<size_t>(std::count_if(plan.layout.parts.begin(), plan.layout.parts.end(),
                                                       [](const NoisePart& s) { return s.kind != kVector; }));
  const auto readers = static_cast<size_t>(std::count_if(program.ops, program.ops + program.op_count,
                                                         [](const egg_op& op) { return op.code == EGG_OP_EMBED; }));
  size_t reads = 0;
  for (const SiteVoter& table : sites_.tables) reads += table.reads.size();
  set(bytes_, Area::kNoiseValues, 256, 1);
  if (plan.noise.source == EGG_NOISE_TABLE) set(bytes_, Area::kNoiseTable, size_t{1} << plan.noise.table_log2, 1);
  set(bytes_, Area::kNoiseParts, plan.layout.parts.size(), sizeof(NoisePart));
  set(bytes_, Area::kVoteNoiseParts, draws, sizeof(NoisePart));
  set(bytes_, Area::kLossTables, 1, sizeof(egg_loss_tables));
  set(bytes_, Area::kMatrixVoteJobs, jobs[0], sizeof(VoteJob));
  set(bytes_, Area::kVectorVoteJobs, jobs[1], sizeof(VoteJob));
  set(bytes_, Area::kRowTables, jobs[2], sizeof(RowTable));
  set(bytes_, Area::kReaders, readers, sizeof(uint32_t));
  set(bytes_, Area::kRowCounters, kRowCounters * params.size(), sizeof(uint32_t));
  set(bytes_, Area::kRowVariances, params.size(), sizeof(double));
  set(bytes_, Area::kRowBegins, table_rows_, sizeof(uint32_t));
  set(bytes_, Area::kRuleJobs, jobs[0] + jobs[1], sizeof(RuleJob));
  set(bytes_, Area::kFormJobs, forms, sizeof(FormJob));
  set(bytes_, Area::kRuleNodes, plan.rule.nodes.size(), sizeof(RuleNode));
  set(bytes_, Area::kSlotPlaces, plan.rule.slot_places.size(), sizeof(int32_t));
  set(bytes_, Area::kScalars, rule.scalar_count, sizeof(float));
  set(bytes_, Area::kVoteStds, params.size(), sizeof(float));
  set(bytes_, Area::kChanged, params.size(), sizeof(int64_t));
  set(bytes_, Area::kChecksum, 1, sizeof(uint64_t));
  if (shares_votes_) set(bytes_, Area::kVotesOf, devices_, sizeof(int64_t*));
  set(bytes_, Area::kStaging, largest, 1);
  set(bytes_, Area::kRuleScratch, rule_scratch(plan.rule.constants, plan.rule.places), sizeof(uint32_t));
  set(bytes_, Area::kPlainNoise, plan.layout.bytes * kTilePairs, 1);
  set(bytes_, Area::kSiteSums, sites_.sites.size(), sizeof(egg_site_sums));
  set(bytes_, Area::kSiteTables, sites_.tables.size(), sizeof(RowTable));
  set(bytes_, Area::kSiteCounters, kRowCounters * sites_.tables.size(), sizeof(uint32_t));
  set(bytes_, Area::kSiteMoments, sites_.tables.size(), sizeof(double));
  set(bytes_, Area::kSiteReaders, reads, sizeof(uint32_t));
}

// The programs as kernels read them.
void MemoryPlan::set_areas_of_passes(const Plan& plan, const std::vector<BehindPlan>& behind,
                                     const std::optional<Plan>& later) {
  set(bytes_, Area::kOps, plan.ops.size(), sizeof(DeviceOp));
  if (!plan.fused) set(bytes_, Area::kStageSources, plan.source_count, sizeof(StageSource));
  const Plan* const fused = plan.fused ? &plan : later ? &*later : nullptr;
  if (fused != nullptr) {
    set(bytes_, Area::kFusedStages, fused->fused->stages_of.size(), sizeof(uint64_t));
    set(bytes_, Area::kFusedPlaces, fused->fused->places.size(), sizeof(NoisePlaces));
    set(bytes_, Area::kHandedOver, size_t{most_blocks_} * kMostBlockWarps, sizeof(uint32_t));
  }
  size_t ops = 0;
  size_t sources = 0;
  size_t workspace = 0;
  for (const BehindPlan& each : behind) {
    each.each_plan([&](const Plan& pass, uint32_t at_once) {
      ops += pass.ops.size();
      sources += pass.source_count;
      workspace = std::max(workspace, size_t{at_once} * pass.tiles * pass.workspace_bytes);
    });
  }
  set(bytes_, Area::kBehindOps, ops, sizeof(DeviceOp));
  set(bytes_, Area::kBehindSources, sources, sizeof(StageSource));
  set(bytes_, Area::kBehindWorkspace, workspace, 1);
  if (!later) return;
  set(bytes_, Area::kLaterParts, later->layout.parts.size(), sizeof(NoisePart));
  set(bytes_, Area::kLaterNoise, later->layout.bytes * kTilePairs, 1);
}

// Places each parameter's votes. Votes of masked tables lie together, after all that an update clears.
void MemoryPlan::place_votes() {
  const auto place = [&](bool masked) {
    for (ParamMemory& param : params) {
      if (!param.perturbed || param.masked != masked || (masked && param.voters.site != 0)) continue;
      param.votes_offset = votes;
      votes += param.count();
    }
  };
  place(false);
  squares = votes;
  for (const SiteVoter& matrix : sites_.matrices) votes += matrix.cols;
  for (const SiteVoter& vector : sites_.vectors) votes += vector.rows;
  counts = votes;
  for (ParamMemory& param : params) {
    if (!param.masked) continue;
    param.counts_offset = votes;
    param.begins_offset = table_rows_;
    votes += param.rows;
    table_rows_ += param.rows;
  }
  masked_votes = votes;
  place(true);
  masked_votes = votes - masked_votes;
}

// The pairs of the largest share.
uint32_t MemoryPlan::pairs_for(uint32_t population) const {
  const uint32_t whole = pairs_of_share(spec_);
  return divide_up(divide_up(own_members(spec_, population) / 2, whole), devices_) * whole;
}

// If each running tile takes memory: no more blocks than a share has tiles for.
uint32_t MemoryPlan::blocks_for(uint32_t population) const {
  if (tile_workspace_ == 0) return most_blocks_;
  return std::clamp(divide_up(pairs_for(population), tiles_ * kTilePairs), 1U, most_blocks_);
}

uint32_t MemoryPlan::least_noise_tiles(uint32_t population) const {
  return std::min(blocks_for(population) * tiles_, tiles_of(population));
}

AreaBytes MemoryPlan::bytes_for(uint32_t population, uint32_t tiles_of_noise, bool with_row_votes) const {
  AreaBytes bytes = bytes_;
  const size_t own = size_t{2} * pairs_for(population);
  set(bytes, Area::kStates, own, state_stride_);
  set(bytes, Area::kLosses, own, sizeof(int64_t));
  set(bytes, Area::kFitness, (shares_votes_ ? 2 : 1) * padded(population / 2, kTilePairs), 1);
  set(bytes, Area::kWorkspace, size_t{blocks_for(population)} * tiles_, tile_workspace_);
  set(bytes, Area::kNoise, tiles_of_noise, noise_tile);
  set(bytes, Area::kNextNoise, 0, noise_tile);
  set(bytes, Area::kVotes, with_row_votes ? votes : votes - masked_votes, sizeof(int64_t));
  if (shares_votes_) set(bytes, Area::kAllVotes, counts, sizeof(int64_t));
  if (with_row_votes) set(bytes, Area::kVotedRows, table_rows_, sizeof(VotedRow));
  const SitePlan::Room sites = sites_.room(population);
  set(bytes, Area::kKept, sites.kept, 1);
  set(bytes, Area::kSiteErrors, sites.errors, sizeof(int16_t));
  set(bytes, Area::kSitePerturbed, sites.places, 1);
  set(bytes, Area::kSiteLosses, sites.streams, sizeof(int64_t));
  set(bytes, Area::kSiteReadPlaces, sites.reads, sizeof(uint32_t));
  set(bytes, Area::kSiteReadTokens, sites.reads, sizeof(uint32_t));
  set(bytes, Area::kSitePieces, sites.pieces, sizeof(RowPiece));
  set(bytes, Area::kSiteVotedRows, sites.shared_rows, sizeof(VotedRow));
  set(bytes, Area::kSiteVotes, sites.votes, sizeof(int64_t));
  set(bytes, Area::kBehindLosses, sites.draws, sizeof(int64_t));
  set(bytes, Area::kBehindStates, sites.draws_that_go_on, state_stride_);
  set(bytes, Area::kLaterLosses, sites.draws_that_go_on, sizeof(int64_t));
  set(bytes, Area::kLaterInputs, sites.later_tokens, sizeof(uint32_t));
  set(bytes, Area::kLaterTargets, sites.later_tokens, sizeof(uint32_t));
  set(bytes, Area::kLaterResets, sites.later_tokens, 1);
  set(bytes, Area::kLaterRows, sites.later_tokens * spec_.program->index_count, sizeof(uint32_t));
  set(bytes, Area::kLaterCache, sites.cached, 1);
  return bytes;
}

uint64_t MemoryPlan::total_for(uint32_t population, uint32_t tiles_of_noise, bool with_row_votes) const {
  uint64_t sum = listed_;
  for (const size_t bytes : bytes_for(population, tiles_of_noise, with_row_votes)) sum += taken(bytes);
  return sum;
}

// The bytes that must be free so that all noise can lie in memory: noise takes at most half of what all else leaves.
// UINT64_MAX if the noise is more than kMostNoise.
uint64_t MemoryPlan::whole(uint32_t population) const {
  const uint64_t noise = uint64_t{std::max(1U, tiles_of(population))} * noise_tile;
  if (noise > kMostNoise) return UINT64_MAX;
  return total_for(population, 0, false) + 2 * noise;
}

uint64_t MemoryPlan::least(uint32_t population) const {
  return std::min(whole(population), total_for(population, least_noise_tiles(population), true));
}

void MemoryPlan::choose(uint32_t population) {
  members = 2 * pairs_for(population);
  blocks = blocks_for(population);
  keeps_row_votes = whole(population) > most();
  const uint32_t all = std::max(1U, tiles_of(population));
  noise_tiles = all;
  if (keeps_row_votes) {
    const uint64_t rest = most() - total_for(population, 0, true);
    const uint64_t noise = std::min(kMostNoise, rest / 2) / noise_tile;
    noise_tiles = static_cast<uint32_t>(std::clamp<uint64_t>(noise, least_noise_tiles(population), all));
  }
  bytes_ = bytes_for(population, noise_tiles, keeps_row_votes);
  total = total_for(population, noise_tiles, keeps_row_votes);
  // The next step's noise takes no more than half of what is left.
  const uint64_t noise = uint64_t{noise_tiles} * noise_tile;
  draws_ahead = noise_tiles == all && 2 * noise <= kMostNoise && 2 * noise <= most() - total;
  if (!draws_ahead) return;
  set(bytes_, Area::kNextNoise, noise_tiles, noise_tile);
  total += taken(noise);
}

}  // namespace eggroll::cuda
