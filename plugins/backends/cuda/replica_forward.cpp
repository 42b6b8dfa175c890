#include "replica_forward.h"

#include <algorithm>
#include <utility>

namespace eggroll::cuda {
namespace {

constexpr uint32_t kLaunchRows = 1U << 20;  // of a launch, whose losses are fetched beside the next one

}  // namespace

// Calls body(staging, first, members) for one piece of the members after another, as they lie on the device.
template <class Body>
void ReplicaForward::each_piece(size_t count, const Body& body) {
  const size_t stride = plan_.state_stride;
  if (stride == 0) return;
  const size_t piece = std::max<size_t>(1, kStagingBytes / stride);
  device_.staging.reserve(std::min(piece, count) * stride);
  for (size_t done = 0; done < count; done += piece) body(device_.staging.get(), done, std::min(piece, count - done));
}

// See DeviceProgram::each_state.
template <class Copy>
void ReplicaForward::each_state(size_t members, const Copy& copy) {
  threads_.split(members, std::max<size_t>(1, kFewestElements / plan_.state_stride),
                 [&](size_t begin, size_t end) { plan_.each_state(begin, end, copy); });
}

void ReplicaForward::upload_states(int8_t* to, const int8_t* from, size_t count) {
  each_piece(count, [&](int8_t* staging, size_t first, size_t members) {
    const int8_t* piece = from + first * plan_.state_bytes;
    // Padding of states is zero, because dot products read it.
    if (plan_.state_stride != plan_.state_bytes) {
      fill_elements(&threads_, staging, members * plan_.state_stride, int8_t{0});
    }
    each_state(members, [&](size_t outside, size_t inside, size_t bytes) {
      std::copy_n(piece + outside, bytes, staging + inside);
    });
    check(cudaMemcpyAsync(to + first * plan_.state_stride, staging, members * plan_.state_stride,
                          cudaMemcpyHostToDevice, stream_),
          "take states");
    check(cudaStreamSynchronize(stream_), "take states");
  });
}

void ReplicaForward::download_states(int8_t* to, const int8_t* from, size_t count) {
  each_piece(count, [&](int8_t* staging, size_t first, size_t members) {
    check(cudaMemcpyAsync(staging, from + first * plan_.state_stride, members * plan_.state_stride,
                          cudaMemcpyDeviceToHost, stream_),
          "give states");
    check(cudaStreamSynchronize(stream_), "give states");
    int8_t* piece = to + first * plan_.state_bytes;
    each_state(members, [&](size_t outside, size_t inside, size_t bytes) {
      std::copy_n(staging + inside, bytes, piece + outside);
    });
  });
}

void ReplicaForward::set_states(uint32_t first, uint32_t count, const int8_t* states) {
  device_.activate();
  const Range own = own_.own_members(first, count);
  if (own.count == 0) return;
  upload_states(states_of(own.first), states + (own.first - first) * plan_.state_bytes, own.count);
}

void ReplicaForward::get_states(uint32_t first, uint32_t count, int8_t* states) {
  device_.activate();
  const Range own = own_.own_members(first, count);
  if (own.count == 0) return;
  download_states(states + (own.first - first) * plan_.state_bytes, states_of(own.first), own.count);
}

void ReplicaForward::evaluate_async(const egg_evaluate& e) {
  const bool is_ready = batch_.begin(e);
  const auto [own, first_stream, streams] = batch_.reads_of(e);
  if (own.count == 0) return;
  device_.activate();
  host_losses_.reserve(own.count);
  downloads_.clear();
  bool is_brought = false;
  const auto bring_batch = [&, first = first_stream, count = streams] {
    if (std::exchange(is_brought, true)) return;
    is_ready ? batch_.await() : batch_.send_now(e.batch, first, count, ReplicaBatch::Sent::kAll);
  };
  sums_.zero(stream_);
  for (const Part& part : parts_of(own)) {
    if (part.is_of_sites) {
      bring_batch();
      evaluate_sites(e, part.members, first_stream);
    } else {
      evaluate_members(e, own, part, first_stream, bring_batch);
    }
  }
  if (host_sums_.get() != nullptr) {
    sums_.download(host_sums_.get(), plan_.sites.sites.size(), stream_);
    check(cudaEventRecord(evaluated_, stream_), "run the forward pass");
  }
  batch_.get_ready(true);
}

// Evaluates the members of a part of the own ones. The noise of the first is made while the batch comes.
void ReplicaForward::evaluate_members(const egg_evaluate& e, Range own, const Part& of_own, uint32_t first_stream,
                                      const std::function<void()>& bring_batch) {
  const Range part = of_own.members;
  const cudaStream_t stream = of_own.first_block > 0 ? cudaStream_t{device_.beside} : stream_;
  if (stream != stream_) {
    bring_batch();
    check(cudaEventRecord(evaluated_, stream_), "run the forward pass");
    check(cudaStreamWaitEvent(stream, evaluated_), "run the forward pass");
  }
  const uint32_t most_rows = std::min(own_.memory.noise_tiles * kTileRows, part.count);
  const uint32_t before = part.first - own.first;
  for (uint32_t done = 0; done < part.count; done += most_rows) {
    const uint32_t rows = std::min(part.count - done, most_rows);
    noise_.make(e.step, {(part.first + done) / 2, rows / 2}, stream);
    bring_batch();
    for (uint32_t begin = 0; begin < rows; begin += kLaunchRows) {
      ForwardArgs args = passes_.args(passes_.whole());
      args.tokens = e.batch.tokens;
      args.rows = std::min(rows - begin, kLaunchRows);
      args.paired = 1;
      args.first = part.first - e.first + done + begin - first_stream * e.members_per_stream;
      args.members_per_stream = e.members_per_stream;
      args.tile_noise = plan_.layout.bytes * kTilePairs;
      args.noise = noise_.values() + begin / kTileRows * args.tile_noise;
      args.ranks = static_cast<uint32_t>(plan_.noise.rank);
      args.states = states_of(part.first + done + begin);
      args.losses = losses_.get() + before + done + begin;
      args.workspace += size_t{of_own.first_block} * plan_.tiles * plan_.workspace_bytes;
      passes_.launch(args, stream);
      download_losses({before + done + begin, args.rows}, stream);
    }
  }
  if (own.count == own_.members() && most_rows == part.count) {
    noise_.draw_ahead(e.step + 1, {part.first / 2, part.count / 2}, stream);
  }
}

// Fetches the losses of these own rows while the launch of the next rows is at work.
void ReplicaForward::download_losses(Range rows, cudaStream_t stream) {
  if (downloads_.size() == download_events_.size()) download_events_.emplace_back();
  const cudaEvent_t event = download_events_[downloads_.size()];
  check(cudaEventRecord(event, stream), "run the forward pass");
  check(cudaStreamWaitEvent(device_.receiving, event), "run the forward pass");
  check(cudaMemcpyAsync(host_losses_.get() + rows.first, losses_.get() + rows.first, rows.count * sizeof(int64_t),
                        cudaMemcpyDeviceToHost, device_.receiving),
        "send data");
  check(cudaEventRecord(event, device_.receiving), "send data");
  downloads_.push_back(rows);
}

void ReplicaForward::finish_evaluate(const egg_evaluate& e) {
  const Range own = own_.own_members(e.first, e.count);
  if (own.count == 0) return;
  device_.activate();
  for (size_t i = 0; i < downloads_.size(); ++i) {
    check(cudaEventSynchronize(download_events_[i]), "run the forward pass");
    const auto [first, count] = downloads_[i];
    const int64_t* const from = host_losses_.get() + first;
    copy_elements(&threads_, from, count, e.losses + (own.first - e.first) + first);
  }
  if (plan_.sites.sites.empty()) return;
  check(cudaEventSynchronize(evaluated_), "run the forward pass");
  finish_sites(e, parts_of(own));
}

void ReplicaForward::infer(const egg_infer& i) {
  device_.activate();
  const uint32_t streams = i.batch.streams;
  batch_.send_now(i.batch, 0, streams, ReplicaBatch::Sent::kAll);
  losses_.reserve(streams);
  infer_states_.reserve(streams * plan_.state_stride);
  if (i.logits != nullptr) logits_.reserve(size_t{streams} * static_cast<size_t>(plan_.program->vocab));
  upload_states(infer_states_.get(), i.states, streams);
  noise_.make_plain();
  ForwardArgs args = passes_.args(passes_.whole());
  args.tokens = i.batch.tokens;
  args.rows = streams;
  args.members_per_stream = 1;
  args.noise = noise_.plain();
  args.states = infer_states_.get();
  args.losses = losses_.get();
  args.logits = i.logits != nullptr ? logits_.get() : nullptr;
  passes_.launch(args, stream_);
  losses_.download(i.losses, streams, stream_);
  if (i.logits != nullptr) logits_.download(i.logits, size_t{streams} * args.vocab, stream_);
  check(cudaStreamSynchronize(stream_), "run the unperturbed model");
  download_states(i.states, infer_states_.get(), streams);
}

}  // namespace eggroll::cuda
