// What a replica makes once: its plan, its memory, the ops as kernels read them.
#include <algorithm>

#include "eggroll/noise_source.h"
#include "replica.h"

namespace eggroll::cuda {
namespace {

// Noise is made for as many pairs at once as fit here, or in half of the memory that is free.
constexpr size_t kMostNoiseBytes = size_t{16} << 30;

}  // namespace

Replica::Replica(int device, const egg_session_spec& spec, uint32_t first_pair, uint32_t pairs)
    : device_(device), first_pair_(first_pair), pairs_(pairs), rule_(spec.rule) {
  activate();
  keep_freed_memory();
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream");
  choose_plan(spec);
  make_noise_values();
  make_params();
  make_ops();
  matrix_jobs_ = make_jobs(false);
  vector_jobs_ = make_jobs(true);
  const Plan& plan = *plan_;
  rule_nodes_ = uploaded(std::vector<egg_rule_node>(rule_->nodes, rule_->nodes + rule_->node_count), stream_);
  std::vector<int32_t> slot_nodes;
  for (uint32_t s = 0; s < rule_->slot_count; ++s) slot_nodes.push_back(rule_->slots[s].node);
  slot_nodes_ = uploaded(slot_nodes, stream_);
  rule_scratch_ = DeviceArray<uint32_t>(rule_scratch(rule_->node_count));
  scalars_ = DeviceArray<float>(rule_->scalar_count);
  fitness_ = DeviceArray<int8_t>(spec.population / 2);
  changed_ = DeviceArray<unsigned long long>(params_.size());
  states_ = DeviceArray<int8_t>(size_t{members()} * plan.state_stride);
  states_.zero(stream_);
  plain_noise_ = DeviceArray<int8_t>(plan.forward.bytes * kTilePairs);
  size_t free = 0;
  size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "say how much memory is free");
  const size_t bytes = std::max<size_t>(1, std::max(plan.forward.bytes, plan.votes.bytes) * kTilePairs);
  const size_t room = std::min(kMostNoiseBytes, free / 2) / bytes;
  noise_tiles_ = static_cast<uint32_t>(std::clamp<size_t>(room, 1, divide_up(spec.population / 2, kTilePairs)));
  noise_ = DeviceArray<int8_t>(noise_tiles_ * bytes);
  check(cudaStreamSynchronize(stream_), "prepare the session");
}

void Replica::keep_freed_memory() const {
  cudaMemPool_t pool = nullptr;
  uint64_t all = UINT64_MAX;
  check(cudaDeviceGetDefaultMemPool(&pool, device_), "give its pool of memory");
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "keep its pool of memory");
}

// A multiprocessor works on two tiles at once where they find room beside each other. With a ring of weights a block
// has both, and only what linears read must be on chip; without, each has a block of its own, and all its values on
// chip.
void Replica::choose_plan(const egg_session_spec& spec) {
  int multiprocessors = 0;
  int per_block = 0;
  int per_multiprocessor = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device_), "describe itself");
  check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_), "describe itself");
  check(cudaDeviceGetAttribute(&per_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device_),
        "describe itself");
  constexpr uint32_t kReserved = 1024;  // of every block, by the driver
  const auto ranks = static_cast<uint32_t>(spec.noise.rank);
  const auto whole = static_cast<uint32_t>(per_block);
  const uint32_t half = static_cast<uint32_t>(per_multiprocessor) / 2 - kReserved;
  const uint32_t stages = forward_stages();
  const auto plan = [&](uint32_t bytes, uint32_t tiles, uint32_t fewest_stages) {
    // Each state may have to be loaded by an op of its own.
    const uint32_t extra = forward_extra_shared(ranks, spec.program->op_count + spec.program->value_count, tiles);
    plan_.emplace(*spec.program, spec.noise, Room{bytes - std::min(bytes, extra), tiles, fewest_stages, stages});
  };
  block_limit_ = static_cast<uint32_t>(multiprocessors);
  if (stages > 0) {
    // Three stages let two tiles drift apart a little; two are the fewest that work.
    plan(whole, 2, 3);
    if (!plan_->all_streamed) plan(whole, 2, 2);
    if (!plan_->all_streamed) plan(whole, 1, 2);
  } else {
    plan(half, 1, 0);
    const bool fits = plan_->all_shared;
    if (!fits) plan(whole, 1, 0);
    if (fits || !plan_->all_shared) block_limit_ *= 2;
    if (!fits && !plan_->all_shared) plan(half, 1, 0);
  }
  prepare_forward(whole);  // alike for all sessions, for it belongs to the kernel
}

void Replica::make_noise_values() {
  const egg_noise& noise = plan_->noise;
  const NoiseSource source(noise);
  const NoiseTable values = noise_table(noise.distribution);
  noise_values_ = uploaded(std::vector<int8_t>(values.begin(), values.end()), stream_);
  noise_table_ = uploaded(source.table(), stream_);
}

void Replica::make_params() {
  const Plan& plan = *plan_;
  const egg_program& program = *plan.program;
  size_t votes = 0;
  size_t largest = 0;
  for (uint32_t i = 0; i < program.param_count; ++i) {
    const egg_param& from = program.params[i];
    Param param;
    param.vector = from.kind == EGG_PARAM_VECTOR;
    param.perturbed = from.perturbed != 0;
    // A vector lies in one row.
    param.rows = static_cast<uint32_t>(param.vector ? 1 : from.rows);
    param.cols = static_cast<uint32_t>(param.vector ? from.rows : from.cols);
    param.stride = padded(param.cols, kBlock);
    param.weights = DeviceArray<int8_t>(size_t{param.rows} * param.stride);
    param.weights.zero(stream_);
    for (size_t k = 0; k < plan.ops.size(); ++k) {
      if (plan.ops[k].code != EGG_OP_LINEAR || plan.op_param[k] != static_cast<int32_t>(i)) continue;
      auto& form = plan.ops[k].streamed != 0 ? param.stages : param.fragments;
      form.reserve(size_t{padded(param.rows, 2 * kBlock)} * padded(param.cols, kParts * kBlock));
      form.zero(stream_);
    }
    if (param.perturbed) {
      param.slots = DeviceArray<uint32_t>(param.count() * rule_->slot_count);
      param.slots.zero(stream_);
      param.votes_offset = votes;
      votes += param.count();
    }
    largest = std::max(largest, param.count());
    params_.push_back(std::move(param));
  }
  votes_ = DeviceArray<long long>(votes);
  staging_ = DeviceArray<int8_t>(largest);
}

DeviceArray<Segment> Replica::segments_of(const NoiseLayout& layout) {
  std::vector<Segment> segments = layout.segments;
  for (Segment& s : segments) {
    if (s.kind == kVector) s.weights = params_[s.param].weights.get();
  }
  return uploaded(segments, stream_);
}

void Replica::make_ops() {
  const Plan& plan = *plan_;
  const egg_program& program = *plan.program;
  forward_segments_ = segments_of(plan.forward);
  vote_segments_ = segments_of(plan.votes);
  for (uint32_t t = 0; t < program.table_count; ++t) {
    const std::vector<int32_t> entries(program.tables[t].entries, program.tables[t].entries + program.tables[t].count);
    tables_.push_back(uploaded(entries, stream_));
    byte_tables_.push_back(uploaded(std::vector<int8_t>(entries.begin(), entries.end()), stream_));
  }
  std::vector<DeviceOp> ops = plan.ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (plan.op_param[i] >= 0) {
      const Param& param = params_[static_cast<size_t>(plan.op_param[i])];
      ops[i].matrix = ops[i].code != EGG_OP_LINEAR ? param.weights.get()
                      : ops[i].streamed != 0       ? param.stages.get()
                                                   : param.fragments.get();
    }
    if (plan.op_table[i] >= 0) {
      ops[i].table = tables_[static_cast<size_t>(plan.op_table[i])].get();
      ops[i].byte_table = byte_tables_[static_cast<size_t>(plan.op_table[i])].get();
    }
  }
  ops_ = uploaded(ops, stream_);
  if (ops.size() <= kMostInlineOps) inline_ops_ = ops;
  streams_ = uploaded(streams(ops), stream_);
  std::vector<egg_loss_tables> tables(1);
  egg_fill_loss_tables(tables.data(), program.ops[program.op_count - 1].attr);
  loss_tables_ = uploaded(tables, stream_);
}

Replica::VoteJobs Replica::make_jobs(bool vectors) {
  const Plan& plan = *plan_;
  std::vector<VoteJob> jobs;
  uint32_t pieces = 0;
  for (size_t i = 0; i < params_.size(); ++i) {
    const Param& param = params_[i];
    if (!param.perturbed || param.vector != vectors) continue;
    VoteJob job{};
    job.first = pieces;
    job.ranks = static_cast<uint32_t>(vectors ? 1 : plan.noise.rank);
    job.rows = vectors ? param.cols : param.rows;
    job.cols = vectors ? 1 : param.cols;
    job.a_offset = plan.draw_offset[i];
    job.a_stride = 2 * padded(job.rows, kBlock);
    job.b_offset = job.a_offset + job.ranks * job.a_stride;
    job.b_stride = padded(param.cols, kBlock);
    job.votes = votes_.get() + param.votes_offset;
    pieces += vectors ? vector_vote_pieces(job.rows) : matrix_vote_pieces(job.rows, job.cols);
    jobs.push_back(job);
  }
  return {uploaded(jobs, stream_), static_cast<uint32_t>(jobs.size()), pieces};
}

// The noise of a linear is asked for two linears ahead, with all that lies before it.
std::vector<Stream> Replica::streams(const std::vector<DeviceOp>& ops) const {
  constexpr size_t kAhead = 2;
  std::vector<Stream> streams;
  uint32_t asked = 0;
  for (size_t i = 0; i < plan_->streams.size(); ++i) {
    const DeviceOp& op = ops[plan_->streams[i]];
    const DeviceOp& ahead = ops[plan_->streams[std::min(i + kAhead, plan_->streams.size() - 1)]];
    const auto ranks = static_cast<uint32_t>(ahead.ranks);
    const uint32_t end = std::max(asked, ranks > 0 ? ahead.b_offset + ranks * ahead.b_stride : 0);
    streams.push_back({op.matrix, divide_up(op.out_blocks, 2) * divide_up(op.in_blocks, kParts), asked, end});
    asked = end;
  }
  return streams;
}

}  // namespace eggroll::cuda
