// The noise that a replica has in its device's memory.
#ifndef EGGROLL_CUDA_REPLICA_NOISE_H
#define EGGROLL_CUDA_REPLICA_NOISE_H

#include <vector>

#include "replica_weights.h"

namespace eggroll::cuda {

class ReplicaNoise : public ReplicaPart {
 public:
  ReplicaNoise(ReplicaDevice& device, const ReplicaWeights& weights);
  // Makes what members read, unless it is there.
  void make(uint64_t step, Range pairs, cudaStream_t stream);
  // Makes the draws of a step while the host works on the losses of the one before.
  void draw_ahead(uint64_t step, Range pairs, cudaStream_t stream);
  // After an update: makes the next step's, while the host is at work between two steps. Where it comes in pieces, the
  // first would push out the last.
  void make_next();
  // Makes these parts where members read theirs, unless they are there with those. Returns how they lie.
  NoiseArgs make_parts(const DeviceArray<NoisePart>& parts, size_t count, uint64_t step, Range pairs);
  // Makes that of the unperturbed model, as the program reads it and as the fused tokens of a horizon do.
  void make_plain();
  void make_plain_of_later();

  NoiseValues source() const { return source_; }
  const NoisePlaces* places() const { return plan_.fused ? places_.get() : nullptr; }
  const int8_t* values() const { return noises_[read_].values.get(); }  // that members read
  const int8_t* plain() const { return plain_.get(); }
  const int8_t* plain_of_later() const { return plain_of_later_.get(); }
  // The list on the device, with the addresses of weights.
  DeviceArray<NoisePart> take_parts(Area area, std::vector<NoisePart> parts) const;

 private:
  // Noise, with all draws of these pairs: what an evaluation has left for the votes of its step, or what is there ahead
  // of the next one.
  struct Noise {
    DeviceArray<int8_t> values;
    uint64_t step = 0;
    Range pairs{};
    uint64_t vectors_of = UINT64_MAX;  // the version of the weights that its vectors are of

    bool has(uint64_t of_step, Range of) const {
      return step == of_step && pairs.first == of.first && pairs.count >= of.count;
    }
  };
  // For perturbed members.
  NoiseArgs args(const NoisePart* parts, size_t count, uint64_t step, Range pairs, int8_t* out) const;

  const ReplicaWeights& weights_;
  DeviceArray<int8_t> values_of_distribution_;
  DeviceArray<int8_t> table_;
  NoiseValues source_{};
  uint32_t blocks_;
  DeviceArray<NoisePart> parts_;  // draws, then vectors
  size_t part_count_;
  size_t draw_count_;
  DeviceArray<NoisePlaces> places_;
  Noise noises_[2];  // the second where draws are made ahead
  size_t read_ = 0;  // the one that members read
  DeviceArray<int8_t> plain_ = take(Area::kPlainNoise);
  DeviceArray<NoisePart> parts_of_later_;
  DeviceArray<int8_t> plain_of_later_ = take(Area::kLaterNoise);
  Event evaluated_;
  Event drawn_;
};

}  // namespace eggroll::cuda

#endif
