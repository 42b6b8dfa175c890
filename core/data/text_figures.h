// Figures of a text that are found while its run trains, because they take seconds.
#ifndef EGGROLL_DATA_TEXT_FIGURES_H
#define EGGROLL_DATA_TEXT_FIGURES_H

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

#include "data/dataset.h"

namespace eggroll {

// Longer parts are not measured.
inline constexpr uint64_t kMostTrainBytes = uint64_t{256} << 20;
inline constexpr uint64_t kMostHeldOutBytes = uint64_t{16} << 20;

inline constexpr std::array<uint32_t, 3> kOverlapWindows = {32, 64, 128};  // bytes

// Bits are per unit of the whole held-out part.
struct TextFigures {
  std::map<uint32_t, double> kneser_ney;  // by bytes of context; see data/kneser_ney.h
  double counting_seconds = 0.0;          // of processor time that they took
  std::optional<double> xz;               // of the held-out part alone; see data/compressors.h
  std::optional<double> ppmd;
  std::map<uint32_t, double> overlap;  // by bytes of the window, if the held-out part has one; see window_overlap.h
};

// Whether the dataset is text of bytes (data/byte_text.h) that is not too long.
bool has_text_figures(const Dataset& dataset);

// Measures a dataset that has such figures. A vocabulary's tokens are read as the bytes that they stand for, which are
// kept in memory meanwhile. Setting `stop` makes the result empty.
std::optional<TextFigures> measure_text(const Dataset& dataset, const std::atomic<bool>& stop);

}  // namespace eggroll

#endif
