// What a replica's members read on its device: noise, and batches.
#ifndef EGGROLL_CUDA_REPLICA_READS_H
#define EGGROLL_CUDA_REPLICA_READS_H

#include <optional>
#include <vector>

#include "replica_weights.h"
#include "sent_array.h"

namespace eggroll::cuda {

// The noise in device memory: for an evaluation and the votes of its step, and noise that is made ahead.
class ReplicaNoise : public ReplicaPart {
 public:
  ReplicaNoise(ReplicaDevice& device, const ReplicaWeights& weights);
  // Makes the noise that members read, unless memory has it.
  void make(uint64_t step, Range pairs, cudaStream_t stream);
  // Makes the draws of a step while the host works on the losses of the step before.
  void draw_ahead(uint64_t step, Range pairs, cudaStream_t stream);
  // Called after an update: makes the next step's noise while the host works between two steps. Makes none if noise
  // comes in pieces, because the first piece would replace the last.
  void make_next();
  // Makes these parts where members read their noise, unless they are there already. Returns how they lie.
  NoiseArgs make_parts(const DeviceArray<NoisePart>& parts, size_t count, uint64_t step, Range pairs);
  // Makes the unperturbed model's noise, as the program reads it and as the fused tokens of a horizon read it.
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
  // Noise with all draws of these pairs, which an evaluation leaves for the votes of its step, or which is made ahead
  // of the next evaluation.
  struct Noise {
    DeviceArray<int8_t> values;
    uint64_t step = 0;
    Range pairs{};
    uint64_t vectors_of = UINT64_MAX;  // the version of the weights that its vectors were made from

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
  Noise noises_[2];  // the second is used if draws are made ahead
  size_t read_ = 0;  // the one that members read
  DeviceArray<int8_t> plain_ = take(Area::kPlainNoise);
  DeviceArray<NoisePart> parts_of_later_;
  DeviceArray<int8_t> plain_of_later_ = take(Area::kLaterNoise);
  Event evaluated_;
  Event drawn_;
};

// What streams read: the batch of the current call, and the batch of the next evaluation.
class ReplicaBatch : public ReplicaPart {
 public:
  enum class Sent : uint8_t { kInputs, kAll };
  // The own members of a call, and the streams of its batch that they read.
  struct Reads {
    Range own;
    uint32_t first_stream;
    uint32_t streams;
  };
  struct Place {
    SentArray<uint32_t> inputs;
    SentArray<uint32_t> row_numbers;
    SentArray<uint32_t> targets;
    SentArray<uint8_t> resets;
    Event sent;
    std::optional<egg_evaluate> ready;  // the coming call whose batch this is
  };

  explicit ReplicaBatch(ReplicaDevice& device) : ReplicaPart(device) {}
  Reads reads_of(const egg_evaluate& e) const;
  // Must be called when a call begins. Takes the batch that came ahead if it is this call's, and returns whether it is.
  bool begin(const egg_evaluate& e);
  // Makes later work on the replica's stream wait for the call's batch.
  void await() const { check(cudaStreamWaitEvent(stream_, place().sent), "receive data"); }
  void send_now(const egg_batch& batch, uint32_t first, uint32_t streams, Sent what);
  // Brings the next evaluation's batch to the device if the last evaluation was told of it, it is not there yet, and it
  // is not too large. only_small: it must also be small enough to come during the work on losses.
  void get_ready(bool only_small);
  const Place& place() const { return places_[read_]; }  // that kernels read

 private:
  size_t bytes_of(const egg_batch& batch, uint32_t streams) const;
  void send(Place& place, const egg_batch& batch, uint32_t first, uint32_t streams, Sent what);

  Place places_[2];
  size_t read_ = 0;                   // the one that is read; the other is for the next evaluation
  std::optional<egg_evaluate> next_;  // what get_ready() is to bring
};

}  // namespace eggroll::cuda

#endif
