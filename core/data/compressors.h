// The sizes of a text that the machine's compressors have packed.
#ifndef EGGROLL_DATA_COMPRESSORS_H
#define EGGROLL_DATA_COMPRESSORS_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eggroll {

// Sizes in bytes; absent if there is no such program, or if it failed or took more than 20 s.
struct CompressedSizes {
  std::optional<uint64_t> xz;    // xz -9e
  std::optional<uint64_t> ppmd;  // PPMd of order 16, of 7-Zip
};

// Runs the programs on the text, one after the other. If no temporary file can be written, no size is known.
CompressedSizes compressed_sizes(std::span<const std::byte> text, const std::atomic<bool>& stop);

}  // namespace eggroll

#endif
