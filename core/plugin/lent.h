// Arrays of the host that a plugin fills.
#ifndef EGGROLL_PLUGIN_LENT_H
#define EGGROLL_PLUGIN_LENT_H

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "eggroll/error.h"

namespace eggroll {

// Memory between guards. A plugin that writes outside its array would damage the host's memory; the process would end
// much later, if at all, and nothing would name the plugin. Elements of one byte start at an odd address, because no
// plugin may rely on their alignment.
template <class T>
class Guarded {
 public:
  // Makes room for this number of elements. Their values are not set, because tables have hundreds of megabytes.
  T* lend(size_t count) {
    if (memory_ == nullptr || count > room_) {
      memory_ = std::make_unique_for_overwrite<uint8_t[]>(kOffset + count * sizeof(T) + kGuard);
      room_ = count;
    }
    count_ = count;
    std::memset(memory_.get(), kGuardByte, kOffset);
    std::memset(end(), kGuardByte, kGuard);
    return data();
  }
  T* data() { return reinterpret_cast<T*>(memory_.get() + kOffset); }

  // Throws Error that names the plugin and the function if a guard was overwritten.
  void require_whole(const std::string& who, const char* what, const char* function) {
    const auto is_guard = [](uint8_t byte) { return byte == kGuardByte; };
    if (std::all_of(memory_.get(), memory_.get() + kOffset, is_guard) && std::all_of(end(), end() + kGuard, is_guard)) {
      return;
    }
    throw Error(
        fmt::format("{} wrote outside the buffer of {} {} in {}(); fix the plugin", who, count_, what, function));
  }

 private:
  static constexpr ptrdiff_t kGuard = 1024;
  static constexpr ptrdiff_t kOffset = sizeof(T) == 1 ? kGuard + 1 : kGuard;
  static constexpr uint8_t kGuardByte = 0xA5;
  uint8_t* end() { return memory_.get() + kOffset + count_ * sizeof(T); }

  size_t room_ = 0;
  size_t count_ = 0;
  std::unique_ptr<uint8_t[]> memory_;
};

// A guarded copy of one of the host's arrays. It is copied back after its guards are found whole.
template <class T>
class Lent {
 public:
  // values: (count), the host's.
  Lent(T* values, size_t count) : values_(values), count_(count) {
    guarded_.lend(count);
    if (count > 0) std::memcpy(data(), values, count * sizeof(T));
  }

  T* data() { return guarded_.data(); }

  void give_back(const std::string& who, const char* what, const char* function) {
    guarded_.require_whole(who, what, function);
    if (count_ > 0) std::memcpy(values_, data(), count_ * sizeof(T));
  }

 private:
  T* values_;
  size_t count_;
  Guarded<T> guarded_;
};

}  // namespace eggroll

#endif
