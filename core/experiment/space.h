// The settings that a search varies, and how a number from 0 to 1 becomes a value of a setting.
#ifndef EGGROLL_EXPERIMENT_SPACE_H
#define EGGROLL_EXPERIMENT_SPACE_H

#include <optional>
#include <string>
#include <vector>

#include "config/compose.h"
#include "config/value.h"
#include "experiment/chosen.h"
#include "experiment/grid.h"

namespace eggroll {

// One setting: values to choose from, or an interval.
struct SearchParam {
  std::string key;
  std::string prefix;                // "model.width="
  std::string text;                  // the setting as it is given
  std::vector<std::string> choices;  // overrides, "model.width=32"; none if there is an interval
  std::optional<SearchInterval> interval;
  // The choices are numbers in ascending order, so that neighbours are alike; intervals are.
  bool ordered = false;

  // The override at u, in [0, 1). Each choice has an equal part of that range. A real has four significant digits.
  std::string at(double u) const;
  // The choice at u.
  size_t choice_at(double u) const;
};

// items: the list sweep.search.params. A key that the command line sets is left out, and chosen says so. Throws Error
// with file and line.
std::vector<SearchParam> read_params(const ConfigNode& items, const ConfigSearch& search, CommandLineValues& chosen);

// The point at these coordinates, one for each param.
GridPoint point_at(const std::vector<SearchParam>& params, const std::vector<double>& coordinates);
// "model.width=32 fitness=sign".
std::string text_at(const std::vector<SearchParam>& params, const std::vector<double>& coordinates);

}  // namespace eggroll

#endif
