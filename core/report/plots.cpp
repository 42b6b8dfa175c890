#include "report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "record/gnuplot.h"
#include "record/plot_frame.h"
#include "report/statistics.h"
#include "system/number_text.h"

namespace eggroll {

std::string means_title(const std::vector<Band>& bands, const std::string& what) {
  return std::any_of(bands.begin(), bands.end(), has_interval) ? "mean over the seeds; " + what + ": its 95 % interval"
                                                               : "one seed each";
}

std::string interaction_script(const Interaction& interaction) {
  constexpr double kDodge = 0.012;  // of the frame's width, so that intervals do not hide one another
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Band& line : interaction.lines) {
    for (const BandPoint& p : line.points) {
      xs.push_back(p.x);
      ys.insert(ys.end(), {p.mean, p.low, p.high});
    }
  }
  const bool is_named = !interaction.names.empty();
  const bool is_log = !is_named && is_wide(xs);
  const Frame data = frame_of(xs);
  const Frame width = is_log     ? data.with_log_margin(0.07)
                      : is_named ? Frame{-0.5, data.high + 0.5}
                                 : data.with_margin(0.07);
  std::string script =
      plot_header(interaction.title, 400.0 + kKeyLine * static_cast<double>(interaction.lines.size() + 1));
  const auto middle = static_cast<double>(interaction.lines.size() - 1) / 2.0;
  std::string bars;
  std::string plots;
  for (size_t i = 0; i < interaction.lines.size(); ++i) {
    const double shift = kDodge * (static_cast<double>(i) - middle);
    std::vector<BandPoint> points = interaction.lines[i].points;
    for (BandPoint& p : points) {
      p.x = is_log ? p.x * std::pow(width.high / width.low, shift) : p.x + shift * width.height();
    }
    script += data_block(fmt::format("line{}", i), points, 1.0);
    if (has_interval(interaction.lines[i])) {
      bars +=
          fmt::format(", $line{} using 1:2:3:4 with yerrorbars lc rgb '{}' lw 1.2 pt -1 notitle", i, line_colour(i));
    }
    plots += fmt::format(", $line{} using 1:2 with linespoints {} title {}", i, line_style(i),
                         gnuplot_text(shortened(interaction.lines[i].label, kMostLabel)));
  }
  if (is_named) {
    std::string tics;
    for (size_t i = 0; i < interaction.names.size(); ++i) {
      tics += fmt::format("{}{} {}", i > 0 ? ", " : "", tic_text(shortened(interaction.names[i], 24)), i);
    }
    script += fmt::format("set xtics ({}){}\n", tics, interaction.names.size() > 4 ? " rotate by -30" : "");
  } else {
    script += tics_at('x', xs, width, is_log);
  }
  script += fmt::format("set xlabel {}\nset ylabel {}\n", gnuplot_text(interaction.x_label),
                        gnuplot_text(interaction.y_label)) +
            axis_range('x', width, is_log) + axis_range('y', frame_of(ys).with_margin(kFrameMargin), false) +
            key_below(interaction.lines_label + ": " + means_title(interaction.lines, "bar"));
  return script + "plot " + (bars + plots).substr(2) + "\n";
}

std::string votes_script(const std::string& title, const std::vector<std::pair<double, double>>& points) {
  constexpr double kLeastHeight = 1.5;  // of the largest share over the smallest
  std::vector<double> xs;
  std::vector<double> shares;
  for (const auto& [deviations, rate] : points) {
    if (rate <= 0.0) continue;
    xs.push_back(deviations);
    shares.insert(shares.end(), {100.0 * rate, 100.0 * std::max(1e-6, normal_tails(deviations))});
  }
  const Frame width = frame_of(xs).with_margin(0.06);
  Frame height = frame_of(shares);
  const double factor = std::sqrt(std::max(1.0, kLeastHeight * height.low / height.high));
  height = Frame{height.low / factor, height.high * factor}.with_log_margin(0.06);
  std::string script = plot_header(title, 430.0) + "$runs << END\n";
  for (const auto& [deviations, rate] : points) script += fmt::format("{} {}\n", deviations, 100.0 * rate);
  return script +
         "END\nset xlabel 'threshold (standard deviations of votes by chance)'\n"
         "set ylabel 'weights with votes that a step changes'\nset samples 400\n" +
         axis_range('x', width, false) + axis_range('y', height, true) +
         log_tics('y', height, [](double value) { return fmt::format("{:g} %", value); }) + key_below("") +
         fmt::format(
             "plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes by chance', "
             "$runs with points lc rgb '{}' pt 6 ps 0.8 title 'a run: mean over the last quarter of its steps'\n",
             line_colour(0));
}

std::string speed_script(const std::string& title, const std::vector<PointLine>& lines) {
  constexpr double kLeastHeight = 2.0;  // of the highest speed over the lowest
  std::string script = plot_header(title, 390.0 + kKeyLine * static_cast<double>(lines.size()));
  std::string plots;
  std::vector<double> populations;
  std::vector<double> rates;
  for (size_t i = 0; i < lines.size(); ++i) {
    script += fmt::format("$line{} << END\n", i);
    for (const auto& [x, y] : lines[i].points) {
      script += fmt::format("{} {}\n", x, y);
      populations.push_back(x);
      rates.push_back(y);
    }
    script += "END\n";
    plots += fmt::format(", $line{} with linespoints {} title {}", i, line_style(i),
                         gnuplot_text(shortened(lines[i].label, kMostLabel)));
  }
  const Frame width = frame_of(populations).with_log_margin(0.05);
  Frame height = frame_of(rates);
  const double factor = std::sqrt(std::max(1.0, kLeastHeight * height.low / height.high));
  height = Frame{height.low / factor, height.high * factor}.with_log_margin(0.06);
  return script + "set xlabel 'population (members)'\nset ylabel 'member tokens per second'\n" +
         axis_range('x', width, true) + axis_range('y', height, true) + tics_at('x', populations, width, true) +
         log_tics('y', height, short_count) + key_below("") + "plot " + plots.substr(2) + "\n";
}

}  // namespace eggroll
