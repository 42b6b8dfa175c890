#include "memory.h"

#include <algorithm>

#include "eggroll/session_plan.h"
#include "update.h"

namespace eggroll::cuda {
namespace {

// Allocations take multiples of this.
uint64_t taken(uint64_t bytes) { return (bytes + 511) / 512 * 512; }

uint32_t tiles_of(uint32_t population) { return divide_up(population / 2, kTilePairs); }

}  // namespace

MemoryPlan::MemoryPlan(const Plan& plan, const egg_session_spec& spec, uint64_t room, uint32_t most_blocks,
                       uint32_t devices, bool shares_votes)
    : rule_scratch(cuda::rule_scratch(plan.rule.places)),
      plain_noise(plan.layout.bytes * kTilePairs),
      noise_tile(std::max<size_t>(1, plan.layout.bytes * kTilePairs)),
      spec_(spec),
      room_(room),
      most_blocks_(most_blocks),
      devices_(devices),
      tiles_(plan.tiles),
      tile_workspace_(plan.workspace_bytes),
      state_stride_(plan.state_stride) {
  const egg_program& program = *plan.program;
  const egg_rule& rule = *spec.rule;
  size_t jobs[3] = {};  // of votes: of matrices, of vectors, of rows
  size_t forms = 0;
  for (uint32_t i = 0; i < program.param_count; ++i) {
    ParamMemory param{{plan.params[i]}, 0, 0, 0, 0, 0, 0};
    if (param.vector) std::swap(param.rows, param.cols);
    param.stride = padded(param.cols, kBlock);
    if (plan.fused && plan.fused->cuts[i] != StagesOf::kNothing) {
      param.stage_bytes = size_t{padded(param.rows, kBlock)} * param.stride;
    }
    for (size_t k = 0; k < plan.ops.size() && !plan.fused; ++k) {
      if (plan.ops[k].code != EGG_OP_LINEAR || plan.op_param[k] != static_cast<int32_t>(i)) continue;
      (plan.ops[k].streamed != 0 ? param.stage_bytes : param.fragment_bytes) =
          size_t{padded(param.rows, 2 * kBlock)} * padded(param.cols, kParts * kBlock);
    }
    if (param.perturbed) {
      param.slot_cells = param.count() * rule.slot_count;
      ++jobs[param.masked ? 2 : param.vector ? 1 : 0];
    }
    forms += (param.fragment_bytes > 0 ? 1U : 0U) + (param.stage_bytes > 0 ? 1U : 0U);
    staging = std::max(staging, param.count());
    params.push_back(param);
    fixed_ += taken(size_t{param.rows} * param.stride) + taken(param.fragment_bytes) + taken(param.stage_bytes) +
              taken(param.slot_cells * sizeof(uint32_t));
  }
  place_votes();
  const auto draws = static_cast<size_t>(std::count_if(plan.layout.segments.begin(), plan.layout.segments.end(),
                                                       [](const Segment& s) { return s.kind != kVector; }));
  const auto readers = static_cast<size_t>(std::count_if(program.ops, program.ops + program.op_count,
                                                         [](const egg_op& op) { return op.code == EGG_OP_EMBED; }));
  for (uint32_t t = 0; t < program.table_count; ++t) {
    fixed_ += taken(program.tables[t].count * sizeof(int32_t)) + taken(program.tables[t].count);
  }
  if (plan.noise.source == EGG_NOISE_TABLE) fixed_ += taken(uint64_t{1} << plan.noise.table_log2);
  const auto listed = [&](size_t count, size_t size) { fixed_ += taken(count * size); };
  listed(256, 1);  // values of the noise
  listed(plan.ops.size(), sizeof(DeviceOp));
  if (plan.fused) {
    listed(plan.fused->stages_of.size(), sizeof(uint64_t));
    listed(plan.fused->places.size(), sizeof(NoisePlaces));
  } else {
    listed(plan.source_count, sizeof(StageSource));
  }
  listed(plan.layout.segments.size(), sizeof(Segment));
  listed(draws, sizeof(Segment));
  listed(1, sizeof(egg_loss_tables));
  listed(jobs[0], sizeof(VoteJob));
  listed(jobs[1], sizeof(VoteJob));
  listed(jobs[2], sizeof(RowVoteJob));
  listed(jobs[2], sizeof(RowTable));
  listed(readers, sizeof(uint32_t));
  listed(params.size(), sizeof(uint32_t));  // of each table how many rows have votes
  listed(params.size(), sizeof(double));    // and the variance of one
  listed(masked_rows, sizeof(VotedRow));
  listed(jobs[0] + jobs[1], sizeof(RuleJob));
  listed(forms, sizeof(FormJob));
  listed(plan.rule.nodes.size(), sizeof(RuleNode));
  listed(rule.slot_count, sizeof(int32_t));
  listed(rule.scalar_count, sizeof(float));
  listed(params.size(), sizeof(float));    // of votes, their deviations
  listed(params.size(), sizeof(int64_t));  // weights that changed
  listed(1, sizeof(uint64_t));             // a checksum
  listed(votes, sizeof(int64_t));
  if (shares_votes) {
    listed(votes, sizeof(int64_t));  // of all replicas
    listed(devices, sizeof(int64_t*));
  }
  listed(staging, 1);
  listed(rule_scratch, sizeof(uint32_t));
  listed(plain_noise, 1);
}

// Where each parameter's votes lie. Those of masked tables are cleared by rows: they lie together, behind the others.
void MemoryPlan::place_votes() {
  for (const bool masked : {false, true}) {
    for (ParamMemory& param : params) {
      if (!param.perturbed || param.masked != masked) continue;
      param.votes_offset = votes;
      votes += param.count();
    }
    if (!masked) masked_votes = votes;
  }
  for (ParamMemory& param : params) {
    if (!param.masked) continue;
    param.counts_offset = votes;
    votes += param.rows;
    masked_rows += param.rows;
  }
  masked_votes = votes - masked_votes;
}

// The pairs of the largest share.
uint32_t MemoryPlan::pairs_for(uint32_t population) const {
  return divide_up(own_members(spec_, population) / 2, devices_);
}

// No more blocks than a share has tiles for, where each tile at work takes memory.
uint32_t MemoryPlan::blocks_for(uint32_t population) const {
  if (tile_workspace_ == 0) return most_blocks_;
  return std::clamp(divide_up(pairs_for(population), tiles_ * kTilePairs), 1U, most_blocks_);
}

size_t MemoryPlan::workspace_for(uint32_t population) const {
  return size_t{blocks_for(population)} * tiles_ * tile_workspace_;
}

uint32_t MemoryPlan::least_noise_tiles(uint32_t population) const {
  return std::min(blocks_for(population) * tiles_, tiles_of(population));
}

uint64_t MemoryPlan::without_noise(uint32_t population) const {
  const uint64_t own = uint64_t{2} * pairs_for(population);
  return fixed_ + taken(own * state_stride_) + taken(own * sizeof(int64_t)) +
         taken(padded(population / 2, kTilePairs)) + taken(workspace_for(population));
}

uint64_t MemoryPlan::least(uint32_t population) const {
  return without_noise(population) + taken(uint64_t{least_noise_tiles(population)} * noise_tile);
}

void MemoryPlan::choose(uint32_t population) {
  members = 2 * pairs_for(population);
  blocks = blocks_for(population);
  workspace = workspace_for(population);
  const uint64_t rest = most() - without_noise(population);
  const uint64_t noise = std::min(kMostNoise, rest / 2) / noise_tile;
  noise_tiles = static_cast<uint32_t>(
      std::clamp<uint64_t>(noise, least_noise_tiles(population), std::max(1U, tiles_of(population))));
  total = without_noise(population) + taken(uint64_t{noise_tiles} * noise_tile);
}

}  // namespace eggroll::cuda
