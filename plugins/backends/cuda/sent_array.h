// Numbers on their way to the device.
#ifndef EGGROLL_CUDA_SENT_ARRAY_H
#define EGGROLL_CUDA_SENT_ARRAY_H

#include <algorithm>
#include <atomic>
#include <cstring>

#include "device.h"
#include "eggroll/threads.h"

namespace eggroll::cuda {

// Numbers on the device, and what was sent there last: they are sent again only where they have changed. No work on the
// device may be under way with them when others are sent.
template <class T>
class SentArray {
 public:
  SentArray() = default;
  // data: the place on the device, where it was taken before.
  explicit SentArray(DeviceArray<T> data) : data_(std::move(data)) {}

  void send(const T* from, size_t count, cudaStream_t stream, Threads& threads) {
    if (count == 0 || (count == count_ && is_there(from, count, threads))) return;
    sent_.reserve(count);
    data_.reserve(count);
    // A piece is on its way while the next is copied.
    for (size_t done = 0; done < count; done += kPiece) {
      const size_t piece = std::min(kPiece, count - done);
      T* const to = sent_.get() + done;
      threads.split(piece, kFewestElements, [&](size_t begin, size_t end) {
        std::memcpy(to + begin, from + done + begin, (end - begin) * sizeof(T));
      });
      data_.upload(to, piece, stream, done);
    }
    count_ = count;
  }
  const T* get() const { return data_.get(); }

 private:
  static constexpr size_t kPiece = (size_t{8} << 20) / sizeof(T);

  bool is_there(const T* from, size_t count, Threads& threads) const {
    std::atomic<bool> same = true;
    threads.split(count, kFewestElements, [&](size_t begin, size_t end) {
      if (same && std::memcmp(sent_.get() + begin, from + begin, (end - begin) * sizeof(T)) != 0) same = false;
    });
    return same;
  }

  HostArray<T> sent_;
  DeviceArray<T> data_;
  size_t count_ = 0;
};

}  // namespace eggroll::cuda

#endif
