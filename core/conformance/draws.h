// Random numbers that are the same on every machine.
#ifndef EGGROLL_CONFORMANCE_DRAWS_H
#define EGGROLL_CONFORMANCE_DRAWS_H

#include <cstddef>
#include <cstdint>

#include "eggroll/noise.h"

namespace eggroll {

class Draws {
 public:
  // Every (seed, stream) is a sequence of its own.
  explicit Draws(uint64_t seed, uint32_t stream = 0) : key_(egg_noise_key(seed, EGG_STEP_DATA, stream, 0, 0, 0)) {}

  uint32_t word() { return egg_noise_word(key_, count_++); }
  uint64_t wide() {
    const uint64_t high = word();
    return (high << 32) | word();
  }
  uint32_t below(uint32_t limit) { return word() % limit; }
  bool one_in(uint32_t n) { return below(n) == 0; }

  template <class T, size_t kCount>
  const T& pick(const T (&list)[kCount]) {
    return list[below(static_cast<uint32_t>(kCount))];
  }
  template <class List>
  const auto& pick_of(const List& list) {
    return list[below(static_cast<uint32_t>(list.size()))];
  }

  // Mostly any number in [-127, 127], often -127 or 127.
  int8_t value() {
    const uint32_t w = word();
    if (w % 8 == 0) return 127;
    if (w % 8 == 1) return -127;
    return static_cast<int8_t>(static_cast<int32_t>((w >> 8) % 255) - 127);
  }

 private:
  uint64_t key_;
  uint32_t count_ = 0;
};

}  // namespace eggroll

#endif
