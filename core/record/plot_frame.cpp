#include "record/plot_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "record/gnuplot.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

constexpr std::array<const char*, kLineStyles> kColours = {"#0b4f8a", "#d6761b", "#3f7d2c", "#b2182b",
                                                           "#6a51a3", "#17858f", "#8c5a2b", "#6b6b6b"};
constexpr std::array<const char*, kLineStyles> kDashes = {"solid", "(9,4)",      "(3,3)", "(9,3,2,3)",
                                                          "solid", "(14,3,3,3)", "(6,6)", "(2,5)"};
constexpr std::array<int, kLineStyles> kMarkers = {7, 5, 9, 11, 6, 13, 4, 8};
constexpr double kPdfWidth = 6.5;  // inches of a usual figure: the text of a page
constexpr double kFontSize = 13.0;
constexpr double kPointsPerInch = 72.0;

}  // namespace

std::string plot_header(const std::string& title, double height, double width) {
  const double inch = kPdfWidth / kPlotWidth;
  return fmt::format(
      "# Draw again with: gnuplot THIS.gp > THIS.svg\n"
      "# or with: gnuplot -e \"format = 'pdf'\" THIS.gp > THIS.pdf (or png)\n"
      "if (!exists('format')) format = 'svg'\n"
      "if (format eq 'svg') set terminal svg size {0:.0f},{1:.0f} noenhanced font 'DejaVu Sans,{2:.0f}' "
      "background '#ffffff'\n"
      "if (format eq 'pdf') set terminal pdfcairo size {3:.3f}in,{4:.3f}in noenhanced font 'DejaVu Sans,{5:.2f}' "
      "fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'\n"
      "if (format eq 'png') set terminal pngcairo size {6:.0f},{7:.0f} noenhanced font 'DejaVu Sans,{2:.0f}' "
      "fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'\n"
      "set encoding utf8\n"
      "set title {8}\n"
      "set border 3 lc rgb '#555555'\n"
      "set tics nomirror out tc rgb '#333333'\n"
      "set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1\n",
      width, height, kFontSize, width * inch, height * inch, kFontSize * inch * kPointsPerInch, 2.0 * width,
      2.0 * height, gnuplot_text(title));
}

bool has_interval(const Band& band) {
  return std::any_of(band.points.begin(), band.points.end(), [](const BandPoint& p) { return p.low < p.high; });
}

std::string data_block(const std::string& name, const std::vector<BandPoint>& points, double x_unit) {
  std::string text = fmt::format("${} << END\n", name);
  for (const BandPoint& p : points) text += fmt::format("{} {} {} {}\n", p.x / x_unit, p.mean, p.low, p.high);
  return text + "END\n";
}

std::string key_below(const std::string& title) {
  // The line of blanks keeps it away from the name of the axis.
  return fmt::format("set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '{}\n",
                     title.empty() ? "" : ".\"\\n\"." + gnuplot_text(title));
}

std::string line_colour(size_t i) { return kColours.at(i % kLineStyles); }

std::string line_style(size_t i) {
  return fmt::format("lc rgb '{}' lw 2 dt {} pt {} ps 0.7", line_colour(i), kDashes.at(i % kLineStyles),
                     kMarkers.at(i % kLineStyles));
}

std::string shortened(const std::string& label, size_t most) {
  if (label.size() <= most) return label;
  size_t end = most - 3;
  // Not within a character of several bytes.
  while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xC0U) == 0x80U) --end;
  return label.substr(0, end) + "...";
}

std::string tic_text(const std::string& name) {
  std::string format;
  for (const char c : name) format += c == '%' ? "%%" : std::string(1, c);
  return gnuplot_text(format);
}

Frame Frame::with_margin(double share) const {
  const double least = std::max(1e-9, 1e-3 * std::max(std::abs(low), std::abs(high)));
  const double margin = std::max(share * height(), least);
  return {low - margin, high + margin};
}

Frame Frame::with_log_margin(double share) const {
  const double factor = std::max(std::pow(high / low, share), 1.05);
  return {low / factor, high * factor};
}

Frame frame_of(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

bool is_wide(const std::vector<double>& values) {
  constexpr double kWide = 8.0;
  const Frame frame = frame_of(values);
  return frame.low > 0.0 && frame.high >= kWide * frame.low;
}

std::string axis_range(char axis, const Frame& frame, bool is_log) {
  return fmt::format("{}set {}range [{}:{}]\n", is_log ? fmt::format("set logscale {}\n", axis) : "", axis, frame.low,
                     frame.high);
}

std::string tics_at(char axis, std::vector<double> values, const Frame& frame, bool is_log) {
  // The widths of a digit and of a line, as shares of a usual figure's axes.
  constexpr double kDigit = 0.016;
  constexpr double kLine = 0.06;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto place = [&](double value) {
    return is_log ? std::log(value / frame.low) / std::log(frame.high / frame.low)
                  : (value - frame.low) / frame.height();
  };
  std::string tics;
  double free = -1.0;
  for (const double value : values) {
    const std::string name = grouped(value);
    const double half = axis == 'x' ? 0.5 * kDigit * static_cast<double>(name.size() + 1) : 0.5 * kLine;
    const bool has_room = place(value) - half >= free;
    if (has_room) free = place(value) + half;
    tics += fmt::format("{}{} {}", tics.empty() ? "" : ", ", tic_text(has_room ? name : ""), value);
  }
  return fmt::format("set {}tics ({})\nset m{}tics 1\n", axis, tics, axis);
}

std::string linear_tics(char axis, const Frame& frame) {
  constexpr double kAbout = 6.0;
  const double least = frame.height() / kAbout;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  double step = 10.0 * power;
  for (const double digit : {5.0, 2.0, 1.0}) {
    if (digit * power >= least) step = digit * power;
  }
  return fmt::format("set {}tics {:.3g}\n", axis, step);
}

std::string log_tics(char axis, const Frame& frame, std::string (*write)(double)) {
  constexpr size_t kFew = 3;
  if (!(frame.low > 0.0) || !std::isfinite(frame.high)) return "";
  const std::vector<std::vector<double>> choices = {{1.0}, {1.0, 2.0, 5.0}, {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}};
  const auto first = static_cast<int>(std::floor(std::log10(frame.low)));
  const auto last = static_cast<int>(std::floor(std::log10(frame.high)));
  std::vector<double> values;
  for (const std::vector<double>& digits : choices) {
    values.clear();
    for (int power = first; power <= last; ++power) {
      for (const double digit : digits) {
        const double value = digit * std::pow(10.0, power);
        if (value >= frame.low && value <= frame.high) values.push_back(value);
      }
    }
    if (values.size() >= kFew) break;
  }
  std::string tics;
  for (const double value : values) {
    tics += fmt::format("{}{} {:.10g}", tics.empty() ? "" : ", ", tic_text(write(value)), value);
  }
  return fmt::format("set {}tics ({})\nset m{}tics 1\n", axis, tics, axis);
}

}  // namespace eggroll
