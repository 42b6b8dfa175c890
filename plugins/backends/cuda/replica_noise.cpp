#include "replica_noise.h"

#include <algorithm>

#include "eggroll/noise_source.h"

namespace eggroll::cuda {

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

}  // namespace eggroll::cuda
