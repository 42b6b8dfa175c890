// What streams read, on a replica's device: the batch of the call in hand, and that of the next evaluation.
#ifndef EGGROLL_CUDA_REPLICA_BATCH_H
#define EGGROLL_CUDA_REPLICA_BATCH_H

#include <optional>

#include "replica_part.h"
#include "sent_array.h"

namespace eggroll::cuda {

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
  // A call begins: takes the batch that came ahead, if it is this one's. Returns whether it is.
  bool begin(const egg_evaluate& e);
  // What follows on the replica's stream waits for the batch: that which came ahead, or this one, which it sends.
  void await() const { check(cudaStreamWaitEvent(stream_, place().sent), "receive data"); }
  void send_now(const egg_batch& batch, uint32_t first, uint32_t streams, Sent what);
  // Brings the next evaluation's batch to the device, if the last evaluation was told of it, it is not there yet, and
  // it is not too large; only_small: nor too large to come beside the work on losses.
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
