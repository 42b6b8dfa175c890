#include "replica_passes.h"

#include <algorithm>

#include "eggroll/backend.h"

namespace eggroll::cuda {
namespace {

// Asks for the noise of a linear two linears before its use, together with all noise that lies before it.
std::vector<StageSource> sources_of(const Plan& plan, const std::vector<DeviceOp>& ops) {
  constexpr size_t kAhead = 2;
  const std::vector<size_t>& streams = plan.streams;
  std::vector<StageSource> sources;
  uint32_t asked = 0;
  for (size_t i = 0; i < streams.size(); ++i) {
    const DeviceOp& op = ops[streams[i]];
    const DeviceOp& ahead = ops[streams[std::min(i + kAhead, streams.size() - 1)]];
    const auto ranks = static_cast<uint32_t>(ahead.ranks);
    const uint32_t end = std::max(asked, ranks > 0 ? ahead.b_offset + ranks * ahead.b_stride : 0);
    for (uint32_t stage = 0; stage < stages_of(op); ++stage) {
      sources.push_back({op.matrix + size_t{stage} * kStage, asked, end});
      asked = end;
    }
  }
  return sources;
}

}  // namespace

ReplicaPasses::ReplicaPasses(ReplicaDevice& device, const ReplicaWeights& weights, const ReplicaNoise& noise,
                             const ReplicaBatch& batch)
    : ReplicaPart(device), weights_(weights), noise_(noise), batch_(batch) {
  make_tables();
  whole_ = pass_of(plan_, ops_, 0, sources_, 0, workspace_.get());
  make_behind();
  if (own_.fused() != nullptr) make_fused(*own_.fused());
}

void ReplicaPasses::make_tables() {
  const egg_program& program = *plan_.program;
  for (uint32_t t = 0; t < program.table_count; ++t) {
    const std::vector<int32_t> entries(program.tables[t].entries, program.tables[t].entries + program.tables[t].count);
    tables_.emplace_back(entries.size());
    put(entries, tables_.back());
    byte_tables_.emplace_back(entries.size());
    put(std::vector<int8_t>(entries.begin(), entries.end()), byte_tables_.back());
  }
  std::vector<egg_loss_tables> tables(1);
  egg_fill_loss_tables(tables.data(), program.ops[program.op_count - 1].attr);
  loss_tables_ = take(Area::kLossTables, tables);
}

Pass ReplicaPasses::pass_of(const Plan& plan, DeviceArray<DeviceOp>& ops, size_t first_op,
                            DeviceArray<StageSource>& sources, size_t first_source, char* workspace) {
  const std::vector<DeviceOp> its_ops = bound(plan);
  const std::vector<StageSource> stages = plan.fused ? std::vector<StageSource>() : sources_of(plan, its_ops);
  ops.upload(its_ops.data(), its_ops.size(), stream_, first_op);
  sources.upload(stages.data(), stages.size(), stream_, first_source);
  check(cudaStreamSynchronize(stream_), "receive data");
  Pass pass{&plan, {}, ops.get() + first_op, sources.get() + first_source, workspace};
  if (its_ops.size() <= kMostInlineOps) pass.inline_ops = its_ops;
  return pass;
}

// The ops with the addresses of weights and lookup tables.
std::vector<DeviceOp> ReplicaPasses::bound(const Plan& plan) const {
  std::vector<DeviceOp> ops = plan.ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (plan.op_param[i] >= 0) {
      const ReplicaWeights::Param& param = weights_[static_cast<size_t>(plan.op_param[i])];
      ops[i].matrix = ops[i].code != EGG_OP_LINEAR ? param.weights.get()
                      : ops[i].streamed != 0       ? param.stages.get()
                                                   : param.fragments.get();
    }
    if (plan.op_table[i] >= 0) {
      ops[i].table = tables_[static_cast<size_t>(plan.op_table[i])].get();
      ops[i].byte_table = byte_tables_[static_cast<size_t>(plan.op_table[i])].get();
    }
  }
  return ops;
}

void ReplicaPasses::make_behind() {
  size_t first_op = 0;
  size_t first_source = 0;
  const auto next = [&](const Plan& plan) {
    Pass pass = pass_of(plan, behind_ops_, first_op, behind_sources_, first_source, behind_workspace_.get());
    first_op += plan.ops.size();
    first_source += plan.source_count;
    return pass;
  };
  for (const BehindPlan& each : own_.behind) {
    Behind& passes = behind_.emplace_back();
    passes.at_place = next(each.plan);
    if (each.later) passes.later = next(*each.later);
  }
}

void ReplicaPasses::make_fused(const Plan& plan) {
  const FusedPlan& fused = *plan.fused;
  const egg_program& program = *plan.program;
  std::vector<unsigned long long> stages;
  for (const FusedPlan::Stage& stage : fused.stages_of) {
    if (stage.param < 0) {
      stages.push_back(0);
      continue;
    }
    const ReplicaWeights::Param& param = weights_[static_cast<size_t>(stage.param)];
    const DeviceArray<int8_t>& cut = plan_.fused ? param.stages : param.later;
    stages.push_back(reinterpret_cast<uintptr_t>(cut.get()) + stage.block * fused_stage_bytes(fused.blocks));
  }
  fused_stages_ = take(Area::kFusedStages, stages);
  handed_over_.zero(stream_);
  FusedArgs& args = fused_args_;
  args.stages_of = fused_stages_.get();
  args.handed_over = handed_over_.get();
  std::copy(fused.feeds.begin(), fused.feeds.end(), args.feeds);
  args.shape = fused.shape;
  args.at = fused_shared(fused.blocks, fused.logit_blocks, fused.shape);
  args.loss_unit = fused.loss_unit;
  args.clips_sums = fused.clips_sums ? 1 : 0;
  for (size_t i = 0; i < fused.tables.size(); ++i) {
    const FusedPlan::Table& table = fused.tables[i];
    const ReplicaWeights::Param& param = weights_[static_cast<size_t>(table.param)];
    args.tables[i] = {param.weights.get(), param.stride, table.row_of,
                      table.place,         table.stride, plan.side_a[static_cast<size_t>(table.param)]};
  }
  args.mean_factor = divide_up(1U << 24, fused.channels);
  args.blocks = fused.blocks;
  args.logit_blocks = fused.logit_blocks;
  if (has_tokens(fused.shape.rows)) {
    args.look_up = byte_tables_[static_cast<size_t>(fused.look_up)].get();
    args.angles = tables_[static_cast<size_t>(fused.angles)].get();
    args.weights = tables_[static_cast<size_t>(fused.weights)].get();
    args.head = static_cast<uint32_t>(fused.head);
    args.weighting = fused.weighting;
    args.score_shift = fused.score_shift;
    std::copy(fused.needs.begin(), fused.needs.end(), args.needs);
    args.context = static_cast<uint32_t>(program.context);
  }
  args.op_count = static_cast<uint32_t>(fused.ops.size());
  std::copy(fused.ops.begin(), fused.ops.end(), args.ops);
  args.vocab = static_cast<uint32_t>(program.vocab);
}

uint32_t ReplicaPasses::blocks_for(uint32_t rows, const Plan& plan) const {
  // Fused ops spread tiles over all blocks, and need no device memory per block.
  return plan.fused ? std::min(own_.memory.most_blocks(), divide_up(rows, tile_members(plan.fused->shape)))
                    : std::min(own_.memory.blocks, divide_up(rows, plan.tiles * kTileRows));
}

ForwardArgs ReplicaPasses::args(const Pass& pass) const {
  const Plan& plan = *pass.plan;
  ForwardArgs args{};
  args.ops = pass.ops;
  args.op_count = static_cast<uint32_t>(plan.ops.size());
  std::copy(pass.inline_ops.begin(), pass.inline_ops.end(), args.inline_ops);
  args.full_ops = plan.full_ops ? 1 : 0;
  args.values = plan.shared_values;
  args.stages = plan.stages;
  args.sources = pass.sources;
  args.source_count = plan.source_count;
  args.state_stride = plan.state_stride;
  args.inputs = batch_.place().inputs.get();
  args.targets = batch_.place().targets.get();
  args.resets = batch_.place().resets.get();
  args.row_numbers = batch_.place().row_numbers.get();
  args.index_count = plan.program->index_count;
  args.values_of_noise = noise_.source();
  args.vocab = static_cast<uint32_t>(plan.program->vocab);
  args.workspace = pass.workspace;
  args.workspace_stride = plan.workspace_bytes;
  args.loss_tables = loss_tables_.get();
  args.nearest = plan.nearest();
  args.q_shift = plan.q_shift();
  args.embed_shift = plan.matrix_shift();
  return args;
}

void ReplicaPasses::launch(const ForwardArgs& args, cudaStream_t stream) const {
  const uint32_t blocks = blocks_for(args.rows);
  if (plan_.fused) return launch_fused_pass(args, blocks, stream);
  launch_forward(args, blocks, plan_.tiles, stream);
}

void ReplicaPasses::launch_draws(const ForwardArgs& args, const Plan& plan, uint32_t most_blocks) const {
  launch_forward(args, std::min(most_blocks, divide_up(args.rows, plan.tiles * kTileRows)), plan.tiles, stream_);
}

void ReplicaPasses::launch_later(const CallArgs& args) const {
  launch_fused_pass(args, blocks_for(args.rows, *own_.later), stream_);
}

void ReplicaPasses::launch_fused_pass(const CallArgs& args, uint32_t blocks, cudaStream_t stream) const {
  FusedArgs fused = fused_args_;
  static_cast<CallArgs&>(fused) = args;
  const uint32_t tiles = divide_up(args.rows, kTileRows);
  fused.seat_tokens = seat_tokens(tiles, args.tokens, blocks * fused.shape.tiles);
  launch_fused(fused, blocks, stream);
}

}  // namespace eggroll::cuda
