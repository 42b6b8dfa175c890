#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "record/gnuplot.h"
#include "record/plot_frame.h"
#include "report/plots.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr double kAxisWidth = 110.0;  // pixels between two axes

// The places of values on an axis, from 0 to 1, and their texts.
class Rail {
 public:
  explicit Rail(const ParallelAxis& axis) : values_(axis.values) {
    std::vector<double> numbers;
    for (const std::string& value : values_) {
      if (const auto number = real_of(value)) numbers.push_back(*number);
    }
    // Each value has a place of its own.
    if (axis.as_listed || numbers.size() < values_.size() || numbers.size() <= kMostNames) return;
    frame_ = frame_of(numbers);
    is_log_ = is_wide(numbers);
  }

  double at(const std::string& value) const {
    if (!frame_) {
      const auto place = std::find(values_.begin(), values_.end(), value) - values_.begin();
      return values_.size() < 2 ? 0.5 : static_cast<double>(place) / static_cast<double>(values_.size() - 1);
    }
    const double number = *real_of(value);
    if (!is_log_) return (number - frame_->low) / frame_->height();
    return std::log(number / frame_->low) / std::log(frame_->high / frame_->low);
  }

  // Beside the axis, whose place is x.
  std::string labels(size_t x) const {
    std::string text;
    const auto add = [&](double y, const std::string& name) {
      text += fmt::format("set label {} at {},{:.4f} offset 0.6,0 left front tc rgb '#333333' font ',10'\n",
                          gnuplot_text(shortened(name, 14)), x, y);
    };
    if (frame_) {
      add(0.0, real_name(frame_->low));
      add(1.0, real_name(frame_->high));
    } else {
      for (const std::string& value : values_) {
        const bool is_end = value == values_.front() || value == values_.back();
        if (is_end || values_.size() <= kMostNames) add(at(value), value);
      }
    }
    return text;
  }

 private:
  static constexpr size_t kMostNames = 6;
  static std::string real_name(double value) { return fmt::format("{:.4g}", value); }

  const std::vector<std::string>& values_;
  std::optional<Frame> frame_;
  bool is_log_ = false;
};

}  // namespace

std::string parallel_script(const std::string& title, const std::vector<ParallelAxis>& axes,
                            const std::vector<ParallelLine>& lines, const std::vector<std::string>& groups) {
  std::vector<Rail> rails;
  for (const ParallelAxis& axis : axes) rails.emplace_back(axis);
  std::string script = plot_header(title, 400.0, std::max(kPlotWidth, kAxisWidth * static_cast<double>(axes.size())));
  std::string names;
  for (size_t x = 0; x < axes.size(); ++x) {
    names += fmt::format("{}{} {}", x > 0 ? ", " : "", tic_text(axes[x].name), x);
    script += rails[x].labels(x);
    script += fmt::format("set arrow from {0},0 to {0},1 nohead lc rgb '#777777' lw 1.2\n", x);
  }
  script += fmt::format(
      "unset border\nunset ytics\nset grid noxtics noytics\nset xtics ({}) scale 0 rotate by -20\n"
      "set xrange [-0.1:{:.1f}]\nset yrange [-0.04:1.04]\nset rmargin 8\n",
      names, static_cast<double>(axes.size()) - 0.9);
  std::string plots;
  for (size_t group = 0; group < groups.size(); ++group) {
    script += fmt::format("$group{} << END\n", group);
    for (const ParallelLine& line : lines) {
      if (line.group != group) continue;
      for (size_t x = 0; x < axes.size(); ++x) script += fmt::format("{} {:.4f}\n", x, rails[x].at(line.values[x]));
      script += "\n";
    }
    script += "END\n";
    const bool is_last = group + 1 == groups.size();
    plots += fmt::format(", $group{} using 1:2 with lines lc rgb '{}' lw {} title {}", group,
                         is_last      ? line_colour(1)
                         : group == 0 ? "#b9c0c7"
                                      : line_colour(0),
                         is_last ? 2.5 : 1.2, gnuplot_text(groups[group]));
  }
  return script + key_below("") + "plot " + plots.substr(2) + "\n";
}

}  // namespace eggroll
