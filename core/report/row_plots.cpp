#include <fmt/format.h>

#include <algorithm>

#include "record/gnuplot.h"
#include "record/plot_frame.h"
#include "report/plots.h"

namespace eggroll {
namespace {

constexpr double kRowHeight = 24.0;  // pixels

// A figure with a row for each label, the first on top. Long labels make it wider.
std::string rows_header(const std::string& title, double height, const std::vector<std::string>& labels) {
  constexpr size_t kMost = 90;        // characters
  constexpr double kCharacter = 7.6;  // pixels, about
  constexpr double kWidth = 0.85;     // of gnuplot's character, which is wider
  constexpr double kBars = 440.0;     // pixels for the drawing next to the labels
  size_t longest = 0;
  std::string tics;
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string label = shortened(labels[i], kMost);
    longest = std::max(longest, label.size());
    tics += fmt::format("{}{} {}", i > 0 ? ", " : "", tic_text(label), i);
  }
  const auto characters = static_cast<double>(longest);
  return plot_header(title, height + kRowHeight * static_cast<double>(labels.size()),
                     std::max(kPlotWidth, kBars + kCharacter * characters)) +
         fmt::format("set lmargin {:.1f}\nset rmargin 4\nset ytics ({})\nset yrange [{}:-0.6]\nset grid noytics\n",
                     kWidth * characters + 2.0, tics, static_cast<double>(labels.size()) - 0.4);
}

}  // namespace

std::string intervals_script(const std::string& title, const std::string& x_label,
                             const std::vector<std::pair<std::string, BandPoint>>& rows) {
  std::string data = "$rows << END\n";
  std::vector<std::string> labels;
  std::vector<double> ends = {0.0};
  for (size_t i = 0; i < rows.size(); ++i) {
    const BandPoint& p = rows[i].second;
    data += fmt::format("{} {} {} {}\n", p.mean, i, p.low, p.high);
    labels.push_back(rows[i].first);
    ends.insert(ends.end(), {p.low, p.high});
  }
  const Frame frame = frame_of(ends).with_margin(0.05);
  return rows_header(title, 120.0, labels) + data + "END\n" + axis_range('x', frame, false) + linear_tics('x', frame) +
         fmt::format(
             "set xlabel {}\nset arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2\n"
             "plot $rows using 1:2:3:4 with xerrorbars lc rgb '{}' lw 2 pt 7 ps 0.7 notitle\n",
             gnuplot_text(x_label), line_colour(0));
}

std::string time_script(const std::string& title, const std::vector<TimeBar>& bars) {
  std::string data = "$bars << END\n";
  std::vector<std::string> labels;
  for (size_t i = 0; i < bars.size(); ++i) {
    const double step = bars[i].forward + bars[i].rest;
    data += fmt::format("{} {} {} {}\n", i, 100 * bars[i].forward, 100 * step, 100 * (step + bars[i].outside));
    labels.push_back(bars[i].label);
  }
  const std::string script = rows_header(title, 170.0, labels) + data +
                             "END\nset xlabel 'share of the wall time (%)'\n" +
                             "set xrange [0:100]\nset style fill solid 1 noborder\n" + key_below("");
  const auto boxes = [](int from, int to, const std::string& fill, const char* name) {
    const std::string left = from == 0 ? "(0)" : fmt::format("{}", from);
    return fmt::format("$bars using (0):1:{}:{}:($1-0.35):($1+0.35) with boxxyerror fc rgb '{}' title '{}'", left, to,
                       fill, name);
  };
  return script + "plot " + boxes(0, 2, line_colour(0), "forward passes") + ", " +
         boxes(2, 3, line_colour(1), "rest of the steps: votes, rule, files") + ", " +
         boxes(3, 4, "#b9c0c7", "outside the steps: evaluation, checkpoints, monitor, start") + "\n";
}

}  // namespace eggroll
