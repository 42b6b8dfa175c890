// Measures the share of a held-out text that the training text also has.
#ifndef EGGROLL_DATA_WINDOW_OVERLAP_H
#define EGGROLL_DATA_WINDOW_OVERLAP_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eggroll {

// The share of the windows of `size` bytes of held_out, one from each position, that occur anywhere in train: all are
// looked for, and every one that is found was compared byte by byte. Takes some nanoseconds a byte of train and about
// 35 bytes of memory a byte of held_out, which has less than 2^31 bytes. Empty if held_out is shorter than a window,
// or `stop` was set meanwhile.
std::optional<double> window_overlap(std::span<const std::byte> train, std::span<const std::byte> held_out, size_t size,
                                     const std::atomic<bool>& stop);

}  // namespace eggroll

#endif
