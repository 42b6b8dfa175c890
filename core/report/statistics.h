// Statistics over several runs in a report: means with intervals, shares, slopes. Intervals are of 95 %.
#ifndef EGGROLL_REPORT_STATISTICS_H
#define EGGROLL_REPORT_STATISTICS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eggroll {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

struct Mean {
  double mean = 0.0;
  size_t n = 0;
  double error = 0.0;                // of the mean, its standard error; 0 if n is below 2
  std::optional<Interval> interval;  // Student's t; absent if n is below 2
};

// Takes at least one value.
Mean mean_of(const std::vector<double>& values);

struct OfSeed {
  uint64_t seed = 0;
  double value = 0.0;
};

// Takes at least one value. Each seed's values are averaged first: they share its data and initial weights, and so are
// not independent of one another. n counts seeds.
Mean mean_over_seeds(const std::vector<OfSeed>& values);

// "3.487 (95 % interval 3.466 to 3.508, 5 seeds)"; of one value "3.487 (1 seed, no interval)".
std::string text_of(const Mean& mean, const std::string& of_what);

// Text of a mean over seeds that is made of this many values: "..., 5 pairs)", or "..., 5 seeds of 10 pairs)".
std::string text_of(const Mean& mean, size_t values, const std::string& of_what);

// One-sided p-values of a mean of n values, n at least 2, by Student's t. p_above is small if the mean lies far above
// the border, p_below if it lies far below it.
double p_above(const Mean& mean, double border);
double p_below(const Mean& mean, double border);
// The two-sided p-value of a mean under the hypothesis that the true mean is the border.
double p_unlike(const Mean& mean, double border);

// The fewest values, more than the mean has and at most `most`, whose interval would leave out 0 in four of five
// samples if the mean and the deviation of its values are the true ones: (t + z) * deviation / sqrt(n) <= |mean|, with
// Student's t of the interval and the normal quantile z of 0.8.
std::optional<size_t> values_to_decide(const Mean& mean, size_t most);

// The two-sided p-value of `successes` in n, n at least 1, against a share: exact, twice the smaller tail.
double binomial_p(size_t successes, size_t n, double share);

// Holm's correction for the number of p-values: the hypotheses whose result is below 0.05 can be rejected together.
std::vector<double> holm(const std::vector<double>& p_values);

bool overlap(const Interval& a, const Interval& b);

// Wilson's interval of the share of `successes` in n; n at least 1.
Interval wilson(size_t successes, size_t n);

// The least-squares slope of log y over log x. Absent if fewer than two x differ, or a number is not above 0.
std::optional<double> log_log_slope(const std::vector<std::pair<double, double>>& points);

// The share of chance votes that lie beyond this many standard deviations on either side.
double normal_tails(double deviations);

}  // namespace eggroll

#endif
