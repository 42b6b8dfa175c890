// Numbers on their way to the device.
#ifndef EGGROLL_CUDA_SENT_ARRAY_H
#define EGGROLL_CUDA_SENT_ARRAY_H

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "device.h"
#include "eggroll/threads.h"

namespace eggroll::cuda {

// Copies that all threads make in one loop, because waking the threads takes longer than a small copy.
class Copies {
 public:
  void add(void* to, const void* from, size_t bytes) {
    for (size_t done = 0; done < bytes; done += kPiece) {
      parts_.push_back(
          {static_cast<char*>(to) + done, static_cast<const char*>(from) + done, std::min(kPiece, bytes - done)});
    }
  }
  void make(Threads& threads) {
    threads.split(parts_.size(), 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) std::memcpy(parts_[i].to, parts_[i].from, parts_[i].bytes);
    });
    parts_.clear();
  }

 private:
  static constexpr size_t kPiece = size_t{256} << 10;  // bytes
  struct Part {
    char* to;
    const char* from;
    size_t bytes;
  };
  std::vector<Part> parts_;
};

// Numbers on the device, and a copy of those sent last. Numbers are sent again only if they have changed. No work on
// the device may use them while others are sent.
template <class T>
class SentArray {
 public:
  SentArray() = default;
  // data: the place on the device, if it has been taken before.
  explicit SentArray(DeviceArray<T> data) : data_(std::move(data)) {}

  // Must come before upload() of the same numbers. Adds what is to be copied, unless they are there already, or many.
  void prepare(const T* from, size_t count, Threads& threads, Copies& copies) {
    is_new_ = count > 0 && (count != count_ || !is_there(from, count, threads));
    if (!is_new_) return;
    sent_.reserve(count);
    data_.reserve(count);
    count_ = count;
    if (count <= kPiece) copies.add(sent_.get(), from, count * sizeof(T));
  }
  void upload(const T* from, cudaStream_t stream, Threads& threads) {
    if (!is_new_) return;
    if (count_ <= kPiece) return data_.upload(sent_.get(), count_, stream);
    // A piece is on its way while the next is copied.
    for (size_t done = 0; done < count_; done += kPiece) {
      const size_t piece = std::min(kPiece, count_ - done);
      T* const to = sent_.get() + done;
      threads.split(piece, kFewestElements, [&](size_t begin, size_t end) {
        std::memcpy(to + begin, from + done + begin, (end - begin) * sizeof(T));
      });
      data_.upload(to, piece, stream, done);
    }
  }
  void send(const T* from, size_t count, cudaStream_t stream, Threads& threads) {
    Copies copies;
    prepare(from, count, threads, copies);
    copies.make(threads);
    upload(from, stream, threads);
  }
  const T* get() const { return data_.get(); }
  size_t count() const { return count_; }

 private:
  static constexpr size_t kPiece = (size_t{8} << 20) / sizeof(T);

  bool is_there(const T* from, size_t count, Threads& threads) const {
    // If numbers differ, the first few usually differ.
    const size_t few = std::min(count, size_t{1024});
    if (std::memcmp(sent_.get(), from, few * sizeof(T)) != 0) return false;
    std::atomic<bool> same = true;
    threads.split(count, kFewestElements, [&](size_t begin, size_t end) {
      if (same && std::memcmp(sent_.get() + begin, from + begin, (end - begin) * sizeof(T)) != 0) same = false;
    });
    return same;
  }

  HostArray<T> sent_;
  DeviceArray<T> data_;
  size_t count_ = 0;
  bool is_new_ = false;
};

}  // namespace eggroll::cuda

#endif
