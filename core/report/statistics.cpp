#include "report/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace eggroll {
namespace {

constexpr double kUpperTail = 0.025;  // of 95 %

}  // namespace

Mean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Mean result;
  result.n = values.size();
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 2) return result;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const double t = boost::math::quantile(boost::math::complement(boost::math::students_t(n - 1.0), kUpperTail));
  const double half = t * std::sqrt(squares / (n - 1.0) / n);
  result.interval = Interval{result.mean - half, result.mean + half};
  return result;
}

bool overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

double quantile(std::vector<double> values, double q) {
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), nth, values.end());
  const double low = *nth;
  if (below + 1 == values.size()) return low;
  const double high = *std::min_element(nth + 1, values.end());
  return low + (place - static_cast<double>(below)) * (high - low);
}

Interval wilson(size_t successes, size_t n) {
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), kUpperTail));
  const auto count = static_cast<double>(n);
  const double share = static_cast<double>(successes) / count;
  const double centre = share + z * z / (2.0 * count);
  const double half = z * std::sqrt(share * (1.0 - share) / count + z * z / (4.0 * count * count));
  const double scale = 1.0 + z * z / count;
  return {std::max(0.0, (centre - half) / scale), std::min(1.0, (centre + half) / scale)};
}

std::optional<double> log_log_slope(const std::vector<std::pair<double, double>>& points) {
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (const auto& [x, y] : points) {
    if (!(x > 0.0 && y > 0.0)) return std::nullopt;
    mean_x += std::log(x) / static_cast<double>(points.size());
    mean_y += std::log(y) / static_cast<double>(points.size());
  }
  double xx = 0.0;
  double xy = 0.0;
  bool differ = false;
  for (const auto& [x, y] : points) {
    differ = differ || x != points.front().first;
    xx += (std::log(x) - mean_x) * (std::log(x) - mean_x);
    xy += (std::log(x) - mean_x) * (std::log(y) - mean_y);
  }
  return differ ? std::optional(xy / xx) : std::nullopt;
}

double normal_tails(double deviations) { return std::erfc(deviations / std::sqrt(2.0)); }

}  // namespace eggroll
