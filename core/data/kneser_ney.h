// The bits that exact n-gram counts need for a held-out part: a baseline for models that read the last bytes.
#ifndef EGGROLL_DATA_KNESER_NEY_H
#define EGGROLL_DATA_KNESER_NEY_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eggroll {

inline constexpr uint32_t kLongestContext = 7;  // bytes; with the byte after them they fill a word of 64 bits

// Bits per byte of held_out under interpolated Kneser-Ney smoothing with three discounts ("modified"), for contexts of
// the last 1, 2, ... 7 bytes; [k - 1] is that of k bytes.
//
// The model of k bytes counts how often a byte follows a context of k bytes. For a shorter context it counts how many
// contexts that are longer by one byte end in it and have the byte after them. Below the empty context all 256 bytes
// are equally likely. Each length has three discounts: for counts of 1, of 2, and of 3 or more. They follow from the
// numbers of counts of 1 to 4; a discount outside (0, count) is replaced by 0.75. The shorter context gets what the
// discounts take. A separator is a byte like any other. Zero bytes stand before a text.
//
// train and held_out hold at least a byte. Takes about 0.06 us for each byte of train. Memory: 8 bytes for each time
// that the commonest pair of bytes occurs, or 64 MiB if that is more, and about 100 bytes for each distinct sequence of
// eight bytes in held_out. Empty if `stop` was set meanwhile.
std::optional<std::array<double, kLongestContext>> kneser_ney_bits(std::span<const std::byte> train,
                                                                   std::span<const std::byte> held_out,
                                                                   const std::atomic<bool>& stop);

}  // namespace eggroll

#endif
