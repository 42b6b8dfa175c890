#include "report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "record/gnuplot.h"

namespace eggroll {
namespace {

constexpr std::array<const char*, 8> kColours = {"#0b4f8a", "#d6761b", "#3f7d2c", "#b2182b",
                                                 "#6a51a3", "#17858f", "#8c5a2b", "#6b6b6b"};
constexpr double kRowHeight = 24.0;  // of a table drawn as a figure, in pixels

const char* colour(size_t i) { return kColours[i % kColours.size()]; }

std::string header(double height, double width = 900.0) {
  return fmt::format(
      "# Draw again with: gnuplot THIS.gp > THIS.svg\n"
      "set terminal svg size {:.0f},{:.0f} noenhanced font 'DejaVu Sans,13' background '#ffffff'\n"
      "set encoding utf8\n"
      "set border 3 lc rgb '#555555'\n"
      "set tics nomirror out tc rgb '#333333'\n"
      "set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1\n",
      width, height);
}

std::string shortened(const std::string& label, size_t most) {
  return label.size() <= most ? label : label.substr(0, most - 3) + "...";
}

// A figure with a row for each label, the first on top. Long labels make it wider.
std::string rows_header(double height, const std::vector<std::string>& labels) {
  constexpr size_t kUsual = 44;  // characters
  constexpr size_t kMost = 90;
  constexpr double kCharacter = 8.0;  // pixels
  size_t longest = kUsual;
  std::string tics;
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string label = shortened(labels[i], kMost);
    longest = std::max(longest, label.size());
    tics += fmt::format("{}{} {}", i > 0 ? ", " : "", gnuplot_text(label), i);
  }
  return header(height + kRowHeight * static_cast<double>(labels.size()),
                900.0 + kCharacter * static_cast<double>(longest - kUsual)) +
         fmt::format("set lmargin {}\nset ytics ({})\nset yrange [{}:-0.6]\nset grid noytics\n", longest, tics,
                     static_cast<double>(labels.size()) - 0.4);
}

}  // namespace

std::string curves_script(const std::string& unit, const std::vector<Band>& bands,
                          const std::vector<std::pair<std::string, double>>& yardsticks) {
  double right = 0.0;
  for (const Band& band : bands) right = std::max(right, band.points.back().x);
  // The frame fits the curves after their first tenth: at first they lie far above the rest.
  double low = bands.front().points.back().low;
  double high = low;
  for (const Band& band : bands) {
    for (const BandPoint& point : band.points) {
      low = std::min(low, point.low);
      if (point.x >= 0.1 * right) high = std::max(high, point.high);
    }
  }
  for (const auto& [name, bits] : yardsticks) {
    low = std::min(low, bits);
    high = std::max(high, bits);
  }
  const double margin = std::max(0.05 * (high - low), 1e-3);
  const auto [x_unit, x_unit_name] = gnuplot_unit(right);
  std::string script = header(430.0 + 20.0 * static_cast<double>(bands.size()));
  for (size_t i = 0; i < bands.size(); ++i) {
    script += fmt::format("$band{} << END\n", i);
    for (const BandPoint& p : bands[i].points)
      script += fmt::format("{} {} {} {}\n", p.x / x_unit, p.mean, p.low, p.high);
    script += "END\n";
  }
  script += fmt::format(
      "set xlabel 'member tokens{}'\nset ylabel {}\nset xrange [0:{}]\nset yrange [{}:{}]\n"
      "set rmargin 18\nset key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '\n",
      x_unit_name, gnuplot_text("held-out bits per " + unit), right / x_unit, low - margin, high + margin);
  std::string plots;
  // If two labels lie close, the lower one moves down.
  double last = high + margin;
  std::vector<std::pair<std::string, double>> sorted = yardsticks;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, bits] = sorted[i];
    const double y = std::min(bits, last - 0.05 * (high - low + 2.0 * margin));
    last = y;
    script += fmt::format("set label {} {} at graph 1.01, first {} left tc rgb '#555555'\n", i + 1,
                          gnuplot_text(fmt::format("{} {:.4g}", name, bits)), y);
    plots += fmt::format(", {} with lines lc rgb '#777777' lw 1.2 dt 2 notitle", bits);
  }
  // A band that leaves the frame is not drawn there: gnuplot would fill beside the frame.
  for (size_t i = 0; i < bands.size(); ++i) {
    plots += fmt::format(
        ", $band{} using 1:($4 <= {} ? $3 : NaN):4 with filledcurves fc rgb '{}' fs transparent solid 0.18 noborder "
        "notitle",
        i, high + margin, colour(i));
  }
  for (size_t i = 0; i < bands.size(); ++i) {
    plots += fmt::format(", $band{} using 1:2 with lines lc rgb '{}' lw 2 title {}", i, colour(i),
                         gnuplot_text(shortened(bands[i].label, 100)));
  }
  return script + "plot " + plots.substr(2) + "\n";
}

std::string intervals_script(const std::string& x_label, const std::vector<std::pair<std::string, BandPoint>>& rows) {
  std::string data = "$rows << END\n";
  std::vector<std::string> labels;
  double left = 0.0;
  double right = 0.0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const BandPoint& p = rows[i].second;
    data += fmt::format("{} {} {} {}\n", p.mean, i, p.low, p.high);
    labels.push_back(rows[i].first);
    left = std::min(left, p.low);
    right = std::max(right, p.high);
  }
  const double margin = std::max(0.05 * (right - left), 1e-6);
  return rows_header(90.0, labels) + data + "END\n" +
         fmt::format(
             "set xlabel {}\nset arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2\n"
             "set xrange [{}:{}]\n"
             "plot $rows using 1:2:3:4 with xerrorbars lc rgb '{}' lw 2 pt 7 ps 0.7 notitle\n",
             gnuplot_text(x_label), left - margin, right + margin, colour(0));
}

std::string votes_script(const std::vector<std::pair<double, double>>& points) {
  double right = 1.0;
  double low = 1.0;
  for (const auto& [deviations, rate] : points) {
    right = std::max(right, deviations);
    if (rate > 0.0) low = std::min({low, rate, std::erfc(deviations / std::sqrt(2.0))});
  }
  std::string script = header(420.0) + "$runs << END\n";
  for (const auto& [deviations, rate] : points) script += fmt::format("{} {}\n", deviations, 100 * rate);
  return script +
         fmt::format(
             "END\nset xlabel 'threshold, in standard deviations of chance'\n"
             "set ylabel 'share of the weights that a step changes'\nset logscale y\nset format y '%g %%'\n"
             "set yrange [{}:150]\nset xrange [0:{}]\nset key bottom left\n"
             "plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes of chance alone', "
             "$runs with points lc rgb '{}' pt 7 ps 0.6 title 'runs, mean over the last quarter'\n",
             100.0 * std::max(1e-6, low / 5.0), 1.05 * right, colour(0));
}

std::string speed_script(const std::vector<PointLine>& lines) {
  std::string script = header(400.0 + 20.0 * static_cast<double>(lines.size()));
  std::string plots;
  for (size_t i = 0; i < lines.size(); ++i) {
    script += fmt::format("$line{} << END\n", i);
    for (const auto& [x, y] : lines[i].points) script += fmt::format("{} {}\n", x, y);
    script += "END\n";
    plots += fmt::format(", $line{} with linespoints lc rgb '{}' lw 2 pt 7 ps 0.7 title {}", i, colour(i),
                         gnuplot_text(shortened(lines[i].label, 100)));
  }
  return script +
         "set logscale xy\nset format x '%.0s%c'\nset format y '%.0s%c'\nset xlabel 'population'\n"
         "set ylabel 'member tokens per second'\nset offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05\n"
         "set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '\n"
         "plot " +
         plots.substr(2) + "\n";
}

std::string time_script(const std::vector<TimeBar>& bars) {
  std::string data = "$bars << END\n";
  std::vector<std::string> labels;
  for (size_t i = 0; i < bars.size(); ++i) {
    const double step = bars[i].forward + bars[i].rest;
    data += fmt::format("{} {} {} {}\n", i, 100 * bars[i].forward, 100 * step, 100 * (step + bars[i].outside));
    labels.push_back(bars[i].label);
  }
  const std::string script = rows_header(130.0, labels) + data +
                             "END\nset xlabel '% of the time'\nset xrange [0:100]\nset style fill solid 1 noborder\n"
                             "set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '\n";
  const auto boxes = [](int from, int to, const char* fill, const char* title) {
    const std::string left = from == 0 ? "(0)" : fmt::format("{}", from);
    return fmt::format("$bars using (0):1:{}:{}:($1-0.35):($1+0.35) with boxxyerror fc rgb '{}' title '{}'", left, to,
                       fill, title);
  };
  return script + "plot " + boxes(0, 2, colour(0), "forward passes") + ", " +
         boxes(2, 3, colour(1), "rest of the steps: votes, rule, files") + ", " +
         boxes(3, 4, "#b9c0c7", "outside: evaluation, checkpoints, monitor, start") + "\n";
}

}  // namespace eggroll
