#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "record/plot_frame.h"
#include "report/axis_names.h"
#include "report/plots.h"
#include "report/sections.h"
#include "report/withdrawn.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr size_t kMostInteractions = 3;

using Others = std::vector<std::string>;  // the values of the other axes

// The runs of two values of two axes, by the values of the others.
using Cell = std::map<Others, std::vector<OfSeed>>;

bool has_numbers(const Axis& axis) {
  return std::all_of(axis.values.begin(), axis.values.end(),
                     [](const std::string& value) { return real_of(value).has_value(); });
}

// Two axes, the metric of their cells over the settings of the other axes that all cells have.
struct Crossing {
  size_t x = 0;
  size_t lines = 0;
  std::map<std::pair<std::string, std::string>, Mean> cells;  // by the values of x and of lines
  size_t settings = 0;                                        // of the other axes
  std::vector<size_t> runs;
  double spread = 0.0;  // of the cells' means
};

std::map<std::pair<std::string, std::string>, Cell> cells_of(const Study& study, const std::string& data, size_t x,
                                                             size_t lines) {
  std::map<std::pair<std::string, std::string>, Cell> cells;
  for (const StudyRun& run : study.runs) {
    const auto bits = metric_of(*run.run, "bits");
    if (!bits || data_of(run.run->record) != data) continue;
    Others others = run.values;
    others[x].clear();
    others[lines].clear();
    cells[{run.values[x], run.values[lines]}][others].push_back({run.run->record.seed, *bits});
  }
  return cells;
}

std::set<Others> settings_in_all(const std::map<std::pair<std::string, std::string>, Cell>& cells) {
  std::map<Others, size_t> counts;
  for (const auto& [place, cell] : cells) {
    for (const auto& [others, bits] : cell) ++counts[others];
  }
  std::set<Others> common;
  for (const auto& [others, count] : counts) {
    if (count == cells.size()) common.insert(others);
  }
  return common;
}

// Whether at least two lines have two points each; otherwise the two axes do not cross.
bool crosses(const Crossing& crossing) {
  std::map<std::string, size_t> points;
  for (const auto& [place, mean] : crossing.cells) ++points[place.second];
  return std::count_if(points.begin(), points.end(), [](const auto& line) { return line.second > 1; }) > 1;
}

std::optional<Crossing> crossing_of(const Study& study, const std::string& data, size_t a, size_t b) {
  // Numbers make a better axis than names, and many values a better one than few.
  const auto rank = [&](size_t axis) {
    return std::pair(has_numbers(study.axes[axis]), study.axes[axis].values.size());
  };
  Crossing crossing;
  crossing.x = rank(b) > rank(a) ? b : a;
  crossing.lines = crossing.x == a ? b : a;
  if (study.axes[crossing.lines].values.size() > kLineStyles) return std::nullopt;
  const auto cells = cells_of(study, data, crossing.x, crossing.lines);
  const std::set<Others> settings = settings_in_all(cells);
  if (settings.empty()) return std::nullopt;
  std::vector<double> means;
  for (const auto& [place, cell] : cells) {
    std::vector<OfSeed> bits;
    for (const auto& [others, own] : cell) {
      if (settings.contains(others)) bits.insert(bits.end(), own.begin(), own.end());
    }
    crossing.cells[place] = mean_over_seeds(bits);
    means.push_back(crossing.cells[place].mean);
  }
  crossing.settings = settings.size();
  for (const StudyRun& run : study.runs) {
    Others others = run.values;
    others[crossing.x].clear();
    others[crossing.lines].clear();
    const bool is_in = metric_of(*run.run, "bits") && data_of(run.run->record) == data && settings.contains(others);
    if (is_in) crossing.runs.push_back(run.number);
  }
  crossing.spread = frame_of(means).height();
  return crosses(crossing) ? std::optional(crossing) : std::nullopt;
}

// Pairs of axes, those whose cells differ most first.
std::vector<Crossing> crossings_of(const Study& study, const std::string& data) {
  std::vector<Crossing> crossings;
  for (size_t a = 0; a < study.axes.size(); ++a) {
    for (size_t b = a + 1; b < study.axes.size(); ++b) {
      if (std::optional<Crossing> crossing = crossing_of(study, data, a, b)) crossings.push_back(std::move(*crossing));
    }
  }
  std::stable_sort(crossings.begin(), crossings.end(),
                   [](const Crossing& a, const Crossing& b) { return a.spread > b.spread; });
  return crossings;
}

Interaction interaction_of(const Study& study, const std::string& data, const Crossing& crossing) {
  const Axis& x = study.axes[crossing.x];
  const Axis& lines = study.axes[crossing.lines];
  Interaction interaction;
  interaction.x_label = axis_title(x.name);
  interaction.y_label = "held-out " + unit_of(study, data);
  interaction.lines_label = axis_title(lines.name);
  interaction.title = fmt::format("{}{}: held-out bits by {} and {}", title_of(study), data_suffix(study, data),
                                  spoken_axis(x.name), spoken_axis(lines.name));
  const bool is_named = !has_numbers(x);
  for (const std::string& value : x.values) {
    if (is_named) interaction.names.push_back(study.spoken_value(crossing.x, value));
  }
  for (const std::string& line : lines.values) {
    Band band{study.spoken_value(crossing.lines, line), {}};
    for (size_t i = 0; i < x.values.size(); ++i) {
      const auto cell = crossing.cells.find({x.values[i], line});
      if (cell == crossing.cells.end()) continue;
      band.points.push_back(point_of(is_named ? static_cast<double>(i) : *real_of(x.values[i]), cell->second));
    }
    if (!band.points.empty()) interaction.lines.push_back(std::move(band));
  }
  return interaction;
}

}  // namespace

void add_interactions(Draft& draft, const Study& study) {
  for (const std::string& data : data_in(study)) {
    const std::vector<Crossing> crossings = crossings_of(study, data);
    if (crossings.empty()) continue;
    draft.heading(3, "Interactions of the axes" + data_suffix(study, data));
    draft.paragraph(fmt::format(
        "Each figure has the mean held-out {} against one axis, with a line for each value of another: lines that are "
        "not "
        "parallel show that the effects of the two axes depend on each other. Means and 95 % intervals are over the "
        "seeds. Pairs of axes whose values occur together are ordered by the difference between the highest and the "
        "lowest mean; {}.",
        unit_of(study, data),
        crossings.size() > kMostInteractions
            ? fmt::format("the first {} of {} are shown", kMostInteractions, crossings.size())
            : "all are shown"));
    for (size_t i = 0; i < std::min(crossings.size(), kMostInteractions); ++i) {
      const Crossing& crossing = crossings[i];
      const Interaction interaction = interaction_of(study, data, crossing);
      const std::string over = study.axes.size() > 2 ? fmt::format(
                                                           ", averaged over {} of the other axes that all its "
                                                           "points have",
                                                           count_text(crossing.settings, "setting"))
                                                     : "";
      draft.figure(slug(fmt::format("{} {} by {}", study.name + data_suffix(study, data), study.axes[crossing.x].name,
                                    study.axes[crossing.lines].name)),
                   interaction_script(interaction),
                   fmt::format("Held-out bits by {} and {}{}.", interaction.x_label, interaction.lines_label, over));
      draft.paragraph(Text("The figure shows " + count_text(crossing.runs.size(), "run"), crossing.runs));
    }
  }
}

}  // namespace eggroll
