// Checked CUDA calls, whose errors become sentences, and memory that frees itself.
#ifndef EGGROLL_CUDA_DEVICE_H
#define EGGROLL_CUDA_DEVICE_H

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "eggroll/error.h"

namespace eggroll::cuda {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  const std::string text = std::string("the GPU failed to ") + what + ": " + cudaGetErrorString(status) + " (" +
                           cudaGetErrorName(status) + "); resume the run, with less memory in use if it was short";
  throw Error(text, status == cudaErrorMemoryAllocation ? EGG_ERROR_MEMORY : EGG_ERROR_DEVICE);
}

// Call this after a launch. Later calls report errors that happen while the launch runs.
inline void check_launch(const char* what) { check(cudaGetLastError(), what); }

// A stream or an event, which is destroyed with its owner.
template <class T, cudaError_t (*kEnd)(T)>
class Owned {
 public:
  explicit Owned(T own) : own_(own) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { kEnd(own_); }
  operator T() const { return own_; }

 private:
  T own_;
};
struct Stream : Owned<cudaStream_t, &cudaStreamDestroy> {
  // A lower number runs sooner, if the device has such priorities.
  explicit Stream(int priority) : Owned(made(priority)) {}
  static cudaStream_t made(int priority) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority), "make a stream");
    return stream;
  }
};
struct Event : Owned<cudaEvent_t, &cudaEventDestroy> {
  Event() : Owned(made()) {}
  static cudaEvent_t made() {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "make an event");
    return event;
  }
};

// `count` elements in the current device's memory, from the driver's pool, which keeps freed memory: tests open
// and close thousands of sessions. The owner must not free memory that a stream still uses.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(size_t count) : count_(count) {
    if (count == 0) return;
    check(cudaMallocAsync(reinterpret_cast<void**>(&data_), count * sizeof(T), nullptr), "allocate memory");
    check(cudaStreamSynchronize(nullptr), "allocate memory");
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) cudaFreeAsync(data_, nullptr);
  }

  T* get() const { return data_; }

  // Makes room for at least `count` elements. Their old contents may be lost.
  void reserve(size_t count) {
    if (count > count_) {
      *this = DeviceArray();
      *this = DeviceArray(count);
    }
  }
  void zero(cudaStream_t stream) { zero(stream, count_); }
  void zero(cudaStream_t stream, size_t count) {
    if (count > 0) check(cudaMemsetAsync(data_, 0, count * sizeof(T), stream), "clear memory");
  }
  void upload(const T* from, size_t count, cudaStream_t stream, size_t at = 0) {
    if (count == 0) return;
    if (at + count > count_) {
      throw Error("a session of the cuda backend has more to keep on the GPU than it planned for; report this",
                  EGG_ERROR_DEVICE);
    }
    check(cudaMemcpyAsync(data_ + at, from, count * sizeof(T), cudaMemcpyHostToDevice, stream), "receive data");
  }
  void download(T* to, size_t count, cudaStream_t stream, size_t at = 0) const {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, data_ + at, count * sizeof(T), cudaMemcpyDeviceToHost, stream), "send data");
  }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

// `count` elements of host memory, which the device reads and writes directly.
template <class T>
class HostArray {
 public:
  HostArray() = default;
  explicit HostArray(size_t count) : count_(count) {
    if (count > 0)
      check(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(T)), "lock memory of the host");
  }
  HostArray(HostArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  HostArray& operator=(HostArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~HostArray() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }

  T* get() const { return data_; }
  // Makes room for at least `count` elements. Their old contents may be lost.
  void reserve(size_t count) {
    if (count > count_) {
      *this = HostArray();
      *this = HostArray(count);
    }
  }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace eggroll::cuda

#endif
