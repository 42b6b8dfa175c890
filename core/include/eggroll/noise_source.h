// noise.h with its tables in memory: the host and the backends get noise values from here.
#ifndef EGGROLL_NOISE_SOURCE_H
#define EGGROLL_NOISE_SOURCE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "eggroll/error.h"
#include "eggroll/noise.h"

namespace eggroll {

// It does not change once it is made, so threads may share it.
class NoiseSource {
 public:
  // With source `table` it holds 2^table_log2 bytes. Throws Error for a source, distribution or size that noise.h does
  // not define.
  explicit NoiseSource(const egg_noise& noise) : noise_(checked(noise)), values_(noise_table(noise.distribution)) {
    if (noise_.source != EGG_NOISE_TABLE) return;
    const uint32_t size = UINT32_C(1) << noise_.table_log2;
    table_.resize(size);
    expand(egg_noise_key(noise_.seed, EGG_STEP_TABLE, 0, 0, 0, 0), table_.data(), size);
  }

  // Values 0 to count - 1.
  void fill(uint64_t step, uint32_t pair, uint32_t tensor, uint32_t side, uint32_t rank, int8_t* out,
            uint32_t count) const {
    const uint64_t key = egg_noise_key(noise_.seed, step, pair, tensor, side, rank);
    if (noise_.source != EGG_NOISE_TABLE) {
      expand(key, out, count);
      return;
    }
    const uint32_t half = UINT32_C(1) << (noise_.table_log2 - 1);
    uint32_t run = 0;
    for (uint32_t done = 0; done < count; done += run) {
      const uint32_t from = egg_noise_table_index(key, side, done, noise_.table_log2);
      run = std::min(count - done, half - (from & (half - 1)));
      std::copy_n(table_.data() + from, run, out + done);
    }
  }

  int8_t value(uint64_t step, uint32_t pair, uint32_t tensor, uint32_t side, uint32_t rank, uint32_t index) const {
    const uint64_t key = egg_noise_key(noise_.seed, step, pair, tensor, side, rank);
    if (noise_.source != EGG_NOISE_TABLE) return values_[egg_noise_byte(key, index)];
    return table_[egg_noise_table_index(key, side, index, noise_.table_log2)];
  }

  // The shared table, 2^table_log2 values; empty for another source.
  const std::vector<int8_t>& table() const { return table_; }

 private:
  static const egg_noise& checked(const egg_noise& noise) {
    if (noise.source != EGG_NOISE_COUNTER && noise.source != EGG_NOISE_TABLE) {
      refuse("source", noise.source, "0 (counter) or 1 (table)");
    }
    if (noise.distribution < EGG_NOISE_GAUSSIAN || noise.distribution > EGG_NOISE_RADEMACHER) {
      refuse("distribution", noise.distribution, "0 (gaussian), 1 (uniform) or 2 (rademacher)");
    }
    if (noise.source == EGG_NOISE_TABLE && (noise.table_log2 < 12 || noise.table_log2 > 30)) {
      refuse("table_log2", noise.table_log2, "12 to 30");
    }
    return noise;
  }

  [[noreturn]] static void refuse(const char* what, int32_t value, const char* expected) {
    throw setting_error(what, std::string("the noise's ") + what + " is " + std::to_string(value) + ", expected " +
                                  expected + "; build host and plugin from the same headers");
  }

  void expand(uint64_t key, int8_t* out, uint32_t count) const {
    uint32_t word = 0;
    for (uint32_t i = 0; i < count; ++i) {
      word = (i & 3) == 0 ? egg_noise_word(key, i >> 2) : word >> 8;
      out[i] = values_[word & 255u];
    }
  }

  egg_noise noise_;
  NoiseTable values_;
  std::vector<int8_t> table_;
};

}  // namespace eggroll

#endif
