// How much work a command buffer may have. macOS stops command buffers that keep the screen waiting, so none should
// take longer than kMostSeconds. The time of earlier work on the GPU predicts the time of the next work.
#ifndef EGGROLL_METAL_PACE_H
#define EGGROLL_METAL_PACE_H

#include <algorithm>
#include <cstdint>
#include <string>

#include "device.h"

namespace eggroll::metal {

constexpr double kMostSeconds = 0.05;
// The time that a command buffer should take. It is shorter than the limit, because units of one kind of
// work do not all take equally long.
constexpr double kTargetSeconds = 0.03;
// A command buffer has at most this many times the work of the last one, whatever that one took.
constexpr uint64_t kMostGrowth = 8;
// Refusals one after another before a call gives up.
constexpr uint32_t kMostRefusals = 16;

// The pace of one kind of work, in units of that work.
class Pace {
 public:
  // first: units of the first command buffer, whose time nothing predicts.
  explicit Pace(uint64_t first) : units_(first) {}

  // Units of the next command buffer, at least one.
  uint64_t units() const { return std::max<uint64_t>(1, units_); }

  void took(uint64_t units, double seconds) {
    refusals_ = 0;
    // A command buffer of far fewer units mostly shows the time of a launch.
    if (4 * units < units_ && seconds < kTargetSeconds) return;
    const double most = static_cast<double>(units) * static_cast<double>(kMostGrowth);
    const double fit = static_cast<double>(units) * kTargetSeconds / std::max(seconds, 1e-9);
    units_ = static_cast<uint64_t>(std::min(most, fit));
  }

  // The system refused a command buffer of this number of units. Throws Error if it has refused too many.
  void refused(uint64_t units, const Refused& why) {
    if (++refusals_ > kMostRefusals) {
      throw Error(
          "the system stopped the GPU's work " + std::to_string(refusals_) + " times in a row (" + why.what() +
              "); close what else uses the GPU, or let the display sleep, and resume the run, or take another backend",
          EGG_ERROR_DEVICE);
    }
    units_ = units / 2;
  }

 private:
  uint64_t units_;
  uint32_t refusals_ = 0;
};

}  // namespace eggroll::metal

#endif
