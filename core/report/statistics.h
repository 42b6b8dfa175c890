// What a report says of several runs: means with intervals, shares, slopes. Intervals are of 95 %.
#ifndef EGGROLL_REPORT_STATISTICS_H
#define EGGROLL_REPORT_STATISTICS_H

#include <cstddef>
#include <optional>
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
  std::optional<Interval> interval;  // Student's t; absent where n is below 2
};

// Of at least one value.
Mean mean_of(const std::vector<double>& values);

bool overlap(const Interval& a, const Interval& b);

// Linear between the two nearest values of the sorted ones; q from 0 to 1, of at least one value.
double quantile(std::vector<double> values, double q);

// Wilson's interval of the share that so many of n are; n at least 1.
Interval wilson(size_t successes, size_t n);

// The least-squares slope of log y over log x. Absent where fewer than two x differ, or a number is not above 0.
std::optional<double> log_log_slope(const std::vector<std::pair<double, double>>& points);

// The share of chance votes that lie beyond this many standard deviations on either side.
double normal_tails(double deviations);

}  // namespace eggroll

#endif
