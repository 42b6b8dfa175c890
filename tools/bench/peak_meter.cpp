#include "bench/peak_meter.h"

#include <fmt/format.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "eggroll/error.h"

namespace eggroll::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The backend's idle workers look for work for a while before they sleep, so the first milliseconds do not count.
constexpr std::chrono::milliseconds kSettling{5};
constexpr std::chrono::milliseconds kSlice{30};
constexpr std::chrono::milliseconds kApart{250};
constexpr uint64_t kRounds = 2000;  // between two readings of the clock: some microseconds
static_assert(kRounds <= kPeakRounds);

// GMAC/s of the calling thread.
double measure(const Peak& peak) {
  const Clock::time_point settled = Clock::now() + kSettling;
  while (Clock::now() < settled) peak.run(kRounds);
  const Clock::time_point began = Clock::now();
  Clock::time_point now = began;
  uint64_t macs = 0;
  while (now < began + kSlice) {
    peak.run(kRounds);
    macs += kRounds * peak.macs_per_round;
    now = Clock::now();
  }
  return static_cast<double>(macs) / std::chrono::duration<double>(now - began).count() / 1e9;
}

}  // namespace

PeakMeter::PeakMeter(const Peak& peak, int threads) : peak_(peak), threads_(threads) {
  const auto expected = static_cast<int64_t>(kRounds * peak.macs_per_round);
  if (const int64_t made = peak.run(kRounds); made != expected) {
    throw Error(fmt::format("the peak loop '{}' made {} products, expected {}; mend it", peak.name, made, expected));
  }
}

void PeakMeter::take_slice() {
  std::vector<double> rates(static_cast<size_t>(threads_));
  std::atomic<int> missing{threads_};
  const auto work = [&](double& rate) {
    --missing;
    while (missing > 0) std::this_thread::yield();
    rate = measure(peak_);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < rates.size(); ++i) others.emplace_back([&, i] { work(rates[i]); });
  work(rates[0]);
  for (std::thread& other : others) other.join();
  sum_ += std::accumulate(rates.begin(), rates.end(), 0.0);
  ++slices_;
  last_ = Clock::now();
}

void PeakMeter::between_iterations() {
  if (Clock::now() - last_ > kApart) take_slice();
}

void PeakMeter::reset() {
  sum_ = 0.0;
  slices_ = 0;
}

}  // namespace eggroll::bench
