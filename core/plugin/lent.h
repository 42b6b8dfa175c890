// Arrays of the host that a plugin fills.
#ifndef EGGROLL_PLUGIN_LENT_H
#define EGGROLL_PLUGIN_LENT_H

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "eggroll/error.h"

namespace eggroll {

// A plugin that writes outside its array would damage the host's memory, which ends the process much later, if at all,
// and names nobody. So it gets a copy between guards, which goes back once the guards are seen to be whole. Byte-sized
// elements start at an odd address: no plugin may count on more.
template <class T>
class Lent {
 public:
  // values: (count), the host's.
  Lent(T* values, size_t count)
      : values_(values),
        count_(count),
        memory_(std::make_unique_for_overwrite<uint8_t[]>(kOffset + count * sizeof(T) + kGuard)) {
    std::memset(memory_.get(), kGuardByte, kOffset);
    std::memset(end(), kGuardByte, kGuard);
    if (count > 0) std::memcpy(data(), values, count * sizeof(T));
  }

  T* data() { return reinterpret_cast<T*>(memory_.get() + kOffset); }

  // Throws Error that names the plugin and the function where a guard was written.
  void give_back(const std::string& who, const char* what, const char* function) {
    const auto is_guard = [](uint8_t byte) { return byte == kGuardByte; };
    if (!std::all_of(memory_.get(), memory_.get() + kOffset, is_guard) ||
        !std::all_of(end(), end() + kGuard, is_guard)) {
      throw Error(
          fmt::format("{} wrote outside the buffer of {} {} in {}(); fix the plugin", who, count_, what, function));
    }
    if (count_ > 0) std::memcpy(values_, data(), count_ * sizeof(T));
  }

 private:
  static constexpr ptrdiff_t kGuard = 1024;
  static constexpr ptrdiff_t kOffset = sizeof(T) == 1 ? kGuard + 1 : kGuard;
  static constexpr uint8_t kGuardByte = 0xA5;
  uint8_t* end() { return memory_.get() + kOffset + count_ * sizeof(T); }

  T* values_;
  size_t count_;
  std::unique_ptr<uint8_t[]> memory_;  // not cleared: tables have hundreds of megabytes
};

}  // namespace eggroll

#endif
