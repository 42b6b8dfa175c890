#include "report/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "system/number_text.h"

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
  result.error = std::sqrt(squares / (n - 1.0) / n);
  const double half = t * result.error;
  result.interval = Interval{result.mean - half, result.mean + half};
  return result;
}

Mean mean_over_seeds(const std::vector<OfSeed>& values) {
  std::map<uint64_t, std::vector<double>> seeds;
  for (const auto& [seed, value] : values) seeds[seed].push_back(value);
  std::vector<double> means;
  for (const auto& [seed, own] : seeds) means.push_back(mean_of(own).mean);
  return mean_of(means);
}

namespace {

std::string with_count(const Mean& mean, const std::string& count) {
  if (!mean.interval) return fmt::format("{} ({}, no interval)", text_of(mean.mean), count);
  const auto& [low, high] = *mean.interval;
  const Decimals text({mean.mean, low, high});
  return fmt::format("{} (95 % interval {} to {}, {})", text(mean.mean), text(low), text(high), count);
}

}  // namespace

std::string text_of(const Mean& mean, const std::string& of_what) {
  return with_count(mean, count_text(mean.n, of_what));
}

std::string text_of(const Mean& mean, size_t values, const std::string& of_what) {
  const std::string count = count_text(values, of_what);
  return with_count(mean, mean.n == values ? count : count_text(mean.n, "seed") + " of " + count);
}

double p_above(const Mean& mean, double border) {
  const double distance = mean.mean - border;
  if (mean.error == 0.0) return distance > 0.0 ? 0.0 : 1.0;
  const boost::math::students_t distribution(static_cast<double>(mean.n) - 1.0);
  return boost::math::cdf(boost::math::complement(distribution, distance / mean.error));
}

double p_below(const Mean& mean, double border) {
  const double distance = border - mean.mean;
  if (mean.error == 0.0) return distance > 0.0 ? 0.0 : 1.0;
  const boost::math::students_t distribution(static_cast<double>(mean.n) - 1.0);
  return boost::math::cdf(boost::math::complement(distribution, distance / mean.error));
}

double p_unlike(const Mean& mean, double border) {
  return std::min(1.0, 2.0 * std::min(p_above(mean, border), p_below(mean, border)));
}

std::optional<size_t> values_to_decide(const Mean& mean, size_t most) {
  constexpr double kOften = 0.8;
  const double z = boost::math::quantile(boost::math::normal(), kOften);
  const double deviation = mean.error * std::sqrt(static_cast<double>(mean.n));
  for (size_t n = std::max<size_t>(2, mean.n + 1); n <= most; ++n) {
    const auto count = static_cast<double>(n);
    const double t = boost::math::quantile(boost::math::complement(boost::math::students_t(count - 1.0), kUpperTail));
    if ((t + z) * deviation <= std::abs(mean.mean) * std::sqrt(count)) return n;
  }
  return std::nullopt;
}

double binomial_p(size_t successes, size_t n, double share) {
  const boost::math::binomial distribution(static_cast<double>(n), share);
  const auto k = static_cast<double>(successes);
  const double at_most = boost::math::cdf(distribution, k);
  const double at_least = successes == 0 ? 1.0 : boost::math::cdf(boost::math::complement(distribution, k - 1.0));
  return std::min(1.0, 2.0 * std::min(at_most, at_least));
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0.0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, p_values[order[i]] * static_cast<double>(order.size() - i));
    corrected[order[i]] = std::min(1.0, largest);
  }
  return corrected;
}

bool overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

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
