// A pair's difference in root mean squares of all, cut at +-clip; clip becomes 64.
#include <array>
#include <cmath>
#include <limits>

#include "train/fitness_forms.h"

namespace eggroll {
namespace {

constexpr int32_t kClippedScale = 64;

int8_t value_of(int64_t d, double rms, double clip) {
  return quantised(std::clamp(standardised(d, rms), -clip, clip) * kClippedScale / clip);
}

// value_of without its divisions, which take most of its time. It is odd and never falls, so the least magnitude that
// has each value says it all.
class Values {
 public:
  static constexpr double kMost = 4503599627370496.0;  // 2^52, up to which doubles hold halves

  // rms: not 0; rms * clip: kMost at most.
  Values(double rms, double clip) : per_unit_(kClippedScale / (rms * clip)) {
    for (int32_t value = 1; value <= kClippedScale; ++value) {
      auto d = static_cast<int64_t>((value - 0.5) / per_unit_);
      while (d > 0 && value_of(d - 1, rms, clip) >= value) --d;
      while (value_of(d, rms, clip) < value) ++d;
      least_[static_cast<size_t>(value)] = static_cast<uint64_t>(d);
    }
    least_.back() = std::numeric_limits<uint64_t>::max();
  }

  int8_t of(int64_t d) const {
    const uint64_t magnitude = d < 0 ? uint64_t{0} - static_cast<uint64_t>(d) : static_cast<uint64_t>(d);
    // One off at most: this product rounds otherwise than the quotients do.
    const double near = std::min(static_cast<double>(magnitude) * per_unit_, double{kClippedScale});
    auto value = static_cast<size_t>(near + 0.5);
    value += magnitude >= least_[value + 1] ? size_t{1} : size_t{0};
    value -= magnitude < least_[value] ? size_t{1} : size_t{0};
    const auto number = static_cast<int32_t>(value);
    return static_cast<int8_t>(d < 0 ? -number : number);
  }

 private:
  double per_unit_;
  std::array<uint64_t, kClippedScale + 2> least_{};  // by value; of 0: 0
};

}  // namespace

FitnessForm fitness_forms::zscore(Settings& settings) {
  FitnessForm form;
  form.values = [clip = settings.real("clip", 0.1, 100.0)](std::span<const int64_t> d, std::span<int8_t> fitness,
                                                           Threads* threads) {
    const double rms = root_mean_square(d, threads);
    if (rms == 0.0 || rms * clip > Values::kMost) {
      return set_each(d, fitness, threads, [clip, rms](int64_t x) { return value_of(x, rms, clip); });
    }
    const Values values(rms, clip);
    set_each(d, fitness, threads, [&values](int64_t x) { return values.of(x); });
  };
  return form;
}

}  // namespace eggroll
