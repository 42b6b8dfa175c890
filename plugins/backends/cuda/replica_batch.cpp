#include "replica_batch.h"

#include <utility>

namespace eggroll::cuda {
namespace {

// A next batch of at most this number of bytes comes to the device while members are evaluated. A larger one would
// delay the work on their losses, and comes during the update.
constexpr size_t kSmallBatch = size_t{8} << 20;
// A batch of more than this number of bytes comes with its own call: two would take too much of what is left for them.
constexpr size_t kLargestAhead = kCallReserve / 4;

// Whether both calls are of the same members and the same batch.
bool reads_alike(const egg_evaluate& a, const egg_evaluate& b) {
  return a.step == b.step && a.first == b.first && a.count == b.count && a.members_per_stream == b.members_per_stream &&
         a.batch.streams == b.batch.streams && a.batch.tokens == b.batch.tokens && a.batch.inputs == b.batch.inputs &&
         a.batch.targets == b.batch.targets && a.batch.resets == b.batch.resets && a.batch.rows == b.batch.rows;
}

}  // namespace

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
