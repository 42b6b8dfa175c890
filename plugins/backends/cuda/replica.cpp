#include "replica.h"

#include <algorithm>
#include <string>

#include "eggroll/noise_source.h"

namespace eggroll::cuda {
namespace {

// Noise is made for as many pairs at once as fit here, or in half of the memory that is free.
constexpr size_t kMostNoiseBytes = size_t{16} << 30;
constexpr size_t kStagingBytes = size_t{64} << 20;  // of states on their way across the seam

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

Replica::~Replica() {
  cudaSetDevice(device_);
  if (stream_ == nullptr) return;
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

void Replica::activate() const { check(cudaSetDevice(device_), "be selected"); }

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

void Replica::arrange(Param& param) {
  const uint32_t out_blocks = divide_up(param.rows, kBlock);
  const uint32_t in_blocks = param.stride / kBlock;
  if (param.fragments.get() != nullptr) {
    launch_fragments(param.weights.get(), param.rows, param.stride, param.fragments.get(), out_blocks, in_blocks,
                     stream_);
  }
  if (param.stages.get() != nullptr) {
    launch_stages(param.weights.get(), param.rows, param.stride, param.stages.get(), out_blocks, in_blocks, stream_);
  }
}

void Replica::set_weights(uint32_t index, const int8_t* weights) {
  activate();
  Param& param = params_.at(index);
  staging_.upload(weights, param.count(), stream_);
  launch_pad(staging_.get(), param.weights.get(), param.rows, param.cols, param.stride, stream_);
  arrange(param);
  check(cudaStreamSynchronize(stream_), "take weights");
}

void Replica::get_weights(uint32_t index, int8_t* weights) {
  activate();
  const Param& param = params_.at(index);
  launch_unpad(param.weights.get(), staging_.get(), param.rows, param.cols, param.stride, stream_);
  staging_.download(weights, param.count(), stream_);
  check(cudaStreamSynchronize(stream_), "give weights");
}

void Replica::set_slot(uint32_t index, uint32_t slot, const void* data) {
  activate();
  Param& param = params_.at(index);
  if (!param.perturbed) return;
  param.slots.upload(static_cast<const uint32_t*>(data), param.count(), stream_, slot * param.count());
  check(cudaStreamSynchronize(stream_), "take a slot");
}

void Replica::get_slot(uint32_t index, uint32_t slot, void* data) {
  activate();
  const Param& param = params_.at(index);
  if (!param.perturbed) return;
  param.slots.download(static_cast<uint32_t*>(data), param.count(), stream_, slot * param.count());
  check(cudaStreamSynchronize(stream_), "give a slot");
}

Replica::Share Replica::share_of(uint32_t first, uint32_t count) const {
  const uint32_t begin = std::max(first, first_member());
  const uint32_t end = std::min(first + count, first_member() + members());
  return {begin, end > begin ? end - begin : 0};
}

// Members cross the seam without the padding that they have on the device.
void Replica::upload_states(int8_t* to, const int8_t* from, size_t count) {
  const Plan& plan = *plan_;
  if (plan.state_stride == 0) return;
  const size_t piece = std::max<size_t>(1, kStagingBytes / plan.state_stride);
  std::vector<int8_t> staging(std::min(piece, count) * plan.state_stride);
  for (size_t done = 0; done < count; done += piece) {
    const size_t now = std::min(piece, count - done);
    for (size_t m = 0; m < now; ++m) {
      for (const Plan::State& s : plan.states) {
        std::copy_n(from + (done + m) * plan.state_bytes + s.outside, s.size,
                    staging.data() + m * plan.state_stride + s.inside);
      }
    }
    check(cudaMemcpyAsync(to + done * plan.state_stride, staging.data(), now * plan.state_stride,
                          cudaMemcpyHostToDevice, stream_),
          "take states");
    check(cudaStreamSynchronize(stream_), "take states");
  }
}

void Replica::download_states(int8_t* to, const int8_t* from, size_t count) {
  const Plan& plan = *plan_;
  if (plan.state_stride == 0) return;
  const size_t piece = std::max<size_t>(1, kStagingBytes / plan.state_stride);
  std::vector<int8_t> staging(std::min(piece, count) * plan.state_stride);
  for (size_t done = 0; done < count; done += piece) {
    const size_t now = std::min(piece, count - done);
    check(cudaMemcpyAsync(staging.data(), from + done * plan.state_stride, now * plan.state_stride,
                          cudaMemcpyDeviceToHost, stream_),
          "give states");
    check(cudaStreamSynchronize(stream_), "give states");
    for (size_t m = 0; m < now; ++m) {
      for (const Plan::State& s : plan.states) {
        std::copy_n(staging.data() + m * plan.state_stride + s.inside, s.size,
                    to + (done + m) * plan.state_bytes + s.outside);
      }
    }
  }
}

void Replica::set_states(uint32_t first, uint32_t count, const int8_t* states) {
  activate();
  const Share share = share_of(first, count);
  if (share.count == 0) return;
  const Plan& plan = *plan_;
  upload_states(states_.get() + (share.first - first_member()) * plan.state_stride,
                states + (share.first - first) * plan.state_bytes, share.count);
}

void Replica::get_states(uint32_t first, uint32_t count, int8_t* states) {
  activate();
  const Share share = share_of(first, count);
  if (share.count == 0) return;
  const Plan& plan = *plan_;
  download_states(states + (share.first - first) * plan.state_bytes,
                  states_.get() + (share.first - first_member()) * plan.state_stride, share.count);
}

void Replica::upload_batch(const egg_batch& batch) {
  const size_t count = size_t{batch.streams} * batch.tokens;
  inputs_.reserve(count);
  targets_.reserve(count);
  resets_.reserve(count);
  inputs_.upload(batch.inputs, count, stream_);
  targets_.upload(batch.targets, count, stream_);
  resets_.upload(batch.resets, count, stream_);
}

uint32_t Replica::blocks_for(uint32_t rows) const {
  return std::min(block_limit_, divide_up(rows, plan_->tiles * kTileRows));
}

void Replica::reserve_workspace(uint32_t rows) {
  workspace_.reserve(size_t{blocks_for(rows)} * plan_->tiles * plan_->workspace_bytes);
}

// All but the rows, their noise and their states.
ForwardArgs Replica::forward_args(const egg_batch& batch) const {
  const Plan& plan = *plan_;
  ForwardArgs args{};
  args.ops = ops_.get();
  args.op_count = static_cast<uint32_t>(plan.ops.size());
  std::copy(inline_ops_.begin(), inline_ops_.end(), args.inline_ops);
  args.tokens = batch.tokens;
  args.values = plan.shared_values;
  args.stages = plan.stages;
  args.streams = streams_.get();
  args.stream_count = static_cast<uint32_t>(plan.streams.size());
  args.state_stride = plan.state_stride;
  args.inputs = inputs_.get();
  args.targets = targets_.get();
  args.resets = resets_.get();
  args.vocab = static_cast<uint32_t>(plan.program->vocab);
  args.context = static_cast<uint32_t>(plan.program->context);
  args.workspace = workspace_.get();
  args.workspace_stride = plan.workspace_bytes;
  args.loss_tables = loss_tables_.get();
  args.nearest = plan.program->rounding == EGG_ROUND_NEAREST ? 1 : 0;
  args.q_shift = plan.program->fixed_point + plan.noise.sigma_shift - EGG_LINEAR_GUARD_BITS;
  args.embed_shift = plan.program->fixed_point + plan.noise.sigma_shift;
  return args;
}

// All but the step and the tiles, for perturbed members.
NoiseArgs Replica::noise_args(const NoiseLayout& layout, const DeviceArray<Segment>& segments) const {
  const Plan& plan = *plan_;
  NoiseArgs args{};
  args.segments = segments.get();
  args.segment_count = static_cast<uint32_t>(layout.segments.size());
  args.values = noise_values_.get();
  args.table = plan.noise.source == EGG_NOISE_TABLE ? noise_table_.get() : nullptr;
  args.table_log2 = plan.noise.table_log2;
  args.seed = plan.noise.seed;
  args.vector_shift = plan.program->fixed_point + plan.noise.sigma_vector_shift;
  args.nearest = plan.program->rounding == EGG_ROUND_NEAREST ? 1 : 0;
  args.perturb = 1;
  args.out = noise_.get();
  args.tile_bytes = layout.bytes * kTilePairs;
  return args;
}

void Replica::evaluate_async(const egg_evaluate& e) {
  const Share share = share_of(e.first, e.count);
  if (share.count == 0) return;
  activate();
  const Plan& plan = *plan_;
  upload_batch(e.batch);
  losses_.reserve(share.count);
  const uint32_t most_rows = std::min(noise_tiles_ * kTileRows, share.count);
  reserve_workspace(most_rows);
  for (uint32_t done = 0; done < share.count; done += most_rows) {
    const uint32_t rows = std::min(share.count - done, most_rows);
    NoiseArgs noise = noise_args(plan.forward, forward_segments_);
    noise.step = e.step;
    noise.first_pair = (share.first + done) / 2;
    noise.tiles = divide_up(rows, kTileRows);
    launch_noise(noise, stream_);
    ForwardArgs args = forward_args(e.batch);
    args.rows = rows;
    args.paired = 1;
    args.first = share.first + done - e.first;
    args.group = e.group;
    args.noise = noise_.get();
    args.tile_noise = noise.tile_bytes;
    args.ranks = static_cast<uint32_t>(plan.noise.rank);
    args.states = states_.get() + (share.first + done - first_member()) * plan.state_stride;
    args.losses = losses_.get() + done;
    launch_forward(args, blocks_for(rows), plan.tiles, stream_);
  }
}

void Replica::finish_evaluate(const egg_evaluate& e) {
  const Share share = share_of(e.first, e.count);
  if (share.count == 0) return;
  activate();
  losses_.download(e.losses + (share.first - e.first), share.count, stream_);
  check(cudaStreamSynchronize(stream_), "run the forward pass");
}

void Replica::infer(const egg_infer& i) {
  activate();
  const Plan& plan = *plan_;
  const uint32_t streams = i.batch.streams;
  upload_batch(i.batch);
  losses_.reserve(streams);
  infer_states_.reserve(streams * plan.state_stride);
  if (i.logits != nullptr) logits_.reserve(size_t{streams} * static_cast<size_t>(plan.program->vocab));
  reserve_workspace(streams);
  upload_states(infer_states_.get(), i.states, streams);
  NoiseArgs noise = noise_args(plan.forward, forward_segments_);
  noise.tiles = 1;
  noise.perturb = 0;
  noise.out = plain_noise_.get();
  launch_noise(noise, stream_);
  ForwardArgs args = forward_args(i.batch);
  args.rows = streams;
  args.group = 1;
  args.noise = plain_noise_.get();
  args.states = infer_states_.get();
  args.losses = losses_.get();
  args.logits = i.logits != nullptr ? logits_.get() : nullptr;
  launch_forward(args, blocks_for(streams), plan.tiles, stream_);
  losses_.download(i.losses, streams, stream_);
  if (i.logits != nullptr) logits_.download(i.logits, size_t{streams} * args.vocab, stream_);
  check(cudaStreamSynchronize(stream_), "run the unperturbed model");
  download_states(i.states, infer_states_.get(), streams);
}

void Replica::update_async(const egg_update& u) {
  activate();
  const Plan& plan = *plan_;
  fitness_.reserve(u.pairs);
  fitness_.upload(u.fitness, u.pairs, stream_);
  scalars_.upload(u.scalars, rule_->scalar_count, stream_);
  votes_.zero(stream_);
  changed_.zero(stream_);
  const uint32_t most_pairs = noise_tiles_ * kTilePairs;
  for (uint32_t done = 0; done < u.pairs; done += most_pairs) {
    NoiseArgs noise = noise_args(plan.votes, vote_segments_);
    noise.step = u.step;
    noise.first_pair = done;
    const uint32_t pairs = std::min(most_pairs, u.pairs - done);
    noise.tiles = divide_up(pairs, kTilePairs);
    launch_vote_noise(noise, fitness_.get() + done, pairs, stream_);
    const auto votes_of = [&](const VoteJobs& jobs) {
      return VoteArgs{noise_.get(),    noise.tile_bytes, noise.tiles, static_cast<uint32_t>(plan.noise.rank),
                      jobs.jobs.get(), jobs.count,       jobs.pieces};
    };
    launch_matrix_votes(votes_of(matrix_jobs_), stream_);
    launch_vector_votes(votes_of(vector_jobs_), stream_);
  }
  for (size_t i = 0; i < params_.size(); ++i) {
    Param& param = params_[i];
    if (!param.perturbed) continue;
    RuleArgs rule{};
    rule.nodes = rule_nodes_.get();
    rule.node_count = rule_->node_count;
    rule.slot_nodes = slot_nodes_.get();
    rule.slot_count = rule_->slot_count;
    rule.delta = rule_->delta;
    rule.scalars = scalars_.get();
    rule.vote_std = u.vote_stds[i];
    rule.votes = votes_.get() + param.votes_offset;
    rule.weights = param.weights.get();
    rule.rows = param.rows;
    rule.cols = param.cols;
    rule.stride = param.stride;
    rule.slots = param.slots.get();
    rule.changed = changed_.get() + i;
    rule.scratch = rule_scratch_.get();
    launch_rule(rule, stream_);
    arrange(param);
  }
}

void Replica::finish_update(const egg_update& u) {
  activate();
  static_assert(sizeof(unsigned long long) == sizeof(int64_t));
  std::vector<unsigned long long> changed(params_.size());
  changed_.download(changed.data(), changed.size(), stream_);
  check(cudaStreamSynchronize(stream_), "update the weights");
  for (size_t i = 0; i < changed.size(); ++i) u.changed[i] = static_cast<int64_t>(changed[i]);
}

}  // namespace eggroll::cuda
