// The figures of a report as gnuplot scripts for SVG, PDF and PNG.
#ifndef EGGROLL_REPORT_PLOTS_H
#define EGGROLL_REPORT_PLOTS_H

#include <string>
#include <utility>
#include <vector>

#include "record/plot_frame.h"

namespace eggroll {

// Explains the bars or bands of means: "mean over the seeds; bar: its 95 % interval".
std::string means_title(const std::vector<Band>& bands, const std::string& what);

// A row for each label: a point with its interval, and a line at 0.
std::string intervals_script(const std::string& title, const std::string& x_label,
                             const std::vector<std::pair<std::string, BandPoint>>& rows);

// A metric against the values of one axis, a line for each value of another; at most kLineStyles lines.
struct Interaction {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::string lines_label;
  std::vector<std::string> names;  // of the values; x is a place among them, from 0. Empty: x is a number itself
  std::vector<Band> lines;
};
std::string interaction_script(const Interaction& interaction);

// Lines across vertical axes, one for each setting.
struct ParallelAxis {
  std::string name;
  std::vector<std::string> values;  // from the bottom to the top; each once
  bool as_listed = false;           // at equal distances, though they are many numbers
};
struct ParallelLine {
  std::vector<std::string> values;  // of the axes
  size_t group = 0;
};
// groups: names for the key; the lines of later ones are drawn over those of earlier ones.
std::string parallel_script(const std::string& title, const std::vector<ParallelAxis>& axes,
                            const std::vector<ParallelLine>& lines, const std::vector<std::string>& groups);

// Points over the standard deviations of a threshold, with the tails of the normal distribution.
std::string votes_script(const std::string& title, const std::vector<std::pair<double, double>>& points);

struct PointLine {
  std::string label;
  std::vector<std::pair<double, double>> points;  // by x
};

// Member tokens per second against the population; at most kLineStyles lines.
std::string speed_script(const std::string& title, const std::vector<PointLine>& lines);

struct TimeBar {
  std::string label;
  double forward = 0.0;  // shares of the run's time
  double rest = 0.0;     // of its steps
  double outside = 0.0;  // its steps
};
std::string time_script(const std::string& title, const std::vector<TimeBar>& bars);

}  // namespace eggroll

#endif
