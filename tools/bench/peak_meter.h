// The peak of several threads at once, measured in slices between the iterations of a benchmark.
#ifndef EGGROLL_BENCH_PEAK_METER_H
#define EGGROLL_BENCH_PEAK_METER_H

#include <chrono>

#include "bench/peak.h"

namespace eggroll::bench {

class PeakMeter {
 public:
  // Throws Error if the peak's loop does not make the products that it counts.
  PeakMeter(const Peak& peak, int threads);

  const char* name() const { return peak_.name; }
  // Called before the first iteration and after the last one.
  void take_slice();
  // Called between iterations. Takes a slice if the last one is a quarter of a second old, so that the machine's
  // peak is known just before and just after every stretch of work.
  void between_iterations();
  // GMAC/s of all threads together, the mean of the slices since the last reset.
  double mean() const { return sum_ / slices_; }
  void reset();

 private:
  const Peak& peak_;
  int threads_;
  double sum_ = 0.0;
  int slices_ = 0;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace eggroll::bench

#endif
