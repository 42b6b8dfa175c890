#include "replica_reads.h"

#include <algorithm>
#include <utility>

#include "eggroll/noise_source.h"

namespace eggroll::cuda {
namespace {

// A next batch of at most this number of bytes comes to the device while members are evaluated. A larger one would
// delay the work on their losses, and comes during the update.
constexpr size_t kSmallBatch = size_t{8} << 20;
// A batch of more bytes than this comes with its own call, not ahead: two would take too much of kCallReserve.
constexpr size_t kLargestAhead = kCallReserve / 4;

// Whether both calls are of the same members and the same batch.
bool reads_alike(const egg_evaluate& a, const egg_evaluate& b) {
  return a.step == b.step && a.first == b.first && a.count == b.count && a.members_per_stream == b.members_per_stream &&
         a.batch.streams == b.batch.streams && a.batch.tokens == b.batch.tokens && a.batch.inputs == b.batch.inputs &&
         a.batch.targets == b.batch.targets && a.batch.resets == b.batch.resets && a.batch.rows == b.batch.rows;
}

}  // namespace

ReplicaNoise::ReplicaNoise(ReplicaDevice& device, const ReplicaWeights& weights)
    : ReplicaPart(device), weights_(weights), blocks_(noise_blocks()), part_count_(plan_.layout.parts.size()) {
  const NoiseTable values = noise_table(plan_.noise.distribution);
  values_of_distribution_ = take(Area::kNoiseValues, std::vector<int8_t>(values.begin(), values.end()));
  table_ = take(Area::kNoiseTable, NoiseSource(plan_.noise).table());
  source_ = {values_of_distribution_.get(), table_.get(), plan_.noise.table_log2};
  std::vector<NoisePart> parts = plan_.layout.parts;
  const auto vectors =
      std::stable_partition(parts.begin(), parts.end(), [](const NoisePart& s) { return s.kind != kVector; });
  draw_count_ = static_cast<size_t>(vectors - parts.begin());
  parts_ = take_parts(Area::kNoiseParts, std::move(parts));
  if (own_.fused() != nullptr) places_ = take(Area::kFusedPlaces, own_.fused()->fused->places);
  if (own_.later) parts_of_later_ = take_parts(Area::kLaterParts, own_.later->layout.parts);
  noises_[0].values = take(Area::kNoise);
  noises_[1].values = take(Area::kNextNoise);
  for (Noise& each : noises_) {
    if (plan_.fused) each.values.zero(stream_);  // slots that are half full are read whole
  }
  plain_.zero(stream_);  // draws stay so
  plain_of_later_.zero(stream_);
}

DeviceArray<NoisePart> ReplicaNoise::take_parts(Area area, std::vector<NoisePart> parts) const {
  for (NoisePart& s : parts) {
    if (s.kind == kVector) s.weights = weights_[s.param].weights.get();
  }
  return take(area, parts);
}

NoiseArgs ReplicaNoise::args(const NoisePart* parts, size_t count, uint64_t step, Range pairs, int8_t* out) const {
  NoiseArgs args{};
  args.parts = parts;
  args.part_count = static_cast<uint32_t>(count);
  args.values = source_;
  args.seed = plan_.noise.seed;
  args.step = step;
  args.first_pair = pairs.first;
  args.tiles = divide_up(pairs.count, kTilePairs);
  args.vector_shift = plan_.vector_shift();
  args.nearest = plan_.nearest();
  args.perturb = 1;
  args.places = places();
  args.out = out;
  args.tile_bytes = plan_.layout.bytes * kTilePairs;
  args.most_blocks = blocks_;
  return args;
}

void ReplicaNoise::make(uint64_t step, Range pairs, cudaStream_t stream) {
  if (!noises_[read_].has(step, pairs) && noises_[1 - read_].has(step, pairs)) {
    check(cudaStreamWaitEvent(stream, drawn_), "draw noise");
    read_ = 1 - read_;
  }
  Noise& mine = noises_[read_];
  const bool has_draws = mine.has(step, pairs);
  if (has_draws && mine.vectors_of == weights_.version()) return;
  const size_t first = has_draws ? draw_count_ : 0;
  launch_noise(args(parts_.get() + first, part_count_ - first, step, pairs, mine.values.get()), stream);
  mine.step = step;
  mine.pairs = pairs;
  mine.vectors_of = weights_.version();
}

void ReplicaNoise::draw_ahead(uint64_t step, Range pairs, cudaStream_t stream) {
  Noise& next = noises_[1 - read_];
  if (!own_.memory.draws_ahead || next.has(step, pairs)) return;
  check(cudaEventRecord(evaluated_, stream), "run the forward pass");
  check(cudaStreamWaitEvent(device_.beside, evaluated_), "run the forward pass");
  next.pairs.count = 0;
  launch_noise(args(parts_.get(), draw_count_, step, pairs, next.values.get()), device_.beside);
  check(cudaEventRecord(drawn_, device_.beside), "draw noise");
  next.step = step;
  next.pairs = pairs;
  next.vectors_of = UINT64_MAX;
}

void ReplicaNoise::make_next() {
  const Noise& made = noises_[read_];
  if (made.pairs.count > 0 && made.pairs.count == own_.pairs) make(made.step + 1, made.pairs, stream_);
}

NoiseArgs ReplicaNoise::make_parts(const DeviceArray<NoisePart>& parts, size_t count, uint64_t step, Range pairs) {
  Noise& mine = noises_[read_];
  const NoiseArgs made = args(parts.get(), count, step, pairs, mine.values.get());
  if (count == 0 || mine.has(step, pairs)) return made;
  launch_noise(made, stream_);
  mine.pairs.count = 0;
  return made;
}

void ReplicaNoise::make_plain() {
  NoiseArgs plain = args(parts_.get(), part_count_, 0, {0, 1}, plain_.get());
  plain.perturb = 0;
  launch_noise(plain, stream_);
}

void ReplicaNoise::make_plain_of_later() {
  const NoiseLayout& layout = own_.later->layout;
  NoiseArgs plain = args(parts_of_later_.get(), layout.parts.size(), 0, {0, 1}, plain_of_later_.get());
  plain.perturb = 0;
  plain.places = places_.get();
  plain.tile_bytes = layout.bytes * kTilePairs;
  launch_noise(plain, stream_);
}

ReplicaBatch::Reads ReplicaBatch::reads_of(const egg_evaluate& e) const {
  const Range own = own_.own_members(e.first, e.count);
  if (own.count == 0) return {own, 0, 0};
  const uint32_t first_row = own.first - e.first;
  const uint32_t first_stream = first_row / e.members_per_stream;
  return {own, first_stream, (first_row + own.count - 1) / e.members_per_stream + 1 - first_stream};
}

bool ReplicaBatch::begin(const egg_evaluate& e) {
  Place& ahead = places_[1 - read_];
  const bool is_ready = ahead.ready && reads_alike(*ahead.ready, e);
  ahead.ready.reset();
  next_ = e.next != nullptr ? std::optional(*e.next) : std::nullopt;
  if (is_ready) read_ = 1 - read_;
  return is_ready;
}

// Sends what `streams` streams of the batch read, from `first` on, and what they are to predict. Nothing on the device
// may be reading the place.
void ReplicaBatch::send(Place& place, const egg_batch& batch, uint32_t first, uint32_t streams, Sent what) {
  const size_t begin = size_t{first} * batch.tokens;
  const size_t count = size_t{streams} * batch.tokens;
  const size_t indices = plan_.program->index_count;
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
  each([&](auto& array, const auto* from, size_t) { array.upload(from, device_.sending, threads_); });
  check(cudaEventRecord(place.sent, device_.sending), "receive data");
}

void ReplicaBatch::send_now(const egg_batch& batch, uint32_t first, uint32_t streams, Sent what) {
  send(places_[read_], batch, first, streams, what);
  await();
}

// What this number of a batch's streams takes on the device.
size_t ReplicaBatch::bytes_of(const egg_batch& batch, uint32_t streams) const {
  const size_t token = sizeof(uint32_t) * (2 + size_t{plan_.program->index_count}) + sizeof(uint8_t);
  return size_t{streams} * batch.tokens * token;
}

void ReplicaBatch::get_ready(bool only_small) {
  if (!next_) return;
  const Reads reads = reads_of(*next_);
  const size_t bytes = bytes_of(next_->batch, reads.streams);
  if (only_small && bytes > kSmallBatch) return;
  const egg_evaluate next = *std::exchange(next_, std::nullopt);
  if (reads.own.count == 0 || bytes > kLargestAhead) return;
  device_.activate();
  Place& ahead = places_[1 - read_];
  send(ahead, next.batch, reads.first_stream, reads.streams, Sent::kAll);
  ahead.ready = next;
}

}  // namespace eggroll::cuda
