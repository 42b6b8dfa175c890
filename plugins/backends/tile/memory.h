// Memory that starts on a cache line.
#ifndef EGGROLL_TILE_MEMORY_H
#define EGGROLL_TILE_MEMORY_H

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <memory>
#include <new>

namespace eggroll::tile {

inline constexpr std::align_val_t kCacheLine{64};

// `count` elements of a plain type, set to zero.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t count) : data_(make(count), Free{alignment_of(count)}), count_(count) {}
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
  // Large arrays get large pages if the system has them, because reads of a table's rows jump through its memory.
  static constexpr std::align_val_t kLargePage{size_t{2} << 20};
  static std::align_val_t alignment_of(size_t count) {
    return count * sizeof(T) >= 2 * static_cast<size_t>(kLargePage) ? kLargePage : kCacheLine;
  }
  static T* make(size_t count) {
    const std::align_val_t alignment = alignment_of(count);
    void* const memory = ::operator new[](count * sizeof(T), alignment);
#if defined(__linux__)
    if (alignment == kLargePage) madvise(memory, count * sizeof(T), MADV_HUGEPAGE);  // a refusal only costs time
#endif
    std::uninitialized_value_construct_n(static_cast<T*>(memory), count);
    return static_cast<T*>(memory);
  }

  struct Free {
    std::align_val_t alignment = kCacheLine;
    void operator()(T* data) const { ::operator delete[](data, alignment); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t count_ = 0;
};

}  // namespace eggroll::tile

#endif
