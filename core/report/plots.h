// The figures of a report as gnuplot scripts for SVG.
#ifndef EGGROLL_REPORT_PLOTS_H
#define EGGROLL_REPORT_PLOTS_H

#include <string>
#include <utility>
#include <vector>

namespace eggroll {

struct BandPoint {
  double x = 0.0;
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

struct Band {
  std::string label;
  std::vector<BandPoint> points;
};

// Bits against member tokens, a band for each configuration, and a dashed line for each yardstick.
std::string curves_script(const std::string& unit, const std::vector<Band>& bands,
                          const std::vector<std::pair<std::string, double>>& yardsticks);

// A row for each label: a point with its interval, beside a line at 0.
std::string intervals_script(const std::string& x_label, const std::vector<std::pair<std::string, BandPoint>>& rows);

// Points over the standard deviations of a threshold, beside the tails of the normal distribution.
std::string votes_script(const std::vector<std::pair<double, double>>& points);

struct PointLine {
  std::string label;
  std::vector<std::pair<double, double>> points;  // by x
};

// Both axes logarithmic.
std::string speed_script(const std::vector<PointLine>& lines);

struct TimeBar {
  std::string label;
  double forward = 0.0;  // shares of the run's time
  double rest = 0.0;     // of its steps
  double outside = 0.0;  // its steps
};
std::string time_script(const std::vector<TimeBar>& bars);

}  // namespace eggroll

#endif
