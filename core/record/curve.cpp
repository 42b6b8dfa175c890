#include "record/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eggroll/error.h"
#include "record/gnuplot.h"
#include "record/metric_keys.h"
#include "record/metric_table.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

constexpr double kMostStretch = 0.25;  // what bands and yardsticks may add to a frame on either side
constexpr size_t kMostMarkers = 12;    // on a curve

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
      .with_margin(kFrameMargin);
}

// Names the yardsticks at the edge of the frame; those outside it stand at its corners, with an arrow.
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
                          gnuplot_text(fmt::format("{}{} {}", arrow, name, eggroll::text_of(bits))), places[i]);
  }
  return script;
}

// Adds the curve of this key, if a line has it.
void add_band(std::vector<Band>& bands, const std::string& label, const MetricTable& table, const char* key) {
  const std::vector<double>* tokens = table.find(metric::kMemberTokens);
  const std::vector<double>* bits = table.find(key);
  Band band{label, {}};
  for (size_t i = 0; tokens != nullptr && bits != nullptr && i < table.lines; ++i) {
    const double y = (*bits)[i];
    if (!std::isnan(y) && !std::isnan((*tokens)[i])) band.points.push_back({(*tokens)[i], y, y, y});
  }
  if (!band.points.empty()) bands.push_back(std::move(band));
}

}  // namespace

std::string curves_script(const Curves& curves) {
  const auto& [title, y_label, key_title, bands, yardsticks] = curves;
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
  // Among long curves, short ones would fill only a corner.
  const bool is_log = frame_of(tokens).low > 0.0 && length.high >= kUnlike * length.low;
  const auto [x_unit, x_unit_name] = is_log ? std::pair(1.0, "") : gnuplot_unit(length.high);
  const Frame width{frame_of(tokens).low / x_unit, length.high / x_unit};
  std::string script = plot_header(title, 420.0 + kKeyLine * static_cast<double>(bands.size()));
  for (size_t i = 0; i < bands.size(); ++i) {
    std::vector<BandPoint> points = bands[i].points;
    // gnuplot would also fill outside the frame. NaN ends a band.
    for (BandPoint& p : points) {
      const bool is_in = p.mean >= bits.low && p.mean <= bits.high;
      p.low = is_in ? std::max(p.low, bits.low) : std::nan("");
      p.high = is_in ? std::min(p.high, bits.high) : std::nan("");
    }
    script += data_block(fmt::format("band{}", i), points, x_unit);
  }
  script += fmt::format("set xlabel 'member tokens{}'\nset ylabel {}\nset rmargin 17\n",
                        *x_unit_name == '\0' ? "" : fmt::format(" ({})", x_unit_name + 2), gnuplot_text(y_label)) +
            axis_range('x', is_log ? width.with_log_margin(kFrameMargin / 2.0) : width.with_margin(kFrameMargin / 2.0),
                       is_log) +
            axis_range('y', bits, false) + key_below(key_title) + yardstick_labels(yardsticks, bits);
  if (is_log) script += log_tics('x', width.with_log_margin(kFrameMargin / 2.0), short_count);
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

void draw_learning_curve(const fs::path& metrics, const Curve& curve, const fs::path& png) {
  const MetricTable table = read_metric_table(metrics, Numbers::kOwn);
  if (!table.problems.empty()) throw Error("no learning curve was drawn: " + table.problems.front());
  Curves curves{curve.title, "bits per " + curve.unit, "", {}, curve.baselines.named()};
  add_band(curves.bands, "held-out: unperturbed model", table, kHeldOutKeys.bits);
  add_band(curves.bands, "training: mean over the members", table, metric::kTrainBits);
  if (curves.bands.empty()) {
    throw Error("no learning curve was drawn: " + metrics.string() +
                " holds no loss yet; draw it after the run's first step");
  }
  add_band(curves.bands, "held-out: average of the weights", table, kAverageHeldOutKeys.bits);
  for (Band& band : curves.bands) band.label += fmt::format(", {:.4g} at the end", band.points.back().mean);
  draw_with_gnuplot(curves_script(curves), {png}, "no learning curve was drawn");
}

}  // namespace eggroll
