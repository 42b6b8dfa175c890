#include "replica.h"

#include <algorithm>
#include <utility>

#include "eggroll/noise.h"

namespace eggroll::cuda {
namespace {

// Whether both calls are of the same members and the same batch.
bool reads_alike(const egg_evaluate& a, const egg_evaluate& b) {
  return a.step == b.step && a.first == b.first && a.count == b.count && a.members_per_stream == b.members_per_stream &&
         a.batch.streams == b.batch.streams && a.batch.tokens == b.batch.tokens && a.batch.inputs == b.batch.inputs &&
         a.batch.targets == b.batch.targets && a.batch.resets == b.batch.resets && a.batch.rows == b.batch.rows;
}

constexpr size_t kStagingBytes = size_t{8} << 20;  // of what is on its way across the seam, in locked memory
constexpr uint32_t kLaunchRows = 1U << 20;         // of a launch, whose losses are fetched beside the next one
constexpr size_t kFewestBytes = size_t{1} << 20;   // that several threads copy

// A next batch of at most this number of bytes comes to the device while members are evaluated. A larger one would
// delay the work on their losses, and comes during the update.
constexpr size_t kSmallBatch = size_t{8} << 20;
// A batch of more than this number of bytes comes with its own call: two would take too much of what is left for them.
constexpr size_t kLargestAhead = kCallReserve / 4;

}  // namespace

Replica::~Replica() {
  cudaSetDevice(own_.device);
  if (stream_ == nullptr) return;
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
  for (const cudaStream_t stream : {beside_, sending_, receiving_}) {
    if (stream == nullptr) continue;
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  for (const cudaEvent_t event : download_events_) cudaEventDestroy(event);
  for (const cudaEvent_t event : {batch_places_[0].sent, batch_places_[1].sent, numbers_sent_, evaluated_, drawn_,
                                  votes_made_, rows_made_, updated_}) {
    if (event != nullptr) cudaEventDestroy(event);
  }
}

void Replica::activate() const { check(cudaSetDevice(own_.device), "be selected"); }

void Replica::set_weights(uint32_t index, const int8_t* weights) {
  activate();
  Param& param = params_.at(index);
  staging_.upload(weights, param.count(), stream_);
  launch_pad(staging_.get(), param.weights.get(), param.rows, param.cols, param.stride, stream_);
  launch_forms(forms_.on_device(), param.first_form, param.form_pieces, stream_);
  for (Noise& each : noises_) each.with_vectors = false;
  check(cudaStreamSynchronize(stream_), "take weights");
}

void Replica::get_weights(uint32_t index, int8_t* weights) {
  activate();
  const Param& param = params_.at(index);
  launch_unpad(param.weights.get(), staging_.get(), param.rows, param.cols, param.stride, stream_);
  bring(weights, staging_.get(), param.count(), "give weights");
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
  bring(data, param.slots.get() + slot * param.count(), param.count() * sizeof(uint32_t), "give a slot");
}

// Copies from the device by way of locked memory: while one half of it is filled, the other is copied from. what: what
// fails, for the message.
void Replica::bring(void* to, const void* from, size_t bytes, const char* what) {
  constexpr size_t kPiece = kStagingBytes / 2;
  host_staging_.reserve(std::min(bytes, kStagingBytes));
  const auto half_of = [&](size_t begin) { return host_staging_.get() + begin / kPiece % 2 * kPiece; };
  const auto start = [&](size_t begin) {
    if (begin >= bytes) return;
    check(cudaMemcpyAsync(half_of(begin), static_cast<const int8_t*>(from) + begin, std::min(kPiece, bytes - begin),
                          cudaMemcpyDeviceToHost, stream_),
          what);
  };
  start(0);
  for (size_t begin = 0; begin < bytes; begin += kPiece) {
    check(cudaStreamSynchronize(stream_), what);
    start(begin + kPiece);
    threads_.split(std::min(kPiece, bytes - begin), kFewestBytes, [&](size_t first, size_t end) {
      std::copy(half_of(begin) + first, half_of(begin) + end, static_cast<int8_t*>(to) + begin + first);
    });
  }
}

Replica::Share Replica::share_of(uint32_t first, uint32_t count) const {
  const uint32_t begin = std::max(first, first_member());
  const uint32_t end = std::min(first + count, first_member() + members());
  return {begin, end > begin ? end - begin : 0};
}

// body(staging, first, members), of members as they lie on the device, until all have had their turn.
template <class Body>
void Replica::each_piece(size_t count, const Body& body) {
  const size_t stride = own_.plan.state_stride;
  if (stride == 0) return;
  const size_t piece = std::max<size_t>(1, kStagingBytes / stride);
  host_staging_.reserve(std::min(piece, count) * stride);
  for (size_t done = 0; done < count; done += piece) body(host_staging_.get(), done, std::min(piece, count - done));
}

// Calls copy(outside, inside, bytes) for every state of this number of members: they cross the seam without the padding
// that they have on the device.
template <class Copy>
void Replica::each_state(size_t count, const Copy& copy) {
  const Plan& plan = own_.plan;
  threads_.split(count, std::max<size_t>(1, kFewestElements / plan.state_stride), [&](size_t begin, size_t end) {
    for (size_t m = begin; m < end; ++m) {
      for (size_t s = 0; s < plan.states.size(); ++s) {
        const LoweredState& state = plan.states[s];
        copy(m * plan.state_bytes + state.offset, m * plan.state_stride + plan.state_places[s], state.size);
      }
    }
  });
}

void Replica::upload_states(int8_t* to, const int8_t* from, size_t count) {
  const Plan& plan = own_.plan;
  each_piece(count, [&](int8_t* staging, size_t first, size_t members) {
    const int8_t* piece = from + first * plan.state_bytes;
    // Where states have padding, it is zero: dot products read it.
    if (plan.state_stride != plan.state_bytes) {
      fill_elements(&threads_, staging, members * plan.state_stride, int8_t{0});
    }
    each_state(members, [&](size_t outside, size_t inside, size_t bytes) {
      std::copy_n(piece + outside, bytes, staging + inside);
    });
    check(cudaMemcpyAsync(to + first * plan.state_stride, staging, members * plan.state_stride, cudaMemcpyHostToDevice,
                          stream_),
          "take states");
    check(cudaStreamSynchronize(stream_), "take states");
  });
}

void Replica::download_states(int8_t* to, const int8_t* from, size_t count) {
  const Plan& plan = own_.plan;
  each_piece(count, [&](int8_t* staging, size_t first, size_t members) {
    check(cudaMemcpyAsync(staging, from + first * plan.state_stride, members * plan.state_stride,
                          cudaMemcpyDeviceToHost, stream_),
          "give states");
    check(cudaStreamSynchronize(stream_), "give states");
    int8_t* piece = to + first * plan.state_bytes;
    each_state(members, [&](size_t outside, size_t inside, size_t bytes) {
      std::copy_n(staging + inside, bytes, piece + outside);
    });
  });
}

void Replica::set_states(uint32_t first, uint32_t count, const int8_t* states) {
  activate();
  const Share share = share_of(first, count);
  if (share.count == 0) return;
  const Plan& plan = own_.plan;
  upload_states(states_.get() + (share.first - first_member()) * plan.state_stride,
                states + (share.first - first) * plan.state_bytes, share.count);
}

void Replica::get_states(uint32_t first, uint32_t count, int8_t* states) {
  activate();
  const Share share = share_of(first, count);
  if (share.count == 0) return;
  const Plan& plan = own_.plan;
  download_states(states + (share.first - first) * plan.state_bytes,
                  states_.get() + (share.first - first_member()) * plan.state_stride, share.count);
}

// Sends what `streams` streams of the batch read, from `first` on, and what they are to predict. Nothing on the device
// may be reading the place.
void Replica::send(BatchPlace& place, const egg_batch& batch, uint32_t first, uint32_t streams, Sent what) {
  const size_t begin = size_t{first} * batch.tokens;
  const size_t count = size_t{streams} * batch.tokens;
  const size_t indices = own_.plan.program->index_count;
  check(cudaEventSynchronize(place.sent), "receive data");  // what get_ready() brought may still be on its way
  Copies copies;
  const auto each = [&](const auto& of_array) {
    of_array(place.inputs, batch.inputs + begin, count);
    if (indices > 0) of_array(place.row_numbers, batch.rows + begin * indices, count * indices);
    if (what == Sent::kInputs) return;
    of_array(place.targets, batch.targets + begin, count);
    of_array(place.resets, batch.resets + begin, count);
  };
  each([&](auto& array, const auto* from, size_t size) { array.prepare(from, size, threads_, copies); });
  copies.make(threads_);
  each([&](auto& array, const auto* from, size_t) { array.upload(from, sending_, threads_); });
  check(cudaEventRecord(place.sent, sending_), "receive data");
}

// Sends to the place that kernels read. What follows on stream_ waits for it.
void Replica::send_now(const egg_batch& batch, uint32_t first, uint32_t streams, Sent what) {
  send(batch_place(), batch, first, streams, what);
  check(cudaStreamWaitEvent(stream_, batch_place().sent), "receive data");
}

// What this number of a batch's streams takes on the device.
size_t Replica::bytes_of(const egg_batch& batch, uint32_t streams) const {
  const size_t token = sizeof(uint32_t) * (2 + size_t{own_.plan.program->index_count}) + sizeof(uint8_t);
  return size_t{streams} * batch.tokens * token;
}

void Replica::get_ready() {
  if (!next_) return;
  const egg_evaluate next = *std::exchange(next_, std::nullopt);
  const Reads reads = reads_of(next);
  if (reads.own.count == 0 || bytes_of(next.batch, reads.streams) > kLargestAhead) return;
  activate();
  BatchPlace& place = batch_places_[1 - batch_place_];
  send(place, next.batch, reads.first_stream, reads.streams, Sent::kAll);
  place.ready = next;
}

uint32_t Replica::blocks_for(uint32_t rows, const Plan& plan) const {
  // Fused ops spread tiles over all blocks, and need no memory for each.
  return plan.fused ? std::min(own_.memory.most_blocks(), divide_up(rows, tile_members(plan.fused->shape)))
                    : std::min(own_.memory.blocks, divide_up(rows, plan.tiles * kTileRows));
}

// All but the rows, their noise and their states.
ForwardArgs Replica::forward_args(const egg_batch& batch, const Pass& pass) const {
  const Plan& plan = *pass.plan;
  ForwardArgs args{};
  args.ops = pass.ops;
  args.op_count = static_cast<uint32_t>(plan.ops.size());
  std::copy(pass.inline_ops.begin(), pass.inline_ops.end(), args.inline_ops);
  args.tokens = batch.tokens;
  args.full_ops = plan.full_ops ? 1 : 0;
  args.values = plan.shared_values;
  args.stages = plan.stages;
  args.sources = pass.sources;
  args.source_count = plan.source_count;
  args.state_stride = plan.state_stride;
  args.inputs = batch_place().inputs.get();
  args.targets = batch_place().targets.get();
  args.resets = batch_place().resets.get();
  args.row_numbers = batch_place().row_numbers.get();
  args.index_count = plan.program->index_count;
  args.values_of_noise = values_of_noise_;
  args.vocab = static_cast<uint32_t>(plan.program->vocab);
  args.workspace = pass.workspace;
  args.workspace_stride = plan.workspace_bytes;
  args.loss_tables = loss_tables_.get();
  args.nearest = plan.nearest();
  args.q_shift = plan.q_shift();
  args.embed_shift = plan.matrix_shift();
  return args;
}

void Replica::launch_forward_pass(const ForwardArgs& args, cudaStream_t stream) {
  const uint32_t blocks = blocks_for(args.rows, own_.plan);
  if (own_.plan.fused) return launch_fused_pass(args, blocks, stream);
  launch_forward(args, blocks, own_.plan.tiles, stream);
}

void Replica::launch_fused_pass(const CallArgs& args, uint32_t blocks, cudaStream_t stream) {
  FusedArgs fused = fused_args_;
  static_cast<CallArgs&>(fused) = args;
  const uint32_t tiles = divide_up(args.rows, kTileRows);
  fused.seat_tokens = seat_tokens(tiles, args.tokens, blocks * fused.shape.tiles);
  launch_fused(fused, blocks, stream);
}

// For perturbed members.
NoiseArgs Replica::noise_args(const NoisePart* parts, size_t count, uint64_t step, uint32_t first_pair, uint32_t pairs,
                              int8_t* out) const {
  const Plan& plan = own_.plan;
  NoiseArgs args{};
  args.parts = parts;
  args.part_count = static_cast<uint32_t>(count);
  args.values = values_of_noise_;
  args.seed = plan.noise.seed;
  args.step = step;
  args.first_pair = first_pair;
  args.tiles = divide_up(pairs, kTilePairs);
  args.vector_shift = plan.vector_shift();
  args.nearest = plan.nearest();
  args.perturb = 1;
  args.places = plan.fused ? fused_places_.get() : nullptr;
  args.out = out;
  args.tile_bytes = plan.layout.bytes * kTilePairs;
  args.most_blocks = noise_blocks_;
  return args;
}

// Makes what members read of the noise, unless it is there.
void Replica::make_noise(uint64_t step, uint32_t first_pair, uint32_t pairs, cudaStream_t stream) {
  if (!noise().has(step, first_pair, pairs) && noises_[1 - noise_].has(step, first_pair, pairs)) {
    check(cudaStreamWaitEvent(stream, drawn_), "draw noise");
    noise_ = 1 - noise_;
  }
  Noise& mine = noise();
  const bool has_draws = mine.has(step, first_pair, pairs);
  if (has_draws && mine.with_vectors) return;
  const size_t first = has_draws ? draw_part_count_ : 0;
  launch_noise(noise_args(parts_.get() + first, part_count_ - first, step, first_pair, pairs, mine.values.get()),
               stream);
  mine.step = step;
  mine.first_pair = first_pair;
  mine.pairs = pairs;
  mine.with_vectors = true;
}

// Makes the draws of the next step while the host works on this one's losses.
void Replica::draw_ahead(uint64_t step, uint32_t first_pair, uint32_t pairs, cudaStream_t stream) {
  Noise& next = noises_[1 - noise_];
  if (!own_.memory.draws_ahead || next.has(step, first_pair, pairs)) return;
  next.pairs = 0;
  check(cudaEventRecord(evaluated_, stream), "run the forward pass");
  check(cudaStreamWaitEvent(beside_, evaluated_), "run the forward pass");
  launch_noise(noise_args(parts_.get(), draw_part_count_, step, first_pair, pairs, next.values.get()), beside_);
  check(cudaEventRecord(drawn_, beside_), "draw noise");
  next.step = step;
  next.first_pair = first_pair;
  next.pairs = pairs;
  next.with_vectors = false;
}

Replica::Reads Replica::reads_of(const egg_evaluate& e) const {
  const Share own = share_of(e.first, e.count);
  if (own.count == 0) return {own, 0, 0};
  const uint32_t first_row = own.first - e.first;
  const uint32_t first_stream = first_row / e.members_per_stream;
  return {own, first_stream, (first_row + own.count - 1) / e.members_per_stream + 1 - first_stream};
}

void Replica::evaluate_async(const egg_evaluate& e) {
  BatchPlace& ahead = batch_places_[1 - batch_place_];
  const bool is_ready = ahead.ready && reads_alike(*ahead.ready, e);
  ahead.ready.reset();
  next_ = e.next != nullptr ? std::optional(*e.next) : std::nullopt;
  if (is_ready) batch_place_ = 1 - batch_place_;
  const auto [share, first_stream, streams] = reads_of(e);
  if (share.count == 0) return;
  activate();
  host_losses_.reserve(share.count);
  downloads_.clear();
  bool is_brought = false;
  const auto bring_batch = [&, first = first_stream, count = streams] {
    if (std::exchange(is_brought, true)) return;
    if (is_ready) check(cudaStreamWaitEvent(stream_, batch_place().sent), "receive data");
    if (!is_ready) send_now(e.batch, first, count, Sent::kAll);
  };
  sites_.sums.zero(stream_);
  for (const Part& part : parts_of(share)) {
    if (part.is_of_sites) {
      bring_batch();
      evaluate_sites(e, part.members, first_stream);
    } else {
      evaluate_members(e, share, part, first_stream, bring_batch);
    }
  }
  if (sites_.host_sums.get() != nullptr) {
    sites_.sums.download(sites_.host_sums.get(), own_.plan.sites.sites.size(), stream_);
    check(cudaEventRecord(evaluated_, stream_), "run the forward pass");
  }
  if (next_ && bytes_of(next_->batch, reads_of(*next_).streams) <= kSmallBatch) get_ready();
}

// The members of a part of the share; the noise of the first is made while the batch comes.
void Replica::evaluate_members(const egg_evaluate& e, Share share, const Part& of_share, uint32_t first_stream,
                               const std::function<void()>& bring_batch) {
  const Plan& plan = own_.plan;
  const Share part = of_share.members;
  const cudaStream_t stream = of_share.first_block > 0 ? beside_ : stream_;
  if (stream != stream_) {
    bring_batch();
    check(cudaEventRecord(evaluated_, stream_), "run the forward pass");
    check(cudaStreamWaitEvent(stream, evaluated_), "run the forward pass");
  }
  const uint32_t most_rows = std::min(own_.memory.noise_tiles * kTileRows, part.count);
  const uint32_t before = part.first - share.first;
  for (uint32_t done = 0; done < part.count; done += most_rows) {
    const uint32_t rows = std::min(part.count - done, most_rows);
    make_noise(e.step, (part.first + done) / 2, rows / 2, stream);
    bring_batch();
    for (uint32_t begin = 0; begin < rows; begin += kLaunchRows) {
      ForwardArgs args = forward_args(e.batch);
      args.rows = std::min(rows - begin, kLaunchRows);
      args.paired = 1;
      args.first = part.first - e.first + done + begin - first_stream * e.members_per_stream;
      args.members_per_stream = e.members_per_stream;
      args.tile_noise = plan.layout.bytes * kTilePairs;
      args.noise = noise().values.get() + begin / kTileRows * args.tile_noise;
      args.ranks = static_cast<uint32_t>(plan.noise.rank);
      args.states = states_.get() + (part.first + done + begin - first_member()) * plan.state_stride;
      args.losses = losses_.get() + before + done + begin;
      args.workspace += size_t{of_share.first_block} * plan.tiles * plan.workspace_bytes;
      launch_forward_pass(args, stream);
      download_losses(before + done + begin, args.rows, stream);
    }
  }
  if (share.count == members() && most_rows == part.count) {
    draw_ahead(e.step + 1, part.first / 2, part.count / 2, stream);
  }
}

// Fetches the losses of these rows of the share, while the next rows' launch is at work.
void Replica::download_losses(uint32_t first, uint32_t count, cudaStream_t stream) {
  const size_t index = downloads_.size();
  if (index == download_events_.size()) {
    check(cudaEventCreateWithFlags(&download_events_.emplace_back(), cudaEventDisableTiming), "make an event");
  }
  const cudaEvent_t event = download_events_[index];
  check(cudaEventRecord(event, stream), "run the forward pass");
  check(cudaStreamWaitEvent(receiving_, event), "run the forward pass");
  check(cudaMemcpyAsync(host_losses_.get() + first, losses_.get() + first, count * sizeof(int64_t),
                        cudaMemcpyDeviceToHost, receiving_),
        "send data");
  check(cudaEventRecord(event, receiving_), "send data");
  downloads_.push_back({first, count});
}

void Replica::finish_evaluate(const egg_evaluate& e) {
  const Share share = share_of(e.first, e.count);
  if (share.count == 0) return;
  activate();
  for (size_t i = 0; i < downloads_.size(); ++i) {
    check(cudaEventSynchronize(download_events_[i]), "run the forward pass");
    const auto [first, count] = downloads_[i];
    const int64_t* const from = host_losses_.get() + first;
    copy_elements(&threads_, from, count, e.losses + (share.first - e.first) + first);
  }
  if (own_.plan.sites.sites.empty()) return;
  check(cudaEventSynchronize(evaluated_), "run the forward pass");
  finish_sites(e, parts_of(share));
}

void Replica::infer(const egg_infer& i) {
  activate();
  const Plan& plan = own_.plan;
  const uint32_t streams = i.batch.streams;
  send_now(i.batch, 0, streams, Sent::kAll);
  losses_.reserve(streams);
  infer_states_.reserve(streams * plan.state_stride);
  if (i.logits != nullptr) logits_.reserve(size_t{streams} * static_cast<size_t>(plan.program->vocab));
  upload_states(infer_states_.get(), i.states, streams);
  NoiseArgs plain = noise_args(parts_.get(), part_count_, 0, 0, 1, plain_noise_.get());
  plain.perturb = 0;
  launch_noise(plain, stream_);
  ForwardArgs args = forward_args(i.batch);
  args.rows = streams;
  args.members_per_stream = 1;
  args.noise = plain_noise_.get();
  args.states = infer_states_.get();
  args.losses = losses_.get();
  args.logits = i.logits != nullptr ? logits_.get() : nullptr;
  launch_forward_pass(args, stream_);
  losses_.download(i.losses, streams, stream_);
  if (i.logits != nullptr) logits_.download(i.logits, size_t{streams} * args.vocab, stream_);
  check(cudaStreamSynchronize(stream_), "run the unperturbed model");
  download_states(i.states, infer_states_.get(), streams);
}

uint64_t Replica::checksum() {
  activate();
  checksum_.zero(stream_);
  for (uint32_t i = 0; i < params_.size(); ++i) {
    const Param& param = params_[i];
    launch_checksum(param.weights.get(), size_t{param.rows} * param.stride, egg_absorb(i, 0), checksum_.get(), stream_);
    if (shares_rows(i)) continue;  // each has its own rows' slots alone
    launch_checksum(param.slots.get(), param.slot_cells, egg_absorb(i, 1), checksum_.get(), stream_);
  }
  unsigned long long sum = 0;
  checksum_.download(&sum, 1, stream_);
  check(cudaStreamSynchronize(stream_), "add up its weights");
  return sum;
}

}  // namespace eggroll::cuda
