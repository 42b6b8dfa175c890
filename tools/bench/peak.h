// Register-only peaks: the int8 multiply-add loops of an instruction set's micro-kernels, if loads, stores and all else
// were free. Each loop is in a file with its own flags, and is called only if the processor has its instructions. The
// loops' bodies are assembly, so that no compiler can fold the products or move a sum to memory.
#ifndef EGGROLL_BENCH_PEAK_H
#define EGGROLL_BENCH_PEAK_H

#include <cstdint>
#include <cstring>
#include <string>

namespace eggroll::bench {

struct Peak {
  const char* name;
  uint64_t macs_per_round;
  // Does that many rounds of products 1 * 1 and returns the sum of all accumulators: rounds * macs_per_round if every
  // product was really made. At most kPeakRounds rounds, so that no accumulator overflows.
  int64_t (*run)(uint64_t rounds);
};

inline constexpr uint64_t kPeakRounds = uint64_t{1} << 24;

// The peak that a backend's throughput is held against on this processor: amx: tdpbusd; avx512: vpdpbusd zmm; avx2:
// vpmaddubsw, vpmaddwd, vpaddd, or vpdpbusd ymm where the processor has AVX-VNNI; neon: smmla, sdot, or smull and
// sadalp; any other: the avx2 or neon one if it runs here, else scalar.
const Peak& peak_of(const std::string& backend);

// The sum of all int32 lanes.
template <class Vector, size_t kCount>
int64_t sum_of_lanes(const Vector (&vectors)[kCount]) {
  int32_t lanes[kCount * (sizeof(Vector) / sizeof(int32_t))];
  std::memcpy(lanes, vectors, sizeof(lanes));
  int64_t total = 0;
  for (const int32_t lane : lanes) total += lane;
  return total;
}

// Defined by the files with flags of their own, and only where the compiler makes code for that processor family.
extern const Peak kPeakAmx;
extern const Peak kPeakAvx512Vnni;
extern const Peak kPeakAvxVnni;
extern const Peak kPeakMaddubs;
extern const Peak kPeakSmmla;
extern const Peak kPeakSdot;
extern const Peak kPeakSmull;

}  // namespace eggroll::bench

#endif
