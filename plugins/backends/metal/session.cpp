#include "session.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "eggroll/noise_source.h"

namespace eggroll::metal {
namespace {

// The bits of a number as IEEE binary16, which holds all of int8 exactly.
uint16_t half_bits(int8_t number) {
  if (number == 0) return 0;
  const auto magnitude = static_cast<uint32_t>(std::abs(int32_t{number}));
  const auto exponent = static_cast<uint32_t>(std::bit_width(magnitude)) - 1;
  const uint32_t fraction = (magnitude << (10 - exponent)) & 0x3ffU;
  return static_cast<uint16_t>((number < 0 ? 0x8000U : 0U) | (exponent + 15) << 10 | fraction);
}

std::vector<int8_t> noise_values(const egg_noise& noise) {
  const NoiseTable values = noise_table(noise.distribution);
  std::vector<int8_t> all(values.begin(), values.end());
  const NoiseSource source(noise);
  all.insert(all.end(), source.table().begin(), source.table().end());
  return all;
}

std::vector<RuleNode> rule_nodes(const egg_rule& rule) {
  std::vector<RuleNode> nodes;
  for (uint32_t i = 0; i < rule.node_count; ++i) {
    const egg_rule_node& from = rule.nodes[i];
    RuleNode node{from.code, {from.in[0], from.in[1], from.in[2]}, from.index, static_cast<uint32_t>(from.integer)};
    if (from.code == EGG_RULE_CONST_F32) std::memcpy(&node.constant_bits, &from.real, sizeof(float));
    nodes.push_back(node);
  }
  return nodes;
}

std::vector<int32_t> slot_nodes(const egg_rule& rule) {
  std::vector<int32_t> nodes;
  for (uint32_t i = 0; i < rule.slot_count; ++i) nodes.push_back(rule.slots[i].node);
  return nodes;
}

std::vector<egg_loss_tables> loss_tables(const Plan& plan) {
  std::vector<egg_loss_tables> tables(plan.loss_tables());
  const int32_t unit = plan.program->ops[plan.program->op_count - 1].attr;
  for (egg_loss_tables& each : tables) egg_fill_loss_tables(&each, unit);
  if (tables.size() == 1) return tables;
  const int32_t log2_n = egg_log2_up(static_cast<uint32_t>(plan.program->vocab));
  for (uint32_t steps = 0; steps < 256; ++steps) tables[1].exp2_q30[steps] = egg_draw_exp2(steps, unit, log2_n);
  return tables;
}

std::vector<MaskedJob> site_tables(const SitePlan& sites) {
  std::vector<MaskedJob> jobs;
  for (const SiteTable& table : sites.tables) jobs.push_back(table.job);
  return jobs;
}

}  // namespace

MetalSession::MetalSession(std::shared_ptr<Device> device, const egg_session_spec& spec, uint32_t block_inputs)
    : device_(std::move(device)),
      spec_(spec),
      plan_(spec, block_inputs),
      memory_(plan_, spec, device_->free_memory(), device_->largest_buffer()),
      loss_tables_(uploaded(loss_tables(plan_))),
      noise_(uploaded(noise_values(spec.noise))),
      rule_nodes_(uploaded(rule_nodes(*spec.rule))),
      slot_nodes_(uploaded(slot_nodes(*spec.rule))),
      site_tables_(uploaded(site_tables(plan_.sites))) {
  for (const DrawPlan& draws : plan_.sites.draws) draw_ops_.push_back(uploaded(draws.ops));
}

// A buffer of no bytes cannot be bound.
MetalSession::Memory MetalSession::allocate(size_t bytes) const {
  return device_->new_buffer(std::max<size_t>(bytes, 16));
}

template <class T>
MetalSession::Memory MetalSession::uploaded(const std::vector<T>& from) const {
  Memory memory = allocate(from.size() * sizeof(T));
  write(memory, from);
  return memory;
}

// Makes room for at least this number of bytes. The old contents may be lost.
void MetalSession::reserve(Memory& memory, size_t bytes) const {
  if (memory != nullptr && memory->bytes() >= bytes) return;
  memory.reset();
  memory = allocate(bytes);
}

void MetalSession::set_weights(uint32_t index, const int8_t* weights) {
  const ParamPlace& param = plan_.places.at(index);
  int8_t* to = of<int8_t>(weights_) + param.weights;
  for (uint32_t row = 0; row < param.rows; ++row, to += param.stride, weights += param.cols) {
    std::copy_n(weights, param.cols, to);
    if (param.halves == kNoHalves) continue;
    uint16_t* halves = of<uint16_t>(halves_) + param.halves;
    for (uint32_t col = 0; col < param.cols; ++col)
      halves[half_place(row, col, param.stride)] = half_bits(weights[col]);
  }
}

void MetalSession::get_weights(uint32_t index, int8_t* weights) {
  const ParamPlace& param = plan_.places.at(index);
  const int8_t* from = of<int8_t>(weights_) + param.weights;
  for (uint32_t row = 0; row < param.rows; ++row, from += param.stride, weights += param.cols) {
    std::copy_n(from, param.cols, weights);
  }
}

void MetalSession::set_slot(uint32_t index, uint32_t slot, const void* data) {
  const ParamPlace& param = plan_.places.at(index);
  if (!param.perturbed) return;
  std::memcpy(of<uint32_t>(slots_) + param.slots + slot * param.count(), data, param.count() * sizeof(uint32_t));
}

void MetalSession::get_slot(uint32_t index, uint32_t slot, void* data) {
  const ParamPlace& param = plan_.places.at(index);
  if (!param.perturbed) return;
  std::memcpy(data, of<uint32_t>(slots_) + param.slots + slot * param.count(), param.count() * sizeof(uint32_t));
}

void MetalSession::set_states(uint32_t first, uint32_t count, const int8_t* states) {
  int8_t* mine = of<int8_t>(states_) + size_t{first - spec_.first} * plan_.state_stride;
  plan_.each_state(0, count, [&](size_t outside, size_t inside, size_t bytes) {
    std::copy_n(states + outside, bytes, mine + inside);
  });
}

void MetalSession::get_states(uint32_t first, uint32_t count, int8_t* states) {
  const int8_t* mine = of<int8_t>(states_) + size_t{first - spec_.first} * plan_.state_stride;
  plan_.each_state(0, count, [&](size_t outside, size_t inside, size_t bytes) {
    std::copy_n(mine + inside, bytes, states + outside);
  });
}

void MetalSession::upload_batch(const egg_batch& batch) {
  const size_t count = size_t{batch.streams} * batch.tokens;
  reserve(inputs_, count * sizeof(uint32_t));
  reserve(targets_, count * sizeof(uint32_t));
  reserve(resets_, count);
  const size_t rows = count * plan_.program->index_count;
  reserve(index_rows_, rows * sizeof(uint32_t));
  std::copy_n(batch.inputs, count, of<uint32_t>(inputs_));
  std::copy_n(batch.targets, count, of<uint32_t>(targets_));
  std::copy_n(batch.resets, count, of<uint8_t>(resets_));
  std::copy_n(batch.rows, rows, of<uint32_t>(index_rows_));
}

NoiseArgs MetalSession::noise_args(uint64_t step, uint32_t first_pair) const {
  return {plan_.noise.seed, step, first_pair, plan_.noise.source == EGG_NOISE_TABLE ? plan_.noise.table_log2 : 0};
}

// Returns all arguments except the rows, their noise and their states.
ForwardArgs MetalSession::forward_args(const egg_batch& batch) const {
  ForwardArgs args{};
  args.noise = noise_args(0, 0);
  args.workspace_stride = plan_.workspace;
  args.op_count = static_cast<uint32_t>(plan_.ops.size());
  args.part_count = static_cast<uint32_t>(plan_.parts.size());
  args.noise_bytes = plan_.noise_bytes;
  args.state_stride = static_cast<uint32_t>(plan_.state_stride);
  args.tokens = batch.tokens;
  args.members_per_stream = 1;
  args.nearest = plan_.nearest();
  args.q_shift = plan_.q_shift();
  args.vector_shift = plan_.vector_shift();
  args.context = static_cast<uint32_t>(plan_.program->context);
  args.vocab = static_cast<uint32_t>(plan_.program->vocab);
  args.index_count = plan_.program->index_count;
  args.block_inputs = plan_.block_inputs;
  return args;
}

// Each chunk of tiles goes through all tokens before the next one takes its workspaces.
void MetalSession::run_forward(ForwardArgs args, const Pass& pass) {
  const uint32_t rows = args.rows;
  const uint32_t first_row = args.first_row;
  const uint32_t first_member = args.first_member;
  const uint32_t first_pair = args.noise.first_pair;
  for (uint32_t done = 0; done < rows; done += memory_.tiles * kTileRows) {
    args.rows = std::min(rows - done, memory_.tiles * kTileRows);
    args.first_row = first_row + done;
    args.first_member = first_member + done;
    args.noise.first_pair = first_pair + done / 2;
    const Buffer* before = pass.states.get();
    const Buffer* after = pass.other_states.get();
    const uint32_t tiles = divide_up(args.rows, kTileRows);
    args.end_token = 0;
    while (args.end_token < args.tokens) {
      args.first_token = args.end_token;
      run_slice(args, tiles, pass, *before, *after);
      std::swap(before, after);
    }
    if (before == pass.states.get()) continue;
    const size_t at = size_t{args.first_member} * args.state_stride;
    std::copy_n(of<int8_t>(pass.other_states) + at, size_t{args.rows} * args.state_stride,
                of<int8_t>(pass.states) + at);
  }
}

// Runs all tiles of a chunk through some tokens from args.first_token on, and sets args.end_token. If one
// token of all tiles would take a command buffer too long, each command buffer has some of the tiles.
void MetalSession::run_slice(ForwardArgs& args, uint32_t tiles, const Pass& pass, const Buffer& before,
                             const Buffer& after) {
  Pace& pace = pass.pace;
  const uint32_t scratch = kStaging + 4 * kTileRows * static_cast<uint32_t>(plan_.noise.rank);
  const uint32_t fixed = device_->slice_tokens();
  uint32_t tokens = 0;
  for (uint32_t done = 0; done < tiles;) {
    if (done == 0) {
      const uint64_t fit = fixed != 0 ? fixed : pace.units() / tiles;
      tokens = static_cast<uint32_t>(std::clamp<uint64_t>(fit, 1, args.tokens - args.first_token));
    }
    const uint64_t many = tokens > 1 || fixed != 0 ? tiles : pace.units();
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(many, tiles - done));
    args.first_tile = done;
    args.end_token = args.first_token + tokens;
    const uint64_t units = uint64_t{count} * tokens;
    try {
      pace.took(units, run(Kernel::kForward, count, scratch, args,
                           {{kBindOps, pass.ops.get()},
                            {kBindNoiseParts, parts_.get()},
                            {kBindWeights, weights_.get()},
                            {kBindHalves, halves_.get()},
                            {kBindTables, tables_.get()},
                            {kBindLossTables, loss_tables_.get()},
                            {kBindNoise, noise_.get()},
                            {kBindInputs, inputs_.get()},
                            {kBindTargets, targets_.get()},
                            {kBindResets, resets_.get()},
                            {kBindIndexRows, index_rows_.get()},
                            {kBindStatesBefore, &before},
                            {kBindStates, &after},
                            {kBindKept, pass.kept.get()},
                            {kBindWorkspace, workspace_.get()}}));
      done += count;
    } catch (const Refused& refused) {
      pace.refused(units, refused);
    }
  }
}

void MetalSession::evaluate(const egg_evaluate& e) {
  upload_batch(e.batch);
  const auto is_of_site = [&](uint32_t member) {
    return std::any_of(plan_.sites.shapes.begin(), plan_.sites.shapes.end(),
                       [&](const SiteShape& site) { return site.has_pair((e.first + member) / 2); });
  };
  for (uint32_t first = 0, end = 0; first < e.count; first = end) {
    const bool of_site = is_of_site(first);
    end = first + 2;
    while (end < e.count && is_of_site(end) == of_site) end += 2;
    of_site ? evaluate_streams(e, first, end - first) : evaluate_members(e, first, end - first);
  }
  copy_losses(states_, e.first - spec_.first, e.count, e.losses);
}

void MetalSession::evaluate_members(const egg_evaluate& e, uint32_t first, uint32_t count) {
  ForwardArgs args = forward_args(e.batch);
  args.noise = noise_args(e.step, (e.first + first) / 2);
  args.rows = count;
  args.first_row = first;
  args.first_member = e.first - spec_.first + first;
  args.members_per_stream = e.members_per_stream;
  args.perturbed = 1;
  run_forward(args, {ops_, states_, other_states_, logits_, evaluate_pace_});
}

void MetalSession::infer(const egg_infer& i) {
  const size_t streams = i.batch.streams;
  const size_t logits = streams * static_cast<size_t>(plan_.program->vocab);
  upload_batch(i.batch);
  reserve(infer_states_, streams * plan_.state_stride);
  reserve(other_infer_states_, streams * plan_.state_stride);
  if (i.logits != nullptr) reserve(logits_, logits);
  int8_t* states = of<int8_t>(infer_states_);
  plan_.each_state(0, streams, [&](size_t outside, size_t inside, size_t bytes) {
    std::copy_n(i.states + outside, bytes, states + inside);
  });
  ForwardArgs args = forward_args(i.batch);
  args.rows = i.batch.streams;
  args.wants_logits = i.logits != nullptr ? 1 : 0;
  run_forward(args, {ops_, infer_states_, other_infer_states_, logits_, infer_pace_});
  copy_losses(infer_states_, 0, i.batch.streams, i.losses);
  if (i.logits != nullptr) std::copy_n(of<int8_t>(logits_), logits, i.logits);
  plan_.each_state(0, streams, [&](size_t outside, size_t inside, size_t bytes) {
    std::copy_n(states + inside, bytes, i.states + outside);
  });
}

void MetalSession::copy_losses(const Memory& states, uint32_t first, uint32_t count, int64_t* losses) const {
  const int8_t* end = of<int8_t>(states) + size_t{first} * plan_.state_stride;
  for (uint32_t m = 0; m < count; ++m) {
    end += plan_.state_stride;
    std::memcpy(losses + m, end - kLossBytes, sizeof(int64_t));
  }
}

}  // namespace eggroll::metal
