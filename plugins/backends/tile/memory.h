// Memory that starts on a cache line.
#ifndef EGGROLL_TILE_MEMORY_H
#define EGGROLL_TILE_MEMORY_H

#include <cstddef>
#include <memory>
#include <new>

namespace eggroll::tile {

inline constexpr std::align_val_t kCacheLine{64};

// count zeroed elements of a plain type.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t count) : data_(new (kCacheLine) T[count]()), count_(count) {}
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data(); }
  T* end() { return data() + count_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + count_; }

 private:
  struct Free {
    void operator()(T* data) const { ::operator delete[](data, kCacheLine); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t count_ = 0;
};

}  // namespace eggroll::tile

#endif
