// Packs fitness of -1, 0 and +1 for the way between processes: five pairs in a byte, 1.6 bits for each pair.
#ifndef EGGROLL_PROCESSES_PACKING_H
#define EGGROLL_PROCESSES_PACKING_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace eggroll {

inline constexpr size_t kTritsPerByte = 5;  // 3^5 = 243

inline constexpr uint64_t packed_trits(uint64_t count) { return (count + kTritsPerByte - 1) / kTritsPerByte; }

// values: each -1, 0 or 1. Value i is digit i % 5 of byte i / 5, of weight 3^(i % 5), as value + 1; digits past the end
// are 0. Appends packed_trits(values.size()) bytes.
void pack_trits(std::span<const int8_t> values, std::vector<uint8_t>& bytes);

// Throws Error if a byte is above 242. bytes: packed_trits(values.size()) bytes.
void unpack_trits(std::span<const uint8_t> bytes, std::span<int8_t> values);

}  // namespace eggroll

#endif
