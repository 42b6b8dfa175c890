#include "record/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "record/gnuplot.h"
#include "record/metrics.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrainColour = "#5a9fd0";
constexpr const char* kHeldOutColour = "#0b4f8a";
constexpr const char* kAverageColour = "#6a3d9a";
constexpr const char* kBaselineColours[] = {"#b2182b", "#d6761b", "#4d7a2f", "#1b7f79", "#8c6d1f", "#7a3b69"};
constexpr double kLabelSpacing = 0.05;  // of the height: one line of text

using Points = std::vector<std::pair<double, double>>;  // member tokens, bits per unit

// A text at the right edge, level with the value it names unless another is in the way.
struct EdgeLabel {
  std::string text;
  std::string colour;
  bool is_baseline;
  double value;
  double y;
};

Points points_of(const std::vector<nlohmann::ordered_json>& lines, const char* key) {
  Points points;
  for (const nlohmann::ordered_json& line : lines) {
    if (!line.contains(key) || !line.contains(metric::kMemberTokens)) continue;
    if (line[key].is_number() && line[metric::kMemberTokens].is_number()) {
      points.emplace_back(line[metric::kMemberTokens].get<double>(), line[key].get<double>());
    }
  }
  return points;
}

void append_data(std::string& script, const std::string& name, const Points& points, double x_unit) {
  script += fmt::format("${} << END\n", name);
  for (const auto& [x, y] : points) script += fmt::format("{} {}\n", x / x_unit, y);
  script += "END\n";
}

std::string curve_script(const Curve& curve, const Points& train, const Points& held_out, const Points& average,
                         const std::string& name) {
  std::vector<EdgeLabel> labels;
  if (!train.empty()) labels.push_back({"training", kTrainColour, false, train.back().second, 0});
  if (!held_out.empty()) labels.push_back({"held-out", kHeldOutColour, false, held_out.back().second, 0});
  if (!average.empty()) labels.push_back({"average", kAverageColour, false, average.back().second, 0});
  size_t drawn = 0;
  for (const auto& [of, bits] : curve.baselines.named()) {
    labels.push_back({of, kBaselineColours[drawn++ % std::size(kBaselineColours)], true, bits, 0});
  }

  double right = 0;
  double low = labels.front().value;
  double high = low;
  for (const Points* points : {&train, &held_out, &average}) {
    for (const auto& [x, y] : *points) {
      right = std::max(right, x);
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  for (const EdgeLabel& label : labels) {
    low = std::min(low, label.value);
    high = std::max(high, label.value);
  }
  const double margin = std::max(0.05 * (high - low), 0.01);
  const double bottom = std::max(low - margin, low < 0 ? low : 0.0);
  const double top = high + margin;
  std::sort(labels.begin(), labels.end(),
            [](const EdgeLabel& one, const EdgeLabel& other) { return one.value < other.value; });
  std::vector<double> places;
  for (const EdgeLabel& label : labels) places.push_back(label.value);
  places = spread(std::move(places), bottom, top, kLabelSpacing * (top - bottom));
  for (size_t i = 0; i < labels.size(); ++i) labels[i].y = places[i];

  const auto [x_unit, x_unit_name] = gnuplot_unit(right);
  const double width = std::max(right / x_unit, 1e-9);

  std::string script = fmt::format("# Draw again with: gnuplot {0}.gp > {0}.png\n", name);
  append_data(script, "train", train, x_unit);
  append_data(script, "held_out", held_out, x_unit);
  if (!average.empty()) append_data(script, "average", average, x_unit);
  script += fmt::format(
      "set terminal pngcairo size 1000,600 font 'DejaVu Sans,11' background '#ffffff'\n"
      "set encoding utf8\n"
      "set title {} font ',14' noenhanced\n"
      "set xlabel 'member tokens{}'\n"
      "set ylabel {}\n"
      "set xrange [0:{}]\n"
      "set yrange [{}:{}]\n"
      "set border 3 lc rgb '#555555'\n"
      "set tics nomirror out tc rgb '#333333'\n"
      "set grid ytics lc rgb '#e4e4e4' lt 1 lw 1\n"
      "set rmargin 26\n"
      "set bmargin 6\n"
      "set key at graph 0.5, screen 0.03 center center horizontal reverse Left samplen 3 width 3\n",
      gnuplot_text(curve.title), x_unit_name, gnuplot_text("bits per " + curve.unit), width, bottom, top);
  int tag = 0;
  for (const EdgeLabel& label : labels) {
    ++tag;
    script += fmt::format("set arrow {} from {},{} to graph 1.015, first {} nohead lc rgb '{}' lw 1\n", tag, width,
                          label.value, label.y, label.colour);
    script += fmt::format("set label {} {} at graph 1.02, first {} left tc rgb '{}' noenhanced\n", tag,
                          gnuplot_text(fmt::format("{} {:.4g}", label.text, label.value)), label.y, label.colour);
  }
  std::string plots;
  for (const EdgeLabel& label : labels) {
    if (!label.is_baseline) continue;
    plots += fmt::format(", {} with lines lc rgb '{}' lw 1.5 dt 2 notitle", label.value, label.colour);
  }
  if (!train.empty()) {
    plots +=
        fmt::format(", $train with lines lc rgb '{}' lw 1.2 title 'training: mean over the members'", kTrainColour);
  }
  if (!held_out.empty()) {
    plots +=
        fmt::format(", $held_out with linespoints lc rgb '{}' lw 2.5 pt 7 ps {} title 'held-out: unperturbed model'",
                    kHeldOutColour, held_out.size() > 60 ? 0 : 0.7);
  }
  if (!average.empty()) {
    plots += fmt::format(", $average with lines lc rgb '{}' lw 1.5 title 'held-out: average of the weights'",
                         kAverageColour);
  }
  return script + "plot " + plots.substr(2) + "\n";
}

}  // namespace

void draw_learning_curve(const fs::path& metrics, const Curve& curve, const fs::path& png) {
  const std::vector<nlohmann::ordered_json> lines = read_metrics(metrics);
  const Points train = points_of(lines, metric::kTrainBits);
  const Points held_out = points_of(lines, kHeldOutKeys.bits);
  if (train.empty() && held_out.empty()) {
    throw Error("no learning curve was drawn: " + metrics.string() +
                " holds no loss yet; draw it after the run's first step");
  }
  const Points average = points_of(lines, kAverageHeldOutKeys.bits);
  draw_with_gnuplot(curve_script(curve, train, held_out, average, png.stem().string()), {png},
                    "no learning curve was drawn");
}

}  // namespace eggroll
