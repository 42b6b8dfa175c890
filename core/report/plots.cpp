#include "report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "record/gnuplot.h"
#include "report/plot_frame.h"
#include "report/statistics.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

constexpr double kLineHeight = 20.0;   // of an entry of the key, in pixels
constexpr double kMargin = 0.04;       // of a frame, on both sides of its data
constexpr double kMostStretch = 0.25;  // what bands and yardsticks may add to a frame on either side
constexpr size_t kMostLabel = 72;      // characters
constexpr size_t kMostMarkers = 12;    // on a curve

bool has_interval(const Band& band) {
  return std::any_of(band.points.begin(), band.points.end(), [](const BandPoint& p) { return p.low < p.high; });
}

std::string data_block(const std::string& name, const std::vector<BandPoint>& points, double x_unit) {
  std::string text = fmt::format("${} << END\n", name);
  for (const BandPoint& p : points) text += fmt::format("{} {} {} {}\n", p.x / x_unit, p.mean, p.low, p.high);
  return text + "END\n";
}

// Means and intervals alike, so that the figure says what the bars or bands are.
std::string means_title(const std::vector<Band>& bands, const std::string& what) {
  return std::any_of(bands.begin(), bands.end(), has_interval) ? "mean over the seeds; " + what + ": its 95 % interval"
                                                               : "one seed each";
}

Frame height_of(const std::vector<Band>& bands, const std::vector<std::pair<std::string, double>>& yardsticks) {
  constexpr double kFirstFifth = 0.2;
  std::vector<double> means;
  std::vector<double> ends;
  for (const Band& band : bands) {
    for (const BandPoint& p : band.points) {
      if (p.x < kFirstFifth * band.points.back().x && &p != &band.points.back()) continue;
      means.push_back(p.mean);
      ends.insert(ends.end(), {p.low, p.high});
    }
  }
  const Frame of_means = frame_of(means);
  const Frame widest = of_means.with_margin(kMostStretch);
  for (const auto& [name, bits] : yardsticks) {
    if (bits >= widest.low && bits <= widest.high) ends.push_back(bits);
  }
  const Frame of_ends = frame_of(ends);
  return Frame{std::max(std::min(of_means.low, of_ends.low), widest.low),
               std::min(std::max(of_means.high, of_ends.high), widest.high)}
      .with_margin(kMargin);
}

// Names the yardsticks beside the frame; those outside it stand at its corners, with an arrow.
std::string yardstick_labels(std::vector<std::pair<std::string, double>> yardsticks, const Frame& frame) {
  const double line = 0.075 * frame.height();
  const Frame corners{frame.low - 0.3 * line, frame.high + 1.2 * line};
  std::sort(yardsticks.begin(), yardsticks.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<double> places;
  for (const auto& [name, bits] : yardsticks) {
    places.push_back(bits > frame.high ? corners.high : bits < frame.low ? corners.low : bits);
  }
  places = spread(places, corners.low, corners.high, line);
  std::string script;
  for (size_t i = 0; i < yardsticks.size(); ++i) {
    const auto& [name, bits] = yardsticks[i];
    const char* arrow = bits > frame.high ? "▲ " : bits < frame.low ? "▼ " : "";
    script += fmt::format("set label {} {} at graph 1.015, first {} left tc rgb '#555555'\n", i + 1,
                          gnuplot_text(fmt::format("{}{} {}", arrow, name, text_of(bits))), places[i]);
  }
  return script;
}

}  // namespace

std::string curves_script(const std::string& title, const std::string& unit, const std::vector<Band>& bands,
                          const std::vector<std::pair<std::string, double>>& yardsticks) {
  constexpr double kUnlike = 3.0;
  const Frame bits = height_of(bands, yardsticks);
  std::vector<double> lengths;
  std::vector<double> tokens;  // where a curve lies in the frame
  for (const Band& band : bands) {
    lengths.push_back(band.points.back().x);
    for (const BandPoint& p : band.points) {
      if (p.mean >= bits.low && p.mean <= bits.high) tokens.push_back(p.x);
    }
  }
  const Frame length = frame_of(lengths);
  // Short curves beside long ones would fill a corner.
  const bool is_log = frame_of(tokens).low > 0.0 && length.high >= kUnlike * length.low;
  const auto [x_unit, x_unit_name] = is_log ? std::pair(1.0, "") : gnuplot_unit(length.high);
  const Frame width{frame_of(tokens).low / x_unit, length.high / x_unit};
  std::string script = plot_header(title, 420.0 + kLineHeight * static_cast<double>(bands.size()));
  for (size_t i = 0; i < bands.size(); ++i) {
    std::vector<BandPoint> points = bands[i].points;
    // gnuplot would fill beside the frame. NaN ends a band.
    for (BandPoint& p : points) {
      const bool is_in = p.mean >= bits.low && p.mean <= bits.high;
      p.low = is_in ? std::max(p.low, bits.low) : std::nan("");
      p.high = is_in ? std::min(p.high, bits.high) : std::nan("");
    }
    script += data_block(fmt::format("band{}", i), points, x_unit);
  }
  script += fmt::format("set xlabel 'member tokens{}'\nset ylabel {}\nset rmargin 17\n",
                        *x_unit_name == '\0' ? "" : fmt::format(" ({})", x_unit_name + 2),
                        gnuplot_text("held-out bits per " + unit)) +
            axis_range('x', is_log ? width.with_log_margin(kMargin / 2.0) : width.with_margin(kMargin / 2.0), is_log) +
            axis_range('y', bits, false) + key_below(means_title(bands, "band")) + yardstick_labels(yardsticks, bits);
  if (is_log) script += log_tics('x', width.with_log_margin(kMargin / 2.0), short_count);
  std::string plots;
  for (const auto& [name, value] : yardsticks) {
    if (value < bits.low || value > bits.high) continue;
    plots += fmt::format(", {} with lines lc rgb '#777777' lw 1.2 dt 2 notitle", value);
  }
  for (size_t i = 0; i < bands.size(); ++i) {
    if (!has_interval(bands[i])) continue;
    plots +=
        fmt::format(", $band{} using 1:3:4 with filledcurves fc rgb '{}' fs transparent solid 0.15 noborder notitle", i,
                    line_colour(i));
  }
  for (size_t i = 0; i < bands.size(); ++i) {
    const size_t stride = (bands[i].points.size() + kMostMarkers - 1) / kMostMarkers;
    plots += fmt::format(", $band{} using 1:2 with linespoints {} pi {} title {}", i, line_style(i), stride,
                         gnuplot_text(shortened(bands[i].label, kMostLabel)));
  }
  return script + "plot " + plots.substr(2) + "\n";
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
      plot_header(interaction.title, 400.0 + kLineHeight * static_cast<double>(interaction.lines.size() + 1));
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
            axis_range('x', width, is_log) + axis_range('y', frame_of(ys).with_margin(kMargin), false) +
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
  std::string script = plot_header(title, 390.0 + kLineHeight * static_cast<double>(lines.size()));
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
