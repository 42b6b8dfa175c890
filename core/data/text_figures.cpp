#include "data/text_figures.h"

#include <ctime>
#include <string>

#include "data/byte_text.h"
#include "data/compressors.h"
#include "data/kneser_ney.h"
#include "data/window_overlap.h"

namespace eggroll {
namespace {

uint64_t byte_count(const Dataset& dataset, const Tokens& tokens) {
  return dataset.vocabulary ? dataset.units(tokens) : tokens.size();
}

// The processor time of the calling thread only; other work on the machine does not count.
double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

bool has_text_figures(const Dataset& dataset) {
  return is_byte_text(dataset) && byte_count(dataset, dataset.train) <= kMostTrainBytes &&
         byte_count(dataset, dataset.valid) <= kMostHeldOutBytes;
}

std::optional<TextFigures> measure_text(const Dataset& dataset, const std::atomic<bool>& stop) {
  std::string own_train;
  std::string own_held_out;
  const std::span<const std::byte> train = bytes_of(dataset, dataset.train, own_train);
  const std::span<const std::byte> held_out = bytes_of(dataset, dataset.valid, own_held_out);
  TextFigures figures;

  for (const uint32_t size : kOverlapWindows) {
    if (const auto share = window_overlap(train, held_out, size, stop)) figures.overlap[size] = *share;
  }
  const double began = processor_seconds();
  const auto counted = kneser_ney_bits(train, held_out, stop);
  if (!counted) return std::nullopt;
  for (uint32_t bytes = 1; bytes <= kLongestContext; ++bytes) figures.kneser_ney[bytes] = (*counted)[bytes - 1];
  figures.counting_seconds = processor_seconds() - began;

  const CompressedSizes sizes = compressed_sizes(held_out, stop);
  if (stop.load()) return std::nullopt;
  const auto bits = [&](const std::optional<uint64_t>& size) {
    return size ? std::optional(8.0 * static_cast<double>(*size) / static_cast<double>(held_out.size())) : std::nullopt;
  };
  figures.xz = bits(sizes.xz);
  figures.ppmd = bits(sizes.ppmd);
  return figures;
}

}  // namespace eggroll
